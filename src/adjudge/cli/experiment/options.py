"""Options of experiments: a setting of a specification is one entry here, under the name it has there."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from adjudge.checks import CONFIDENCE, COUNT, RESAMPLES, SEVERAL, SOME_SHARE, TARGET, TRIALS, WORKERS
from adjudge.cli.options import add_option
from adjudge.errors import AdjudgeError, shown

MOST_SIZES = 1000


@dataclass(frozen=True)
class Kind:
    """A command that runs an experiment: what help says of it, and the settings it has besides trials and seed."""

    help: str
    about: str
    settings: tuple[str, ...]
    example: str
    specification: str
    """Its module and class, whose defaults are those of the options."""


_COMPARING = ("sizes", "procedures", "resamples", "gpu")
KINDS = {
    "power": Kind(
        "how many differences are found with how many queries",
        "All pairs of systems are tested on query sets of growing size: the share of significant pairs, and how many "
        "queries find almost as many as all of them.",
        (*_COMPARING, "enough"),
        "adjudge experiment power judgments.tsv runs.tsv --scale fine -m CG@5 --metadata songs.tsv --stratify genre",
        "power:Power",
    ),
    "stability": Kind(
        "how many significant differences would not be found again",
        "All pairs of systems are tested on two disjoint query sets of the same size: how often what is significant in "
        "one is not in the other, or is the other way round.",
        _COMPARING,
        "adjudge experiment stability judgments.tsv runs.tsv --scale fine -m 'CG@5 ADR@5' --on fine,graded3,binary40",
        "stability:Stability",
    ),
    "tests": Kind(
        "which significance test is powerful, safe and exact",
        "All pairs of systems are tested on two disjoint query sets by several tests: rates of success, lack of power, "
        "minor, major and global conflict over 32 levels, and the error of each test with itself.",
        _COMPARING,
        "adjudge experiment tests --effectiveness ap.csv --test t --test wilcoxon --trials 100",
        "optimality:Optimality",
    ),
    "fit": Kind(
        "which distribution fits effectiveness",
        "Distributions fitted to some queries, compared with the queries left over: the mean squared distance between "
        "predicted and observed, by number of queries.",
        ("sizes", "distributions"),
        "adjudge experiment fit --effectiveness ap.csv --distribution normal --distribution beta",
        "goodness:Fit",
    ),
    "reliability": Kind(
        "how far G-theory's estimates can be trusted",
        "Reliability and the number of queries needed, estimated from some queries, and how well as many other queries "
        "agree: how estimates scatter, and whether they keep their promise.",
        ("sizes", "target", "confidence", "truth", "margin", "dependence"),
        "adjudge experiment reliability qrels.txt runs/*.txt -m nDCG@10 --sizes 10-50/10",
        "reliability:Reliability",
    ),
    "errors": Kind(
        "Type I, II and III errors on simulated collections",
        "Collections drawn from a model of the data, whose truth is known: how often tests find differences that are "
        "not there, miss those that are, or get the direction wrong.",
        (*_COMPARING, "null", "systems", "margin", "dependence"),
        "adjudge experiment errors qrels.txt runs/*.txt -m AP --test t --test sign --sizes 50",
        "error_rates:Errors",
    ),
}


@dataclass(frozen=True)
class Setting:
    """How a setting is given: its option, what argparse needs to know, and how the text becomes a value.

    ``usual`` are words for its default, where these say more than the value in the specification.
    """

    option: str
    how: dict[str, Any]
    read: Callable[[Any], Any] = lambda value: value
    usual: str | None = None


def parse_sizes(text: str) -> tuple[int, ...]:
    """Numbers of queries: one, several with commas, ranges, and ranges with a step.

    >>> parse_sizes("5-20/5"), parse_sizes("10, 50,20"), parse_sizes("2-4,10")
    ((5, 10, 15, 20), (10, 20, 50), (2, 3, 4, 10))
    """
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9})(?:/(\d{1,9}))?)?", part.strip())
        first, last, step = (0, 0, 0) if match is None else (int(group) if group else None for group in match.groups())
        if match is None or step == 0 or (last is not None and last < first):  # type: ignore[operator]
            raise AdjudgeError(f"--sizes: expected numbers of queries as 20, 10,20,50 or 5-100/5, got {shown(text)}")
        numbers = range(first, (first if last is None else last) + 1, step or 1)  # type: ignore[arg-type, operator]
        if len(found) + len(numbers) > MOST_SIZES:
            raise AdjudgeError(f"--sizes: expected at most {MOST_SIZES:,} numbers of queries, got more")
        found |= set(numbers)
    return tuple(sorted(found))


SETTINGS = {
    "sizes": Setting(
        "--sizes",
        {"metavar": "SIZES", "help": "numbers of queries: 20, 10,20,50 or 5-100/5"},
        parse_sizes,
        "settled by the data",
    ),
    "procedures": Setting(
        "--test",
        {
            "action": "append",
            "metavar": "TEST",
            "help": "t, wilcoxon, sign, bootstrap, permutation, friedman-tukey, tukey or randomised-tukey; -1 when "
            "one-sided, + and a correction, @ and a level: wilcoxon-1@0.01, t+holm, 'sign(min_difference=0.01)' "
            "(smaller differences are ties); repeatable",
        },
        tuple,
        "those of the literature",
    ),
    "trials": Setting("--trials", {"type": TRIALS}),
    "resamples": Setting("--resamples", {"type": RESAMPLES, "help": "of bootstrap and permutation tests"}),
    "gpu": Setting("--gpu", {"action": "store_true", "default": None, "help": "draw resamples on a graphics card"}),
    "enough": Setting("--enough", {"type": SOME_SHARE, "help": "share of what all queries find that is enough"}),
    "distributions": Setting(
        "--distribution",
        {
            "dest": "distributions",
            "action": "append",
            "metavar": "NAME",
            "help": "empirical, normal, truncated-normal or beta; repeatable",
        },
        tuple,
        "all",
    ),
    "target": Setting("--target", {"type": TARGET, "help": "reliability that queries are asked for"}),
    "confidence": Setting("--confidence", {"type": CONFIDENCE, "help": "level of the intervals looked at"}),
    "truth": Setting(
        "--truth",
        {
            "metavar": "OF",
            "help": "what estimates are held against: collection (all queries there are) or simulated (a model of the "
            "data, from which queries are drawn)",
        },
    ),
    "null": Setting(
        "--null",
        {
            "metavar": "HOW",
            "help": "how systems are made equal: exchangeable (nothing tells them apart), margins (all have the "
            "distribution of one of them, and depend on one another as in the data) or means (each keeps its own, bent "
            "to the same mean)",
        },
    ),
    "systems": Setting("--systems", {"type": SEVERAL, "help": "systems that a trial compares at most"}),
    "margin": Setting(
        "--margin", {"metavar": "NAME", "help": "how effectiveness of a system is modelled"}, usual="the best fit"
    ),
    "dependence": Setting(
        "--dependence",
        {"metavar": "NAME", "help": "how systems depend on one another: empirical, gaussian, t or independent"},
        usual="empirical",
    ),
}


def add_settings(parser: argparse.ArgumentParser, kind: str) -> None:
    """The settings of one experiment."""
    group = parser.add_argument_group("experiment")
    for name in ("trials", *KINDS[kind].settings):
        setting = SETTINGS[name]
        usual = setting.usual or f"{{adjudge.experiments.{KINDS[kind].specification}.{name}}}"
        add_option(group, setting.option, usual=usual, **{"dest": name, **setting.how})


def settings_of(arguments: argparse.Namespace, kind: str) -> dict[str, Any]:
    """Settings that were given, as the specification takes them; others keep their defaults."""
    given = {name: getattr(arguments, name) for name in ("trials", *KINDS[kind].settings)}
    found = {name: SETTINGS[name].read(value) for name, value in given.items() if value is not None}
    return {**found, "seed": arguments.seed}


def add_running(parser: argparse.ArgumentParser) -> None:
    """Who does the work."""
    group = parser.add_argument_group("running")
    group.add_argument("--workers", type=WORKERS, help="processes (default: one per core)")
    group.add_argument(
        "--dask", metavar="WHERE", help="a Dask scheduler, as tcp://host:8786, or 'local' for one started here"
    )
    group.add_argument("--chunk", type=COUNT, help="trials that a worker does at once (default: by their cost)")


def running_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Who does the work, as the library takes it."""
    return {"workers": arguments.workers, "dask": arguments.dask, "chunk": arguments.chunk}
