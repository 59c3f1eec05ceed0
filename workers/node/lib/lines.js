/** Lines of JSON over a pair of streams. */

/**
 * Gives each line of a stream as text. A line ends at a newline byte and nowhere else: JSON may
 * hold the other separators of Unicode as they are, and node:readline splits at them.
 */
export async function* lines(stream) {
  let parts = [];
  for await (const chunk of stream) {
    let rest = chunk;
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      yield Buffer.concat([...parts, rest.subarray(0, at)]).toString();
      parts = [];
      rest = rest.subarray(at + 1);
    }
    if (rest.length > 0) parts.push(rest);
  }
}

/** The command on a line. Throws ProtocolError, which knows the run that the line speaks of. */
export function commandOf(line) {
  const value = parsed(line);
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new ProtocolError("a command is a JSON object");
  }
  const members = COMMANDS[value.cmd];
  const seq = typeof value.seq === "string" ? value.seq : undefined;
  if (members === undefined) {
    const known = Object.keys(COMMANDS).join(", ");
    throw new ProtocolError(`unknown command ${JSON.stringify(value.cmd)}; known: ${known}`, seq);
  }
  for (const [name, type] of Object.entries(members)) {
    if (typeof value[name] !== type || value[name] === null) {
      throw new ProtocolError(`${value.cmd}.${name}: wants ${type}`, seq);
    }
  }
  return value;
}

/** A line that is no command. */
export class ProtocolError extends Error {
  name = "ProtocolError";

  constructor(message, seq) {
    super(message);
    this.seq = seq;
  }
}

const COMMANDS = Object.assign(Object.create(null), {
  hello: { protocol: "number" },
  run: { seq: "string", task: "object" },
  resume: { seq: "string", task: "object" },
  cancel: { seq: "string" },
  bye: {},
});

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
