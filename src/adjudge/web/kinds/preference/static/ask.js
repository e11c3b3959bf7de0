/** The preference page: what people press. The questions themselves are in preferring.js. */

import { setUpControls } from "../shared/controls.js";
import { $, openDialog } from "../shared/page.js";
import { listen } from "./keyboard.js";
import { asking, choose, chosen, deck, redraw, send, skip, tourAll, tourList, trackAt } from "./preferring.js";

setUpControls(asking, { deck, send, skip });

deck.addEventListener("change", redraw);
deck.addEventListener("toured", () => asking.keepDraft());
$("choices").addEventListener("change", chosen);
$("tour").addEventListener("click", tourAll);
for (const place of ["first", "second"]) $(`tour-${place}`).addEventListener("click", () => tourList(place));
$("seek").addEventListener("input", () => deck.moveTo(Number($("seek").value)));
$("replay").addEventListener("click", () => deck.replay());

const whileAsked = (action) => (...values) => asking.shown && action(...values);
listen({
  toggle: whileAsked(() => deck.toggle()),
  query: whileAsked(() => deck.press(trackAt("query", 0))),
  press: whileAsked((place, rank) => deck.press(trackAt(place, rank))),
  tour: whileAsked(tourAll),
  replay: whileAsked(() => deck.replay()),
  step: whileAsked((places) => deck.step(places)),
  seek: whileAsked((seconds) => deck.seek(seconds)),
  choose: whileAsked(choose),
  send: whileAsked(send),
  skip: whileAsked(() => openDialog("skip")),
  help: () => openDialog("help"),
});

asking.begin();
