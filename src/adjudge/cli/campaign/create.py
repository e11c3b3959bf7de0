"""``adjudge campaign create``, ``documents`` and ``candidates``: files and settings in, a draft out.

Options of settings, and what a campaign of each kind is made from, come from the declarations of the kinds.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.checks import WORKERS
from adjudge.cli.campaign.declared import (
    add_setting,
    common_settings,
    dest_of,
    kind_settings,
    option_of,
    usual_of,
    values_of,
)
from adjudge.cli.campaign.store import WHO, Store, add_campaign, add_store, need_web, opened
from adjudge.cli.command import command
from adjudge.cli.options import add_columns, add_run_reading
from adjudge.cli.output import progress, say
from adjudge.errors import AdjudgeError, InputError, shown
from adjudge.web.kinds import INPUTS, Input, Inputs, inputs_of

if TYPE_CHECKING:
    from adjudge.web.kinds import Filling
    from adjudge.web.kinds.base import Kind
    from adjudge.web.kinds.documents import IntakeSummary
    from adjudge.web.store.campaigns import Campaign, CampaignSettings


def kind_of(arguments: argparse.Namespace) -> str:
    """The kind of campaign that the options describe; options of another kind are refused."""
    firsts = {kind: inputs.first for kind, inputs in INPUTS.items()}
    given = [kind for kind, first in firsts.items() if getattr(arguments, first)]
    asked = arguments.kind or (given[0] if given else None)
    names = [firsts[kind] if INPUTS[kind].given[0].is_argument else f"--{firsts[kind]}" for kind in given]
    if len(given) > 1:
        also = f"; got {shown(arguments.runs[0])} as well" if "runs" in names else ""
        raise AdjudgeError(f"Expected {names[0]} or {names[1]}, not both{also}.")
    if asked is None:
        wanted = ", or ".join(inputs.wanted for inputs in INPUTS.values())
        raise AdjudgeError(f"Expected {wanted}.")
    if given != [asked] and (given or asked in INPUTS):
        wanted = INPUTS[asked].wanted if asked in INPUTS else "documents only"
        raise AdjudgeError(f"--kind {asked} needs {wanted}{f', not {names[0]}' if given else ''}.")
    _refuse_strange(arguments, asked)
    return asked


def _refuse_strange(arguments: argparse.Namespace, kind: str) -> None:
    """Refuse options that belong to other kinds of campaign."""
    by_kind = _own_options()
    for other in by_kind:
        for dest, option in by_kind[other].items():
            # Systems are named after their tag unless --names says otherwise.
            if other == kind or dest in by_kind[kind] or getattr(arguments, dest) in (None, [], "tag"):
                continue
            about = INPUTS[other].doing if other in INPUTS else f"campaigns of kind {other}"
            is_usual = kind not in INPUTS or INPUTS[kind].given[0].is_argument
            also = INPUTS[other].wanted if other in INPUTS else f"--kind {other}"
            why = f"give {also} as well" if is_usual else f"with --{INPUTS[kind].first} {INPUTS[kind].done}"
            raise AdjudgeError(f"{option} is for {about}; {why}.")


def _own_options() -> dict[str, dict[str, str]]:
    """The options that only some kinds have, by kind and by where their values are found."""
    common = {setting.path for setting in common_settings()}
    options: dict[str, dict[str, str]] = {}
    for kind, settings in kind_settings().items():
        own = {dest_of(setting): option_of(setting) for setting in settings if setting.path not in common}
        if kind in INPUTS:
            own |= {given.name: f"--{given.name}" for given in INPUTS[kind].given if not given.is_argument}
            own |= {name: f"--{name.replace('_', '-')}" for name in _READING if INPUTS[kind].are_runs}
        options[kind] = own
    return options


_READING = ("format", "teams", "names", "artist_filter")
_EXAMPLES = """examples:
  adjudge campaign create songs runs/*.txt --metadata tracks.csv --audio clips
  adjudge campaign create songs runs --audio clips --scale fine -m CG@10 --goal error --level 0.02
  adjudge campaign create songs runs --audio clips --judged-by 3 --agreement-share 0.2 --language en --language es
  adjudge campaign create lists --questions questions.csv --traps traps.csv --documents clips --recruiter prolific \\
    --code done=C1 --code screened-out=C2 --code failed=C3 --per-participant 20 --pay 0.12 --currency GBP --fee 0.33
  adjudge campaign create incipits --candidates candidates.csv --documents incipits --judged-by 10
"""
_SHOWN_PROBLEMS = 20


def _add_kind(parser: argparse.ArgumentParser) -> None:
    parser.usage = "%(prog)s [options] NAME [RUN ...]"
    parser.add_argument("name", metavar="NAME", help="name of the campaign: lower-case letters, digits and hyphens")
    parser.add_argument(
        "--kind", choices=[*kind_settings()], help="what people are asked for; by default what is given tells"
    )


def _add_documents(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("documents")
    add_columns(group)
    group.add_argument(
        "--metadata",
        metavar="FILE",
        help="table of documents: artist, genre, any column; audio, notation, image, text or url say what people get",
    )
    group.add_argument(
        "--audio",
        "--documents",
        metavar="DIR",
        help="folder with sound, notation, pictures or texts, called after their documents",
    )
    group.add_argument("--queries", metavar="FILE", help="table of queries that are no documents, of the same kind")
    group.add_argument("--query-audio", metavar="DIR", help="folder with the sound of such queries")
    group.add_argument("--workers", type=WORKERS, help="processes that prepare sound (default: all cores)")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    """The settings of every campaign, then for each kind what it is made from and its own settings."""
    by_kind = kind_settings()
    group = parser.add_argument_group("campaign")
    for setting in common_settings():
        add_setting(group, setting, usual_of(setting, by_kind))
    group.add_argument("--organiser", metavar="LOGIN", help="whose campaign it is (default: the only organiser)")
    for kind, settings in by_kind.items():
        inputs = inputs_of(kind)
        group = parser.add_argument_group(inputs.doing if inputs else f"campaigns of kind {kind}")
        for given in inputs.given if inputs else ():
            _add_input(parser if given.is_argument else group, given)
        for setting in settings:
            if option_of(setting) not in parser._option_string_actions and setting.title:
                add_setting(group, setting, usual_of(setting, {}))
        if inputs and inputs.are_runs:
            add_run_reading(group)


def _add_input(group: argparse._ActionsContainer, given: Input, *, is_argument: bool = False) -> None:
    """Something that a campaign is made from; ``nargs="*"`` would not find arguments that come after options."""
    named = given.name if given.is_argument or is_argument else f"--{given.name}"
    how: dict[str, Any] = {"metavar": given.metavar, "help": given.help}
    how |= {"nargs": "+"} if given.is_several else {}
    how |= {"type": int} if given.is_number else {}
    action = group.add_argument(named, **how)
    if given.is_argument:
        action.required, action.default = False, []


@command(_add_kind, _add_documents, _add_settings, add_store, examples=_EXAMPLES)
def create(arguments: argparse.Namespace) -> None:
    """Make a draft of a campaign.

    With runs, documents are judged in it; with --questions, two lists are compared; with --candidates, documents are
    put in order. Files that cannot be used are listed, and the exit code is 1; mend them, then 'documents'.
    """
    need_web()
    name = kind_of(arguments)
    _check_documents(arguments)
    from adjudge.web.kinds.base import KINDS

    kind = KINDS[name]
    filling = _read(kind, vars(arguments), values_of(arguments, kind_settings()[name]))
    settings = kind.settings.parse(filling.values)
    with opened(arguments, new=True) as store:
        with store.database.write() as connection:
            campaign = _draft(arguments, connection, settings, now=store.now)
            filling.put(connection, campaign, store.now)
        print(f"Made the campaign {campaign.name}{f': {filling.words}' if filling.words else ''}.")
        everything = _take(arguments, store, campaign)
    if not everything:
        sys.exit(1)


def _read(kind: Kind, given: Mapping[str, Any], values: dict[str, Any]) -> Filling:
    """What a campaign is made from; notes of the readers are said."""
    from adjudge.formats.columns import check_columns

    with progress(f"reading {INPUTS[kind.name].first}" if kind.name in INPUTS else "reading") as advance:
        filling = kind.read_inputs(given, values, progress=advance)
    check_columns()
    say(filling.notes)
    return filling


def _add_candidates(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name of the campaign")
    for given in _made_from_candidates().given:
        _add_input(parser, given, is_argument=given.name == "candidates")
    add_columns(parser)


def _made_from_candidates() -> Inputs:
    return next(inputs for inputs in INPUTS.values() if inputs.first == "candidates")


@command(_add_candidates, add_store)
def candidates(arguments: argparse.Namespace) -> None:
    """Replace the documents that are put in order for each query, while the campaign is a draft."""
    need_web()
    from adjudge.web.kinds.base import KINDS
    from adjudge.web.store.campaigns import find_campaign

    kind = next(kind for name, kind in KINDS.items() if inputs_of(name) is _made_from_candidates())
    filling = _read(kind, vars(arguments), {})
    with opened(arguments) as store, store.database.write() as connection:
        campaign = find_campaign(connection, arguments.name)
        filling.put(connection, campaign, store.now)
    print(f"The campaign {campaign.name} has {filling.words} now.")


@command(_add_documents, add_campaign)
def documents(arguments: argparse.Namespace) -> None:
    """Take in documents; what is there already stays, so that it can be done again after mending."""
    need_web()
    from adjudge.formats.columns import check_columns
    from adjudge.web.store.campaigns import find_campaign

    _check_documents(arguments)
    check_columns()
    with opened(arguments) as store:
        with store.database.read() as connection:
            found = find_campaign(connection, arguments.name)
        everything = _take(arguments, store, found)
    if not everything:
        sys.exit(1)


def _draft(arguments: argparse.Namespace, connection: Any, settings: CampaignSettings, *, now: float) -> Campaign:
    """A new campaign of the organiser who is named."""
    from adjudge.web.kinds.lifecycle import create_campaign

    owner = _owner(arguments.organiser, connection)
    return create_campaign(connection, name=arguments.name, settings=settings, organiser_id=owner, now=now)


def _owner(login: str | None, connection: Any) -> int | None:
    """Whose campaign it becomes: of the organiser named, or of the only one there is."""
    from adjudge.web.store.people import find_organiser, list_organisers

    if login is not None:
        return find_organiser(connection, login).id
    everybody = list_organisers(connection)
    return everybody[0].id if len(everybody) == 1 else None


def _check_documents(arguments: argparse.Namespace) -> None:
    """Refuse tables and folders that cannot be read before anything is stored."""
    from adjudge.web.kinds.documents import table_rows

    for role, table in (("document", arguments.metadata), ("query", arguments.queries)):
        if table is not None:
            table_rows(Path(table), role=role)
    for folder in (arguments.audio, arguments.query_audio):
        if folder is not None and not Path(folder).is_dir():
            raise InputError("expected a folder with files", source=folder)


def _take(arguments: argparse.Namespace, store: Store, campaign: Campaign) -> bool:
    """Take in documents and queries, and say what came of it; whether every file could be used."""
    from adjudge.parallel import count_workers
    from adjudge.web.kinds.base import kind_of as campaign_kind

    usable = True
    parts = (("document", arguments.metadata, arguments.audio), ("query", arguments.queries, arguments.query_audio))
    for role, table, folder in parts:
        if table is not None or folder is not None:
            taken = _taken(arguments, store, campaign, role=role, table=table, folder=folder)
            _tell(role, taken)
            usable = usable and not taken.problems
    with progress("hearing clips") as advance:
        workers = count_workers(arguments.workers)
        campaign_kind(campaign).hear_documents(
            store.database, store.settings, campaign, workers=workers, progress=advance
        )
    with store.database.read() as connection:
        missing = campaign_kind(campaign).missing_items(connection, campaign)
    if missing:
        some = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
        many = "documents" if len(missing) > 1 else "document"
        print(f"Nothing to hear, read or see yet for {len(missing):,} {many}: {some}")
        print(f"Give them with: adjudge campaign documents {campaign.name} --audio DIR")
    elif campaign.state == "draft":
        print(f"Everything is there. Open it with: adjudge campaign open {campaign.name}")
    return usable


def _taken(
    arguments: argparse.Namespace, store: Store, campaign: Campaign, *, role: str, table: str | None, folder: str | None
) -> IntakeSummary:
    from adjudge.web.kinds.documents import take_documents
    from adjudge.web.store.media import folder_files

    with progress("preparing sound") as advance:
        return take_documents(
            store.database,
            store.settings,
            campaign,
            files={} if folder is None else folder_files(Path(folder)),
            table=None if table is None else Path(table),
            role=role,
            who=WHO,
            workers=arguments.workers,
            progress=advance,
        )


def _tell(role: str, taken: IntakeSummary) -> None:
    """What came of taking documents in; problems on stderr."""
    one, many = ("document", "documents") if role == "document" else ("query", "queries")
    parts = [f"{taken.taken:,} {one if taken.taken == 1 else many} taken in"]
    parts += [f"{taken.already:,} were there already"] if taken.already else []
    parts += [f"{taken.skipped:,} that nobody will be asked about left out"] if taken.skipped else []
    print("; ".join(parts) + ".")
    say([f"{bad.document}: {bad.problem}" for bad in taken.problems[:_SHOWN_PROBLEMS]])
    if len(taken.problems) > _SHOWN_PROBLEMS:
        say([f"… and {len(taken.problems) - _SHOWN_PROBLEMS:,} more files that cannot be used"])
