/** The orders that somebody sent: opened again, they can be changed and sent again. */

import { made } from "../shared/elements.js";
import { $, announce, tell, untell } from "../shared/page.js";
import { clock, count, number, say } from "../shared/words.js";

/** Fill the dialog; `reopen(answer)` opens one. */
export function showFinished(asking, reopen) {
  const body = $("done-body");
  const done = asking.desk?.done ?? [];
  const note = asking.waiting ? [made("p", { className: "notice", textContent: count("answers.waiting", asking.waiting) })] : [];
  const rows = done.map((one) => row(one, reopen));
  const nothing = made("p", { className: "empty", textContent: say("rank.done.none") });
  body.replaceChildren(...note, rows.length ? made("ol", { className: "past" }, ...rows) : nothing);
}

function row(one, reopen) {
  const at = made("time", { className: "soft small", textContent: clock(one.at), dateTime: new Date(one.at * 1000).toISOString() });
  const name = made("span", { className: "past-name", textContent: one.query });
  const ranks = made("span", { className: "badge", textContent: say("rank.done.ranked", { n: number(one.ranked), of: number(one.of) }) });
  const button = made("button", { type: "button", className: "button small", textContent: say("rank.done.open") });
  button.setAttribute("aria-label", `${say("rank.done.open")}: ${one.query}`);
  button.addEventListener("click", () => reopen(one.answer));
  return made("li", { className: "past-row" }, made("div", { className: "past-line" }, at, name, ranks, button));
}

/** Open a finished order again in the place of what is on the page, which is kept. */
export async function reopen(asking, answer) {
  $("done").close();
  untell();
  try {
    await asking.turn("reopen", { answer });
    announce(say("rank.corrects"));
  } catch (failure) {
    tell(failure.passes ? say("rank.unreachable") : failure.message);
  }
}
