import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";

import { commandOf, lines, ProtocolError } from "../lib/lines.js";

async function linesOf(...chunks) {
  const seen = [];
  for await (const line of lines(Readable.from(chunks.map((chunk) => Buffer.from(chunk))))) {
    seen.push(line);
  }
  return seen;
}

test("a line may come in any number of parts", async () => {
  const bytes = Buffer.from('{"a":"é"}\n{"b":1}\n\n');
  for (let at = 0; at < bytes.length; at++) {
    const seen = await linesOf(bytes.subarray(0, at), bytes.subarray(at));
    assert.deepEqual(seen, ['{"a":"é"}', '{"b":1}', ""]);
  }
});

test("other separators of lines stay within one", async () => {
  assert.deepEqual(await linesOf('"a\u2028b\u2029c\u0085"\n'), ['"a\u2028b\u2029c\u0085"']);
});

test("a line without its end is none", async () => {
  assert.deepEqual(await linesOf('{"cmd":"bye"}\n{"cmd"'), ['{"cmd":"bye"}']);
});

test("a command may hold more than is known", () => {
  const command = { cmd: "cancel", seq: "k1", why: "time" };
  assert.deepEqual(commandOf(JSON.stringify(command)), command);
});

for (const [line, message, seq] of [
  ["run", "a command is a JSON object", undefined],
  ["[]", "a command is a JSON object", undefined],
  ["null", "a command is a JSON object", undefined],
  ['{"cmd":"run","seq":"k1"}', "run.task: wants object", "k1"],
  ['{"cmd":"run","seq":"k1","task":null}', "run.task: wants object", "k1"],
  ['{"cmd":"cancel","seq":7}', "cancel.seq: wants string", undefined],
  [
    '{"cmd":"toString"}',
    'unknown command "toString"; known: hello, run, resume, cancel, bye',
    undefined,
  ],
]) {
  test(`${line} is no command`, () => {
    assert.throws(() => commandOf(line), new ProtocolError(message, seq));
  });
}
