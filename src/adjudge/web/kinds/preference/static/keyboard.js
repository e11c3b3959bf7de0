/** Which key does what where two lists are compared. */

import { belongsToControl, listenToKeys } from "../shared/keys.js";

/** Keys of the first five clips of either list, as they lie on the keyboard. */
export const KEYS = { first: ["1", "2", "3", "4", "5"], second: ["6", "7", "8", "9", "0"] };
const CHOICES = { arrowleft: "first", arrowright: "second", arrowup: "good", arrowdown: "bad" };

/** Sliders and long texts have a use for arrows; answers are chosen by them, also where one of them has the focus. */
function belongs(event) {
  const { target, key } = event;
  if (!(target instanceof Element) || !key.startsWith("Arrow")) return belongsToControl(event);
  if (target.matches(".clip-text")) return target.scrollHeight > target.clientHeight;
  return target.matches('input[type="range"]');
}

/** Listen to the page; `actions` has a function for each thing a key can do. */
export function listen(actions) {
  const plain = {
    " ": () => actions.toggle(),
    q: () => actions.query(),
    p: () => actions.tour(),
    r: () => actions.replay(),
    n: () => actions.step(1),
    ",": () => actions.seek(-5),
    ".": () => actions.seek(5),
    k: () => actions.skip(),
    enter: () => actions.send(),
    "?": () => actions.help(),
  };

  listenToKeys((event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return null;
    const key = event.key.toLowerCase();
    if (key in CHOICES) return () => actions.choose(CHOICES[key]);
    if (key === "n" && event.shiftKey) return () => actions.step(-1);
    for (const [place, keys] of Object.entries(KEYS)) if (keys.includes(key)) return () => actions.press(place, keys.indexOf(key) + 1);
    return plain[key] ?? null;
  }, belongs);
}
