/** The preference page: what people press. The questions themselves are in preferring.js. */

import { setUpControls, setUpSkips } from "../shared/controls.js";
import { $, openDialog, setUpDialogs } from "../shared/page.js";
import { listen } from "./keyboard.js";
import { asking, choose, chosen, deck, redraw, send, skip, tourAll, tourList } from "./preferring.js";

const offerReasons = setUpSkips(skip, () => "broken");
const opened = {
  skip: () => {
    deck.pause();
    offerReasons();
  },
};
setUpDialogs(opened);
setUpControls(asking);

deck.addEventListener("change", redraw);
deck.addEventListener("blocked", () => $("start").open || openDialog("start", opened));
deck.addEventListener("toured", () => asking.keepDraft());
$("start-button").addEventListener("click", () => {
  $("start").close();
  deck.resume();
});
$("question").addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
$("choices").addEventListener("change", chosen);
$("tour").addEventListener("click", tourAll);
for (const place of ["first", "second"]) $(`tour-${place}`).addEventListener("click", () => tourList(place));
$("seek").addEventListener("input", () => deck.moveTo(Number($("seek").value)));
$("replay").addEventListener("click", () => deck.replay());

const whileAsked = (action) => (...values) => asking.shown && action(...values);
const at = (place, rank) => deck.of(place).find((track) => track.rank === rank);
listen({
  toggle: whileAsked(() => deck.toggle()),
  query: whileAsked(() => deck.press(at("query", 0))),
  press: whileAsked((place, rank) => deck.press(at(place, rank))),
  tour: whileAsked(tourAll),
  replay: whileAsked(() => deck.replay()),
  step: whileAsked((places) => deck.step(places)),
  seek: whileAsked((seconds) => deck.seek(seconds)),
  choose: whileAsked(choose),
  send: whileAsked(send),
  skip: whileAsked(() => openDialog("skip", opened)),
  help: () => openDialog("help", opened),
});

asking.begin();
