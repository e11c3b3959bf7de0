"""What a measure is: a function from the grades of ranked lists to one number per list, declared and registered once.

The declaration (:func:`measure`) feeds the parser, ``adjudge measures``, the documentation and the contract tests. A
parsed measure such as ``RBP(p=0.8)@5`` is a :class:`Measure`: a definition with its parameters and cutoff bound. The
grammar of names is that of ir_measures, ``Name(parameter=value,…)@cutoff``; other tools' spellings are understood, too.
What a measure prints, it parses back to.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from adjudge.arrays import Floats
from adjudge.checks import Whole
from adjudge.errors import AdjudgeError, shown
from adjudge.measures.parameters import IDEAL, Parameter, ParameterValue
from adjudge.model.rankings import NO_SUBTOPICS, Lists
from adjudge.registry import Registry

Ideal = Literal["none", "max", "judged"]


MeasureFunction = Callable[..., Floats]  # (lists, **parameters) -> effectiveness of each list


@dataclass(frozen=True, eq=False)
class Definition:
    """One registered measure: its function and its properties."""

    name: str
    title: str
    equation: str
    reference: str
    function: MeasureFunction
    parameters: Mapping[str, Parameter]
    cutoff: bool
    at: str | None
    monotone: bool | Literal["at a cutoff"]
    unbounded: bool
    needs: Callable[[Lists], str | None] | None
    subtopics: bool

    @property
    def docstring(self) -> str:
        """The docstring of the function."""
        return inspect.getdoc(self.function) or ""

    def bounded(self, ideal: Ideal) -> bool:
        """Whether effectiveness is in [0, 1] by construction: always, unless gains are summed without an ideal."""
        return not (ideal == "none" and self.unbounded)


MEASURES: Registry[Definition] = Registry("measure", "adjudge.measures.*")
_CUTOFF = Whole(1, 1_000_000, meaning="cutoff")
_ROUNDING = 1e-9


def measure(
    name: str,
    *,
    title: str,
    equation: str,
    reference: str,
    ideal: Ideal,
    parameters: Mapping[str, Parameter] | None = None,
    cutoff: bool = True,
    at: str | None = None,
    monotone: bool | Literal["at a cutoff"] = True,
    unbounded: bool = False,
    needs: Callable[[Lists], str | None] | None = None,
    subtopics: bool = False,
) -> Callable[[MeasureFunction], MeasureFunction]:
    """Register a measure; the function comes back unchanged.

    ``ideal`` is the default one; ``cutoff=False`` refuses ``@k``; ``at`` is a parameter that is written after ``@``
    instead; ``monotone`` says that a better grade in a list never lowers its effectiveness and one elsewhere in the
    pool never raises it (perhaps only ``"at a cutoff"``); ``unbounded`` that it may exceed 1 without an ideal;
    ``needs`` returns what lists lack for the measure, if anything; ``subtopics`` says that it looks at each sub-topic.
    """

    def decorate(function: MeasureFunction) -> MeasureFunction:
        declared = {**(parameters or {}), "ideal": replace(IDEAL, default=ideal)}
        definition = Definition(
            name,
            title,
            equation,
            reference,
            function,
            declared,
            cutoff and at is None,
            at,
            monotone,
            unbounded,
            needs,
            subtopics,
        )
        MEASURES.add(name, definition)
        return function

    return decorate


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters and cutoff, printed and parsed as the field writes it."""

    definition: Definition
    parameters: tuple[tuple[str, Any], ...]
    cutoff: int | None = None
    judged_only: bool = False

    @classmethod
    def bind(
        cls,
        definition: Definition,
        given: Mapping[str, ParameterValue],
        cutoff: int | None,
        *,
        judged_only: bool = False,
    ) -> Measure:
        """Check parameters and fill in defaults."""
        if cutoff is not None and not definition.cutoff:
            raise AdjudgeError(f"{definition.name}: takes no cutoff, got @{cutoff}")
        if cutoff is not None:
            _CUTOFF.check("cutoff", cutoff, where=f"{definition.name}: ")
        for name in given:
            if name not in definition.parameters:
                known = ", ".join([*definition.parameters, "judged_only"])
                raise AdjudgeError(f"{definition.name}: has no parameter {name!r}; known: {known}")
        bound = {
            name: parameter.check(definition.name, name, given.get(name, parameter.default))
            for name, parameter in definition.parameters.items()
        }
        return cls(definition, tuple(bound.items()), cutoff, judged_only)

    @property
    def name(self) -> str:
        """Name of the family, without parameters and cutoff."""
        return self.definition.name

    @property
    def ideal(self) -> Ideal:
        """The ideal that the measure is normalised by."""
        ideal: Ideal = dict(self.parameters)["ideal"]
        return ideal

    @property
    def bounded(self) -> bool:
        """Whether effectiveness is in [0, 1] by construction."""
        return self.definition.bounded(self.ideal)

    @property
    def monotone(self) -> bool:
        """Whether better grades in a list never lower its effectiveness, nor better ones elsewhere raise it."""
        monotone = self.definition.monotone
        return self.cutoff is not None if monotone == "at a cutoff" else monotone

    def __str__(self) -> str:
        declared = self.definition.parameters
        shown = {name: declared[name].show(value) for name, value in self.parameters if value != declared[name].default}
        at = shown.pop(self.definition.at or "", self.cutoff)
        if self.judged_only:
            shown["judged_only"] = "True"
        inside = f"({','.join(f'{name}={value}' for name, value in shown.items())})" if shown else ""
        return f"{self.name}{inside}" + (f"@{at}" if at is not None else "")

    def __repr__(self) -> str:
        return f"<Measure {self}>"

    def __call__(self, lists: Lists) -> Floats:
        """Effectiveness of each list, shape (lists,)."""
        lacking = self._lacking(lists)
        if lacking is not None:
            raise AdjudgeError(f"{self}: {lacking}")
        cut = (lists.condensed() if self.judged_only else lists).at(self.cutoff)
        values = self.definition.function(cut, **dict(self.parameters))
        return _rounded_down(values) if self.bounded else values

    def _lacking(self, lists: Lists) -> str | None:
        """Why the measure makes no sense on these lists, if it does not."""
        if self.definition.subtopics and lists.subtopics is None:
            return NO_SUBTOPICS
        for name, value in self.parameters:
            lacking = self.definition.parameters[name].lacking(value, lists.scale)
            if lacking is not None:
                return lacking
        return None if self.definition.needs is None else self.definition.needs(lists)


def _rounded_down(values: Floats) -> Floats:
    """Values without rounding errors above 1; a larger excess is an error of the measure, and stays visible."""
    rounded: Floats = np.where((values > 1) & (values <= 1 + _ROUNDING), 1.0, values)
    return rounded


_NAME = re.compile(r"(?P<name>[A-Za-z_][\w-]*)(?:\((?P<parameters>.*)\))?(?:@(?P<at>-?[\w.]+))?", re.DOTALL)
_FAMILIES = {
    "map": "AP",
    "MAP": "AP",
    "average_precision": "AP",
    "ndcg": "nDCG",
    "ndcg_burges": "nDCG(gain=exp)",
    "dcg": "DCG(ideal=none)",
    "dcg_burges": "DCG(gain=exp,ideal=none)",
    "mrr": "RR",
    "MRR": "RR",
    "recip_rank": "RR",
    "reciprocal_rank": "RR",
    "precision": "P",
    "set_P": "P",
    "SetP": "P",
    "set_recall": "R",
    "SetR": "R",
    "judged": "Judged",
    "Precision": "P",
    "recall": "R",
    "Recall": "R",
    "hit_rate": "Success",
    "success": "Success",
    "r_precision": "Rprec",
    "r-precision": "Rprec",
    "RPrec": "Rprec",
    "bpref": "Bpref",
    "BPref": "Bpref",
    "f1": "F1",
    "set_F": "F1",
    "SetF": "F1",
    "11pt_avg": "IPrec",
    "infap": "infAP",
    "inf_ap": "infAP",
    "alpha-nDCG": "alpha_nDCG",
    "alpha_ndcg": "alpha_nDCG",
    "α-nDCG": "alpha_nDCG",
    "α_nDCG": "alpha_nDCG",
    "alpha-DCG": "alpha_nDCG(ideal=max)",
    "alpha_DCG": "alpha_nDCG(ideal=max)",
    "α-DCG": "alpha_nDCG(ideal=max)",
    "α_DCG": "alpha_nDCG(ideal=max)",
    "ERR-IA": "ERR_IA",
    "err_ia": "ERR_IA",
    "nERR-IA": "ERR_IA(ideal=judged)",
    "nERR_IA": "ERR_IA(ideal=judged)",
    "strec": "StRecall",
    "ST-recall": "StRecall",
    "S-recall": "StRecall",
    "subtopic_recall": "StRecall",
}
# trec_eval's ndcg_cut_10, ndcg_cut.10 and P_10; MTEB's ndcg_at_10; ranx's ndcg@10 and rbp.95
_SPELLINGS = re.compile(r"(?P<family>P|[a-z_]+?)(?:_cut[_.]|_at_|[_.@])(?P<cutoff>\d+)")
_CUTOFFS = re.compile(r"(?<![^\s,])(?P<name>[A-Za-z][\w-]*[._@])(?P<cutoffs>\d+(?:,\d+)+)(?![^\s,])")  # P.5,10
_RANX_RBP = re.compile(r"rbp\.(?P<p>\d+)")
_INTERPOLATED = re.compile(r"iprec_at_recall[_.](?P<recall>\d*\.?\d+)")
_IR_MEASURES_DCG = {"log2": "linear", "exp-log2": "exp"}


def parse_measure(text: str | Measure, **parameters: ParameterValue) -> Measure:
    """Read one measure, such as ``nDCG@10`` or ``RBP(p=0.8)@5``; other tools' spellings are understood, too.

    ``parameters`` are those of the measure, as text or as values of Python, and win over those in the name: ``rel``
    (lowest relevant grade), ``gain`` (name, table ``{grade: gain}`` or function), ``ideal`` (``none``, ``max``,
    ``judged``), ``discount``, ``base``, ``p``, ``beta``, whatever a registered measure declares, and for every measure
    ``judged_only``. ``adjudge measures NAME`` lists them; an unknown name or value is refused.

    >>> print(parse_measure("RBP(p=0.9)@5"))
    RBP(p=0.9)@5
    >>> print(parse_measure("ndcg_cut_10"), parse_measure("map"), parse_measure("P@5", rel=2))
    nDCG@10 AP P(rel=2)@5
    >>> parse_measure("NDCG@10")
    Traceback (most recent call last):
    adjudge.errors.UnknownNameError: No measure is called 'NDCG'. Did you mean 'nDCG'?
    """
    if isinstance(text, Measure):
        if not parameters:
            return text
        judged_only = _flag(text.name, parameters.pop("judged_only", text.judged_only))
        given = {**dict(text.parameters), **parameters}
        return Measure.bind(text.definition, given, text.cutoff, judged_only=judged_only)
    if type(text).__module__.partition(".")[0] == "ir_measures":
        text = str(text)
    if not isinstance(text, str):
        raise AdjudgeError(f"Expected a measure such as nDCG@10 or RBP(p=0.8)@5, got {shown(text)}")
    canonical = _canonical(text.strip())
    match = _NAME.fullmatch(canonical)
    if match is None:
        raise AdjudgeError(f"Expected a measure such as nDCG@10 or RBP(p=0.8)@5, got {shown(text)}")
    definition = MEASURES[match["name"]]
    given = {**_parameters(definition.name, match["parameters"] or ""), **parameters}
    judged_only = _flag(definition.name, given.pop("judged_only", False))
    if "dcg" in given and "gain" in definition.parameters:  # ir_measures' word for the choice of gain
        chosen = given.pop("dcg")
        given["gain"] = _IR_MEASURES_DCG.get(str(chosen), chosen)
    if "gains" in given and "gain" in definition.parameters:
        given["gain"] = given.pop("gains")
    at = match["at"]
    if at is not None and definition.at is not None:
        if definition.at in given:
            raise AdjudgeError(f"{definition.name}: the parameter {definition.at!r} is given twice")
        given[definition.at], at = at, None
    return Measure.bind(definition, given, None if at is None else _CUTOFF.parse(at), judged_only=judged_only)


def parse_measures(texts: str | Measure | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """Read several measures, as a list or separated by spaces or commas; the same one twice counts once.

    >>> [str(m) for m in parse_measures("nDCG@10, AP RBP(p=0.8,ideal=max)@5")]
    ['nDCG@10', 'AP', 'RBP(ideal=max)@5']
    >>> [str(m) for m in parse_measures("ndcg_cut.5,10")]
    ['nDCG@5', 'nDCG@10']
    """
    items = list(texts) if isinstance(texts, Iterable) and not isinstance(texts, str) else [texts]
    measures = [parse_measure(part) for item in items for part in (_split(item) if isinstance(item, str) else [item])]
    if not measures:
        raise AdjudgeError("Expected at least one measure, got none.")
    return tuple(dict.fromkeys(measures))


def _canonical(text: str) -> str:
    """Our spelling of another tool's name; anything else unchanged."""
    if text in _FAMILIES:
        return _FAMILIES[text]
    if match := _RANX_RBP.fullmatch(text):
        return f"RBP(p=0.{match['p']})"
    if match := _INTERPOLATED.fullmatch(text):
        return f"IPrec@{match['recall']}"
    match = _SPELLINGS.fullmatch(text)
    if match and (match["family"] in _FAMILIES or match["family"] == "P"):
        return f"{_FAMILIES.get(match['family'], 'P')}@{match['cutoff']}"
    name, rest = re.match(r"([\w-]*)(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    family = _FAMILIES.get(name, name)
    return (name if "(" in family and "(" in rest else family) + rest


def _split(text: str) -> list[str]:
    """Parts separated by spaces or commas outside brackets; ``P.5,10``, as in trec_eval, is one measure per cutoff."""
    text = _CUTOFFS.sub(lambda match: " ".join(match["name"] + k for k in match["cutoffs"].split(",")), text)
    parts, depth, part = [], 0, ""
    for character in text:
        depth += (character in "({") - (character in ")}")
        if depth == 0 and (character.isspace() or character == ","):
            parts.append(part)
            part = ""
        else:
            part += character
    return [part for part in [*parts, part] if part]


def _parameters(owner: str, text: str) -> dict[str, ParameterValue]:
    given: dict[str, ParameterValue] = {}
    for part in re.split(r",(?![^{]*\})", text) if text.strip() else []:
        name, equals, value = part.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise AdjudgeError(f"{owner}: expected parameters as name=value, got {shown(part.strip())}")
        if name.strip() in given:
            raise AdjudgeError(f"{owner}: the parameter {name.strip()!r} is given twice")
        given[name.strip()] = value.strip().strip("'\"")
    return given


def _flag(owner: str, value: ParameterValue) -> bool:
    if str(value).lower() in {"true", "false"}:
        return str(value).lower() == "true"
    raise AdjudgeError(f"{owner}: 'judged_only' must be True or False, got {shown(value)}")
