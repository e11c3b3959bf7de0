/* What live dashboards share: the stream of snapshots, the state of the campaign, drawing without disturbing. */

import { celebrate } from "./celebration.js";
import { drawProblems } from "./problems.js";
import { ask, send, toast } from "./requests.js";

const page = document.querySelector("[data-dashboard]");
const { campaign } = page.dataset;

/** Places of the page that are drawn, by their names, and the numbers on it, by theirs. */
export const at = (name) => page.querySelector(`[data-place="${name}"]`);
export const tiles = Object.fromEntries([...page.querySelectorAll("[data-tile]")].map((tile) => [tile.dataset.tile, tile]));

/**
 * Listen to the snapshots of a campaign and draw each of them.
 *
 * `headline(picture)` says where it stands, `parts(picture)` are functions that draw one part each, and
 * `drawPeople(place, picture)` draws who takes part, also when only time has passed. `reached` is said when the goal is
 * reached while somebody watches; `problems` are what `drawProblems` needs. What cannot be drawn does not take the rest
 * with it.
 */
export function watch({ reached, headline, parts, drawPeople, problems }) {
  let shown = null;
  const people = (picture) => keeping("people", (place) => drawPeople(place, picture));

  function draw(picture) {
    const all = [
      () => drawState(picture, shown, reached),
      () => { at("headline").textContent = `${headline(picture)}.`; },
      ...parts(picture),
      () => people(picture),
      () => keeping("problems", (place) => drawProblems(place, picture, { campaign, ...problems })),
      () => drawNotes(at("notes"), picture.notes),
    ];
    for (const part of all) {
      try {
        part();
      } catch (error) {
        console.error(error);
      }
    }
    page.dataset.version = String(picture.version);
    shown = picture;
  }

  page.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-go]");
    if (button === null) return;
    event.preventDefault();
    const question = shown?.status.done ? (button.dataset.askDone ?? button.dataset.ask) : button.dataset.ask;
    if (question && !(await ask(question, button.dataset.yes))) return;
    button.disabled = true;
    const changed = await send("POST", `/api/campaigns/${campaign}/state`, { state: button.dataset.go });
    button.disabled = false;
    if (changed && shown !== null) draw({ ...shown, campaign: { ...shown.campaign, state: button.dataset.go } });
  });

  let width = innerWidth;
  addEventListener("resize", () => {
    if (shown !== null && innerWidth !== width) draw(shown);
    width = innerWidth;
  });
  setInterval(() => shown !== null && people(shown), 30_000);

  const first = document.querySelector("#picture");
  if (first?.textContent.trim()) {
    const picture = JSON.parse(first.textContent);
    if (picture) draw(picture);
  }
  listen(draw);
}

/** Draw a place again without taking away what somebody opened, scrolled to or has the focus on. */
export function keeping(name, drawAgain) {
  const place = at(name);
  const reachable = () => [...place.querySelectorAll("summary, button, a, audio, [tabindex]")];
  const focused = place.contains(document.activeElement) ? document.activeElement : null;
  const number = reachable().indexOf(focused);
  const opened = [...place.querySelectorAll("details")].map((details) => details.open);
  const scrolled = [...place.querySelectorAll("[tabindex]")].map((element) => [element.scrollLeft, element.scrollTop]);
  drawAgain(place);
  [...place.querySelectorAll("details")].forEach((details, i) => { details.open = opened[i] ?? false; });
  [...place.querySelectorAll("[tabindex]")].forEach((element, i) => element.scrollTo(...(scrolled[i] ?? [0, 0])));
  if (focused !== null) (focused.isConnected ? focused : reachable()[number])?.focus({ preventScroll: true });
}

function drawState(picture, before, said) {
  const { state } = picture.campaign;
  const reached = picture.status.done && (state === "open" || state === "paused");
  const badge = document.querySelector("[data-state-badge]");
  badge.textContent = state;
  badge.dataset.state = state;
  for (const banner of page.querySelectorAll("[data-banner]")) {
    const { banner: kind } = banner.dataset;
    banner.hidden = !(kind === (reached ? "reached" : state));
  }
  if (reached) at("reason").textContent = reason(picture.status.reason);
  if (reached && before !== null && !before.status.done) {
    celebrate(page);
    toast(said);
  }
  for (const element of document.querySelectorAll("[data-in-state]")) {
    element.hidden = !element.dataset.inState.split(" ").includes(state);
  }
}

/** Why the goal counts as reached; that it is reached says the heading. */
const reason = (text) => sentence((text ?? "").replace(/^the goal is reached[,:;]\s*/i, "").replace(">=", "≥").replace("<=", "≤"));
const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}` : "");

function drawNotes(place, notes) {
  place.replaceChildren(...(notes ?? []).map((note) => Object.assign(document.createElement("li"), { textContent: note })));
  place.hidden = place.childElementCount === 0;
}

/* The connection. Browsers reconnect by themselves; after a refusal (a restart behind a proxy) we do. */
const connection = document.querySelector("[data-connection]");

function say(kind, text) {
  if (connection.dataset.connection === kind) return; // not to be read out again
  connection.dataset.connection = kind;
  connection.querySelector("[data-words]").textContent = text;
}

function listen(draw) {
  let source = null;

  function open() {
    source = new EventSource(`/api/campaigns/${campaign}/events`);
    source.addEventListener("open", () => say("live", "live"));
    source.addEventListener("picture", (event) => {
      say("live", "live");
      draw(JSON.parse(event.data));
    });
    source.addEventListener("error", () => {
      say("reconnecting", "reconnecting");
      if (source.readyState === EventSource.CLOSED) comeBack();
    });
  }

  /** The stream was refused or broke: the page itself knows the way to the login, anything else is tried again. */
  async function comeBack() {
    const reply = await fetch(`/api/campaigns/${campaign}/picture`).catch(() => null);
    if (reply?.status === 401) location.reload();
    else setTimeout(open, 3000);
  }

  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => {
    if (event.persisted) open();
  });
  open();
}
