"""The five papers, with every table and figure they have: each is reproduced, or it is said why not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper, what it is called here, and its tables and figures."""

    key: str
    citation: str
    items: tuple[str, ...]


def _numbered(kind: str, *numbers: str) -> tuple[str, ...]:
    return tuple(f"{kind} {number}" for number in numbers)


def _chapter(kind: str, chapter: str, count: int) -> tuple[str, ...]:
    return _numbered(kind, *(f"{chapter}.{number}" for number in range(1, count + 1)))


_THESIS_TABLES = {"1": 1, "3": 5, "4": 5, "5": 5, "6": 4, "7": 1, "8": 6, "A": 1}
_THESIS_FIGURES = {"1": 3, "2": 2, "3": 6, "4": 7, "5": 3, "6": 5, "7": 1, "8": 5}

PAPERS = {
    paper.key: paper
    for paper in (
        Paper(
            "T",
            "J. Urbano, Evaluation in Audio Music Similarity, PhD thesis, University Carlos III of Madrid, 2013",
            tuple(
                item
                for kind, counts in (("Table", _THESIS_TABLES), ("Figure", _THESIS_FIGURES))
                for chapter, count in counts.items()
                for item in _chapter(kind, chapter, count)
            ),
        ),
        Paper(
            "U12",
            "J. Urbano et al., How Significant is Statistically Significant? The Case of Audio Music Similarity and "
            "Retrieval, ISMIR 2012",
            _numbered("Figure", "1", "2", "3", "4", "5"),
        ),
        Paper(
            "P11",
            "J. Urbano et al., Audio Music Similarity and Retrieval: Evaluation Power and Stability, ISMIR 2011",
            (*_numbered("Figure", "1", "2", "3", "4"), "Table 1"),
        ),
        Paper(
            "L10",
            "J. Urbano et al., Improving the Generation of Ground Truths Based on Partially Ordered Lists, ISMIR 2010",
            (*_numbered("Figure", "1", "2", "3", "4"), *_numbered("Table", "1", "2", "3", "4")),
        ),
        Paper(
            "M12",
            "J. Urbano and M. Schedl, Towards Minimal Test Collections for Evaluation of Audio Music Similarity and "
            "Retrieval, AdMIRe 2012",
            ("Table 1", *_numbered("Figure", "1", "2", "3", "4")),
        ),
    )
}
