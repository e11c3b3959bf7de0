"""What columns of tables hold and what people call them: one dictionary for every reader of tables.

Names are compared without case, spaces, dots, hyphens and underscores, and without the prefixes ``Input.`` and
``Answer.`` of Mechanical Turk: ``Query-ID``, ``queryId`` and ``query_id`` are the same. A name that often holds text
(``query``, ``document``, ``track`` …) gives way to an identifier beside it (``query_id``), and Terrier's internal
``docid`` to its ``docno``; any other two columns for the same thing are refused. Some names are accepted only where a
table needs them and has no better one: ``id`` is the document, ``score`` the grade of judgments, ``user_id`` the query
of a table without queries (recommenders answer users) and the assessor of any other table.
:func:`naming_columns` says which column holds what where names do not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property

from adjudge.errors import AdjudgeError, InputError, shown
from adjudge.registry import unknown
from adjudge.text import listed

ErrorAt = Callable[[str, int | None], InputError]
"""Builds the error for a message and the row (from 0) it is about, if any."""


@dataclass(frozen=True)
class Column:
    """What a column holds, and its names in tiers, the surest first: a weaker name gives way to a surer one beside it.

    Names beyond the first ``sure`` tiers count only in a table that needs such a column and has no other. ``rule``
    describes, for the documentation, names that are made by a rule.
    """

    holds: str
    names: tuple[tuple[str, ...], ...]
    sure: int = 9
    rule: str = ""

    @cached_property
    def tiers(self) -> tuple[frozenset[str], ...]:
        """Folded names, the surest first."""
        return tuple(frozenset(map(fold, names)) for names in self.names)


_PEOPLE = ("assessor", "judge", "annotator", "rater", "worker", "participant", "expert", "evaluator", "labeler")
_THINGS = ("product", "movie", "song", "clip", "video", "image", "article", "book", "passage", "incipit", "candidate")
_OPTIONS = ("document", "doc", "item", "track", "incipit", "clip", "song", "candidate", "option")


def _side(side: str, *endings: str) -> Column:
    """One of the two documents of a pair: ``document_a``, ``doc_1``, ``track_left``, …, ``a``, ``left``, ``first``."""
    alone = (side, *endings[2:])
    rule = f"{', '.join(_OPTIONS)} with {', '.join(f'_{ending}' for ending in endings)}; {', '.join(alone)}"
    names = (*(f"{option}_{ending}" for option in _OPTIONS for ending in endings), *alone)
    return Column(f"the {endings[3]} document of a pair", (names,), rule=rule)


COLUMNS: dict[str, Column] = {
    "query": Column(
        "the query",
        (
            ("query_id", "qid", "topic_id"),
            ("query", "topic"),
            ("query_no", "topic_no", "search_id"),
            ("query_text", "search_query", "search_term", "search_phrase"),
            ("user_id",),
            ("user",),
        ),
        sure=2,
    ),
    "document": Column(
        "the document",
        (
            ("document_id", "doc_id", "docno", "did", "corpus_id", "item_id", "track_id"),
            ("document", "doc", "track", "item"),
            (*(f"{thing}_id" for thing in _THINGS), "pid", "sku", "asin"),
            ("id", *_THINGS, "melody"),
        ),
        sure=2,
    ),
    "system": Column(
        "the system that made a run",
        (
            ("system", "run", "run_id", "run_name", "tag", "method", "model"),
            ("system_id", "system_name", "run_tag", "model_name", "model_names"),
            ("name",),
        ),
        sure=2,
    ),
    "score": Column(
        "what a run gives a document; distances change their sign",
        (
            ("score", "sim", "similarity", "distance", "dist"),
            ("retrieval_score", "search_score", "@search.score", "rsv"),
        ),
    ),
    "rank": Column(
        "the place in a ranking, 1 is the best",
        (("rank",), ("ranking", "position", "place", "doc_rank", "doc_position")),
    ),
    "team": Column("the team that made a system", (("team",), ("team_id", "team_name"))),
    "grade": Column(
        "how relevant the document is",
        (
            ("grade", "relevance", "label", "rel", "relevance_score", "judgment", "judgement", "fine", "broad"),
            ("rating", "relevance_grade", "relevance_label", "relevance_rating"),
            ("score",),
        ),
        sure=2,
    ),
    "group": Column("the group in a partially ordered list, 1 is the most similar", (("group",),)),
    "assessor": Column(
        "who judged, ranked or answered",
        (
            tuple(f"{person}_id" for person in _PEOPLE),
            _PEOPLE,
            ("user_id", "subject_id", "reviewer_id"),
            ("user",),
            ("subject", "reviewer"),
        ),
        sure=4,
    ),
    "subtopic": Column("the sub-topic of the query", (("subtopic", "subtopic_id", "iteration", "iter"),)),
    "measure": Column("the measure of effectiveness", (("measure", "metric"),)),
    "dataset": Column(
        "the data set of the query",
        (("dataset", "dataset_id", "dataset_name"), ("collection", "benchmark", "task", "task_name")),
    ),
    "value": Column("effectiveness", (("value", "score", "effectiveness"),)),
    "lower": Column("the lower bound of effectiveness", (("lower",),)),
    "upper": Column("the upper bound of effectiveness", (("upper",),)),
    "error": Column("the error of effectiveness", (("error",),)),
    "judged": Column("the share of documents that are judged", (("judged",),)),
    "document_a": _side("a", "a", "1", "left", "first"),
    "document_b": _side("b", "b", "2", "right", "second"),
    "answer": Column(
        "which of two documents is more similar: a, b or same",
        (("answer", "choice", "preference", "preferred", "response", "radio"),),
    ),
    "question": Column("the question of a study", (("question",),)),
    "choice": Column("which of two lists was chosen: a, b, good or bad", (("choice",),)),
    "stratum": Column("the stratum of a query", (("stratum", "stratum_id", "strata"),)),
    "file": Column("the file of a recording", (("file", "path", "filename"),)),
}
"""What a column may hold, by the name that Adjudge gives it."""

_APART = ({"system", "score", "rank", "team"}, {"grade", "assessor", "subtopic"})  # in runs only, in judgments only
_NEAR = 0.75  # similarity, from 0 to 1, from which on one name may stand for another
_PREFIX = re.compile(r"^\s*(?:input|answer)\.", re.IGNORECASE)


def fold(name: str) -> str:
    """Fold a name into the form in which names are compared.

    >>> fold(" Query-ID "), fold("queryId"), fold("Input.query_id")
    ('queryid', 'queryid', 'queryid')
    """
    return re.sub(r"[\s_.-]", "", _PREFIX.sub("", name)).casefold()


@dataclass
class _Naming:
    """The columns that the user names, by what they hold; which are needed, and which were found so far.

    ``seen`` are the columns of the last table.
    """

    names: dict[str, str]
    needed: set[str]
    found: set[str] = field(default_factory=set)
    seen: Sequence[str] = ()


_naming: ContextVar[_Naming | None] = ContextVar("adjudge_columns", default=None)


@contextmanager
def naming_columns(columns: Mapping[str, str] | str | None, *, is_strict: bool = True) -> Iterator[None]:
    """Read tables inside the block with these names: ``{"query": "userId"}``, or ``query=userId,document=movieId``.

    A table that has such a column uses it for nothing else; a table without it is read by the usual names. A name that
    no table has is refused at the end, if ``is_strict``, or earlier by :func:`check_columns`. Nested blocks add their
    names.

    >>> with naming_columns("query=userId"):
    ...     places_of(["userId", "topic"], "query"), places_of(["userId", "topic"], "assessor")
    ([0], [])
    """
    if columns is None:
        yield
        return
    given, around = _parse_names(columns) if isinstance(columns, str) else dict(columns), _naming.get()
    own = {_target(name): column for name, column in given.items()}
    if len(own) < len(given):
        raise AdjudgeError(f"columns: expected each thing once, got {', '.join(map(shown, given))}")
    naming = _Naming(own if around is None else {**around.names, **own}, set(own) if is_strict else set())
    token = _naming.set(naming)
    try:
        yield
        check_columns()
    finally:
        _naming.reset(token)
        if around is not None:
            around.found |= naming.found


def _target(name: str) -> str:
    """What a column holds, from the name that Adjudge gives it or another that means nothing else.

    >>> _target("query"), _target("expert"), _target("doc_id")
    ('query', 'assessor', 'document')
    """
    if name in COLUMNS:
        return name
    meant = [target for target, column in COLUMNS.items() if any(fold(name) in tier for tier in column.tiers)]
    if len(meant) != 1:
        raise unknown("column", name, COLUMNS)
    return meant[0]


def check_columns() -> None:
    """Refuse names of :func:`naming_columns` that no table has had so far; for when all tables are read."""
    naming = _naming.get()
    if naming is None:
        return
    for target in sorted(naming.needed - naming.found):
        came = f"the columns {listed_names(naming.seen)}" if naming.seen else "no table with names of columns"
        raise AdjudgeError(f"columns: expected {shown(naming.names[target])} for the {worded(target)}, got {came}")


def _parse_names(text: str) -> dict[str, str]:
    """Names by what they hold, as people type them.

    >>> _parse_names("query=Query, text,grade = rating")
    {'query': 'Query, text', 'grade': 'rating'}
    """
    names: dict[str, str] = {}
    for part in re.split(r",(?=\s*\w+\s*=)", text):
        target, equals, name = (piece.strip() for piece in part.partition("="))
        if not (target and equals and name) or target in names:
            raise AdjudgeError(f"columns: expected pairs such as query=userId,document=movieId, got {shown(text)}")
        names[target] = name
    return names


def listed_names(names: Sequence[str]) -> str:
    """The first names, for a message."""
    return listed([shown(name) for name in names], most=8)


def places_of(names: Sequence[str], target: str, *, needed: bool = False) -> list[int]:
    """Which columns hold something by their names; weaker names count only where the table ``needed`` it.

    >>> places_of(["Query Text", "qid", "_id"], "query"), places_of(["qid", "_id"], "document", needed=True)
    ([1], [1])
    """
    said = places_said(names)
    if target in said:
        return [said[target]]
    apart = next((others for own, others in (_APART, _APART[::-1]) if target in own), set())
    taken = {place for other, place in said.items() if other not in apart}
    folded = ["" if i in taken else fold(name) for i, name in enumerate(names)]
    for tier in COLUMNS[target].tiers[: None if needed else COLUMNS[target].sure]:
        if found := [i for i, name in enumerate(folded) if name in tier]:
            if any(folded[i] == "docno" for i in found):
                found = [i for i in found if folded[i] != "docid"]
            return found
    return []


def places_said(names: Sequence[str]) -> dict[str, int]:
    """Which columns hold what, as far as :func:`naming_columns` says so."""
    naming = _naming.get()
    if naming is None:
        return {}
    naming.seen, places = names, {}
    for target, name in naming.names.items():
        exact = [i for i, given in enumerate(names) if given.strip() == name]
        found = exact or [i for i, given in enumerate(names) if fold(given) == fold(name)]
        if found:
            places[target] = found[0]
    naming.found.update(places)
    return places


def place_of(names: Sequence[str], target: str, error: ErrorAt, *, needed: bool = False, first: str = "") -> int | None:
    """Which column holds something; several are refused, unless one has the name that comes ``first``."""
    found = places_of(names, target, needed=needed)
    if len(found) > 1:
        found = [i for i in found if fold(names[i]) == first] or found
    if len(found) > 1:
        several = listed([shown(names[i]) for i in found])
        can_name = len({names[i] for i in found}) > 1  # a name that stands twice says nothing
        raise error(
            f"expected one column for the {worded(target)}, got {several}{hint(target) if can_name else ''}", None
        )
    return found[0] if found else None


def missing_column(names: Sequence[str], target: str) -> str:
    """What to say where a needed column is missing, with the column whose name is nearly a known one."""
    from difflib import get_close_matches

    if target not in COLUMNS:
        return f"expected a column {shown(target)}, got the columns {listed_names(names)}"
    known = _known_names(target)
    folded = {fold(name): name for name in reversed(names)}
    near = (match for name in known for match in get_close_matches(fold(name), folded, 1, _NEAR))
    meant = next((folded[match] for match in near), "NAME")
    few = ", ".join([*known[:4], *(["…"] if known[4:] else [])])
    came = f"{listed_names(names)}{hint(target, name=meant)}"
    return f"expected a column for the {worded(target)} ({few}), got the columns {came}"


def _known_names(target: str) -> list[str]:
    tiers = COLUMNS[target].names if target in COLUMNS else ()
    return list(dict.fromkeys([target, *(name for tier in tiers for name in tier)]))


def find_misnamed(cells: Sequence[str], targets: Sequence[str]) -> str | None:
    """The first column whose name is misspelt, where each cell is the name of its column or nearly so, else None.

    What begins with a name is data: systems may be called system1 and their teams team1.

    >>> find_misnamed(["systm", "team"], ["system", "team"]), find_misnamed(["system1", "team1"], ["system", "team"])
    ('system', None)
    """
    from difflib import get_close_matches

    misnamed = None
    for cell, target in zip(map(fold, cells), targets, strict=True):
        known = [fold(name) for name in _known_names(target)]
        if cell in known:
            continue
        if cell.startswith(tuple(known)) or not get_close_matches(cell, known, 1, _NEAR):
            return None
        misnamed = misnamed or target
    return misnamed


def worded(target: str) -> str:
    """What messages call what a column holds."""
    return {"document_a": "first document", "document_b": "second document"}.get(target, target)


def hint(*targets: str, about: str = "say which it is", name: str = "NAME") -> str:
    """What to do where columns have other names, or which name of :func:`naming_columns` is missing."""
    naming = _naming.get()
    wrong = [naming.names[target] for target in targets if naming is not None and target in naming.names]
    if wrong:
        return f"; there is no column {shown(wrong[0])}, which 'columns' names"
    return f"; {about}: --columns {','.join(f'{target}={name}' for target in targets)} (in Python, columns=)"
