"""``adjudge reproduce``: the door to ``papers``, which is in a checkout of the source and not in the wheel."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from adjudge.checks import SEED, WORKERS
from adjudge.cli.command import command
from adjudge.cli.options import add_pages
from adjudge.errors import AdjudgeError

_EXAMPLES = """examples:
  adjudge reproduce data -o reproduction.html
  adjudge reproduce data --only reliability --only listeners
  adjudge reproduce --list

DATA holds the public data, as files below it:
  mirex2011/runs.tsv, judgments.tsv, metadata.tsv     MIREX 2011 (system, query, document; query, document, grade;
                                                      document, artist, genre)
  user-study-2012/answers.csv, workers.csv            answers of listeners
  preferences-2010/judgments.csv                      preferences between melodies
  trec/adhoc8_ap.csv                                  effectiveness of TREC runs
What is not there is left out, and said so; other data are refused. A terminal gets only numbers that are not exact;
files (-o) and --csv have all. What is not exact has a cause: data (those of the paper are not public), model (its
parameters are not printed), reading (the paper read it off a plot), slip (of the paper), rounding, draws or ties (both
chance), or unknown. Every number has a bound, also where the published number cannot come out: another computation
from the same data, rounding, Monte-Carlo error or a range. The exit code is 1 where a number is outside its bound.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("data", metavar="DATA", nargs="?", help="folder with the public data")
    parser.add_argument("--only", action="append", metavar="STUDY", help="only this study; repeatable (see --list)")
    parser.add_argument("--list", action="store_true", help="list the studies and what they need, and stop")
    parser.add_argument("--quick", action="store_true", help="fewer trials where trials are drawn, for a first look")
    parser.add_argument("--seed", type=SEED, default=0, help="of everything that is drawn")
    parser.add_argument("--workers", type=WORKERS, help="processes (default: one per core)")


@command(_add_options, add_pages, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Compare every table and figure of the five papers that public data allow with what comes out here.

    Published number, our number, verdict (exact, within tolerance, differs and why, or fails); and what public data do
    not allow. It runs the folder 'papers' of a source checkout: that of an editable install, or the one that you are
    in.
    """
    import_papers("papers.command").run(arguments)


def import_papers(name: str) -> Any:
    """A module of ``papers``, from the checkout of an editable install or around the current folder."""
    import adjudge

    here = Path.cwd()
    for root in (Path(adjudge.__file__).parents[2], here, *here.parents):
        if (root / "papers" / "studies.py").is_file() and (root / "src" / "adjudge").is_dir():
            if str(root) not in sys.path:
                sys.path.insert(0, str(root))
            return import_module(name)
    raise AdjudgeError(
        "Expected a source checkout with the folder 'papers', got none here or above; call this inside the unpacked "
        "source distribution (pip download --no-deps --no-binary adjudge adjudge)."
    )
