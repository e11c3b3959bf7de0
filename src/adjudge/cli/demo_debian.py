"""``adjudge demo --debian``: freely licensed music from Debian packages, all the way to an open campaign."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.cli.output import progress, say
from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge.audio.debian import DebianMusic
    from adjudge.audio.debian_credits import Credit
    from adjudge.audio.library.folder import Library
    from adjudge.model.runs import Runs

SECONDS = 30.0
QUERIES = 40
"""Pieces that are asked about: enough to tell systems apart, few enough for a handful of people."""
LIBRARY, DATA = "library", "adjudge-data"
_MANY = {"artist": "artists", "genre": "genres", "system": "systems", "query": "queries"}
_EXCLUSIVE = {
    "write": "--write",
    "sound": "--sound",
    "music": "--music",
    "tracks": "--tracks",
    "output": "--output",
    "style": "--json, --csv and --latex",
}


def add(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    group = parser.add_argument_group("real music")
    group.add_argument(
        "--debian",
        metavar="DIR",
        help="instead: download freely licensed music with apt (about 450 MB), cut clips, let baseline systems "
        "retrieve similar ones, and make a campaign of them, all in a directory; again, it goes on where it was",
    )
    group.add_argument(
        "--package",
        dest="packages",
        action="append",
        metavar="NAME",
        help="with --debian: a package with music, repeatable (default: nine games of many styles)",
    )
    group.add_argument("--workers", type=int, metavar="N", help="with --debian: processes (default: all cores)")


def check(arguments: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    if arguments.debian is None:
        for name, option in (("packages", "--package"), ("workers", "--workers")):
            if getattr(arguments, name):
                raise AdjudgeError(f"{option} goes with --debian")
        return
    if arguments.workers is not None and arguments.workers < 1:
        raise AdjudgeError(f"'workers' must be at least 1, got {arguments.workers}")
    for name, option in _EXCLUSIVE.items():
        if getattr(arguments, name):
            raise AdjudgeError(f"--debian makes a campaign to be judged, so it does not go with {option}")


def run(arguments: argparse.Namespace) -> None:
    """Music, clips, runs, attribution and a campaign; interrupted, what is there stays."""
    folder = Path(arguments.debian)
    try:
        _make(folder, arguments.packages, workers=arguments.workers)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"interrupted; what is in {folder} stays, and the same command goes on from there"
        ) from None


def _make(folder: Path, packages: Sequence[str] | None, *, workers: int | None) -> None:
    from adjudge.audio.debian import DEFAULT_PACKAGES, collect_music
    from adjudge.extras import need

    need("audio", "Music from Debian packages needs")  # before anything is downloaded
    music = collect_music(folder, packages or DEFAULT_PACKAGES, least_seconds=SECONDS, bar=progress, tell=say)
    print(f"{len(music.credits):,} pieces of music from {len(music.packages):,} packages, in {music.music}")
    library, credited = _prepared(music, workers=workers)
    runs = _runs(library, workers=workers)
    _tell_library(library, runs)
    _campaign(folder, library, runs, credited, workers=workers)


def _prepared(music: DebianMusic, *, workers: int | None) -> tuple[Library, tuple[Credit, ...]]:
    """Clips, and who made them."""
    from adjudge.audio.debian import ATTRIBUTION, write_attribution
    from adjudge.audio.library.prepare import prepare_library

    with progress("cutting clips") as advance:
        made = prepare_library(
            music.music, music.folder / LIBRARY, seconds=SECONDS, table=music.table, workers=workers, progress=advance
        )
    say([f"{problem.file}: {problem.problem}: {problem.detail}" for problem in made.problems])
    credited = write_attribution(music, made.library, seconds=SECONDS, loudness=made.target)
    print(
        f"{len(made.library):,} clips of {SECONDS:g} s at {made.target:g} LUFS, in {made.library.folder}; "
        f"who made them is in {music.folder / ATTRIBUTION}"
    )
    return made.library, credited


def _runs(library: Library, *, workers: int | None) -> Runs:
    """What all baseline systems retrieve for some of the pieces, other artists' music only."""
    from adjudge.audio.library.folder import RUN_FOLDER
    from adjudge.audio.systems import choose_queries, make_runs, sounds_of, write_runs

    with progress("listening to them") as advance:
        sounds = sounds_of(library, workers=workers, progress=advance)
    queries = choose_queries(sounds, min(QUERIES, len(sounds)))
    runs = make_runs(sounds, queries=queries)
    write_runs(runs, library.folder / RUN_FOLDER)
    return runs


def _tell_library(library: Library, runs: Runs) -> None:
    from adjudge.audio.library.folder import RUN_FOLDER

    known = {name: library.tracks[name].drop_nulls().n_unique() for name in ("artist", "genre")}
    counts = {**known, "system": len(runs), "query": len(runs.queries)}
    said = [f"{number:,} {name if number == 1 else _MANY[name]}" for name, number in counts.items()]
    print(f"{', '.join(said)}, in {library.folder / RUN_FOLDER}")


def _campaign(folder: Path, library: Library, runs: Runs, credited: Sequence[Credit], *, workers: int | None) -> None:
    """The campaign, where the web extra is installed; then what to do next."""
    from adjudge.audio.library.folder import CLIP_FOLDER, RUN_FOLDER, TRACKS
    from adjudge.cli.campaign.store import need_web

    data = folder / DATA
    try:
        need_web()
    except AdjudgeError as error:
        say([str(error)])
        runs_folder, tracks, clips = (library.folder / name for name in (RUN_FOLDER, TRACKS, CLIP_FOLDER))
        print("With it, make a campaign of them:")
        print(f"  adjudge demo --debian {_quoted(folder)}")
        print("Or, on another machine:")
        metadata = f"--metadata {_quoted(tracks)} --audio {_quoted(clips)}"
        print(f"  adjudge campaign create music {_quoted(runs_folder)} {metadata}")
        return
    from adjudge.cli.demo_debian_campaign import NAME, make_campaign

    print(make_campaign(data, library, runs, credited, workers=workers))
    where = f"--data {_quoted(data)}"
    print("Go on with:")
    for command, about in (
        (f"campaign user add YOU --admin {where}", "a login for its organiser"),
        (f"campaign invite {NAME} --count 5 {where}", "links for five assessors"),
        (f"serve {where}", "the server, for both"),
        (f"campaign rehearse {NAME} {where}", "what it will take"),
        (f"audio statistics {_quoted(library.folder)}", "hubs, and who is like whom"),
    ):
        print(f"  adjudge {command}  # {about}")


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
