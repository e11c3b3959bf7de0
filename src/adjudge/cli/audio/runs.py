"""``adjudge audio runs``: similar documents by baseline systems, as runs."""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.checks import COUNT, CUTOFF, SEED, WORKERS
from adjudge.cli.command import command
from adjudge.cli.output import check_folder, progress, say
from adjudge.errors import AdjudgeError, InputError
from adjudge.text import counted

if TYPE_CHECKING:
    from adjudge.audio.library.folder import Library
    from adjudge.audio.systems import Sounds


_EXAMPLES = """examples:
  adjudge audio runs lab
  adjudge audio runs lab --system timbre-mp --system tags --queries 50 -k 10
  adjudge audio runs lab --per-genre 5
  adjudge audio runs lab --system timbre --matrix mirex
then:
  adjudge audio statistics lab
  adjudge campaign create songs lab/runs --metadata lab/tracks.csv --audio lab/clips
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("library", metavar="LIBRARY", help="folder made by 'adjudge audio prepare'")
    add_systems(parser)
    group = parser.add_argument_group("queries")
    which = group.add_mutually_exclusive_group()
    which.add_argument(
        "--queries",
        metavar="N|FILE",
        help="a number of documents, spread over genres; a file with one per line; or their names with commas "
        "(default: all)",
    )
    which.add_argument("--per-genre", type=COUNT, help="documents of each genre")
    group = parser.add_argument_group("lists")
    group.add_argument("-k", type=CUTOFF, default=5, metavar="K", help="documents for each query")
    group.add_argument(
        "--artist-filter",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="leave out documents by the artist of the query",
    )
    group.add_argument("-o", "--output", metavar="DIR", help="folder for the runs (default: LIBRARY/runs)")
    group.add_argument(
        "--matrix",
        choices=("npy", "mirex"),
        help="write distances between all documents, too, to LIBRARY/matrices: for NumPy, or as text for MIREX",
    )


def add_systems(parser: argparse.ArgumentParser) -> None:
    """Which systems, and what they are started with."""
    group = parser.add_argument_group("systems")
    group.add_argument(
        "--system",
        dest="systems",
        action="append",
        metavar="NAME",
        help="a system, repeatable (default: all; see 'adjudge audio systems')",
    )
    group.add_argument("--seed", type=SEED, default=0, help="of everything random")
    group.add_argument("--workers", type=WORKERS, help="processes for audio features (default: all cores)")


@command(_add_options, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Write the documents most similar to each query by baseline systems as TREC runs, LIBRARY/runs/SYSTEM.txt.

    Audio features that are missing are computed first.
    """
    from adjudge.audio.library.folder import RUN_FOLDER, open_library
    from adjudge.audio.systems import Sounds, choose_queries, make_runs, write_runs

    folder = Path(arguments.output or Path(arguments.library) / RUN_FOLDER)
    number, listed = queries_asked(arguments.queries)
    library = open_library(arguments.library)
    check_folder(folder, "a folder for runs, got a file")
    names = systems_asked(arguments, library)
    unheard = Sounds(library.documents, {}, library.tracks, arguments.seed)
    queries = choose_queries(unheard, number, per_genre=arguments.per_genre, documents=listed)
    sounds = heard(arguments, library, names)
    with progress("systems") as advance:
        runs = make_runs(sounds, names, queries, k=arguments.k, artist_filter=arguments.artist_filter, progress=advance)
    written = write_runs(runs, folder)
    filtered = "" if arguments.artist_filter else ", documents of the query's artist among them"
    print(
        f"{counted(len(names), 'system')}, {len(queries):,} of {len(sounds):,} documents as "
        f"queries, up to {arguments.k:,} documents each{filtered}: {_shown(written)}"
    )
    _say_others(folder, written)
    if arguments.matrix is not None:
        _write_matrices(arguments, sounds, names)


def systems_asked(arguments: argparse.Namespace, library: Library) -> list[str]:
    """The systems that the options name, or all that have something to go by."""
    from adjudge.audio.systems import BASELINES
    from adjudge.audio.systems.baselines import TagDistances

    names = [BASELINES[name].name for name in dict.fromkeys(arguments.systems or BASELINES)]
    if len(library) < 2:
        raise InputError(f"expected at least 2 documents, got {len(library)}", source=str(library.folder))
    if "tags" in names and TagDistances(library.tracks).n_tagged == 0:
        if arguments.systems:
            say(["no document has tags that tell it from others, so that the lists of 'tags' are chance"])
        else:
            names.remove("tags")
            say(["no document has tags that tell it from others: the system 'tags' is left out"])
    return names


def heard(arguments: argparse.Namespace, library: Library, names: Sequence[str]) -> Sounds:
    """What these systems need of a library; audio features are computed where they are missing."""
    from adjudge.audio.systems import sounds_of

    with progress("audio features") as advance:
        return sounds_of(library, names, seed=arguments.seed, workers=arguments.workers, progress=advance)


def queries_asked(text: str | None) -> tuple[int | None, Sequence[str] | None]:
    """What ``--queries`` means: a number, or the documents of a file or of a list with commas.

    >>> queries_asked("50"), queries_asked("a,b"), queries_asked(None)
    ((50, None), (None, ['a', 'b']), (None, None))
    """
    if text is None:
        return None, None
    if text.strip().removeprefix("-").isdecimal():
        return int(COUNT.read("queries", text.strip())), None
    if os.path.exists(text):
        return None, _in_file(text)
    if os.path.sep in text or text.endswith((".txt", ".csv")):
        raise AdjudgeError(f"{text}: expected a file with queries, got none")
    return None, [name.strip() for name in text.split(",") if name.strip()]


def _in_file(path: str) -> list[str]:
    """Documents of a file, one per line, or the column ``document`` or ``query`` of a table."""
    from adjudge.formats import Source

    source = Source.open(Path(path))
    lines = source.text.decode("utf-8-sig", errors="replace").splitlines()
    rows = [line for line in lines if line.strip() and not line.startswith("#")]
    if not rows:
        raise InputError("expected queries, one per line, got none", source=source.name)
    delimiter = next((mark for mark in ("\t", ",", ";") if mark in rows[0]), None)
    cells = [[cell.strip() for cell in row] for row in csv.reader(rows, delimiter=delimiter or "\t")]
    head = [cell.lower() for cell in cells[0]]
    column = next((head.index(name) for name in ("document", "query") if name in head), None)
    if column is None and delimiter is not None:
        raise InputError("expected one query per line, or a column 'document'", source=source.name)
    return [row[column or 0] for row in (cells if column is None else cells[1:]) if len(row) > (column or 0)]


def _shown(written: Sequence[Path]) -> str:
    names = ", ".join(path.stem for path in written)
    return f"{written[0].parent}{os.sep}({names}).txt" if len(written) > 1 else str(written[0])


def _say_others(folder: Path, written: Sequence[Path]) -> None:
    """Name the runs that are in the folder from before: who reads the folder reads them, too."""
    others = sorted(path.name for path in folder.iterdir() if path not in written and not path.name.startswith("."))
    if others:
        some = ", ".join(others[:5]) + (" …" if len(others) > 5 else "")
        say([f"{folder} has runs from before, too, which may be about other queries: {some}"])


def _write_matrices(arguments: argparse.Namespace, sounds: Sounds, names: Sequence[str]) -> None:
    from adjudge.audio.systems.ranking import MATRIX_FOLDER, write_matrix

    folder = Path(arguments.library) / MATRIX_FOLDER
    for name in names:
        with progress(f"distances of {name}") as advance:
            path = write_matrix(sounds, name, folder, form=arguments.matrix, progress=advance)
        print(f"{len(sounds):,} x {len(sounds):,} distances of {name}: {path} ({path.stat().st_size / 1e6:,.1f} MB)")
