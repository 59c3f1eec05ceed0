/** The protocol that an agent's requests to its model follow. */
export type Dialect = "responses" | "chat" | "messages";

export type State = "completed" | "refused" | "limit" | "failed" | "paused" | "cancelled";

/** Who is on trial. */
export interface Card {
  name: string;
  version?: string;
  /** `javascript` unless given. */
  language?: string;
  /** Names of packages whose installed versions belong in the report. */
  packages?: readonly string[];
  dialects: readonly Dialect[];
  /** Both unless given. */
  modes?: readonly ("whole" | "stream")[];
  /** Capabilities, such as `parallel`, `limits`, `validates`, `approval`, `cancel`. */
  can?: readonly string[];
  /** What the limit on rounds counts: `rounds` (model responses) unless given. */
  limitUnit?: string;
  /** Which state an error of a class stands for; the first class that fits decides. */
  ends?: Iterable<readonly [abstract new (...args: never[]) => unknown, State]>;
}

/** What goes along with a call of a tool: whatever the loop has of it. */
export interface How {
  /** The id of the call, as the model gave it. */
  callId?: string;
  /** An id of the operation that stays the same when it is tried again. */
  operationId?: string;
  /** Gives up waiting for the tool. */
  signal?: AbortSignal | null;
}

/** A part of a result. `data` is base64. */
export type Content =
  { type: "text"; text: string } | { type: "image"; data: string; mimeType: string };

/** A tool of the simulated world. */
export interface Tool {
  name: string;
  description: string;
  /** A JSON Schema. */
  parameters: Record<string, unknown>;
  /** One of kind `ask` has no body: a person answers it. */
  kind: "read" | "write" | "ask";
  /** The arguments that name the business operation, where the tool has any. */
  operation?: readonly string[];
  /** `ask` wants a person's decision for each call, `disabled` is never run. */
  approval: "allow" | "ask" | "disabled";
  /** Whether its system does nothing for an operation id that it has seen. */
  deduplicates: boolean;
  /** Runs the tool and gives its result as text. Throws ToolError for what the tool raises. */
  call(args?: unknown, how?: How): Promise<string>;
  /** The same, with the parts of the result, for loops whose model takes images. */
  callContent(args?: unknown, how?: How): Promise<Content[]>;
  /** What became of an operation, where the tool's system can tell. */
  lookup?(operationId: string): Promise<Record<string, unknown>>;
}

/** Limits that the scenario sets. */
export interface Limits {
  rounds?: number;
  toolCalls?: number;
  seconds?: number;
  tokens?: number;
  /** In dollars. */
  cost?: number;
  /** The tokens of the latest response. */
  context?: number;
  /** How often in a row the same calls are carried out. */
  repeats?: number;
}

/** A call that waits for a decision. */
export interface PendingCall {
  callId: string;
  tool: string;
  arguments: unknown;
}

/**
 * What a person says about a call. `arguments` is what was approved, which may differ from what
 * was asked; `value` is the answer to a tool of kind `ask`.
 */
export interface Decision extends PendingCall {
  decide: "approve" | "deny" | "answer";
  reason?: string;
  value?: unknown;
}

/** One task for the loop on trial. */
export interface Task {
  /** The id of the case, for logs. */
  case: string;
  /** A name of the run within its case; it stays the same when the run is resumed. */
  run: string;
  /** Whether the prompt is the next message of the same conversation. */
  follows: boolean;
  /** How far the scenario's clock is ahead of the real one. */
  clockSeconds: number;
  /** How long a tool may take before it is given up, where the scenario bounds it. */
  toolSeconds?: number;
  dialect: Dialect;
  stream: boolean;
  /** What the dialect's own SDK expects: with `/v1` for OpenAI's, without for Anthropic's. */
  baseUrl: string;
  apiKey: string;
  model: string;
  prompt: string;
  /** What was said in this conversation before. */
  earlier: { role: "user" | "assistant"; text: string }[];
  /** Who keeps the conversation. */
  state: "client" | "server";
  /** Conversations to be held at the same time, beside the one that has no name. */
  lanes: { name: string; model?: string | null; tools?: string[] | null }[];
  toolChoice: string;
  limits: Limits;
  /** What tokens cost, in dollars a million. */
  prices?: { input: number; output: number };
  /** A directory of this run. */
  folder: string;
  /** Where the same tools are served as HTTP operations (OpenAPI 3.1). */
  openapi: string;
  /** Where the same tools are served by the Model Context Protocol. */
  mcp: string;
  tools: Tool[];
  /** Aborted when the run is to be given up. */
  signal: AbortSignal;
  /**
   * Given when a run is to go on that was paused, or whose process died: `run` is the id that its
   * outcome gave, undefined where none was heard.
   */
  resume?: { run?: string; decisions: Decision[] };
}

/** How a run ended. Each state but `completed` wants a reason. */
export interface Outcome {
  state: State;
  reason?: string;
  text?: string;
  /** The target's own id of a run that is paused. */
  run?: string;
  /** The calls that a paused run waits for. */
  pending?: PendingCall[];
}

/** A case that the target declines, which is no failure. */
export interface Skipped {
  skipped: string;
}

/**
 * Serves a target on stdin and stdout until loopcheck says bye or is gone.
 *
 * `run` gets one task at a time. A text it returns is the final answer. An error it throws is an
 * outcome, too: the one that `card.ends` maps its class to, else `failed` with the class as the
 * reason. Only a TargetError says that the target itself is broken. What is printed on stdout
 * meanwhile goes to stderr.
 */
export function serve(
  card: Card,
  run: (task: Task) => Promise<string | Outcome | Skipped> | string | Outcome | Skipped,
): Promise<void>;

/** A run that ended with the model's final answer. */
export function final(text: string | null | undefined): Outcome;

/** A run that ended in any other way that the loop can name. */
export function ended(state: State, reason: string, text?: string): Outcome;

/** Throw it where the target is described or built wrongly: the case is then broken, not failed. */
export class TargetError extends Error {}

/**
 * A tool raised. `code` is what it raised, such as `TimeoutError`; `retryable` says that another
 * try may go better, and nothing about what this one has already done. `retryAfter` is how many
 * seconds a busy system asks to wait.
 */
export class ToolError extends Error {
  constructor(code: string, message: string, retryAfter?: number);
  readonly code: string;
  readonly retryable: boolean;
  readonly retryAfter?: number;
}
