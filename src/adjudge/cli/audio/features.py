"""``adjudge audio features``: what the clips of a library sound like, as numbers."""

from __future__ import annotations

import argparse

from adjudge.checks import WORKERS
from adjudge.cli.command import command
from adjudge.cli.output import check_output, progress, show


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("library", metavar="LIBRARY", nargs="?", help="folder made by 'adjudge audio prepare'")
    parser.add_argument(
        "--feature",
        dest="names",
        metavar="NAME",
        action="append",
        help="compute this one; may be given several times (default: all)",
    )
    parser.add_argument("--workers", type=WORKERS, help="processes (default: one per core)")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write all numbers to a file, too: .npz, .csv or .parquet"
    )


@command(_add_options)
def run(arguments: argparse.Namespace) -> None:
    """Compute audio features of all clips of a library and keep them in its folder 'features'.

    'adjudge audio runs' finds them there. Clips that are there already are not computed again. Without a library, say
    which features there are.
    """
    from adjudge.audio.features.extract import check_suffix, extract_library, write_features
    from adjudge.audio.library.folder import FEATURE_FOLDER, open_library

    if arguments.library is None:
        _list(arguments)
        return
    library = open_library(arguments.library)
    if arguments.output is not None:
        check_suffix(arguments.output)
        check_output(arguments)
        _check_apart(arguments.output, arguments.library)
    with progress("features") as advance:
        found = extract_library(library, arguments.names, workers=arguments.workers, progress=advance)
    print(f"{found}; kept in {library.folder / FEATURE_FOLDER}")
    if arguments.output is not None:
        write_features(found, arguments.output)
        print(f"wrote {arguments.output}")


def _list(arguments: argparse.Namespace) -> None:
    """Say which features there are."""
    from adjudge.audio.features import AUDIO_FEATURES
    from adjudge.errors import AdjudgeError
    from adjudge.tables import as_rich

    if arguments.names or arguments.output or arguments.workers is not None:
        raise AdjudgeError("expected the folder of a library to compute features of, got none")
    show(arguments, as_rich([{"feature": name, "about": feature.about} for name, feature in AUDIO_FEATURES.items()]))


def _check_apart(output: str, folder: str) -> None:
    """Refuse to overwrite a part of the library."""
    from pathlib import Path

    from adjudge.errors import AdjudgeError

    if Path(folder).resolve() in Path(output).resolve().parents:
        raise AdjudgeError(f"{output}: expected a file outside of the library, got one in it")
