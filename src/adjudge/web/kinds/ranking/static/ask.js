/** The ranking page: what people press. The questions themselves are in ranking.js. */

import { setUpControls } from "../shared/controls.js";
import { $, announce, openDialog } from "../shared/page.js";
import { number, say } from "../shared/words.js";
import { Dragging } from "./dragging.js";
import { reopen, showFinished } from "./finished.js";
import { listen } from "./keyboard.js";
import { MoveSheet } from "./moving.js";
import { asking, board, deck, handBack, measure, moves, reallySend, redo, rules, saving, send, settle, skip, undo } from "./ranking.js";

const ties = () => rules().ties;
const sheet = new MoveSheet({ board, moves, ties });
const dragging = new Dragging({ board, ties, drop: moves.drop });
setUpControls(asking, { deck, send, skip, opened: { done: () => showFinished(asking, (answer) => reopen(asking, answer)) } });

$("undo").addEventListener("click", undo);
$("redo").addEventListener("click", redo);
$("left-send").addEventListener("click", reallySend);
$("hand-back").addEventListener("click", handBack);
$("leave-open").addEventListener("click", handBack);
$("conflict").addEventListener("cancel", (event) => event.preventDefault()); // one of the two must be chosen
for (const which of ["theirs", "ours"]) $(`conflict-take-${which}`).addEventListener("click", () => settle(which));
for (const button of document.querySelectorAll("[data-jump]")) {
  button.addEventListener("click", () => {
    const pane = $(`${button.dataset.jump}-pane`);
    pane.scrollIntoView({ block: "start" });
    pane.querySelector("h2").focus({ preventScroll: true });
  });
}
$("board").addEventListener("click", (event) => {
  const card = board.of(event.target);
  if (!card) return;
  if (event.target.closest("[data-add]")) moves.last(card);
  else if (event.target.closest("[data-more]")) sheet.open(card);
});
addEventListener("resize", measure);
addEventListener("pagehide", () => saving.farewell());
document.addEventListener("visibilitychange", () => document.hidden && saving.hurry());

/* ---------- keys ---------- */

const whileAsked = (action) => (...values) => asking.shown && !dragging.active && action(...values);
const onCard = (action) => whileAsked((...values) => board.focused && action(board.focused, ...values));
listen({
  step: whileAsked((where) => board.step(where)),
  up: onCard(moves.up),
  down: onCard(moves.down),
  tie: onCard(moves.tie),
  unrank: onCard(moves.unrank),
  place: onCard(moves.place),
  enter: onCard((card) => (board.sideOf(card) === "tray" ? moves.last(card) : sheet.open(card))),
  menu: onCard((card) => sheet.open(card)),
  mayType: () => Boolean(asking.shown && board.focused),
  typing: (digits) => {
    $("typing").hidden = !digits;
    $("typing").textContent = digits ? say("rank.typing", { n: number(Number(digits)) }) : "";
    if (digits) announce(digits);
  },
  toggle: whileAsked(() => (board.focused?.isAudio ? deck.press(board.focused) : deck.toggle())),
  query: whileAsked(() => deck.press(deck.tracks[0])),
  replay: whileAsked(() => deck.replay()),
  seek: whileAsked((seconds) => deck.seek(seconds)),
  undo: whileAsked(undo),
  redo: whileAsked(redo),
  send: whileAsked(send),
  skip: whileAsked(() => asking.shown.corrects === null && openDialog("skip")),
  help: () => openDialog("help"),
});

asking.begin();
