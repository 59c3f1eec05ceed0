/** A loop on trial in Node: `serve(card, run)` speaks loopcheck's worker protocol. */

export { ended, final } from "./lib/outcome.js";
export { TargetError, ToolError } from "./lib/errors.js";
export { serve } from "./lib/serve.js";
