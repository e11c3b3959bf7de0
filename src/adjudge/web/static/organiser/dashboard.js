/* The live dashboard of a judging campaign: listens to the campaign's pictures and draws each of them. */

import { drawMatrix } from "./matrix.js";
import { drawGauge, drawTiles, goalWords, headline } from "./goal.js";
import { drawNotes, keeping, problemTools, watch } from "./live.js";
import { drawAgreement, drawAssessors, drawProblems } from "./people_now.js";
import { drawRanking } from "./ranking.js";
import { drawTrajectory } from "./trajectory.js";

const page = document.querySelector("[data-dashboard]");
const at = (name) => page.querySelector(`[data-place="${name}"]`);
const tiles = Object.fromEntries([...page.querySelectorAll("[data-tile]")].map((tile) => [tile.dataset.tile, tile]));
const tools = problemTools(page.dataset.campaign);

function parts(picture) {
  const words = goalWords(picture.status.kind);
  return [
    () => { at("headline").textContent = `${headline(picture)}.`; },
    () => { at("goal-name").textContent = `${words.name} ${words.about}`; },
    () => drawGauge(at("gauge"), picture),
    () => drawTiles(tiles, picture),
    () => keeping(at("trajectory"), () => drawTrajectory(at("trajectory"), picture, words)),
    () => keeping(at("ranking"), () => drawRanking(at("ranking"), picture)),
    () => keeping(at("matrix"), () => drawMatrix(at("matrix"), picture)),
    () => drawAgreement(at("agreement"), picture),
    () => drawPeople(picture),
    () => keeping(at("problems"), () => drawProblems(at("problems"), picture, tools)),
    () => drawNotes(at("notes"), picture.notes),
  ];
}

const drawPeople = (picture) => keeping(at("assessors"), () => drawAssessors(at("assessors"), picture));

watch(page, { reached: "The goal is reached.", parts, often: drawPeople });
