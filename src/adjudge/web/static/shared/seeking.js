/** The slider that moves through a clip. */

import { minutes, say } from "./words.js";

/** Show where a clip is, in seconds; the slider stays where it is `held`. Returns the share of the clip before that. */
export function drawSeek(seek, { position, duration, held = false }) {
  const share = duration > 0 ? Math.min(1, position / duration) : 0;
  if (Number(seek.max) !== duration && duration > 0) seek.max = String(duration);
  if (!held) seek.value = String(position);
  seek.style.setProperty("--share", String(share));
  const text = say("clip.position.at", { now: minutes(position), length: minutes(duration) });
  if (seek.getAttribute("aria-valuetext") !== text) seek.setAttribute("aria-valuetext", text);
  return share;
}
