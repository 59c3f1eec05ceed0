/** A target as a worker: its process's streams, and its end. */

import { dirname } from "node:path";

import { lines } from "./lines.js";
import { Session } from "./session.js";

/** Serves the target until the harness says bye or is gone. See index.d.ts. */
export async function serve(card, run) {
  const session = new Session(card, run, takeStdout(), folders());
  for await (const line of lines(process.stdin)) {
    if (!session.take(line)) process.exit(0);
  }
  session.stop();
  endGroup();
}

/** The protocol's stdout. Nobody else gets it: what the target prints goes to stderr. */
function takeStdout() {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  return (answer) => {
    write(`${JSON.stringify(answer)}\n`);
  };
}

function folders() {
  const script = process.argv[1];
  return script === undefined ? [process.cwd()] : [dirname(script), process.cwd()];
}

// The harness is gone. What the target started must not outlive it; loopcheck makes each worker
// the leader of its own group, and where this is none, there is no group of that number.
function endGroup() {
  try {
    process.kill(-process.pid, "SIGKILL");
  } catch {
    process.exit(0);
  }
}
