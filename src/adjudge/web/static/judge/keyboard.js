/** One key for everything. Keys rest while somebody types, while a dialog is open, and where a control needs them itself.
 * Esc ends the typing. */

const TYPED = 'textarea, select, input[type="text"], input[type="search"], input[type="email"]';

let byPointer = false; // how the focus came to where it is
addEventListener("pointerdown", () => (byPointer = true), true);
addEventListener("keydown", (event) => event.key === "Tab" && (byPointer = false), true);

/** Whether a control in focus has a use of its own for a key; one that was only clicked does not hold on to keys. */
function belongsToControl({ target, key }) {
  if (!(target instanceof Element)) return false;
  if (target.matches('input[type="number"]')) return key !== "Enter" && !/^[ a-df-z?]$/i.test(key); // no number has those
  if (byPointer) return false;
  if (key === " ") return target.matches("button, a, summary, input[type='checkbox'], input[type='radio']:not(:checked)");
  if (key === "Enter") return target.matches("button, a, summary");
  return key.startsWith("Arrow") && target.matches('input[type="radio"], input[type="range"]');
}

/** Give the keys back to the page. */
function leaveTyping(target) {
  if (target instanceof Element && target.matches(`${TYPED}, input[type="number"]`)) document.getElementById("heading").focus({ preventScroll: true });
}

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

  function meaning(event) {
    const key = event.key.toLowerCase();
    if ((event.ctrlKey || event.metaKey) && !event.altKey) return key === "z" && !event.shiftKey ? () => actions.undo() : null;
    if (key === "arrowleft" || key === "arrowright") {
      const sign = key === "arrowleft" ? -1 : 1;
      return event.altKey ? () => actions.seek(5 * sign) : () => actions.slide(sign * (event.shiftKey ? 10 : 1));
    }
    if (event.altKey) return null;
    if (/^[0-9]$/.test(key)) return () => actions.level(key);
    return plain[key] ?? null;
  }

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") return leaveTyping(event.target);
    if (event.target instanceof Element && event.target.closest(TYPED)) return;
    if (!event.altKey && belongsToControl(event)) return;
    const act = meaning(event);
    if (!act) return;
    event.preventDefault();
    if (!event.repeat || event.key.startsWith("Arrow")) act();
  });
}
