/** What a person did, kept in this browser until the server says that it has it.
 *
 * Each thing is an entry of its own in localStorage, so that two windows never overwrite one another's, and is sent in
 * the order in which it was done. Sending twice does no harm: its key makes the server store it once. Events:
 * `acknowledged` {entry, reply}, `refused` {entry, failure}, `change`.
 */

import { call } from "./api.js";

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

export class Outbox extends EventTarget {
  #prefix;
  #memory = new Map(); // where the browser keeps nothing (private windows, full disk)
  #sending = false;
  #failures = 0;
  #timer = null;
  #last = 0;
  /** null while all is well, else "offline", "server" or "locked". */
  trouble = null;

  constructor(owner) {
    super();
    this.#prefix = `adjudge.outbox.${owner}.`;
    addEventListener("online", () => this.hurry());
    addEventListener("offline", () => this.#changed());
    addEventListener("storage", (event) => event.key?.startsWith(this.#prefix) && this.#changed());
  }

  /** What waits, in the order in which it was done. */
  get entries() {
    const found = new Map(this.#memory);
    for (let place = 0; place < localStorage.length; place += 1) {
      const name = localStorage.key(place);
      if (!name?.startsWith(this.#prefix)) continue;
      try {
        const entry = JSON.parse(localStorage.getItem(name));
        found.set(entry.body.key, entry);
      } catch {
        localStorage.removeItem(name); // not written by this page
      }
    }
    return [...found.values()].sort((one, other) => one.order - other.order);
  }

  get size() {
    return this.entries.length;
  }

  has(lease) {
    return this.entries.some((entry) => entry.body.lease === lease);
  }

  /** Keep something and send it as soon as may be. */
  put(path, body, extra = {}) {
    this.#last = Math.max(Date.now(), this.#last + 1);
    const entry = { path, body, extra, order: this.#last };
    try {
      localStorage.setItem(this.#prefix + body.key, JSON.stringify(entry));
    } catch {
      this.#memory.set(body.key, entry);
    }
    this.#changed();
    if (!this.#timer) this.send();
    return entry;
  }

  /** Try now rather than after the pause. */
  hurry() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#failures = 0;
    this.send();
  }

  /** Send what waits, one after another, until something fails. */
  async send() {
    if (this.#sending) return;
    this.#sending = true;
    try {
      for (let entry = this.entries[0]; entry; entry = this.entries[0]) {
        if (!(await this.#deliver(entry))) break;
      }
    } finally {
      this.#sending = false;
      this.#changed();
    }
  }

  async #deliver(entry) {
    try {
      const reply = await call("POST", entry.path, entry.body);
      this.#settle(entry);
      this.dispatchEvent(new CustomEvent("acknowledged", { detail: { entry, reply } }));
      return true;
    } catch (failure) {
      if (failure.passes) return this.#later(failure);
      if (failure.locked) {
        this.trouble = "locked"; // kept: the right link opens the way again
        return false;
      }
      this.#settle(entry);
      this.dispatchEvent(new CustomEvent("refused", { detail: { entry, failure } }));
      return true;
    }
  }

  #settle(entry) {
    this.#memory.delete(entry.body.key);
    localStorage.removeItem(this.#prefix + entry.body.key);
    this.#failures = 0;
    this.trouble = null;
    this.#changed();
  }

  #later(failure) {
    this.trouble = failure.status === 0 ? "offline" : "server";
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures);
    this.#failures += 1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.send();
    }, Math.max(failure.retryAfter * 1000, wait * (0.75 + Math.random() / 2)));
    return false;
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}
