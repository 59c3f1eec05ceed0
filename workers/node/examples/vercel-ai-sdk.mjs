/** The Vercel AI SDK's agent with its defaults, over all three dialects. Needs Node 22. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { isStepCount, jsonSchema, tool, ToolLoopAgent } from "ai";
import { ended, final, serve } from "loopcheck-worker";

const STEPS = 20; // the agent's own default
const RULES = { ask: "user-approval", disabled: { type: "denied", reason: "disabled" } };

serve(
  {
    name: "vercel-ai-sdk",
    packages: ["ai", "@ai-sdk/openai", "@ai-sdk/anthropic"],
    dialects: ["responses", "chat", "messages"],
    can: ["parallel", "limits", "thinking", "hosted", "cancel", "approval", "follow_up"],
  },
  async (task) => {
    const steps = task.limits.rounds ?? STEPS;
    const agent = new ToolLoopAgent({
      model: modelOf(task),
      tools: Object.fromEntries(task.tools.map((spec) => [spec.name, toolOf(spec)])),
      stopWhen: isStepCount(steps),
      toolApproval: Object.fromEntries(
        task.tools.map(({ name, approval }) => [name, RULES[approval]]),
      ),
    });
    if (isEdited(task)) return { skipped: "an approval cannot change a call's arguments" };
    const open = task.resume === undefined ? [] : waiting(kept(task.folder));
    if (!isDecided(task, open)) return paused(open);
    const messages = conversation(task, open);
    keep(task, messages);
    const asked = { messages, abortSignal: task.signal };
    const result = task.stream ? await streamed(agent, asked) : await agent.generate(asked);
    keep(task, [...messages, ...(await result.responseMessages)]);
    const pending = waiting(kept(task.folder));
    if (pending.length > 0) return paused(pending);
    const taken = (await result.steps).length;
    return outcomeOf(await result.finishReason, await result.text, taken >= steps);
  },
);

function modelOf({ dialect, baseUrl, apiKey, model }) {
  if (dialect === "messages") {
    return createAnthropic({ baseURL: `${baseUrl}/v1`, apiKey })(model);
  }
  const openai = createOpenAI({ baseURL: baseUrl, apiKey });
  return dialect === "chat" ? openai.chat(model) : openai.responses(model);
}

function toolOf({ description, parameters, call }) {
  return tool({
    description,
    inputSchema: jsonSchema(parameters),
    execute: (given, { toolCallId, abortSignal }) =>
      call(given, { callId: toolCallId, signal: abortSignal }),
  });
}

// What was said before, where the task goes on from there, and what is said now.
function conversation({ folder, prompt, follows, resume }, open) {
  const said = { role: "user", content: prompt };
  if (!follows && resume === undefined) return [said];
  const before = kept(folder);
  if (resume === undefined) return [...before, said];
  return open.length === 0 ? before : [...before, decided(folder, open)];
}

// The agent goes on once every call that waits has its decision, so they are collected.
function isDecided({ folder, resume }, open) {
  if (resume === undefined) return true;
  const known = decisions(folder);
  for (const decision of resume.decisions) {
    if (open.some(({ toolCallId }) => toolCallId === decision.callId)) {
      known[decision.callId] ??= decision;
    }
  }
  writeFileSync(join(folder, "decisions.json"), JSON.stringify(known));
  return open.every(({ toolCallId }) => toolCallId in known);
}

function decisions(folder) {
  const file = join(folder, "decisions.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
}

function kept(folder) {
  return JSON.parse(readFileSync(join(folder, "messages.json"), "utf8"));
}

function keep({ folder }, messages) {
  writeFileSync(join(folder, "messages.json"), JSON.stringify(messages));
}

function partsOf(messages, wanted) {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  return parts.filter(({ type }) => type === wanted);
}

function isEdited({ folder, resume }) {
  if (resume === undefined) return false;
  const calls = partsOf(kept(folder), "tool-call");
  return resume.decisions.some(({ callId, decide, arguments: given }) =>
    calls.some(
      ({ toolCallId, input }) =>
        decide === "approve" && toolCallId === callId && !isDeepStrictEqual(input, given),
    ),
  );
}

// The calls that the agent asked about and that nobody has answered yet.
function waiting(messages) {
  const answered = new Set(
    partsOf(messages, "tool-approval-response").map(({ approvalId }) => approvalId),
  );
  const calls = new Map(partsOf(messages, "tool-call").map((call) => [call.toolCallId, call]));
  return partsOf(messages, "tool-approval-request")
    .filter(({ approvalId, isAutomatic }) => !isAutomatic && !answered.has(approvalId))
    .map(({ approvalId, toolCallId }) => ({ approvalId, ...calls.get(toolCallId) }));
}

function decided(folder, open) {
  const known = decisions(folder);
  const content = open.map(({ approvalId, toolCallId }) => ({
    type: "tool-approval-response",
    approvalId,
    approved: known[toolCallId].decide === "approve",
    reason: known[toolCallId].reason,
  }));
  return { role: "tool", content };
}

function paused(open) {
  const pending = open.map(({ toolCallId, toolName, input }) => ({
    callId: toolCallId,
    tool: toolName,
    arguments: input,
  }));
  return { state: "paused", reason: "awaiting_approval", pending };
}

// A stream tells of its errors by parts, which the documentation has callers look for.
async function streamed(agent, asked) {
  const result = await agent.stream(asked);
  let failed;
  for await (const part of result.stream) {
    if (part.type === "error") failed ??= part;
    if (part.type === "abort") asked.abortSignal.throwIfAborted();
  }
  if (failed !== undefined) throw failed.error;
  return result;
}

function outcomeOf(finishReason, text, outOfSteps) {
  switch (finishReason) {
    case "stop":
      return final(text);
    case "tool-calls":
      return outOfSteps ? ended("limit", "max_rounds", text) : ended("failed", "tool-calls", text);
    case "content-filter":
      return ended("refused", "refused", text);
    case "length":
      return ended("failed", "incomplete_response", text);
    default:
      return ended("failed", `finishReason ${finishReason}`, text);
  }
}
