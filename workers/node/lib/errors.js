/** The errors that a target meets, or makes. */

/** A target is described or built wrongly; the case is then broken, not failed. */
export class TargetError extends Error {
  name = "TargetError";
}

const RETRYABLE = ["TimeoutError", "ConnectionError", "RateLimited"];

/**
 * A tool raised. `code` is what it raised, such as `TimeoutError`; `retryable` says that another
 * try may go better, and nothing about what this one has already done. `retryAfter` is how many
 * seconds a busy system asks to wait.
 */
export class ToolError extends Error {
  name = "ToolError";

  constructor(code, message, retryAfter) {
    super(message);
    this.code = code;
    this.retryable = RETRYABLE.includes(code);
    this.retryAfter = retryAfter;
  }
}

/** The name that an error goes by: its own, unless it only has the one of every error. */
export function className(error) {
  if (!(error instanceof Error)) return typeof error;
  return error.name === "Error" ? (error.constructor?.name ?? "Error") : error.name;
}
