/** Half-given answers, so that a reload costs nothing: kept in this browser, by what is compared. */

/** Everything that a question puts before people. */
export const itemsOf = (question) =>
  [question.query, question.candidate, ...(question.first ?? []), ...(question.second ?? [])].filter(Boolean);

/** What tells a question from another, also when it is leased again: what is compared; candidates by their numbers. */
export const identityOf = (question) =>
  JSON.stringify([...itemsOf(question).flatMap((item) => [item.url, item.text]), ...(question.candidates ?? []).map((one) => one.id)]);

export class Drafts {
  #storage;
  #prefix;

  /** `storage` is sessionStorage for this tab only, or localStorage for as long as the question is open. */
  constructor(storage, prefix) {
    this.#storage = storage;
    this.#prefix = prefix;
  }

  keep(question, draft) {
    try {
      this.#storage.setItem(this.#prefix + identityOf(question), JSON.stringify(draft));
    } catch {
      // A browser that keeps nothing: the answer is still on the page.
    }
  }

  recall(question) {
    try {
      return JSON.parse(this.#storage.getItem(this.#prefix + identityOf(question)));
    } catch {
      return null;
    }
  }

  forget(question) {
    this.#storage.removeItem(this.#prefix + identityOf(question));
  }

  /** Let go of all drafts but those of these questions. */
  keepOnly(questions) {
    const kept = new Set(questions.map((question) => this.#prefix + identityOf(question)));
    for (const name of Object.keys(this.#storage)) {
      if (name.startsWith(this.#prefix) && !kept.has(name)) this.#storage.removeItem(name);
    }
  }
}
