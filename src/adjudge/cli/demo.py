"""``adjudge demo``: the embedded collection, scored or written to files; or a folder of invented music."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from adjudge.checks import COUNT, SEED
from adjudge.cli.command import command
from adjudge.cli.options import add_output
from adjudge.cli.output import TABLE_FORMS, check_output, progress
from adjudge.cli.score import add_scoring, evaluated, show_scores
from adjudge.errors import AdjudgeError, reason

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.model.collection import Collection


TRACKS = 60
SECONDS = 8.0
"""Length of a piece of the demo: long enough to know it, short enough to make hundreds."""


def _add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("collection")
    group.add_argument("--demo-seed", type=SEED, default=2012, help="seed of the collection")
    group.add_argument("--queries", type=COUNT, default=60, help="number of queries")
    group.add_argument("--ranks", type=COUNT, default=10, help="documents per ranking")
    group.add_argument("--scale", choices=("fine", "broad"), default="fine", help="scale of the judgments")
    group.add_argument("--write", metavar="DIR", help="write runs, judgments and metadata into a new directory instead")
    group.add_argument("--sound", action="store_true", help="with --write: a short piece for every document, too")
    group.add_argument("--music", metavar="DIR", help="write a folder of invented music instead, for adjudge audio")
    group.add_argument("--tracks", type=COUNT, help=f"with --music: how many tracks (default: {TRACKS})")
    parser.add_argument("--debian", help=argparse.SUPPRESS)  # until 1.0


@command(_add_options, add_scoring, add_output)
def run(arguments: argparse.Namespace) -> None:
    """A small evaluation of music similarity, made from a seed: 12 systems, 10 genres, all judged."""
    if arguments.debian is not None:
        raise AdjudgeError("--debian is now an example of the source checkout: python -m examples.debian_music DIR")
    from adjudge.embedded import demo

    check_output(arguments, forms=TABLE_FORMS)
    if arguments.sound and arguments.write is None:
        raise AdjudgeError("--sound goes with --write: it makes files")
    if arguments.tracks is not None and arguments.music is None:
        raise AdjudgeError("--tracks goes with --music: it says how many there are in the folder")
    if arguments.music is not None:
        write_music(arguments)
        return
    if arguments.write is not None:
        _write(arguments)
        return
    collection = demo(arguments.demo_seed, queries=arguments.queries, depth=arguments.ranks, scale=arguments.scale)
    show_scores(arguments, evaluated(arguments, collection))


def _write(arguments: argparse.Namespace) -> None:
    """Write the collection into a new directory."""
    with new_directory(arguments.write) as (folder, target):
        n_runs = _fill(folder, arguments)
    sound = ", sound" if arguments.sound else ""
    print(f"Wrote {n_runs} runs, two sets of judgments, metadata{sound} and teams to {target}. Try:")
    if arguments.sound:
        print(f"  adjudge campaign create songs {target}/runs --metadata {target}/metadata.csv --audio {target}/audio")
    print(f"  adjudge score {target}/fine.csv {target}/runs --scale fine --teams {target}/teams.csv -m 'CG@5 nDCG@5'")


@contextmanager
def new_directory(name: str) -> Iterator[tuple[Path, Path]]:
    """A folder to fill, and the directory that it becomes when it is complete; that must not be there yet."""
    import shutil
    import tempfile
    from pathlib import Path

    target = Path(name)
    if target.exists():
        raise AdjudgeError(f"{target}: expected a new directory, got one that exists")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    except OSError as error:
        raise AdjudgeError(f"{target}: cannot be written: {reason(error)}") from None
    try:
        yield temporary, target
        temporary.chmod(0o755)
        temporary.rename(target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def _fill(directory: Path, arguments: argparse.Namespace) -> int:
    """Runs in TREC's format, one file per system; judgments on both scales; metadata; teams. Returns how many runs."""
    from adjudge.embedded import demo
    from adjudge.formats import write
    from adjudge.io import write_whole
    from adjudge.model.runs import Runs

    both = {
        scale: demo(arguments.demo_seed, queries=arguments.queries, depth=arguments.ranks, scale=scale)
        for scale in ("fine", "broad")
    }
    collection = both["fine"]
    (directory / "runs").mkdir()
    for run_ in collection.runs:
        runs = Runs((run_,), collection.queries, collection.documents)
        write(runs, directory / "runs" / f"{run_.system}.txt", format="trec")
    for scale, judged in both.items():
        write(judged.need_judgments(), directory / f"{scale}.csv")
    if collection.metadata is not None:
        write(collection.metadata, directory / "metadata.csv")
    teams = "".join(f"{system},{team}\n" for system, team in collection.runs.teams.items())
    write_whole(directory / "teams.csv", f"system,team\n{teams}".encode())
    if arguments.sound:
        _write_sound(directory, collection, seed=arguments.demo_seed)
    return len(collection.runs)


def _write_sound(directory: Path, collection: Collection, *, seed: int) -> None:
    """A piece for every document that a system retrieved, and for every query."""
    from adjudge.audio.synthesis import write_demo_audio

    (directory / "audio").mkdir()
    heard = {document for run_ in collection.runs for document in collection.documents.decode(run_.documents)}
    with progress("making sound") as advance:
        wanted = sorted(heard.union(collection.queries.strings))
        write_demo_audio(wanted, directory / "audio", seed=seed, seconds=SECONDS, progress=advance)


def write_music(arguments: argparse.Namespace) -> None:
    """Write the folder, and say what to do with it."""
    from adjudge.audio.synthesis import write_demo_music

    with new_directory(arguments.music) as (folder, target), progress("making music") as advance:
        made = write_demo_music(
            folder,
            tracks=TRACKS if arguments.tracks is None else arguments.tracks,
            seed=arguments.demo_seed,
            progress=advance,
        )
    print(f"Wrote {made.n_tracks:,} tracks, and three files of no use, to {target / made.music.name};")
    print(f"{made.n_grades:,} grades of all pairs by simulated listeners to {target / made.listeners.name}. Try:")
    print(f"  adjudge audio prepare {shlex.quote(str(target / made.music.name))} -o lab")
