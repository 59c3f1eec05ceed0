/** Tools whose bodies are behind an HTTP endpoint each. */

import { request } from "node:http";

import { ToolError } from "./errors.js";

/** The tool as a target gets it, from its document. */
export function toolOf(document) {
  const { name, invoke, lookup } = document;
  return {
    name,
    description: document.description ?? "",
    parameters: document.parameters,
    kind: document.kind ?? "read",
    operation: document.operation ?? undefined,
    approval: document.approval ?? "allow",
    deduplicates: document.deduplicates ?? false,
    call: async (given, how) => (await called(name, invoke, given, how)).result,
    callContent: async (given, how) => {
      const { result, content } = await called(name, invoke, given, how);
      return content ?? [{ type: "text", text: result }];
    },
    lookup: lookup
      ? async (operationId) =>
          found(name, await post(lookup, { tool: name, operation_id: operationId }, {}))
      : undefined,
  };
}

async function called(tool, url, given = {}, { callId, operationId, signal } = {}) {
  const headers = {};
  if (callId !== undefined) headers["x-call-id"] = callId;
  if (operationId !== undefined) headers["idempotency-key"] = operationId;
  const { status, value } = await post(url, given, headers, signal);
  if (status === 200 && typeof value?.result === "string") return value;
  throw failure(tool, status, value);
}

function found(tool, { status, value }) {
  if (status === 200 && value !== undefined) return value;
  throw failure(tool, status, value);
}

function failure(tool, status, value) {
  if (typeof value?.raises === "string" && typeof value.detail === "string") {
    return new ToolError(value.raises, value.detail, value.retry_after);
  }
  const said = value === undefined ? "without a JSON object" : JSON.stringify(value);
  return new ToolError(`HTTP ${status}`, `tool ${tool}: HTTP ${status} ${said}`);
}

// Not `fetch`: targets replace it, and it gives up after five minutes. A signal closes the
// connection, so that the other side hears that nobody waits any more.
function post(url, body, headers, signal) {
  return new Promise((resolve, reject) => {
    const data = Buffer.from(JSON.stringify(body));
    const all = { ...headers, "content-type": "application/json", "content-length": data.length };
    const how = { method: "POST", headers: all, agent: false, signal: signal ?? undefined };
    const sent = request(url, how, (answer) => {
      const parts = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("error", reject);
      answer.on("end", () => {
        resolve({ status: answer.statusCode, value: objectOf(Buffer.concat(parts).toString()) });
      });
    });
    sent.on("error", reject);
    sent.end(data);
  });
}

function objectOf(text) {
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
