/** Cards are dragged by mouse from anywhere on them, by touch and pen from their handle, or from anywhere after a long press.
 *
 * A drop between two places makes a new one, a drop onto a place shares it where that is allowed, and a drop into the
 * tray takes the place away. Esc gives up.
 */

import { $ } from "../shared/page.js";
import { placeOf } from "./order.js";

const FAR = 5; // pixels that a press may move and still be a press
const LONG_PRESS_MS = 380;
const EDGE = 72; // pixels from where scrolling by itself begins
const FASTEST = 18; // pixels a frame
const NEAR = 8; // pixels beside a side that still belong to it
const BETWEEN = 26; // pixels at the edge of a place that mean "between", at most a third of it
const CONTROLS = "button, a, input, textarea, select, summary, .clip-text[tabindex]";

export class Dragging {
  #board;
  #ties;
  #drop;
  #press = null; // a pointer that is down: { id, card, x, y, timer, far }
  #drag = null; // what is dragged: { id, card, ghost, dx, dy, x, y, target }
  #frame = 0;
  #mark = $("drop-mark");

  /** `ties` says whether a place may be shared; `drop(card, target)` does it: { before }, { beside }, or { tray: true }. */
  constructor({ board, ties, drop }) {
    this.#board = board;
    this.#ties = ties;
    this.#drop = drop;
    const root = $("board");
    root.addEventListener("pointerdown", (event) => this.#down(event));
    root.addEventListener("dragstart", (event) => event.preventDefault()); // of images and links
    root.addEventListener("contextmenu", (event) => (this.#drag || this.#press?.timer) && event.preventDefault());
    addEventListener("pointermove", (event) => this.#move(event));
    addEventListener("pointerup", (event) => this.#up(event));
    addEventListener("pointercancel", (event) => this.#isMine(event) && this.cancel());
    addEventListener("blur", () => this.cancel());
    addEventListener("keydown", (event) => event.key === "Escape" && this.#drag && this.#escape(event), true);
    document.addEventListener("touchmove", (event) => this.#drag && event.cancelable && event.preventDefault(), { passive: false });
  }

  get active() {
    return this.#drag !== null;
  }

  #isMine(event) {
    return event.pointerId === (this.#drag ?? this.#press)?.id;
  }

  #down(event) {
    const card = this.#board.of(event.target);
    if (!card || event.button !== 0 || !event.isPrimary || this.#drag) return;
    const byHandle = Boolean(event.target.closest(".grip"));
    if (!byHandle && event.target.closest(CONTROLS)) return;
    const waits = event.pointerType !== "mouse" && !byHandle;
    const press = { id: event.pointerId, card, x: event.clientX, y: event.clientY, timer: null, far: waits ? Infinity : FAR };
    if (waits) press.timer = setTimeout(() => this.#press === press && this.#lift(press.x, press.y), LONG_PRESS_MS);
    this.#press = press;
  }

  #move(event) {
    if (!this.#isMine(event)) return;
    const { clientX: x, clientY: y } = event;
    if (this.#drag) {
      Object.assign(this.#drag, { x, y });
      return;
    }
    const moved = Math.hypot(x - this.#press.x, y - this.#press.y);
    if (moved > this.#press.far) this.#lift(x, y);
    else if (this.#press.far === Infinity && moved > 2 * FAR) this.#forget(); // somebody scrolls
  }

  #forget() {
    clearTimeout(this.#press?.timer);
    this.#press = null;
  }

  /** The card follows the pointer from now on, as a picture of itself. */
  #lift(x, y) {
    const { id, card, x: fromX, y: fromY } = this.#press;
    this.#forget();
    const box = card.element.getBoundingClientRect();
    const ghost = card.element.cloneNode(true);
    ghost.removeAttribute("data-id");
    ghost.classList.add("is-ghost");
    ghost.inert = true;
    ghost.setAttribute("aria-hidden", "true");
    ghost.style.width = `${box.width}px`;
    document.body.append(ghost);
    card.element.classList.add("is-lifted");
    document.body.classList.add("is-dragging");
    getSelection()?.removeAllRanges();
    navigator.vibrate?.(12);
    this.#drag = { id, card, ghost, dx: fromX - box.left, dy: fromY - box.top, x, y, target: null };
    this.#step();
  }

  /** Every frame: the picture, the scrolling near an edge, and where it would fall. */
  #step() {
    const drag = this.#drag;
    if (!drag) return;
    drag.ghost.style.transform = `translate(${drag.x - drag.dx}px, ${drag.y - drag.dy}px)`;
    this.#scroll(drag.x, drag.y);
    this.#aim(drag);
    this.#frame = requestAnimationFrame(() => this.#step());
  }

  /** What is seen of a side: the top and the bottom between which its cards are not below something else. */
  #seen(pane) {
    const box = pane.getBoundingClientRect();
    const scrolls = getComputedStyle(pane).overflowY !== "visible";
    const top = scrolls ? box.top : Math.max(box.top, $("rank-top").getBoundingClientRect().bottom);
    const bottom = scrolls ? box.bottom : Math.min(box.bottom, $("send-bar").getBoundingClientRect().top);
    return { box, scrolls, top, bottom };
  }

  /** However far above or below: who pulls a card out of the window wants to see what comes there. */
  #scroll(x, y) {
    const panes = [...document.querySelectorAll(".pane-in")].map((pane) => ({ pane, ...this.#seen(pane) }));
    const own = panes.find(({ scrolls, box }) => scrolls && x >= box.left - NEAR && x <= box.right + NEAR);
    if (!own && panes[0].scrolls) return;
    const top = own ? own.top : $("rank-top").getBoundingClientRect().bottom;
    const bottom = own ? own.bottom : $("send-bar").getBoundingClientRect().top;
    const pull = (distance) => Math.min(1, Math.max(0, (EDGE - distance) / EDGE)) * FASTEST;
    const by = pull(bottom - y) - pull(y - top);
    if (Math.abs(by) > 0.5) (own?.pane ?? document.scrollingElement).scrollBy({ top: by, behavior: "instant" });
  }

  /** Find what the pointer is at, and mark it. */
  #aim(drag) {
    const target = this.#targetAt(drag);
    if (JSON.stringify(target) !== JSON.stringify(drag.target)) {
      drag.target = target;
      const places = [...this.#board.list.children];
      places.forEach((place, at) => place.classList.toggle("is-target", target?.beside === at));
      $("tray-pane").classList.toggle("is-target", Boolean(target?.tray));
      $("list-pane").classList.toggle("is-target", target?.before !== undefined);
    }
    this.#showMark(target);
  }

  #targetAt({ card, x, y }) {
    const { groups } = this.#board;
    const own = placeOf(groups, card.id);
    if (inside($("tray-pane"), x, y)) return own < 0 ? null : { tray: true };
    if (!inside($("list-pane"), x, y, NEAR)) return null;
    const { top: from, bottom: to } = this.#seen(this.#board.list.closest(".pane-in"));
    const seenY = Math.min(Math.max(y, from), to); // nothing falls onto a place that is scrolled out of sight
    const places = [...this.#board.list.children];
    for (const [at, place] of places.entries()) {
      const { top, bottom, height } = place.getBoundingClientRect();
      const edge = this.#ties() ? Math.min(BETWEEN, height / 3) : height / 2;
      if (seenY < top + edge) return this.#between(at, own);
      if (seenY < bottom - edge) return at === own ? null : { beside: at };
    }
    return this.#between(places.length, own);
  }

  /** Before a place; nothing where that is where the card has been. */
  #between(before, own) {
    const stays = own >= 0 && this.#board.groups[own].length === 1 && (before === own || before === own + 1);
    return stays ? null : { before };
  }

  #showMark(target) {
    this.#mark.hidden = target?.before === undefined;
    if (this.#mark.hidden) return;
    const places = this.#board.list.children;
    const base = this.#board.list.getBoundingClientRect().top;
    const last = places[places.length - 1];
    const next = places[target.before];
    const gap = 5; // half of what is between two places
    const y = next ? next.getBoundingClientRect().top - gap : last ? last.getBoundingClientRect().bottom + gap : base;
    this.#mark.style.transform = `translateY(${Math.max(0, y - this.#mark.offsetParent.getBoundingClientRect().top)}px)`;
  }

  #up(event) {
    if (!this.#isMine(event)) return;
    this.#forget();
    const drag = this.#drag;
    if (!drag) return;
    Object.assign(drag, { x: event.clientX, y: event.clientY });
    this.#aim(drag);
    this.#end();
    addEventListener("click", swallow, { capture: true, once: true }); // the end of a drag presses nothing
    setTimeout(() => removeEventListener("click", swallow, { capture: true }), 50);
    const isThere = this.#board.cards.get(drag.card.id) === drag.card; // another query may have come meanwhile
    if (drag.target && isThere) this.#drop(drag.card, drag.target);
  }

  #escape(event) {
    event.preventDefault();
    event.stopPropagation();
    this.cancel();
  }

  cancel() {
    this.#forget();
    if (this.#drag) this.#end();
  }

  #end() {
    cancelAnimationFrame(this.#frame);
    const { card, ghost } = this.#drag;
    this.#drag = null;
    ghost.remove();
    card.element.classList.remove("is-lifted");
    document.body.classList.remove("is-dragging");
    this.#mark.hidden = true;
    for (const element of document.querySelectorAll(".is-target")) element.classList.remove("is-target");
  }
}

function swallow(event) {
  event.preventDefault();
  event.stopPropagation();
}

function inside(element, x, y, slack = 0) {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return x >= left - slack && x <= right + slack && y >= top - slack && y <= bottom + slack;
}
