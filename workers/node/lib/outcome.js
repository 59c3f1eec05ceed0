/** How a run ended: from what a target returned, or threw. */

import { className, TargetError } from "./errors.js";

export const STATES = ["completed", "refused", "limit", "failed", "paused", "cancelled"];

/** A run that ended with the model's final answer. */
export function final(text) {
  return { state: "completed", reason: "final_answer", text: text ?? "" };
}

/** A run that ended in any other way that the loop can name. */
export function ended(state, reason, text = "") {
  return { state, reason, text };
}

/** The outcome that a target's return value stands for. Throws TargetError where it is none. */
export function outcomeOf(returned) {
  if (typeof returned === "string") return final(returned);
  if (returned === null || typeof returned !== "object" || !("state" in returned)) {
    throw new TargetError(
      `the target returned ${kind(returned)}; return a text, or {state, reason, text}`,
    );
  }
  const { state, reason, text, run, pending } = returned;
  if (!STATES.includes(state)) {
    throw new TargetError(`unknown state ${JSON.stringify(state)}; known: ${STATES.join(", ")}`);
  }
  for (const [member, value] of Object.entries({ reason, text, run })) {
    if (typeof (value ?? "") !== "string") {
      throw new TargetError(`the target returned a ${member} that is ${kind(value)}, not a text`);
    }
  }
  const named = reason ?? (state === "completed" ? "final_answer" : "");
  return { state, reason: named, text: text ?? "", run, pending: pending?.map(pendingCall) };
}

/**
 * The outcome that an error stands for: the state that `ends` maps its class to, `cancelled` for
 * what a cancelled run threw on its way out, else `failed` with the class as the reason.
 */
export function outcomeOfError(error, ends, signal) {
  const name = className(error);
  const text = error instanceof Error ? error.message : String(error);
  for (const [kind, state] of ends) {
    if (error instanceof kind) return { state, reason: name, text, exception: name };
  }
  if (signal.aborted && (error === signal.reason || name === "AbortError")) {
    return { state: "cancelled", reason: "cancelled_by_user", text: "" };
  }
  return { state: "failed", reason: name, text, exception: name };
}

function pendingCall({ callId, tool, arguments: given }) {
  return { call_id: callId, tool, arguments: given };
}

function kind(value) {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : typeof value;
}
