"""``adjudge audio statistics``: hubs, coverage and what neighbours share, before anybody judges."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.cli.audio.runs import add_systems, heard, systems_asked
from adjudge.cli.command import command
from adjudge.cli.options import add_columns, add_figures, add_output
from adjudge.cli.output import PAGE_FORMS, check_output, made_from, progress, show_report
from adjudge.errors import AdjudgeError, kept_warnings

if TYPE_CHECKING:
    from adjudge.audio.systems.statistics import Statistics


_EXAMPLES = """examples:
  adjudge audio statistics lab
  adjudge audio statistics lab --system timbre --system timbre-mp -o hubs.html
  adjudge audio statistics lab lab/runs/*.txt
  adjudge audio statistics runs/*.txt --metadata tracks.csv --csv
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "given",
        metavar="LIBRARY [RUN …]",
        nargs="+",
        help="folder made by 'adjudge audio prepare', then runs, if they are to be described instead of the baseline "
        "systems; with --metadata, runs only",
    )
    parser.add_argument("--metadata", metavar="FILE", help="table of documents with genre, artist, album")
    add_columns(parser)
    add_systems(parser)
    group = parser.add_argument_group("lists")
    group.add_argument("--cutoffs", metavar="K,K,…", default="5,10,20,50", help="lengths of lists")
    add_output(parser)
    add_figures(parser)


@command(_add_options, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Describe systems before anybody judges.

    Neighbours that share genre, artist or album with the query, documents that are in far too many lists (hubs) or in
    none, the triangle inequality: of baseline systems with all documents of a library as queries, or of runs as they
    are.
    """
    from adjudge.audio.systems.statistics import sentences, statistics_sections

    runs = arguments.given if arguments.metadata is not None else arguments.given[1:]
    check_output(argparse.Namespace(**{**vars(arguments), "runs": runs}), forms=PAGE_FORMS)
    if runs and arguments.systems:
        raise AdjudgeError("--system is about baseline systems of a library; expected these or runs, got both")
    if arguments.metadata is None and _is_no_library(Path(arguments.given[0])):
        raise AdjudgeError(f"{arguments.given[0]}: expected a library before runs, or --metadata FILE with them")
    cutoffs = _cutoffs(arguments.cutoffs)
    with kept_warnings() as notes:
        if runs:
            found, inputs = _of_runs(arguments, runs, cutoffs)
        else:
            found, inputs = _of_library(arguments, cutoffs)
    provenance = made_from(inputs, seed=arguments.seed).to_dict()
    records = found.to_dicts()
    show_report(
        arguments,
        statistics_sections(found),
        title="Systems before anybody judges",
        subtitle=f"{len(found.systems)} systems, {found.n_queries:,} queries, {len(found.documents):,} documents",
        provenance=provenance,
        values={"statistics": records, "summary": sentences(found), "provenance": provenance},
        records=records,
        notes=tuple(notes),
    )


def _is_no_library(given: Path) -> bool:
    """Whether runs seem to be meant: a file, or a folder that nobody has begun to prepare."""
    from adjudge.audio.library.folder import TRACKS, WORK_FOLDER

    begun = any((given / name).exists() for name in (TRACKS, WORK_FOLDER))
    return given.is_file() or (given.is_dir() and not begun)


def _cutoffs(text: str) -> list[int]:
    try:
        found = [int(part) for part in text.split(",")]
    except ValueError:
        raise AdjudgeError(f"--cutoffs: expected whole numbers with commas, such as 5,10, got {text!r}") from None
    if min(found) < 1:
        raise AdjudgeError(f"--cutoffs: expected lengths of at least 1, got {min(found)}")
    return found


def _of_library(arguments: argparse.Namespace, cutoffs: list[int]) -> tuple[Statistics, list[str | None]]:
    from adjudge.audio.library.folder import CLIPS, TRACKS, open_library
    from adjudge.audio.systems.statistics import describe_systems

    library = open_library(arguments.given[0])
    names = systems_asked(arguments, library)
    sounds = heard(arguments, library, names)
    with progress("systems") as advance:
        found = describe_systems(sounds, names, cutoffs=cutoffs, progress=advance)
    return found, [str(library.folder / name) for name in (TRACKS, CLIPS)]


def _of_runs(arguments: argparse.Namespace, runs: list[str], cutoffs: list[int]) -> tuple[Statistics, list[str | None]]:
    from adjudge.audio.library.folder import TRACKS, open_library
    from adjudge.audio.systems.statistics import describe_runs
    from adjudge.formats import read

    metadata = arguments.metadata
    if metadata is None:
        metadata = str(Path(open_library(arguments.given[0]).folder) / TRACKS)
    with progress("reading") as advance:
        collection = read(runs, None, metadata, progress=advance)
    if collection.metadata is None:
        raise AdjudgeError(f"{metadata}: expected a table of documents, got none")
    return describe_runs(collection.runs, collection.metadata.table, cutoffs=cutoffs), [metadata, *runs]
