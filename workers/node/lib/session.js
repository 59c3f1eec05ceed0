/** One harness's conversation with a target, without the streams that carry it. */

import { cardOf } from "./card.js";
import { className, TargetError } from "./errors.js";
import { commandOf, ProtocolError } from "./lines.js";
import { outcomeOf, outcomeOfError } from "./outcome.js";
import { taskOf } from "./task.js";

export const PROTOCOL = 1;

/** `write` takes each answer; `folders` are where the target's packages are looked for. */
export class Session {
  #card;
  #run;
  #write;
  #folders;
  #running;

  constructor(card, run, write, folders) {
    this.#card = card;
    this.#run = run;
    this.#write = write;
    this.#folders = folders;
  }

  /** Acts on a line. Returns false when the harness has said bye. */
  take(line) {
    let command;
    try {
      command = commandOf(line);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#errored(error, error.seq);
      return true;
    }
    switch (command.cmd) {
      case "hello":
        this.#hello();
        break;
      case "cancel":
        this.#cancel(command.seq);
        break;
      case "bye":
        return false;
      default:
        this.#start(command);
    }
    return true;
  }

  /** Gives up the run that goes on, where there is one. */
  stop() {
    this.#running?.controller.abort();
  }

  #hello() {
    try {
      this.#write({ card: cardOf(this.#card, this.#folders), protocol: PROTOCOL });
    } catch (error) {
      this.#errored(error);
    }
  }

  // The run answers, and this does not: the run may have ended meanwhile.
  #cancel(seq) {
    if (this.#running?.seq === seq) this.#running.controller.abort();
  }

  #start(command) {
    const { seq } = command;
    if (this.#running !== undefined) {
      this.#errored(new ProtocolError(`run ${this.#running.seq} goes on; one at a time`), seq);
      return;
    }
    const controller = new AbortController();
    if (command.cancel === true) controller.abort(); // resumed only to be given up
    this.#running = { seq, controller };
    this.#answer(command, controller.signal).then((answer) => {
      this.#running = undefined;
      this.#write({ seq, ...answer });
    });
  }

  async #answer(command, signal) {
    try {
      const task = taskOf(command, signal);
      const returned = await this.#returned(task);
      return "skipped" in returned ? returned : { outcome: returned };
    } catch (error) {
      return { errored: errorDocument(error) };
    }
  }

  async #returned(task) {
    let returned;
    try {
      returned = await this.#run(task);
    } catch (error) {
      if (error instanceof TargetError) throw error;
      return outcomeOfError(error, this.#card.ends ?? [], task.signal);
    }
    if (typeof returned?.skipped === "string") return { skipped: returned.skipped };
    return outcomeOf(returned);
  }

  #errored(error, seq) {
    this.#write({ seq, errored: errorDocument(error) });
  }
}

function errorDocument(error) {
  const message = error instanceof Error ? error.message : String(error);
  return { type: className(error), message: message.replace(/\s+/g, " ").trim() };
}
