/** Several windows of one person: they tell one another what was answered, and only the last to go hands questions back. */

const GONE_MS = 150_000; // browsers let hidden windows act once a minute

export class Tabs extends EventTarget {
  #prefix;
  #name;
  #channel;

  constructor(owner) {
    super();
    this.#prefix = `adjudge.tab.${owner}.`;
    this.#name = this.#prefix + Math.random().toString(36).slice(2);
    this.#channel = "BroadcastChannel" in globalThis ? new BroadcastChannel(`adjudge.${owner}`) : null;
    this.#channel?.addEventListener("message", ({ data }) => {
      this.dispatchEvent(new CustomEvent("settled", { detail: data.settled }));
    });
  }

  /** Tell the others that a question is done with. */
  settled(lease) {
    this.#channel?.postMessage({ settled: lease });
  }

  /** Say that this window is there. */
  present() {
    this.#store(() => localStorage.setItem(this.#name, String(Date.now())));
  }

  /** Take this window off the list; whether it was the last. */
  depart() {
    this.#store(() => localStorage.removeItem(this.#name));
    return !this.#others().length;
  }

  #others() {
    const found = [];
    for (const name of Object.keys(localStorage)) {
      if (!name.startsWith(this.#prefix) || name === this.#name) continue;
      if (Date.now() - Number(localStorage.getItem(name)) < GONE_MS) found.push(name);
      else localStorage.removeItem(name);
    }
    return found;
  }

  #store(action) {
    try {
      action();
    } catch {
      // Nothing can be kept: then every window hands its questions back, and gets them again when it comes back.
    }
  }
}
