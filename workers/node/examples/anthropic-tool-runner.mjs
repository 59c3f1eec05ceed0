/** The Anthropic SDK's tool runner with its defaults. */

import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { ended, final, serve } from "loopcheck-worker";

serve(
  {
    name: "anthropic-tool-runner",
    packages: ["@anthropic-ai/sdk"],
    dialects: ["messages"],
    can: ["parallel", "limits", "thinking", "hosted", "cancel"],
    ends: [[Anthropic.APIUserAbortError, "cancelled"]],
  },
  async (task) => {
    const client = new Anthropic({ baseURL: task.baseUrl, apiKey: task.apiKey });
    const runner = client.beta.messages.toolRunner(
      {
        model: task.model,
        max_tokens: 1024,
        messages: [{ role: "user", content: task.prompt }],
        tools: task.tools.map(toolOf),
        stream: task.stream,
        max_iterations: task.limits.rounds,
      },
      { signal: task.signal },
    );
    return outcomeOf(await runner.runUntilDone());
  },
);

function toolOf({ name, description, parameters, call }) {
  return betaTool({
    name,
    description,
    inputSchema: parameters,
    run: (given, { toolUse, signal }) => call(given, { callId: toolUse.id, signal }),
  });
}

/** Maps the last message's stop reason, as the documentation tells callers to. */
function outcomeOf({ stop_reason: reason, content }) {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
  switch (reason) {
    case "end_turn":
      return final(text);
    case "refusal":
      return ended("refused", "refused", text);
    case "tool_use":
      return ended("limit", "max_rounds", text);
    case "max_tokens":
    case "model_context_window_exceeded":
      return ended("failed", "incomplete_response", text);
    default:
      return ended("failed", `stop_reason ${reason}`, text);
  }
}
