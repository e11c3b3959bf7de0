/* The live dashboard: listens to the campaign's pictures and draws each of them. */

import { celebrate } from "./celebration.js";
import { drawMatrix } from "./matrix.js";
import { drawGauge, drawTiles, goalWords, headline } from "./goal.js";
import { drawAgreement, drawAssessors, drawProblems } from "./people_now.js";
import { drawRanking } from "./ranking.js";
import { drawTrajectory } from "./trajectory.js";
import { ask, send, toast } from "./asking.js";

const page = document.querySelector("[data-dashboard]");
const { campaign } = page.dataset;
const at = (name) => page.querySelector(`[data-place="${name}"]`);
const tiles = Object.fromEntries([...page.querySelectorAll("[data-tile]")].map((tile) => [tile.dataset.tile, tile]));
let shown = null;

/** Draw a picture; a part that cannot be drawn does not take the others with it. */
function draw(picture) {
  const words = goalWords(picture.status.kind);
  const parts = [
    () => drawState(picture),
    () => { at("headline").textContent = `${headline(picture)}.`; },
    () => drawGauge(at("gauge"), picture),
    () => drawTiles(tiles, picture),
    () => keeping(at("trajectory"), () => drawTrajectory(at("trajectory"), picture, words)),
    () => keeping(at("ranking"), () => drawRanking(at("ranking"), picture)),
    () => keeping(at("matrix"), () => drawMatrix(at("matrix"), picture)),
    () => drawAgreement(at("agreement"), picture),
    () => keeping(at("assessors"), () => drawAssessors(at("assessors"), picture)),
    () => keeping(at("problems"), () => drawProblems(at("problems"), picture, { hold, clips })),
    () => drawNotes(picture),
  ];
  for (const part of parts) {
    try {
      part();
    } catch (error) {
      console.error(error);
    }
  }
  at("goal-name").textContent = `${words.name} ${words.about}`;
  page.dataset.version = String(picture.version);
  shown = picture;
}

/** Draw a place anew without taking away what somebody opened, scrolled to or has the focus on. */
function keeping(place, drawAnew) {
  const reachable = () => [...place.querySelectorAll("summary, button, a, audio, [tabindex]")];
  const focused = place.contains(document.activeElement) ? document.activeElement : null;
  const [number, opened] = [reachable().indexOf(focused), place.querySelector("details")?.open ?? false];
  const scrolled = [...place.querySelectorAll("[tabindex]")].map((element) => [element.scrollLeft, element.scrollTop]);
  drawAnew();
  const details = place.querySelector("details");
  if (details !== null) details.open = opened;
  [...place.querySelectorAll("[tabindex]")].forEach((element, i) => element.scrollTo(...(scrolled[i] ?? [0, 0])));
  if (focused !== null) (focused.isConnected ? focused : reachable()[number])?.focus({ preventScroll: true });
}

function drawState(picture) {
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
  const isNew = reached && shown !== null && !shown.status.done;
  if (isNew) {
    celebrate(page);
    toast("The goal is reached.");
  }
  for (const element of document.querySelectorAll("[data-in-state]")) {
    element.hidden = !element.dataset.inState.split(" ").includes(state);
  }
}

/** Why the goal counts as reached; that it is reached says the heading. */
const reason = (text) => sentence((text ?? "").replace(/^the goal is reached[,:;]\s*/i, "").replace(">=", "≥").replace("<=", "≤"));
const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}` : "");

function drawNotes(picture) {
  const notes = at("notes");
  notes.replaceChildren(...(picture.notes ?? []).map((note) => Object.assign(document.createElement("li"), { textContent: note })));
  notes.hidden = notes.childElementCount === 0;
}

async function hold(problem) {
  const done = await send("POST", `/api/campaigns/${campaign}/pairs/${problem.pair}/held`, { held: !problem.held });
  if (done) toast(problem.held ? "Put back: it will be asked again." : "Kept back: nobody is asked about it.");
}

/** Where the clips of a pair are; asked for when somebody wants to listen. */
async function clips(problem) {
  try {
    const response = await fetch(`/campaigns/${campaign}/pairs/${problem.pair}/clips`);
    if (response.ok) return await response.json();
  } catch {
    /* told below */
  }
  toast("The clips cannot be had just now.", "bad");
  return null;
}

/* The connection. Browsers reconnect by themselves; after a refusal (a restart behind a proxy) we do. */
const connection = document.querySelector("[data-connection]");

function say(kind, text) {
  if (connection.dataset.connection === kind) return; // not to be read out again
  connection.dataset.connection = kind;
  connection.querySelector("[data-words]").textContent = text;
}

let source = null;

function listen() {
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
  else setTimeout(listen, 3000);
}

addEventListener("pagehide", () => source?.close());
addEventListener("pageshow", (event) => {
  if (event.persisted) listen();
});

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
setInterval(() => shown !== null && keeping(at("assessors"), () => drawAssessors(at("assessors"), shown)), 30_000);

const first = document.querySelector("#picture");
if (first?.textContent.trim()) {
  const picture = JSON.parse(first.textContent);
  if (picture) draw(picture);
}
listen();
