"""``python -m examples.debian_music DIR``: from Debian's packages to an open campaign, with Adjudge's own commands."""

from __future__ import annotations

import argparse
import csv
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from adjudge.audio.library.folder import open_library
from adjudge.cli import main as adjudge
from adjudge.errors import AdjudgeError
from examples.debian_music.attribution import attribution, instructions
from examples.debian_music.credits import Credit, credits_of
from examples.debian_music.packages import MUSIC, collect_packages

PACKAGES = (
    "wesnoth-1.16-music",  # orchestral, by ten composers
    "singularity-music",  # electronic
    "hyperrogue-music",  # cinematic, by three composers
    "colobot-common-sounds",  # synthesisers and jazz
    "ardentryst",  # role-playing
    "pushover-data",  # a style of the world per piece
    "xmoto-data",  # rock and techno
    "zaz-data",  # industrial
    "asc-music",  # strategic
)
SECONDS = 30.0
QUERIES = 40
"""Pieces that are asked about: enough to tell systems apart, few enough for a handful of people."""
NAME = "music"
_COLUMNS = ("document", "file", "title", "artist", "album", "genre", "year")


def main(argv: Sequence[str] | None = None) -> int:
    """Make the campaign; the exit code."""
    parser = argparse.ArgumentParser("python -m examples.debian_music", description=__doc__)
    parser.add_argument("folder", metavar="DIR", type=Path, help="where everything is kept; an interrupted run resumes")
    about = "a package with music, repeatable (default: nine games of many styles, about 450 MB)"
    parser.add_argument("--package", dest="packages", action="append", metavar="NAME", help=about)
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: all cores)")
    arguments = parser.parse_args(argv)
    try:
        make_campaign(arguments.folder, arguments.packages or PACKAGES, workers=arguments.workers)
    except (AdjudgeError, OSError) as error:
        print(f"debian_music: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"debian_music: interrupted; the same command goes on in {arguments.folder}", file=sys.stderr)
        return 130
    return 0


def make_campaign(folder: Path, names: Sequence[str], *, workers: int | None) -> None:
    """Music, clips, attribution, runs and a campaign, each from what the last step left in the folder."""

    def tell(note: str) -> None:
        print(f"debian_music: note: {note}", file=sys.stderr)

    packages = collect_packages(folder, names, least_seconds=SECONDS, tell=tell)
    music = [credit for package in packages for credit in credits_of(package, folder)]
    if not music:
        raise AdjudgeError(f"{folder}: expected packages with music of {SECONDS:g} s or more, got none")
    print(f"{len(music):,} pieces of music from {len(packages):,} packages, in {folder / MUSIC}")
    table, library, data = folder / "music.csv", folder / "library", folder / "adjudge-data"
    with table.open("w", encoding="utf-8", newline="") as file:
        rows = ([getattr(credit, name) for name in _COLUMNS] for credit in music)
        csv.writer(file).writerows([_COLUMNS, *rows])
    many = () if workers is None else ("--workers", str(workers))
    _call("audio", "prepare", folder / MUSIC, "-o", library, "--table", table, "--seconds", f"{SECONDS:g}", *many)
    documents = set(open_library(library).documents)
    credited = [credit for credit in music if credit.document in documents]
    (folder / "ATTRIBUTION.md").write_text(attribution(credited, seconds=SECONDS), "utf-8")
    _call("audio", "runs", library, "--queries", min(QUERIES, len(documents)), *many)
    if not data.exists():
        _open_campaign(folder, library, data, credited, many)
    print("Go on with:")
    at = f"--data {shlex.quote(str(data))}"
    for command, about in (
        (f"campaign user add YOU --admin {at}", "a login for its organiser"),
        (f"campaign invite {NAME} --count 5 {at}", "links for five assessors"),
        (f"serve {at}", "the server, for both"),
        (f"campaign rehearse {NAME} {at}", "what it will take"),
        (f"audio statistics {shlex.quote(str(library))}", "hubs, and who is like whom"),
    ):
        print(f"  adjudge {command}  # {about}")


def _open_campaign(folder: Path, library: Path, data: Path, credited: Sequence[Credit], many: Sequence[str]) -> None:
    """Create and open a campaign in every language; the server's folder appears when it is complete."""
    staged = folder / ".adjudge-data"
    shutil.rmtree(staged, ignore_errors=True)
    options: list[str | Path] = ["--metadata", library / "tracks.csv", "--audio", library / "clips", *many]
    for language, text in instructions(credited).items():
        page = folder / f"instructions-{language}.md"
        page.write_text(text, "utf-8")
        options += ["--instructions", f"{language}={page}", "--language", language]
    title = ("--title", "Which music sounds alike?")
    _call("campaign", "create", NAME, library / "runs", *options, *title, "--data", staged)
    _call("campaign", "open", NAME, "--data", staged)
    staged.rename(data)


def _call(*arguments: object) -> None:
    """Show a command and run it; a command that fails has printed its reason."""
    given = [str(argument) for argument in arguments]
    print(f"$ adjudge {shlex.join(given)}", flush=True)
    if code := adjudge(given):
        raise SystemExit(code)


if __name__ == "__main__":
    sys.exit(main())
