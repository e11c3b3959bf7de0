/* The live dashboard of a preference campaign: listens to the campaign's pictures and draws each of them. */

import { drawCurves } from "./curves.js";
import { drawNotes, keeping, problemTools, watch } from "./live.js";
import { drawProblems } from "./people_now.js";
import { drawHours, drawOutcomes, drawProgress, drawTiles, headline } from "./preference_progress.js";
import { drawPeople, drawTraps } from "./preference_people.js";

const page = document.querySelector("[data-dashboard]");
const at = (name) => page.querySelector(`[data-place="${name}"]`);
const tiles = Object.fromEntries([...page.querySelectorAll("[data-tile]")].map((tile) => [tile.dataset.tile, tile]));
const tools = problemTools(page.dataset.campaign);

function parts(picture) {
  return [
    () => { at("headline").textContent = `${headline(picture)}.`; },
    () => keeping(at("progress"), () => drawProgress(at("progress"), picture)),
    () => drawTiles(tiles, picture),
    () => keeping(at("curves"), () => drawCurves(at("curves"), picture)),
    () => keeping(at("hours"), () => drawHours(at("hours"), picture)),
    () => drawOutcomes(at("outcomes"), picture),
    () => people(picture),
    () => drawTraps(at("traps"), picture),
    () => keeping(at("problems"), () => drawProblems(at("problems"), picture, { ...tools, what: "question" })),
    () => drawCostNote(picture),
    () => drawPaused(picture),
    () => drawNotes(at("notes"), picture.notes),
  ];
}

const people = (picture) => keeping(at("people"), () => drawPeople(at("people"), picture));

function drawCostNote({ cost }) {
  at("cost-about").hidden = cost === null;
  at("cost-note").textContent = cost?.note ?? "";
}

/** A pause between batches is no accident. */
function drawPaused({ status: { batch, done } }) {
  if (done || batch.of < 2 || batch.complete === 0) return;
  const complete = batch.complete === 1 ? "1 batch" : `${batch.complete} batches`;
  at("paused").textContent = `${complete} of ${batch.of} complete. Nobody gets a new question until you open it again; answers to questions that were given out are still taken.`;
}

watch(page, { reached: "Every question is answered.", parts, often: people });
