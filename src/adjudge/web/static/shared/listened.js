/** Honest counting of what was heard of a clip: only what played, and nothing of what was jumped over. */

import { isHeard } from "./notation.js";

const LONGEST_STEP = 3; // seconds between two looks at a playing clip; more is a jump

export class Listened {
  heardMs = 0;
  #last = null;

  /** Count what was heard of a playing element since the last look. */
  listen(audio) {
    const now = audio.currentTime;
    if (!audio.seeking && this.#last !== null) {
      const step = now - this.#last;
      if (step > 0 && step <= LONGEST_STEP) this.heardMs += step * 1000;
    }
    this.#last = audio.seeking || audio.paused ? null : now;
  }

  /** What follows is elsewhere in the clip. */
  jump() {
    this.#last = null;
  }
}

/** Milliseconds of an item that must be heard before an answer counts: those asked for, or most of a shorter clip. */
export function neededMs(item, listenSeconds, duration = 0) {
  if (!isHeard(item)) return 0;
  const seconds = item.seconds ?? duration;
  return 1000 * (seconds > 0 ? Math.min(listenSeconds, 0.9 * seconds) : listenSeconds);
}
