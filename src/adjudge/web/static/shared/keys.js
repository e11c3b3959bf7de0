/** Keys for everything. They rest while somebody types, while a dialog is open, and where a control needs them itself.
 * Esc ends the typing. */

const TYPED = 'textarea, select, input[type="text"], input[type="search"], input[type="email"]';

let byPointer = false; // how the focus came to where it is
addEventListener("pointerdown", () => (byPointer = true), true);
addEventListener("keydown", (event) => event.key === "Tab" && (byPointer = false), true);

/** Whether a control in focus has a use of its own for a key; one that was only clicked does not hold on to keys. */
export function belongsToControl({ target, key }) {
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

/** Listen to the page; `meaning` gives what a key does, or null, and `belongs` says which keys controls have themselves. */
export function listenToKeys(meaning, belongs = belongsToControl) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") return leaveTyping(event.target);
    if (event.target instanceof Element && event.target.closest(TYPED)) return;
    if (!event.altKey && belongs(event)) return;
    const act = meaning(event);
    if (!act) return;
    event.preventDefault();
    if (!event.repeat || event.key.startsWith("Arrow")) act();
  });
}
