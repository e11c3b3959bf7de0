/** The order goes to the server by itself, a moment after each change; without a connection it waits here.
 *
 * `version` is the server's copy that this page knows. Where the server has another one, somebody moved candidates in
 * another window or on another device. Events: `change` (something to show and to keep), `conflict` {groups, version},
 * `stored` (what the server answered), `lost` (the query is not in one's hands any more, or nobody knows who one is).
 */

import { call } from "../shared/api.js";
import { same, written } from "./order.js";

const PAUSE_MS = 600;
const FIRST_WAIT_MS = 1500;
const LONGEST_WAIT_MS = 30_000;
const CSRF = document.querySelector('meta[name="csrf"]')?.content ?? "";

export class Saving extends EventTarget {
  version = 0;
  dirty = false;
  sent = []; // what was sent and not acknowledged: it may have arrived all the same
  /** "saved", "saving", "offline", "server", "conflict", or "kept" where the server does not take it. */
  state = "saved";
  #address;
  #lease;
  #groups;
  #changes = 0;
  #busy = null; // the lease of what is on its way
  #failures = 0;
  #timer = null;

  /** `lease` and `groups` are functions: what is in hand, and its order as it is now. */
  constructor({ address, lease, groups }) {
    super();
    this.#address = `${address}/arrangement`;
    this.#lease = lease;
    this.#groups = groups;
    addEventListener("online", () => this.hurry());
    addEventListener("offline", () => this.dirty && this.#become("offline"));
  }

  /** Begin with a query. */
  begin({ version, dirty, sent }) {
    clearTimeout(this.#timer);
    Object.assign(this, { version, dirty, sent });
    this.#failures = 0;
    this.#become(dirty ? "saving" : "saved");
    if (dirty) this.#later(PAUSE_MS);
  }

  /** The order changed. */
  changed() {
    this.#changes += 1;
    this.dirty = true;
    if (this.state === "saved" || this.state === "kept") this.state = "saving";
    this.#become(navigator.onLine ? this.state : "offline");
    if (this.state !== "conflict") this.#later(PAUSE_MS);
  }

  /** Go on after a conflict, or with what the server has: from this version of its copy. */
  rebase(version, { dirty }) {
    this.version = version;
    this.sent = [];
    this.#changes += 1;
    this.dirty = dirty;
    this.#become(dirty ? "saving" : "saved");
    if (dirty) this.#later(0);
  }

  /** Try now rather than after the pause. */
  hurry() {
    if (this.dirty && this.state !== "conflict") this.#later(0);
  }

  /** Send what waits now, and wait for it. */
  async flush() {
    clearTimeout(this.#timer);
    await this.#send();
  }

  /** The page goes away: send what waits, and wait for no answer. */
  farewell() {
    const lease = this.#lease();
    if (!this.dirty || !lease || this.state === "conflict") return;
    const groups = this.#groups();
    this.#sending(groups);
    this.#become(this.state);
    const headers = { "Content-Type": "application/json", "X-CSRF-Token": CSRF };
    const body = JSON.stringify({ lease, version: this.version, groups });
    fetch(this.#address, { method: "PUT", headers, body, credentials: "same-origin", keepalive: true }).catch(() => {});
  }

  #later(wait) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#send(), wait);
  }

  #sending(groups) {
    this.sent = [...this.sent.slice(-4), written(groups)];
  }

  async #send() {
    const lease = this.#lease();
    if (!this.dirty || !lease || this.#busy === lease || this.state === "conflict") return;
    this.#busy = lease;
    const [change, groups] = [this.#changes, this.#groups()];
    this.#sending(groups);
    if (navigator.onLine) this.#become("saving");
    try {
      const reply = await call("PUT", this.#address, { lease, version: this.version, groups });
      if (lease === this.#lease()) this.#stored(reply, change);
      this.dispatchEvent(new CustomEvent("stored", { detail: reply }));
    } catch (failure) {
      if (lease === this.#lease()) this.#failed(failure, groups);
    } finally {
      this.#busy = null;
    }
  }

  #stored({ version }, change) {
    this.version = version;
    this.sent = [];
    this.#failures = 0;
    this.dirty = this.#changes !== change;
    this.#become(this.dirty ? "saving" : "saved");
    if (this.dirty) this.#later(PAUSE_MS);
  }

  #failed(failure, groups) {
    const theirs = failure.body?.arrangement;
    if (failure.status === 409 && theirs) return this.#contradicted(theirs, groups);
    if (failure.passes) {
      const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures);
      this.#failures += 1;
      this.#become(failure.status === 0 ? "offline" : "server");
      return this.#later(Math.max(failure.retryAfter * 1000, wait * (0.75 + Math.random() / 2)));
    }
    this.#become("kept");
    this.dispatchEvent(new Event("lost"));
    return undefined;
  }

  /** The server has another version: our own that arrived without our knowing, or somebody else's. */
  #contradicted(theirs, groups) {
    if (same(theirs.groups, groups) || this.sent.includes(written(theirs.groups))) {
      this.rebase(theirs.version, { dirty: !same(theirs.groups, this.#groups()) });
      return;
    }
    this.#become("conflict");
    this.dispatchEvent(new CustomEvent("conflict", { detail: theirs }));
  }

  #become(state) {
    this.state = state;
    this.dispatchEvent(new Event("change"));
  }
}
