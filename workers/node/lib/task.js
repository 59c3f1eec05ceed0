/** The task as a target gets it. */

import { mkdirSync } from "node:fs";

import { toolOf } from "./tools.js";

/** The task of a `run` or `resume` command. Makes its folder. */
export function taskOf(command, signal) {
  const document = command.task;
  if (document.folder) mkdirSync(document.folder, { recursive: true });
  return {
    case: document.case || command.seq,
    run: document.run ?? "r1",
    follows: document.follows ?? false,
    clockSeconds: document.clock_seconds ?? 0,
    toolSeconds: document.tool_seconds ?? undefined,
    dialect: document.dialect,
    stream: document.stream,
    baseUrl: document.base_url,
    apiKey: document.api_key,
    model: document.model,
    prompt: document.prompt,
    earlier: document.earlier ?? [],
    state: document.state ?? "client",
    lanes: document.lanes ?? [],
    toolChoice: document.tool_choice ?? "auto",
    limits: limitsOf(document.limits ?? {}),
    prices: document.prices ?? undefined,
    folder: document.folder ?? "",
    openapi: document.openapi ?? "",
    mcp: document.mcp ?? "",
    tools: (document.tools ?? []).map(toolOf),
    signal,
    resume: command.cmd === "resume" ? resumeOf(command) : undefined,
  };
}

function limitsOf({ rounds, tool_calls, seconds, tokens, cost, context, repeats }) {
  return {
    rounds: rounds ?? undefined,
    toolCalls: tool_calls ?? undefined,
    seconds: seconds ?? undefined,
    tokens: tokens ?? undefined,
    cost: cost ?? undefined,
    context: context ?? undefined,
    repeats: repeats ?? undefined,
  };
}

function resumeOf({ run, decisions }) {
  return {
    run: run ?? undefined,
    decisions: (decisions ?? []).map(({ call_id, tool, arguments: given, ...decision }) => ({
      callId: call_id,
      tool,
      arguments: given,
      ...decision,
    })),
  };
}
