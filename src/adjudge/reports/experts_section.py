"""A report's section about what experts said of the documents: the judgments as lists, and lists made in other ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adjudge.choices import DEFAULT_CONSTRUCTION
from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.groundtruth.building import Answers, GroundTruth
from adjudge.groundtruth.checking import check_lists
from adjudge.groundtruth.comparing import PAPER_CONSTRUCTIONS, ComparedConstructions, compare_constructions
from adjudge.groundtruth.lists import PartialLists
from adjudge.model.collection import Collection
from adjudge.reports.document import Block, Paragraph, Section, section
from adjudge.reports.evidence import Evidence
from adjudge.reports.groundtruth_constructions import construction_sections
from adjudge.reports.groundtruth_lists import list_figures, list_sentences
from adjudge.reports.groundtruth_sections import least_consistent, lists_table, size_figure

_MOST_DRAWN = 12


@dataclass(frozen=True)
class Experts:
    """What is made of experts' answers for a report.

    ``truth`` are lists made from them, ``judged`` the judgments of the evaluation as lists, measured by the answers;
    None where no document of the judgments was put to experts. ``compared`` are the constructions with the systems.
    """

    truth: GroundTruth
    judged: GroundTruth | None
    compared: ComparedConstructions
    notes: tuple[str, ...]


def experts_of(answers: Answers, collection: Collection) -> Experts:
    """Lists in the six ways of the literature, systems by each, and the judgments of the collection as lists."""
    with kept_warnings() as notes:
        compared = compare_constructions(answers, PAPER_CONSTRUCTIONS, runs=collection, halves=0)
        try:
            judged = check_lists(judgments_as_lists(collection), answers)
        except AdjudgeError:  # judgments of other queries or other documents are no lists of these
            judged = None
    return Experts(compared[DEFAULT_CONSTRUCTION].truth, judged, compared, tuple(dict.fromkeys(notes)))


def judgments_as_lists(collection: Collection) -> PartialLists:
    """Documents of one grade are a group, the highest grade first; what is not relevant is in no list."""
    levels: dict[str, dict[float, list[str]]] = {}
    for (query, document), grade in collection.need_judgments().by_pair().items():
        if grade > 0:
            levels.setdefault(query, {}).setdefault(grade, []).append(document)
    groups = {query: [found[grade] for grade in sorted(found, reverse=True)] for query, found in levels.items()}
    return PartialLists.from_groups(groups)


@section("experts")
def experts(evidence: Evidence) -> Section | None:
    """How far experts bear out the ground truth, and what hangs on how it was made; nothing without their answers."""
    found = evidence.experts
    if found is None:
        return None
    shown = found.judged or found.truth
    blocks: list[Block] = [Paragraph(_conclusion(found)), *(Paragraph(note) for note in found.notes)]
    blocks.append(
        lists_table(shown, what="The judgments as lists" if found.judged else f"Lists by {DEFAULT_CONSTRUCTION}")
    )
    figure = size_figure(shown)
    if figure is not None:
        blocks.append(figure)
    blocks += [block for part in construction_sections(found.compared) for block in part.blocks]
    least = [shown.built[place] for place in least_consistent(shown, _MOST_DRAWN)]
    if len(least) < len(shown):
        blocks.append(Paragraph(f"Drawn below are the {len(least)} least consistent of {len(shown):,} lists."))
    for place, one in enumerate(least, start=1):
        blocks += [Paragraph(list_sentences(one)), *list_figures(one, place)]
    return Section("experts", "How far experts bear out the ground truth", tuple(blocks))


def _conclusion(found: Experts) -> str:
    mean = found.truth.consistency()
    made = f"Lists made from experts' answers by {DEFAULT_CONSTRUCTION} have a mean ADR-1 consistency of {mean:.3f}"
    if found.judged is None:
        return f"{made}. The judgments of this page are not about documents that experts were asked about."
    value = found.judged.consistency()
    if np.isnan(value):
        return f"{made}. The judgments of this page put no two of their documents into lists."
    return (
        "Documents of one grade are a group, and the groups of a query are a list: so the judgments of this page have "
        f"a mean ADR-1 consistency of {value:.3f} with what experts said, where 1 means that they contradict nothing. "
        f"{made}."
    )
