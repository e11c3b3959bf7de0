"""Names of measures as the field writes them: ``nDCG@10``, ``AP(rel=40)@5``, and other tools' spellings.

The grammar is that of ir_measures, ``Name(parameter=value,…)@cutoff``. What a measure prints, it parses back to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from adjudge.errors import AdjudgeError, shown
from adjudge.measures.base import MEASURES, Measure

_NAME = re.compile(r"(?P<name>[A-Za-z_][\w-]*)(?:\((?P<parameters>.*)\))?(?:@(?P<cutoff>-?\w+))?", re.DOTALL)
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
}
# trec_eval's ndcg_cut_10, ndcg_cut.10 and P_10; MTEB's ndcg_at_10; ranx's ndcg@10 and rbp.95
_SPELLINGS = re.compile(r"(?P<family>P|[a-z_]+?)(?:_cut[_.]|_at_|[_.@])(?P<cutoff>\d+)")
_CUTOFFS = re.compile(r"(?<![^\s,])(?P<name>[A-Za-z][\w-]*[._@])(?P<cutoffs>\d+(?:,\d+)+)(?![^\s,])")  # P.5,10
_RANX_RBP = re.compile(r"rbp\.(?P<p>\d+)")
_IR_MEASURES_DCG = {"log2": "linear", "exp-log2": "exp"}


def parse_measure(text: str | Measure, **parameters: Any) -> Measure:
    """Read one measure.

    >>> print(parse_measure("RBP(p=0.9)@5"))
    RBP(p=0.9)@5
    >>> print(parse_measure("ndcg_cut_10"), parse_measure("map"), parse_measure("P@5", rel=2))
    nDCG@10 AP P(rel=2)@5
    >>> parse_measure("NDCG@10")
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: No measure is called 'NDCG'. Did you mean 'nDCG'?
    """
    if isinstance(text, Measure):
        if not parameters:
            return text
        return Measure.bind(
            text.definition, {**dict(text.parameters), **parameters}, text.cutoff, judged_only=text.judged_only
        )
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
        given["gain"] = _IR_MEASURES_DCG.get(str(given["dcg"]), given["dcg"])
        del given["dcg"]
    if "gains" in given and "gain" in definition.parameters:
        given["gain"] = given.pop("gains")
    cutoff = match["cutoff"]
    if cutoff is not None and not re.fullmatch(r"-?\d+", cutoff):
        raise AdjudgeError(f"{definition.name}: the cutoff must be a whole number of at least 1, got {shown(cutoff)}")
    return Measure.bind(definition, given, None if cutoff is None else int(cutoff), judged_only=judged_only)


def parse_measures(texts: str | Measure | Iterable[str | Measure]) -> tuple[Measure, ...]:
    """Read several measures, each on its own or separated by blanks or commas; the same one twice counts once.

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
    """Another tool's spelling in ours; anything else unchanged."""
    if text in _FAMILIES:
        return _FAMILIES[text]
    if match := _RANX_RBP.fullmatch(text):
        return f"RBP(p=0.{match['p']})"
    match = _SPELLINGS.fullmatch(text)
    if match and (match["family"] in _FAMILIES or match["family"] == "P"):
        return f"{_FAMILIES.get(match['family'], 'P')}@{match['cutoff']}"
    name, rest = re.match(r"([\w-]*)(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    family = _FAMILIES.get(name, name)
    return (family if "(" not in family else name) + rest


def _split(text: str) -> list[str]:
    """Parts separated by blanks or commas that are not inside brackets."""
    parts, depth, part = [], 0, ""
    for sign in _CUTOFFS.sub(_one_each, text):
        depth += (sign in "({") - (sign in ")}")
        if depth == 0 and (sign.isspace() or sign == ","):
            parts.append(part)
            part = ""
        else:
            part += sign
    return [part for part in [*parts, part] if part]


def _one_each(several: re.Match[str]) -> str:
    """A measure with several cutoffs, as trec_eval takes them, once for each."""
    return " ".join(f"{several['name']}{cutoff}" for cutoff in several["cutoffs"].split(","))


def _parameters(owner: str, text: str) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for part in re.split(r",(?![^{]*\})", text) if text.strip() else []:
        name, equals, value = part.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise AdjudgeError(f"{owner}: expected parameters as name=value, got {shown(part.strip())}")
        if name.strip() in given:
            raise AdjudgeError(f"{owner}: the parameter {name.strip()!r} is given twice")
        given[name.strip()] = value.strip().strip("'\"")
    return given


def _flag(owner: str, value: Any) -> bool:
    if str(value).lower() in {"true", "false"}:
        return str(value).lower() == "true"
    raise AdjudgeError(f"{owner}: 'judged_only' must be True or False, got {shown(value)}")
