/** The Vercel AI SDK's agent with its defaults, over all three dialects. Needs Node 22. */

import { readFileSync, writeFileSync } from "node:fs";
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
    const messages = conversation(task);
    const asked = { messages, abortSignal: task.signal };
    const result = task.stream ? await streamed(agent, asked) : await agent.generate(asked);
    keep(task, [...messages, ...(await result.responseMessages)]);
    const pending = (await result.content).filter(
      ({ type, isAutomatic }) => type === "tool-approval-request" && !isAutomatic,
    );
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
function conversation({ folder, prompt, follows, resume }) {
  const said = { role: "user", content: prompt };
  if (!follows && resume === undefined) return [said];
  const before = kept(folder);
  return [...before, resume === undefined ? said : decided(before, resume.decisions)];
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

function decided(messages, decisions) {
  const asked = partsOf(messages, "tool-approval-request");
  const content = decisions.map(({ callId, decide, reason }) => ({
    type: "tool-approval-response",
    approvalId: asked.find(({ toolCallId }) => toolCallId === callId)?.approvalId ?? callId,
    approved: decide === "approve",
    reason,
  }));
  return { role: "tool", content };
}

function paused(requests) {
  const pending = requests.map(({ toolCall }) => ({
    callId: toolCall.toolCallId,
    tool: toolCall.toolName,
    arguments: toolCall.input,
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
