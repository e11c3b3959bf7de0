/* The live dashboard of a judging campaign. */

import { at, keeping, tiles, watch } from "../organiser/live.js";
import { drawAgreement, drawAssessors } from "./assessors.js";
import { drawGauge, drawTiles, goalWords, headline } from "./goal.js";
import { drawMatrix } from "./matrix.js";
import { drawRanking } from "./ranking.js";
import { drawTrajectory } from "./trajectory.js";

function parts(picture) {
  const words = goalWords(picture.status.kind);
  return [
    () => { at("goal-name").textContent = `${words.name} ${words.about}`; },
    () => drawGauge(at("gauge"), picture),
    () => drawTiles(tiles, picture),
    () => keeping("trajectory", (place) => drawTrajectory(place, picture, words)),
    () => keeping("ranking", (place) => drawRanking(place, picture)),
    () => keeping("matrix", (place) => drawMatrix(place, picture)),
    () => drawAgreement(at("agreement"), picture),
  ];
}

const clipsOf = ({ query, candidate }) => [["Query", query], ["Candidate", candidate]];

watch({ reached: "The goal is reached.", headline, parts, drawPeople: drawAssessors, problems: { what: "clip", clipsOf } });
