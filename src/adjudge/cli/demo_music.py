"""``adjudge demo --music``: a folder of invented music, to try ``adjudge audio`` on."""

from __future__ import annotations

import argparse
import shlex

from adjudge.cli.output import progress

TRACKS = 60


def write_music(arguments: argparse.Namespace) -> None:
    """Write the folder, and say what to do with it."""
    from adjudge.audio.demo_music import write_demo_music
    from adjudge.cli.demo import new_directory

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
