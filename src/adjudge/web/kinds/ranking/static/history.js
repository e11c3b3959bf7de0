/** Everything that was done to an order, so that it can be undone and done again, also after a reload.
 *
 * Kept in this browser by query, with what is known about the server's copy. It is written when something changes and at
 * no other time: another window of the same person would lose what it has not sent yet.
 */

import { identityOf } from "../shared/drafts.js";
import { read, same, written } from "./order.js";

const MOST_STEPS = 1000;
const MOST_SIGNS = 400_000; // browsers keep about five million for a site
const MOST_QUERIES = 12;

class History {
  #steps; // [order as a line, the candidate that moved or null]
  #at;

  constructor(steps = [["", null]], at = steps.length - 1) {
    this.#steps = steps;
    this.#at = at;
  }

  get groups() {
    return read(this.#steps[this.#at][0]);
  }

  get canUndo() {
    return this.#at > 0;
  }

  get canRedo() {
    return this.#at < this.#steps.length - 1;
  }

  /** Go on with another order, in which `id` moved (null: several did); what was undone before is gone then. */
  push(groups, id = null) {
    this.#steps.splice(this.#at + 1, Infinity, [written(groups), id]);
    if (this.#steps.length > MOST_STEPS) this.#steps.shift();
    this.#at = this.#steps.length - 1;
  }

  /** One step back; the candidate that moved. */
  undo() {
    return this.canUndo ? this.#steps[this.#at--][1] : null;
  }

  /** One step on again; the candidate that moves. */
  redo() {
    return this.canRedo ? this.#steps[++this.#at][1] : null;
  }

  /** As it is kept: the oldest steps are let go where there are too many. */
  toJSON() {
    let from = 0;
    let signs = this.#steps.reduce((sum, [line]) => sum + line.length + 8, 0);
    while (signs > MOST_SIGNS && from < this.#at) signs -= this.#steps[from++][0].length + 8;
    return { steps: this.#steps.slice(from), at: this.#at - from };
  }
}

/** Whether what was kept has the shape that this page writes, about these candidates. */
function isSound(kept, ids) {
  const { steps, at } = kept?.history ?? {};
  if (!Array.isArray(steps) || !Number.isInteger(at) || !steps[at]) return false;
  return steps.every(([line]) => typeof line === "string" && read(line).flat().every((id) => ids.has(id)));
}

/** Where histories are kept. */
export class Shelf {
  #prefix;

  constructor(owner) {
    this.#prefix = `adjudge.order.${owner}.`;
  }

  /** `known` is what is known about the server's copy: { version, dirty, sent }. */
  keep(question, history, known) {
    const value = JSON.stringify({ history, known, at: Date.now() });
    try {
      localStorage.setItem(this.#prefix + identityOf(question), value);
    } catch {
      this.#keepOnly(0); // full: older queries are let go; where even that is not enough, the server still has the order
      try {
        localStorage.setItem(this.#prefix + identityOf(question), value);
      } catch {
        // A browser that keeps nothing.
      }
    }
  }

  recall(question) {
    this.#keepOnly(MOST_QUERIES);
    try {
      const kept = JSON.parse(localStorage.getItem(this.#prefix + identityOf(question)));
      if (!isSound(kept, new Set(question.candidates.map((one) => one.id)))) return null;
      return { history: new History(kept.history.steps, kept.history.at), known: kept.known };
    } catch {
      return null;
    }
  }

  #keepOnly(most) {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(this.#prefix));
    const age = (name) => Number(/"at":(\d+)\}$/.exec(localStorage.getItem(name))?.[1] ?? 0);
    for (const name of names.sort((one, other) => age(other) - age(one)).slice(most)) localStorage.removeItem(name);
  }
}

/** What to go on with: what is kept here, what the server has, or, where both changed, what somebody chooses.
 *
 * Gives { history, version, dirty, sent, conflict }: `conflict` is the server's order where it must be asked for.
 */
export function reconcile(kept, arrangement) {
  const { version, groups } = arrangement;
  const fresh = { version, dirty: false, sent: [], conflict: null };
  if (!kept) return { history: new History([[written(groups), null]]), ...fresh };
  const { history, known } = kept;
  const sent = Array.isArray(known?.sent) ? known.sent : [];
  if (same(history.groups, groups)) return { history, ...fresh };
  if (known?.version === version || (known?.dirty && sent.includes(written(groups)))) return { history, ...fresh, dirty: true, sent };
  if (known?.dirty) return { history, ...fresh, dirty: true, conflict: groups };
  history.push(groups);
  return { history, ...fresh };
}
