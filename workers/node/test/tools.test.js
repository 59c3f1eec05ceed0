import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { ToolError } from "../index.js";
import { toolOf } from "../lib/tools.js";

const answers = {
  "/result": [200, '{"result":"seat 12"}'],
  "/raises": [504, '{"raises":"TimeoutError","detail":"no answer"}'],
  "/busy": [429, '{"raises":"RateLimited","detail":"later","retry_after":2}'],
  "/image": [
    200,
    '{"result":"[image]","content":[{"type":"image","data":"AA==","mimeType":"image/png"}]}',
  ],
  "/denies": [403, '{"raises":"PermissionError","detail":"not yours"}'],
  "/odd": [200, '{"result":3}'],
  "/text": [404, "not found"],
  "/operations": [200, '{"status":"done"}'],
};
const seen = [];
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (part) => (body += part));
  request.on("end", () => {
    seen.push({ method: request.method, headers: request.headers, body: JSON.parse(body) });
    if (request.url === "/never") {
      request.socket.on("close", () => server.emit("left"));
      return;
    }
    const [status, text] = answers[request.url];
    response.writeHead(status).end(text);
  });
});
let url;

before(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${server.address().port}`;
});
after(() => server.close());

function tool(path, more = {}) {
  return toolOf({ name: "book", parameters: {}, invoke: url + path, ...more });
}

test("a call posts the arguments, and gives the result", async () => {
  const given = { seat: "é\ud83d" };
  assert.equal(await tool("/result").call(given, { callId: "c1", operationId: "o1" }), "seat 12");
  const { method, headers, body } = seen.at(-1);
  assert.deepEqual([method, body], ["POST", given]);
  assert.deepEqual([headers["x-call-id"], headers["idempotency-key"]], ["c1", "o1"]);
});

test("ids that are not known are not sent, and no arguments are empty ones", async () => {
  await tool("/result").call();
  const { headers, body } = seen.at(-1);
  assert.deepEqual(body, {});
  assert.deepEqual([headers["x-call-id"], headers["idempotency-key"]], [undefined, undefined]);
});

for (const [path, code, message, retryable] of [
  ["/raises", "TimeoutError", "no answer", true],
  ["/denies", "PermissionError", "not yours", false],
  ["/odd", "HTTP 200", 'tool book: HTTP 200 {"result":3}', false],
  ["/text", "HTTP 404", "tool book: HTTP 404 without a JSON object", false],
]) {
  test(`${path} is thrown as a ToolError`, async () => {
    await assert.rejects(tool(path).call({}), (error) => {
      assert.ok(error instanceof ToolError);
      assert.deepEqual([error.code, error.message, error.retryable], [code, message, retryable]);
      return true;
    });
  });
}

test("a busy system says how long to wait", async () => {
  await assert.rejects(tool("/busy").call({}), {
    code: "RateLimited",
    retryable: true,
    retryAfter: 2,
  });
});

test("a result has parts for those who want them", async () => {
  assert.equal(await tool("/image").call(), "[image]");
  const image = { type: "image", data: "AA==", mimeType: "image/png" };
  assert.deepEqual(await tool("/image").callContent(), [image]);
  assert.deepEqual(await tool("/result").callContent(), [{ type: "text", text: "seat 12" }]);
});

test("a call that is given up is heard to be", async () => {
  const controller = new AbortController();
  const left = once(server, "left");
  const call = tool("/never").call({}, { signal: controller.signal });
  await once(server, "request");
  controller.abort();
  await assert.rejects(call, { name: "AbortError" });
  await left;
  await tool("/result").call({}, { signal: null });
});

test("an operation can be looked up where the tool's system can tell", async () => {
  assert.equal(tool("/result").lookup, undefined);
  const { lookup } = tool("/result", { lookup: `${url}/operations` });
  assert.deepEqual(await lookup("o1"), { status: "done" });
  assert.deepEqual(seen.at(-1).body, { tool: "book", operation_id: "o1" });
});
