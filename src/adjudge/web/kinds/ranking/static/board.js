/** The ordered places and those without one, on the page. Cards are moved, never made again; the focus goes with them. */

import { made } from "../shared/elements.js";
import { $, write } from "../shared/page.js";
import { count, number, say } from "../shared/words.js";
import { placeOf, ranked } from "./order.js";

const GLIDE_MS = 180;
const still = matchMedia("(prefers-reduced-motion: reduce)");

export class Board {
  cards = new Map(); // number -> Card, in the order of the tray
  groups = [];
  #current = { list: null, tray: null }; // the card of each side that Tab comes to
  #places = []; // an <li> a group
  #before = null; // where cards were, until they glide from there
  #gliding = []; // animations

  constructor() {
    this.list = $("places");
    this.tray = $("tray");
    for (const side of [this.list, this.tray]) side.addEventListener("focusin", (event) => this.#came(event.target));
  }

  /** Show the candidates of another query. */
  fill(cards) {
    this.cards = new Map(cards.map((card) => [card.id, card]));
    this.groups = [];
    this.#places = [];
    this.#current = { list: null, tray: null };
    this.list.replaceChildren();
    this.tray.replaceChildren(...cards.map((card) => card.element));
  }

  of(element) {
    const item = element?.closest?.(".incipit[data-id]");
    return item ? (this.cards.get(Number(item.dataset.id)) ?? null) : null;
  }

  /** "list" or "tray". */
  sideOf(card) {
    return placeOf(this.groups, card.id) < 0 ? "tray" : "list";
  }

  /** The cards of a side, as they stand. */
  cardsOf(side) {
    return [...this[side].querySelectorAll(".incipit")].map((element) => this.cards.get(Number(element.dataset.id)));
  }

  /* ---------- the order ---------- */

  /** Show an order. `moved` is the card that changed its place, where only one did. */
  draw(groups, { moved = null, glide = true } = {}) {
    if (glide && !still.matches) this.#glideFrom(this.#positions());
    const focused = document.activeElement;
    const holder = this.of(focused);
    this.groups = groups;
    if (moved) moved.element.remove(); // so that the others stay where they are
    this.#drawPlaces(groups);
    this.#drawTray();
    this.#drawWords();
    this.#keepCurrent();
    if (holder && document.activeElement !== focused) focused.focus({ preventScroll: true });
    if (holder && !this.focused) holder.body.focus({ preventScroll: true }); // the button is not there on its new side
  }

  #drawPlaces(groups) {
    const owned = new Map(); // a group keeps the <li> in which one of its cards is already
    const free = new Set(this.#places);
    for (const group of groups) {
      const li = group.map((id) => this.cards.get(id).element.closest(".place")).find((one) => free.has(one));
      if (li) free.delete(li);
      owned.set(group, li ?? null);
    }
    this.#places = groups.map((group) => owned.get(group) ?? this.#newPlace());
    arrange(this.list, this.#places);
    groups.forEach((group, place) => {
      const li = this.#places[place];
      arrange(li.lastChild, group.map((id) => this.cards.get(id).element));
      write(li.firstChild, number(place + 1));
      li.classList.toggle("is-tied", group.length > 1);
    });
  }

  #newPlace() {
    const head = made("span", { className: "place-number", ariaHidden: "true" });
    return made("li", { className: "place" }, head, made("ul", { className: "place-cards" }));
  }

  #drawTray() {
    const placed = new Set(this.groups.flat());
    const left = [...this.cards.values()].filter((card) => !placed.has(card.id)).map((card) => card.element);
    arrange(this.tray, left);
  }

  #drawWords() {
    const of = this.cards.size;
    const n = ranked(this.groups);
    for (const card of this.cards.values()) {
      const at = placeOf(this.groups, card.id);
      const others = at < 0 ? 0 : this.groups[at].length - 1;
      const place = at < 0 ? say("rank.label.none", { name: card.name }) : say("rank.label", { name: card.name, n: number(at + 1) });
      card.label = others ? `${place}, ${count("rank.tied", others)}` : place;
    }
    for (const element of document.querySelectorAll("[data-count=list]")) write(element, number(n));
    for (const element of document.querySelectorAll("[data-count=tray]")) write(element, number(of - n));
    $("list-empty").hidden = n > 0;
    $("tray-empty").hidden = n < of;
    $("board").dataset.ranked = String(n);
  }

  /** Where a card is, in words. */
  wordsOf(card, key = "rank.moved") {
    const at = placeOf(this.groups, card.id);
    if (at < 0) return say("rank.unranked", { name: card.name });
    const others = this.groups[at].length - 1;
    const place = say(key, { name: card.name, n: number(at + 1), of: number(this.groups.length) });
    return others ? `${place}, ${count("rank.tied", others)}.` : `${place}.`;
  }

  /* ---------- the focus ---------- */

  #came(target) {
    const card = this.of(target);
    if (card) this.#makeCurrent(card);
  }

  #makeCurrent(card) {
    const side = this.sideOf(card);
    if (this.#current[side] !== card) {
      if (this.#current[side]) this.#current[side].reachable = false;
      this.#current[side] = card;
    }
    card.reachable = true;
  }

  /** Tab comes to one card of each side, also after the one it came to went to the other. */
  #keepCurrent() {
    for (const side of ["list", "tray"]) {
      const current = this.#current[side];
      if (current && this.sideOf(current) === side) continue;
      this.#current[side] = null;
      const first = this.cardsOf(side)[0];
      if (current && !Object.values(this.#current).includes(current)) current.reachable = false;
      if (first) this.#makeCurrent(first);
    }
    const focused = this.of(document.activeElement);
    if (focused) this.#makeCurrent(focused);
  }

  /** The card that has the focus. */
  get focused() {
    return this.of(document.activeElement);
  }

  focusOn(card) {
    this.#makeCurrent(card);
    card.body.focus({ preventScroll: true });
    this.reveal(card);
  }

  /** Scroll until a card is seen whole, not below what stays in sight. */
  reveal(card) {
    this.#arrive();
    card.element.scrollIntoView({ block: "nearest" });
  }

  /** Go to the next card or the one before, to either end, or to the other side. */
  step(where) {
    const from = this.focused;
    const side = from ? this.sideOf(from) : this.cardsOf("tray").length ? "tray" : "list";
    const cards = this.cardsOf(side);
    if (where === "list" || where === "tray") return this.cross(where);
    const last = cards.length - 1;
    const at = cards.indexOf(from);
    const to = { next: Math.min(at + 1, last), previous: Math.max(at - 1, 0), first: 0, last }[where];
    if (cards[to]) this.focusOn(cards[to]);
    return undefined;
  }

  cross(side) {
    const card = this.#current[side] ?? this.cardsOf(side)[0];
    if (card) this.focusOn(card);
  }

  /** The card that gets the focus when this one leaves its side: the one after it, else the one before. */
  neighbour(card) {
    const cards = this.cardsOf(this.sideOf(card));
    const at = cards.indexOf(card);
    return cards[at + 1] ?? cards[at - 1] ?? null;
  }

  /* ---------- movement that can be followed ---------- */

  #positions() {
    return new Map([...this.cards.values()].map((card) => [card, card.element.getBoundingClientRect()]));
  }

  /** In the next frame: whoever scrolls to a card now must find it where it goes, not where it was. */
  #glideFrom(before) {
    if (!this.#before) requestAnimationFrame(() => this.#glide());
    this.#before ??= before;
    this.#arrive();
  }

  /** Cards are where they go, at once: scrolling to one that glides would go to where it was. */
  #arrive() {
    for (const one of this.#gliding.splice(0)) one.cancel();
  }

  #glide() {
    const before = this.#before;
    this.#before = null;
    for (const [card, from] of before) {
      const to = card.element.getBoundingClientRect();
      const [x, y] = [from.left - to.left, from.top - to.top];
      const seen = to.bottom > 0 && to.top < innerHeight;
      if (!seen || Math.abs(x) + Math.abs(y) < 1) continue;
      const glide = card.element.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], { duration: GLIDE_MS, easing: "cubic-bezier(.2,.7,.3,1)" });
      this.#gliding.push(glide);
    }
  }
}

/** Put children into this order, and move only those that are elsewhere. */
function arrange(parent, children) {
  const wanted = new Set(children);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  let next = parent.firstChild;
  for (const child of children) {
    if (child === next) next = next.nextSibling;
    else parent.insertBefore(child, next);
  }
}
