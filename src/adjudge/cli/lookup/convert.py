"""``adjudge convert``: runs, judgments or metadata from one format to another."""

from __future__ import annotations

import argparse
from typing import get_args

from adjudge.checks import Combine, Names
from adjudge.cli.command import command
from adjudge.cli.options import add_columns, add_option
from adjudge.cli.output import check_output, say_written


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=("runs", "judgments", "metadata"), help="what the files hold")
    parser.add_argument(
        "files", metavar="FILE", nargs="+", help="files, directories or patterns to read; - is standard input"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        help="file to write; .gz, .zst, .bz2 and .xz are compressed, - is standard output",
    )
    parser.add_argument("--format", help="format of the files (default: recognised; see 'adjudge formats')")
    parser.add_argument("--to", metavar="FORMAT", help="format of the output (default: by its suffix)")
    add_option(
        parser,
        "--names",
        choices=get_args(Names),
        help="runs: name systems after the tag in their file or after the file",
        usual="{adjudge.formats.reading:read.names}",
    )
    parser.add_argument(
        "--combine",
        choices=get_args(Combine),
        help="judgments: write one grade per document, combined over assessors (default: all grades)",
    )


@command(_add_options, add_columns)
def run(arguments: argparse.Namespace) -> None:
    """Read files in one format and write one file in another, named by the suffix of the output."""
    from adjudge.formats import convert

    if arguments.output != "-":
        check_output(arguments)
    convert(
        arguments.files,
        arguments.output,
        kind=arguments.kind,
        format=arguments.format,
        to=arguments.to,
        names=arguments.names,
        combine=arguments.combine,
        columns=arguments.columns,
    )
    if arguments.output != "-":
        say_written(arguments.output)
