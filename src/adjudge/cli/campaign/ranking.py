"""What ``adjudge campaign create`` takes for a ranking campaign, and ``adjudge campaign candidates``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge import text
from adjudge.cli.campaign.store import WHO, add_store, need_web, opened
from adjudge.cli.options import Subparsers, add_columns, add_option
from adjudge.cli.output import say

if TYPE_CHECKING:
    from adjudge.web.ranking_files import GivenCandidates
    from adjudge.web.ranking_settings import RankingSettings


OPTIONS = {
    "candidates": "--candidates", "cutoff": "--cutoff", "ties": "--no-ties", "rank_all": "--rank-all",
    "least_ranked": "--least-ranked", "kept_hours": "--kept-hours",
}  # fmt: skip
"""Options that only ranking campaigns have, by their name."""
_CUTOFF = "of runs, how many documents of each are taken for a query (default: all)"
_FILES = "documents by query: a table with columns query and document, JSON, or runs whose documents are pooled"


def add_decisions(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    group = parser.add_argument_group("putting documents in order")
    group.add_argument("--candidates", metavar="FILE", nargs="+", help=_FILES)
    group.add_argument("--cutoff", type=int, metavar="N", help=_CUTOFF)
    group.add_argument(
        "--no-ties", dest="ties", action="store_false", default=None, help="no two documents may share a place"
    )
    group.add_argument("--rank-all", action="store_true", default=None, help="no document may be left unranked")
    add_option(
        group,
        "--least-ranked",
        type=int,
        metavar="N",
        help="so many must have a place",
        usual="{adjudge.web.ranking_settings:RankingSettings.least_ranked}",
    )
    add_option(
        group,
        "--kept-hours",
        type=float,
        metavar="H",
        help="a ranking that was begun is kept so long after its last change",
        usual="{adjudge.web.ranking_settings:RankingSettings.kept_hours}",
    )


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the command."""
    parser = commands.add_parser(
        "candidates",
        help="give a ranking campaign other candidates",
        description="Replace the documents that are put in order for each query, while the campaign is a draft.",
    )
    parser.add_argument("name", metavar="NAME", help="name of the campaign")
    parser.add_argument("candidates", metavar="FILE", nargs="+", help=_FILES)
    parser.add_argument("--cutoff", type=int, metavar="N", help=_CUTOFF)
    add_columns(parser)
    add_store(parser)
    parser.set_defaults(run=candidates)


def decisions(arguments: argparse.Namespace, common: dict[str, Any]) -> RankingSettings:
    """The settings that the options describe."""
    from adjudge.web.ranking_settings import ranking_settings_from

    names = ("ties", "rank_all", "least_ranked", "kept_hours")
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    return ranking_settings_from(common | given)


def read(arguments: argparse.Namespace) -> GivenCandidates:
    """The files that were named; what the reader has to say is said."""
    from adjudge.formats.columns import check_columns
    from adjudge.web.ranking_files import candidate_files

    given = candidate_files([Path(file) for file in arguments.candidates], cutoff=arguments.cutoff)
    check_columns()
    say(given.notes)
    return given


def counted(given: GivenCandidates) -> str:
    """Candidates in words."""
    n = sum(map(len, given.candidates.values()))
    return f"{n:,} candidates of {text.counted(len(given.candidates), 'query')}"


def candidates(arguments: argparse.Namespace) -> None:
    """Keep other candidates."""
    need_web()
    from adjudge.web.campaign_rows import find_campaign
    from adjudge.web.ranking_holdings import put_candidates

    given = read(arguments)
    with opened(arguments) as store, store.database.write() as connection:
        found = find_campaign(connection, arguments.name)
        put_candidates(connection, found, given.candidates, inputs=given.inputs, who=WHO, now=store.now)
    print(f"The campaign {found.name} has {counted(given)} now.")
