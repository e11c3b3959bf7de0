"""Options that several commands share."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, get_args

from adjudge.choices import Combine, Interval, Names
from adjudge.cli.output import with_inputs

if TYPE_CHECKING:
    from adjudge.formats.reading import Progress
    from adjudge.model.collection import Collection
    from adjudge.model.effectiveness import Effectiveness
    from adjudge.users.mapping_files import Mappings

Subparsers = argparse._SubParsersAction


def add_output(parser: argparse.ArgumentParser, *, page: str = "latex") -> None:
    """How results are shown: as a table for people, as JSON, as CSV, or for a ``page`` in LaTeX or Markdown."""
    group = parser.add_argument_group("output")
    kinds = group.add_mutually_exclusive_group()
    kinds.add_argument("--json", dest="style", action="store_const", const="json", help="as JSON, with provenance")
    kinds.add_argument("--csv", dest="style", action="store_const", const="csv", help="as CSV")
    about = "as a LaTeX table (booktabs)" if page == "latex" else "as a Markdown page"
    kinds.add_argument(f"--{page}", dest="style", action="store_const", const=page, help=about)
    group.add_argument("-o", "--output", metavar="FILE", help="write to a file; its suffix says in which form")


def add_intervals(group: argparse._ArgumentGroup) -> None:
    """Level and kind of the intervals."""
    group.add_argument("--confidence", type=float, default=0.95, help="level of the intervals (default: 0.95)")
    group.add_argument(
        "--interval", choices=get_args(Interval), default="t", help="intervals by t or bootstrap (default: t)"
    )


def add_collection(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Which runs and judgments to read, and how."""
    one, some = (None, "+") if required else ("?", "*")
    parser.add_argument("judgments", metavar="JUDGMENTS", nargs=one, help="file with judgments (qrels)")
    parser.add_argument("runs", metavar="RUN", nargs=some, help="files, directories or patterns with runs")
    add_reading(parser)


def add_run_reading(group: argparse._ArgumentGroup) -> None:
    """How to read runs."""
    group.add_argument("--format", help="format of the runs (default: recognised; see 'adjudge formats')")
    group.add_argument("--teams", metavar="FILE", help="table of systems and their teams")
    group.add_argument(
        "--names",
        choices=get_args(Names),
        default="tag",
        help="name systems after the tag in their file or after the file (default: tag)",
    )
    group.add_argument(
        "--artist-filter",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="remove the query and its artist's documents from rankings (default: for MIREX formats)",
    )


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How to read runs, judgments and what belongs to them."""
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--scale",
        help="relevance scale: broad, fine, binary or an interval such as 0..4 (default: highest grade found)",
    )
    group.add_argument("--rescale", metavar="TO", help="convert grades: graded3, graded5, binary40, …")
    group.add_argument(
        "--combine",
        choices=get_args(Combine),
        default="mean",
        help="grades of several assessors (default: mean)",
    )
    add_run_reading(group)
    group.add_argument("--judgments-format", metavar="FORMAT", help="format of the judgments (default: recognised)")
    group.add_argument("--metadata", metavar="FILE", help="table of documents: artist, genre, any column")
    group.add_argument("--depth", type=int, metavar="N", help="keep the first N documents of every ranking")


def read_collection(arguments: argparse.Namespace, progress: Progress | None) -> Collection:
    """Read the collection that the options describe."""
    from adjudge.formats import read

    collection = read(
        arguments.runs,
        arguments.judgments,
        arguments.metadata,
        scale=arguments.scale,
        teams=arguments.teams,
        format=arguments.format,
        judgments_format=arguments.judgments_format,
        names=arguments.names,
        artist_filter=arguments.artist_filter,
        depth=arguments.depth,
        progress=progress,
    )
    if arguments.judgments is None:
        return collection
    if arguments.rescale is not None:
        collection = collection.rescaled(arguments.rescale)
    return collection.combined(arguments.combine) if arguments.combine != "mean" else collection


def add_users(group: argparse._ArgumentGroup) -> None:
    """The user's own mappings from effectiveness to users."""
    group.add_argument(
        "--users",
        metavar="FILE",
        help="own mappings from effectiveness to users (JSON or CSV), such as adjudge fit writes",
    )


def own_mappings(arguments: argparse.Namespace) -> Mappings | None:
    """The user's own mappings from effectiveness to users, if a file was given."""
    if arguments.users is None:
        return None
    from adjudge.users.mapping_files import read_mappings

    return read_mappings(arguments.users)


def with_users_file(eff: Effectiveness, arguments: argparse.Namespace) -> Effectiveness:
    """The same effectiveness, with the file of own mappings among its inputs."""
    if arguments.users is None:
        return eff
    from dataclasses import replace

    return replace(eff, provenance=with_inputs(eff.provenance, [arguments.users]))
