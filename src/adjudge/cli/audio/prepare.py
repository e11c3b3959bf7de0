"""``adjudge audio prepare``: from a folder of recordings to clips that are equally loud, and a table of them."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING

from adjudge.checks import NOT_NEGATIVE, WORKERS
from adjudge.cli.command import command
from adjudge.cli.options import add_columns
from adjudge.errors import AdjudgeError, shown
from adjudge.text import counted

if TYPE_CHECKING:
    from adjudge.audio.library.prepare import PreparedLibrary


_EXAMPLES = """examples:
  adjudge audio prepare music -o lab
  adjudge audio prepare music -o lab --table music.csv --place representative
The table has a column 'file' (path below the folder) or 'document', and what is known of it: artist, title, genre, …
Called again, only what is new or changed is done; interrupted, the same command goes on where it was.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="folder with recordings")
    parser.add_argument("-o", "--output", metavar="LIBRARY", required=True, help="folder for the clips and tables")
    parser.add_argument("--table", metavar="FILE", help="what is known of the recordings; wins over their tags")
    add_columns(parser)
    clips = parser.add_argument_group("clips")
    clips.add_argument("--seconds", type=float, default=30.0, help="length of clips")
    clips.add_argument(
        "--place",
        choices=("middle", "start", "representative"),
        default="middle",
        help="what to cut: the middle, the start, or what is most like the whole recording",
    )
    clips.add_argument(
        "--loudness",
        metavar="LUFS",
        default="auto",
        help="loudness of clips; auto: -18, or as much lower (to -23) as the highest peaks need",
    )
    clips.add_argument(
        "--least-seconds",
        type=NOT_NEGATIVE,
        metavar="SECONDS",
        help="leave out recordings that are shorter (default: 10, or --seconds where that is less)",
    )
    clips.add_argument("--keep-duplicates", action="store_true", help="keep recordings that repeat another")
    parser.add_argument("--workers", type=WORKERS, help="processes (default: one per core)")


@command(_add_options, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """Cut a clip from every recording in a folder and below it (WAV, FLAC, Ogg, Opus, MP3, AIFF).

    Clips are equally loud without clipping, and every browser plays them; a table has the tracks with their tags. Files
    that cannot be used are listed with the reason.
    """
    for name, given in (("FOLDER", arguments.folder), ("--output", arguments.output)):
        if not given:  # an unset variable of a shell, which would mean the folder that one is in
            raise AdjudgeError(f"{name}: expected a folder, got an empty name")
    loudness = _loudness(arguments.loudness)
    from adjudge.audio.library.prepare import prepare_library
    from adjudge.audio.library.tags import read_tag_table
    from adjudge.cli.output import progress
    from adjudge.formats.columns import check_columns

    if arguments.columns is not None:  # a wrong name should not cost a library
        if arguments.table is not None:
            read_tag_table(arguments.table)
        check_columns()

    with progress("preparing") as advance:
        prepared = prepare_library(
            arguments.folder,
            arguments.output,
            seconds=arguments.seconds,
            place=arguments.place,
            loudness=loudness,
            table=arguments.table,
            least_seconds=arguments.least_seconds,
            keep_duplicates=arguments.keep_duplicates,
            workers=arguments.workers,
            progress=advance,
        )
    print("\n".join(_summary(prepared, arguments.output)))


def _loudness(text: str) -> float | None:
    if text == "auto":
        return None
    try:
        return float(text)
    except ValueError:
        raise AdjudgeError(f"--loudness: expected auto or a number in LUFS, got {shown(text)}") from None


def _summary(prepared: PreparedLibrary, output: str) -> list[str]:
    """What is there, what is not and why, and what to do next."""
    from adjudge.audio.library.folder import PROBLEMS
    from adjudge.audio.library.prepare import count_problems
    from adjudge.audio.library.scan import NO_FILE, NOTES

    library, place = prepared.library, shlex.quote(output)
    new = f"{'all' if prepared.n_kept == 0 else f'{prepared.n_new:,}' if prepared.n_new else 'none'} of them new"
    loudness, peaks = library.clips["loudness"].to_list(), library.clips["true_peak"].to_list()
    lines = [
        f"{counted(len(library), 'clip')} in {output}, {new}: {min(loudness):.1f} to {max(loudness):.1f} LUFS, "
        f"true peaks of at most {max(peaks):.1f} dBTP"
    ]
    if prepared.quieter:
        names = ", ".join(prepared.quieter[:3]) + (", …" if len(prepared.quieter) > 3 else "")
        whose = "its" if len(prepared.quieter) == 1 else "their"
        held = f"held more than 1 LU below {prepared.target:g} LUFS by {whose} peaks"
        lines.append(f"{counted(len(prepared.quieter), 'clip')} {held}: {names}")
    left_out = prepared.left_out
    noted = [problem for problem in prepared.problems if problem.problem in NOTES]
    rows = sum(problem.problem == NO_FILE for problem in prepared.problems)
    see = f"; see {output.rstrip('/')}/{PROBLEMS}"
    if left_out:
        lines.append(f"{counted(len(left_out), 'file')} left out: {count_problems(left_out)}{see}")
    if noted:
        lines.append(f"used all the same: {count_problems(noted)}{see}")
    if rows:
        lines.append(f"{counted(rows, 'row')} of the table without a recording{see}")
    return [*lines, f"next: adjudge audio runs {place}"]
