/* The live dashboard of a preference campaign. */

import { at, keeping, tiles, watch } from "../organiser/live.js";
import { drawCurves } from "./curves.js";
import { drawPeople, drawTraps } from "./people.js";
import { drawHours, drawOutcomes, drawProgress, drawTiles, headline } from "./progress.js";

const parts = (picture) => [
  () => keeping("progress", (place) => drawProgress(place, picture)),
  () => drawTiles(tiles, picture),
  () => keeping("curves", (place) => drawCurves(place, picture)),
  () => keeping("hours", (place) => drawHours(place, picture)),
  () => drawOutcomes(at("outcomes"), picture),
  () => drawTraps(at("traps"), picture),
  () => drawCostNote(picture),
  () => drawPaused(picture),
];

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

function clipsOf({ query, a, b }) {
  const lists = Object.entries({ a, b }).flatMap(([side, list]) => list.map((item, before) => [`List ${side}, result ${before + 1}`, item]));
  return [["Query", query], ...lists];
}

watch({ reached: "Every question is answered.", headline, parts, drawPeople, problems: { what: "question", clipsOf } });
