/** Which key does what on the judging page. */

import { listenToKeys } from "../shared/keys.js";

/** Listen to the page; `actions` has a function for each thing a key can do. */
export function listen(actions) {
  const plain = {
    " ": () => actions.toggle(),
    q: () => actions.press("query"),
    c: () => actions.press("candidate"),
    s: () => actions.switch(),
    r: () => actions.replay(),
    ",": () => actions.seek(-5),
    ".": () => actions.seek(5),
    n: () => actions.number(),
    u: () => actions.undo(),
    k: () => actions.skip(),
    enter: () => actions.send(),
    "?": () => actions.help(),
  };

  listenToKeys((event) => {
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && !event.altKey) return key === "z" && !event.shiftKey ? () => actions.undo() : null;
    if (key === "arrowleft" || key === "arrowright") {
      const sign = key === "arrowleft" ? -1 : 1;
      return event.altKey ? () => actions.seek(5 * sign) : () => actions.slide(sign * (event.shiftKey ? 10 : 1));
    }
    if (event.altKey) return null;
    if (/^[0-9]$/.test(key)) return () => actions.level(key);
    return plain[key] ?? null;
  });
}
