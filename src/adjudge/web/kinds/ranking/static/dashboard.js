/* The live dashboard of a ranking campaign. */

import { count, decimal, html, known, lasting, nearly, percent, progress, roll, several } from "../organiser/drawing.js";
import { at, keeping, tiles, watch } from "../organiser/live.js";
import { toast } from "../organiser/requests.js";
import { drawExperts } from "./experts.js";
import { drawList, drawQueries } from "./list.js";

const chooser = document.querySelector('[data-choice="construction"]');
const { lists: base } = at("list").dataset;

let picture = null;
let chosen = null; // the query whose list is drawn
let numbers = new Map(); // lists in numbers by query, made in the way that is chosen
let asked = 0;

function parts(now) {
  picture = now;
  return [
    () => drawWarnings(now.warnings),
    () => drawProgress(at("progress"), now),
    () => drawTiles(now),
    () => drawChooser(now),
    () => { refresh(); },
  ];
}

function headline({ status, campaign }) {
  const there = `${count(status.rankings)} of ${several(status.wanted, "ranking")}`;
  if (status.queries === 0) return "There are no candidates yet";
  if (status.done) return `${there}; every query is ranked`;
  if (campaign.state === "closed") return `${there}; closed before every query was ranked`;
  return [there, status.in_work > 0 && `${count(status.in_work)} in work`].filter(Boolean).join("; ");
}

function drawWarnings(warnings) {
  at("warnings").replaceChildren(...warnings.map((words) => html("p", { class: "notice warn" }, words)));
}

/** A bar of all rankings: those that are here, those in work. */
function drawProgress(place, { status }) {
  if (!status.queries) {
    place.replaceChildren(html("p", { class: "soft" }, "Progress shows once there are candidates."));
    return;
  }
  const share = known(status.complete) ? status.complete : 0;
  const work = status.wanted ? Math.min(1 - share, status.in_work / status.wanted) : 0;
  const aside = status.set_aside > 0 ? `${several(status.set_aside, "ranking")} excluded` : `${several(status.documents, "document")} to rank`;
  place.replaceChildren(
    ...progress({
      share,
      work,
      words: `${nearly(share)} of the wanted rankings are here, ${percent(work)} in work`,
      done: status.done,
      facts: [`${count(status.queries_done)} of ${several(status.queries, "query", "queries")} complete`, aside],
    }),
  );
}

function drawTiles({ status, pace, experts: people }) {
  roll(tiles.rankings, status.rankings);
  tiles.rankingsNote.textContent = `of ${count(status.wanted)} wanted; ${count(pace.day)} in the last day`;
  roll(tiles.work, status.in_work);
  const live = people.filter((person) => person.live).length;
  tiles.workNote.textContent = `${several(live, "expert")} here now${known(pace.minutes) ? `; ${lasting(pace.minutes * 60)} a ranking` : ""}`;
}

/** Consistency is of the lists that are shown. */
function drawConsistency() {
  for (const name of ["adr_1", "adr_2"]) {
    const values = [...numbers.values()].map((one) => one[name]).filter(known);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    roll(tiles[name], values.length ? mean : null, (value) => decimal(value, 3));
    tiles[`${name}Note`].textContent = values.length ? `ADR-${name.at(-1)}, mean of ${several(values.length, "query", "queries")}` : "once there are rankings";
  }
}

function drawChooser(now) {
  if (chooser.options.length > 0) return;
  chooser.append(...now.constructions.map(({ name }) => html("option", { value: name, selected: name === now.construction }, name)));
  chooser.addEventListener("change", () => { refresh(); });
}

function describe(construction, { alpha, constructions, measured_by: measure }) {
  const way = constructions.find(({ name }) => name === construction);
  at("construction-about").textContent =
    `${construction}: ${way.about}; ${way.tails === 1 ? "one tail" : "two tails"}, at a significance level of ${alpha}. ` +
    `Documents are compared by ${way.by}: ${way.by_about}. Consistency is always measured by ${measure}.`;
  for (const link of document.querySelectorAll("a[data-lists]")) {
    const address = new URL(link.href);
    address.searchParams.set("construction", construction);
    link.href = address.href;
  }
}

/** The lists in the way that is chosen, in numbers; then the one that is looked at. What comes too late is left. */
async function refresh() {
  asked += 1;
  const mine = asked;
  const construction = chooser.value || picture.construction;
  describe(construction, picture);
  if (construction === picture.construction) {
    numbers = new Map(picture.queries.filter((one) => one.list !== null).map((one) => [one.query, one.list]));
  } else {
    const found = await get({ construction });
    if (found === null || mine !== asked) return;
    numbers = new Map(found.lists.filter((one) => known(one.groups)).map((one) => [one.query, one]));
  }
  drawConsistency();
  if (!picture.queries.some((one) => one.query === chosen)) {
    chosen = (picture.queries.find((one) => numbers.has(one.query)) ?? picture.queries[0])?.query ?? null;
  }
  keeping("queries", (place) => drawQueries(place, picture.queries, numbers, { chosen, choose }));
  await show(construction, mine);
}

async function show(construction, mine) {
  const row = picture.queries.find((one) => one.query === chosen);
  if (row === undefined || !numbers.has(chosen)) {
    at("list").replaceChildren(html("p", { class: "soft" }, row?.why ?? "A list shows as soon as somebody has sent a ranking."));
    return;
  }
  const found = await get({ construction, query: chosen });
  if (found !== null && mine === asked) keeping("list", (place) => drawList(place, found));
}

function choose(query) {
  chosen = query;
  refresh();
}

async function get(parameters) {
  try {
    const response = await fetch(`${base}?${new URLSearchParams(parameters)}`);
    const answer = await response.json();
    if (response.ok) return answer;
    toast(answer?.error?.message ?? `The server answered ${response.status}.`, "bad");
  } catch {
    toast("The lists cannot be had just now.", "bad");
  }
  return null;
}

const clipsOf = ({ query, candidates }) => [["Query", query], ...candidates.map((item) => [item.document, item])];

watch({ reached: "Every query is ranked.", headline, parts, drawPeople: drawExperts, problems: { what: "query", clipsOf } });
