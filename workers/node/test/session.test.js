import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { TargetError } from "../index.js";
import { Session } from "../lib/session.js";

const CARD = { name: "n", dialects: ["chat"] };
const TASK = {
  dialect: "chat",
  stream: false,
  base_url: "u",
  api_key: "k",
  model: "m",
  prompt: "p",
};

function session(run, card = CARD) {
  const answers = [];
  let wake = () => {};
  const made = new Session(
    card,
    run,
    (answer) => {
      answers.push(JSON.parse(JSON.stringify(answer)));
      wake();
    },
    [],
  );
  const say = (command) => made.take(JSON.stringify(command));
  const next = async () => {
    if (answers.length === 0) await new Promise((resolve) => (wake = resolve));
    return answers.shift();
  };
  return { made, say, next, answers };
}

test("hello is answered with the card", async () => {
  const { say, next } = session(() => "", {
    ...CARD,
    limitUnit: "requests",
    packages: ["no-such"],
  });
  assert.ok(say({ cmd: "hello", protocol: 7, loopcheck: "9" }));
  assert.deepEqual(await next(), {
    card: {
      name: "n",
      language: "javascript",
      runtime: `node ${process.versions.node}`,
      packages: { "no-such": "not installed" },
      dialects: ["chat"],
      limit_unit: "requests",
    },
    protocol: 1,
  });
});

for (const [card, message] of [
  [{ dialects: ["chat"] }, "the card has no name"],
  [{ name: "n", dialects: [] }, "target 'n': dialects is empty; name at least one"],
  [
    { ...CARD, ends: [[Error, "stopped"]] },
    "target 'n': unknown outcome in ends 'stopped'; " +
      "known: completed, refused, limit, failed, paused, cancelled",
  ],
]) {
  test(`no target is to be had: ${message}`, async () => {
    const { say, next } = session(() => "", card);
    say({ cmd: "hello", protocol: 1, loopcheck: "1" });
    assert.deepEqual(await next(), { errored: { type: "TargetError", message } });
  });
}

test("a task is given in the words of the language", async () => {
  let task;
  const { say, next } = session((given) => {
    task = given;
    return "";
  });
  const folder = join(mkdtempSync(join(tmpdir(), "task-")), "k1");
  const more = { run: "r", follows: true, clock_seconds: 60, folder, tool_choice: "none" };
  const limits = { rounds: 8, tool_calls: 3, seconds: null, context: 9 };
  const said = { earlier: [{ role: "user", text: "e" }], prices: { input: 1, output: 2 } };
  const book = { name: "t", parameters: {}, invoke: "i", approval: "ask", operation: ["seat"] };
  const tools = [book, { name: "u", parameters: {}, invoke: "i", operation: null, lookup: null }];
  say({ cmd: "run", seq: "k1", task: { ...TASK, ...more, ...said, limits, tools } });
  await next();
  const { signal, tools: given, ...rest } = task;
  assert.equal(signal.aborted, false);
  assert.deepEqual(rest, {
    case: "k1",
    run: "r",
    follows: true,
    clockSeconds: 60,
    toolSeconds: undefined,
    dialect: "chat",
    stream: false,
    baseUrl: "u",
    apiKey: "k",
    model: "m",
    prompt: "p",
    earlier: [{ role: "user", text: "e" }],
    state: "client",
    lanes: [],
    toolChoice: "none",
    limits: {
      rounds: 8,
      toolCalls: 3,
      seconds: undefined,
      tokens: undefined,
      cost: undefined,
      context: 9,
      repeats: undefined,
    },
    prices: { input: 1, output: 2 },
    folder,
    openapi: "",
    mcp: "",
    resume: undefined,
  });
  const [ask, plain] = given;
  assert.deepEqual([ask.approval, ask.kind, ask.operation], ["ask", "read", ["seat"]]);
  assert.deepEqual(
    [plain.approval, plain.operation, plain.lookup],
    ["allow", undefined, undefined],
  );
  assert.ok(existsSync(folder));
});

test("a paused run goes on with what was decided", async () => {
  const { say, next } = session((task) => JSON.stringify(task.resume));
  const decision = { call_id: "c", tool: "t", arguments: { a: 1 }, decide: "deny", reason: "no" };
  say({ cmd: "resume", seq: "k2", of: "k1", run: "r-17", decisions: [decision], task: TASK });
  assert.deepEqual(JSON.parse((await next()).outcome.text), {
    run: "r-17",
    decisions: [{ callId: "c", tool: "t", arguments: { a: 1 }, decide: "deny", reason: "no" }],
  });
});

test("a run may be resumed only to be given up", async () => {
  const { say, next } = session((task) => `${task.resume.run} ${task.signal.aborted}`);
  say({ cmd: "resume", seq: "k2", of: "k1", cancel: true, task: TASK });
  assert.equal((await next()).outcome.text, "undefined true");
});

for (const [what, run, answer] of [
  [
    "an outcome",
    () => "Hi.",
    { outcome: { state: "completed", reason: "final_answer", text: "Hi." } },
  ],
  ["a refusal to run", () => ({ skipped: "no licence" }), { skipped: "no licence" }],
  [
    "a misuse",
    () => {
      throw new TargetError("no model\nwas given");
    },
    { errored: { type: "TargetError", message: "no model was given" } },
  ],
  [
    "a broken promise",
    async () => 42,
    {
      errored: {
        type: "TargetError",
        message: "the target returned number; return a text, or {state, reason, text}",
      },
    },
  ],
]) {
  test(`a run is answered: ${what}`, async () => {
    const { say, next } = session(run);
    say({ cmd: "run", seq: "k1", task: TASK });
    assert.deepEqual(await next(), { seq: "k1", ...answer });
  });
}

test("a run that goes on can be cancelled, and answers itself", async () => {
  const { say, next, answers } = session(async ({ signal }) => {
    await once(signal, "abort");
    throw signal.reason;
  });
  say({ cmd: "run", seq: "k1", task: TASK });
  say({ cmd: "cancel", seq: "k0" });
  say({ cmd: "run", seq: "k2", task: TASK });
  assert.deepEqual(await next(), {
    seq: "k2",
    errored: { type: "ProtocolError", message: "run k1 goes on; one at a time" },
  });
  say({ cmd: "cancel", seq: "k1" });
  assert.deepEqual((await next()).outcome, {
    state: "cancelled",
    reason: "cancelled_by_user",
    text: "",
  });
  say({ cmd: "cancel", seq: "k1" });
  assert.deepEqual(answers, []);
});

test("the harness's end gives up the run", async () => {
  const { made, say, next } = session(async ({ signal }) => {
    await once(signal, "abort");
    return "given up";
  });
  made.stop();
  say({ cmd: "run", seq: "k1", task: TASK });
  made.stop();
  assert.equal((await next()).outcome.text, "given up");
});

test("a line that is no command is answered, and the next one taken", async () => {
  const { made, next } = session(() => "");
  assert.ok(made.take("run"));
  assert.deepEqual(await next(), {
    errored: { type: "ProtocolError", message: "a command is a JSON object" },
  });
  assert.equal(made.take('{"cmd":"bye"}'), false);
});
