import assert from "node:assert/strict";
import { test } from "node:test";

import { ended, final, TargetError } from "../index.js";
import { outcomeOf, outcomeOfError } from "../lib/outcome.js";

const calm = new AbortController().signal;

test("a text is the final answer", () => {
  assert.deepEqual(outcomeOf("Done."), final("Done."));
  assert.deepEqual(final(null), { state: "completed", reason: "final_answer", text: "" });
});

test("a completed run needs no reason", () => {
  assert.equal(outcomeOf({ state: "completed", text: "Done." }).reason, "final_answer");
  assert.equal(outcomeOf(ended("limit", "max_rounds")).reason, "max_rounds");
});

test("pending calls are written as the protocol has them", () => {
  const pending = [{ callId: "c1", tool: "book", arguments: { seat: 1 } }];
  const outcome = outcomeOf({ state: "paused", reason: "asks", run: "r1", pending });
  assert.equal(outcome.run, "r1");
  assert.deepEqual(outcome.pending, [{ call_id: "c1", tool: "book", arguments: { seat: 1 } }]);
});

for (const [what, returned, message] of [
  [
    "undefined",
    undefined,
    "the target returned undefined; return a text, or {state, reason, text}",
  ],
  ["null", null, "the target returned null; return a text, or {state, reason, text}"],
  ["an array", ["x"], "the target returned an array; return a text, or {state, reason, text}"],
  [
    "a reason that is no text",
    { state: "failed", reason: 3 },
    "the target returned a reason that is number, not a text",
  ],
  [
    "an unknown state",
    { state: "done" },
    'unknown state "done"; known: completed, refused, limit, failed, paused, cancelled',
  ],
]) {
  test(`${what} is no outcome`, () => {
    assert.throws(() => outcomeOf(returned), new TargetError(message));
  });
}

class Limit extends Error {
  name = "Limit";
}
class Rounds extends Limit {}

test("an error is failed, with its class as the reason", () => {
  const outcome = outcomeOfError(new RangeError("too far"), [], calm);
  const expected = {
    state: "failed",
    reason: "RangeError",
    text: "too far",
    exception: "RangeError",
  };
  assert.deepEqual(outcome, expected);
});

test("what is thrown need be no error", () => {
  assert.deepEqual(outcomeOfError("away", [], calm), {
    state: "failed",
    reason: "string",
    text: "away",
    exception: "string",
  });
});

test("a class without a name of its own goes by that of the class", () => {
  assert.equal(outcomeOfError(new (class Away extends Error {})(""), [], calm).reason, "Away");
});

test("ends maps a class, and what is below it, to a state", () => {
  const outcome = outcomeOfError(new Rounds("8"), new Map([[Limit, "limit"]]), calm);
  assert.deepEqual([outcome.state, outcome.exception], ["limit", "Limit"]);
});

test("what a cancelled run throws on its way out is cancelled", () => {
  const controller = new AbortController();
  controller.abort();
  const aborted = controller.signal.reason;
  assert.equal(outcomeOfError(aborted, [], controller.signal).state, "cancelled");
  assert.equal(outcomeOfError(aborted, [], calm).state, "failed");
  assert.equal(outcomeOfError(new TypeError("x"), [], controller.signal).state, "failed");
});
