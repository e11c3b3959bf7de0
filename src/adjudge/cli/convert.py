"""``adjudge convert``: runs, judgments or metadata from one format to another."""

from __future__ import annotations

import argparse

from adjudge.cli.options import Subparsers


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command."""
    parser = commands.add_parser(
        "convert",
        help="convert runs, judgments or metadata between formats",
        description="Read files in one format and write one file in another, named by the target's suffix.",
    )
    parser.add_argument("kind", choices=("runs", "judgments", "metadata"), help="what the files hold")
    parser.add_argument("files", metavar="FILE", nargs="+", help="files, directories or patterns to read")
    parser.add_argument("target", metavar="TARGET", help="file to write; .gz, .zst, .bz2 and .xz are compressed")
    parser.add_argument("--format", help="format of the files (default: recognised)")
    parser.add_argument("--to", metavar="FORMAT", help="format of the target (default: by its suffix)")
    parser.add_argument(
        "--names",
        choices=("tag", "file"),
        default="tag",
        help="name systems after the tag in their file or after the file (default: tag)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Read, check, write."""
    from adjudge.formats import convert

    convert(
        arguments.files,
        arguments.target,
        kind=arguments.kind,
        format=arguments.format,
        to=arguments.to,
        names=arguments.names,
    )
