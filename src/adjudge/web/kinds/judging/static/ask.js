/** The judging page: what people press. The questions themselves are in judging.js. */

import { playsByItself, setUpControls } from "../shared/controls.js";
import { $, announce, openDialog } from "../shared/page.js";
import { say } from "../shared/words.js";
import { Answers } from "./answers.js";
import { asking, deck, page, redraw, send, skip, untellDoubt } from "./judging.js";
import { listen } from "./keyboard.js";

const answers = new Answers({ body: $("answers-body"), outbox: asking.outbox, scales: () => asking.desk?.scales ?? [] });
setUpControls(asking, {
  deck,
  send,
  skip,
  likely: () => (deck.broken ? "broken" : "cannot_tell"),
  opened: {
    answers: () => {
      deck.pause();
      answers.show({ first: true });
    },
  },
});

deck.addEventListener("change", redraw);
deck.addEventListener("play", ({ detail: name }) => announce(say("judge.playing", { name })));
deck.addEventListener("ended", ({ detail: side }) => {
  asking.keepDraft();
  const other = deck.clips.candidate;
  if (side === "query" && playsByItself() && other.isAudio && !other.started && asking.shown) deck.play("candidate");
});
$("switch").addEventListener("click", () => deck.switch());
$("doubt-keep").addEventListener("click", send);
$("doubt-change").addEventListener("click", () => {
  untellDoubt();
  page.fields.all[0].focus();
});

const whileAsked = (action) => (...values) => asking.shown && action(...values);
listen({
  toggle: whileAsked(() => deck.toggle()),
  press: whileAsked((side) => deck.press(side)),
  switch: whileAsked(() => deck.switch()),
  replay: whileAsked(() => deck.replay()),
  seek: whileAsked((seconds) => deck.seek(seconds)),
  slide: whileAsked((steps) => page.fields.meant(page.fields.sliders)?.move(steps)),
  level: whileAsked((digit) => {
    const field = page.fields.meant(page.fields.buttons);
    if (field) field.press(digit);
    else typeNumber(digit);
  }),
  number: whileAsked(() => typeNumber("")),
  send: whileAsked(send),
  undo: () => openDialog("answers"),
  skip: whileAsked(() => openDialog("skip")),
  help: () => openDialog("help"),
});

function typeNumber(digit) {
  const field = page.fields.meant(page.fields.sliders);
  if (!field) return;
  field.box.focus();
  field.box.value = digit;
  field.box.dispatchEvent(new Event("input"));
}

asking.begin();
