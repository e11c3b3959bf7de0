"""``adjudge campaign create`` and ``documents``: runs, documents and decisions in, a draft out.

Which kind of campaign ``adjudge campaign create`` makes, and which of its options belong to which kind.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.checks import SHARE_BELOW_ALL, WORKERS
from adjudge.cli.campaign import preference, ranking
from adjudge.cli.campaign.store import WHO, Store, add_store, need_web, opened
from adjudge.cli.options import Subparsers, add_columns, add_option, add_run_reading
from adjudge.cli.output import progress, say
from adjudge.errors import AdjudgeError, InputError, reason, shown
from adjudge.text import counted

if TYPE_CHECKING:
    from adjudge.web.asking_settings import AskingSettings
    from adjudge.web.campaign_rows import Campaign
    from adjudge.web.documents import Taken
    from adjudge.web.judging_settings import JudgingSettings


_JUDGING = {
    "format": "--format", "teams": "--teams", "names": "--names", "artist_filter": "--artist-filter",
    "scales": "--scale", "on_scale": "--on-scale", "measure": "--measure", "goal": "--goal",
    "level": "--level", "zone": "--zone", "agreement_share": "--agreement-share", "estimator": "--estimator",
    "rule": "--rule", "by_sound": "--by-sound",
}  # fmt: skip
_OPTIONS = {"judging": _JUDGING, "preference": preference.OPTIONS, "ranking": ranking.OPTIONS}
_ABOUT = {
    "judging": "judging documents",
    "preference": "comparing two lists",
    "ranking": "putting documents in order",
}
_NEEDS = {"preference": "--questions", "ranking": "--candidates"}
_DONE = {"preference": "two lists are compared", "ranking": "documents are put in order"}


def add_kind(parser: argparse.ArgumentParser) -> None:
    """Declare the option that says it outright."""
    parser.add_argument(
        "--kind",
        choices=[*_OPTIONS],
        help="what people are asked for: grades (judging, of runs), preferences (with --questions) or rankings (with "
        "--candidates); by default what is given tells",
    )


def kind_of(arguments: argparse.Namespace) -> str:
    """The kind of campaign that the options describe; options of another kind are refused."""
    given = [kind for kind, option in _NEEDS.items() if getattr(arguments, option[2:]) is not None]
    if len(given) > 1:
        raise AdjudgeError("Expected --questions or --candidates, not both.")
    kind = given[0] if given else "judging"
    if arguments.kind not in (None, kind):
        wanted = "files with runs" if arguments.kind == "judging" else f"{_NEEDS[arguments.kind]} FILE"
        raise AdjudgeError(f"--kind {arguments.kind} needs {wanted}{f', not {_NEEDS[kind]}' if given else ''}.")
    if given and arguments.runs:
        raise AdjudgeError(f"Expected runs or {_NEEDS[kind]}, not both; got {shown(arguments.runs[0])} as well.")
    _refuse_strange(arguments, kind)
    if not given and not arguments.runs:
        raise AdjudgeError("Expected files with runs, or --questions FILE, or --candidates FILE.")
    return kind


def _refuse_strange(arguments: argparse.Namespace, kind: str) -> None:
    """Refuse options that belong to another kind of campaign."""
    for other, options in _OPTIONS.items():
        if other == kind:
            continue
        # Systems are named after their tag unless --names says otherwise.
        strange = [option for name, option in options.items() if getattr(arguments, name) not in (None, "tag")]
        if strange:
            why = f"with {_NEEDS[kind]} {_DONE[kind]}" if kind in _NEEDS else f"give {_NEEDS[other]} FILE as well"
            raise AdjudgeError(f"{strange[0]} is for {_ABOUT[other]}; {why}.")


_COMMON_DEFAULTS = "adjudge.web.asking_settings:AskingSettings"
_RANKING_DEFAULTS = "adjudge.web.ranking_settings:RankingSettings"
_JUDGING_DEFAULTS = "adjudge.web.judging_settings:JudgingSettings"
_PREFERENCE_DEFAULTS = "adjudge.web.preference_settings:PreferenceSettings"
_EXAMPLES = """examples:
  adjudge campaign create songs runs/*.txt --metadata tracks.csv --audio clips
  adjudge campaign create songs runs --audio clips --scale fine -m CG@10 --goal error --level 0.02
  adjudge campaign create songs runs --audio clips --judged-by 3 --agreement-share 0.2 --language en --language es
  adjudge campaign create lists --questions questions.csv --traps traps.csv --documents clips --recruiter prolific \\
    --code done=C1 --code screened-out=C2 --code failed=C3 --per-participant 20 --pay 0.12 --currency GBP --fee 0.33
  adjudge campaign create incipits --candidates candidates.csv --documents incipits --judged-by 10
"""
_SHOWN_PROBLEMS = 20


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the commands."""
    parser = commands.add_parser(
        "create",
        usage="%(prog)s [options] NAME [RUN ...]",
        help="make a campaign from runs, questions or candidates, and documents",
        description="Make a draft of a campaign: with runs, one in which documents are judged; with --questions, one\n"
        "in which two lists are compared; with --candidates, one in which documents are put in order. Files\n"
        "that cannot be used are listed, and the exit code is 1; mend them, then 'documents'.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("name", metavar="NAME", help="name of the campaign: lower-case letters, digits and hyphens")
    runs = parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        default=[],
        help="files, directories or patterns with runs",
    )
    add_kind(parser)
    runs.required = False  # nargs="*" would not find runs that come after options
    add_run_reading(parser.add_argument_group("reading runs"))
    _add_documents(parser)
    _add_decisions(parser)
    _add_judging(parser)
    preference.add_decisions(parser)
    ranking.add_decisions(parser)
    add_store(parser)
    parser.set_defaults(run=create)
    again = commands.add_parser(
        "documents",
        help="give a campaign documents, or those that were missing",
        description="Take in documents; what is there already stays, so that it can be done again after mending.",
    )
    again.add_argument("name", metavar="NAME", help="name of the campaign")
    _add_documents(again)
    add_store(again)
    again.set_defaults(run=documents)
    ranking.add(commands)


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


def _add_decisions(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("campaign")
    group.add_argument("--title", help="what people see (default: the name)")
    add_option(
        group,
        "--judged-by",
        type=int,
        metavar="N",
        help="people a pair, question or query is for",
        usual=f"{{{_COMMON_DEFAULTS}.judged_by}}, {{{_RANKING_DEFAULTS}.judged_by}} with --candidates",
    )
    add_option(
        group,
        "--repeat-share",
        type=float,
        metavar="X",
        help="share of questions asked again",
        usual=f"{{{_COMMON_DEFAULTS}.repeat_share}}; {{{_PREFERENCE_DEFAULTS}.repeat_share}} with --questions or "
        "--candidates",
    )
    add_option(
        group,
        "--listen-seconds",
        type=float,
        metavar="S",
        help="to be heard before an answer",
        usual=f"{{{_COMMON_DEFAULTS}.listen_seconds}}; {{{_RANKING_DEFAULTS}.listen_seconds}} with --candidates",
    )
    for name, what in (("instructions", "what people read first"), ("consent", "what people agree to")):
        group.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="[LANGUAGE=]FILE",
            help=f"Markdown: {what}; repeatable, one a language",
        )
    add_option(
        group,
        "--language",
        dest="languages",
        action="append",
        metavar="CODE",
        help="en, es, de or fr; repeatable",
        usual=f"{{{_COMMON_DEFAULTS}.languages}}",
    )
    add_option(
        group,
        "--seed",
        type=int,
        metavar="N",
        help="decides what is left to chance",
        usual=f"{{{_COMMON_DEFAULTS}.seed}}; with --questions drawn, as it tells where traps come",
    )
    group.add_argument("--contact", help="whom people can ask")
    group.add_argument("--organiser", metavar="LOGIN", help="whose campaign it is (default: the only organiser)")


def _add_judging(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("judging documents")
    group.add_argument(
        "--scale",
        dest="scales",
        action="append",
        metavar="SCALE",
        help="broad, fine, binary or an interval such as 0..4; repeatable (default: broad and fine)",
    )
    group.add_argument("--on-scale", metavar="SCALE", help="scale that systems are ranked on (default: the finest)")
    add_option(
        group,
        "-m",
        "--measure",
        metavar="MEASURE",
        help="CG, DCG, nDCG, RBP or P at a cutoff",
        usual=f"{{{_JUDGING_DEFAULTS}.measure}}",
    )
    add_option(
        group,
        "--goal",
        metavar="KIND",
        help="confidence, tau, pairs, error or everything",
        usual="{adjudge.relevance.choosing:Goal.kind}",
    )
    group.add_argument("--level", type=float, metavar="X", help="level of the goal (default: 0.95, 0.9, 0.95 or 0.05)")
    add_option(
        group,
        "--zone",
        type=SHARE_BELOW_ALL,
        metavar="D",
        help="differences that do not matter",
        usual="{adjudge.relevance.choosing:Goal.zone}",
    )
    add_option(
        group,
        "--agreement-share",
        type=float,
        metavar="X",
        help="share of pairs that several judge",
        usual=f"{{{_JUDGING_DEFAULTS}.agreement_share}}",
    )
    add_option(
        group,
        "--estimator",
        metavar="NAME",
        help="how relevance is estimated",
        usual=f"{{{_JUDGING_DEFAULTS}.estimator}}",
    )
    add_option(
        group,
        "--rule",
        metavar="NAME",
        help="how the next pair is chosen",
        usual=f"{{{_JUDGING_DEFAULTS}.rule}}",
    )
    group.add_argument(
        "--by-sound",
        action="store_true",
        default=None,
        help="let the estimator hear the clips, so that it learns from what sounds alike",
    )


def create(arguments: argparse.Namespace) -> None:
    """Read everything that can be wrong, then make the draft, then take in documents."""
    need_web()
    kind = kind_of(arguments)
    _check_documents(arguments)
    make = {"judging": _create_judging, "preference": _create_preference, "ranking": _create_ranking}[kind]
    if not make(arguments):
        sys.exit(1)


def _create_judging(arguments: argparse.Namespace) -> bool:
    """A campaign about runs; whether every file could be used."""
    from adjudge.formats.columns import check_columns
    from adjudge.web.holdings import put_runs
    from adjudge.web.run_files import read_runs

    settings = decisions(arguments)
    with progress("reading runs") as advance:
        collection, notes = read_runs(
            arguments.runs,
            metadata=arguments.metadata,
            format_name=arguments.format,
            teams=arguments.teams,
            names=arguments.names,
            artist_filter=arguments.artist_filter,
            progress=advance,
        )
    check_columns()
    say(notes)
    with opened(arguments, new=True) as store:
        with store.database.write() as connection:
            made = _draft(arguments, connection, settings, now=store.now)
            metadata = set() if arguments.metadata is None else {arguments.metadata}
            inputs = [one for one in collection.provenance.inputs if one[0] not in metadata]
            put_runs(connection, made, collection.runs, inputs=inputs, who=WHO, now=store.now)
        size = f"{counted(len(collection.systems), 'system')}, {counted(len(collection.queries), 'query')}"
        print(f"Made the campaign {made.name}: {size}.")
        return _take(arguments, store, made)


def _create_preference(arguments: argparse.Namespace) -> bool:
    """A campaign about questions; whether every file could be used."""
    from adjudge.formats.columns import check_columns
    from adjudge.web.preference_holdings import put_questions
    from adjudge.web.question_files import question_files

    common = common_decisions(arguments)
    files = [arguments.questions] + ([] if arguments.traps is None else [arguments.traps])
    questions, inputs = question_files([Path(file) for file in files])
    check_columns()
    settings = preference.decisions(arguments, common, questions)
    with opened(arguments, new=True) as store:
        with store.database.write() as connection:
            made = _draft(arguments, connection, settings, now=store.now)
            put_questions(connection, made, questions, inputs=inputs, who=WHO, now=store.now)
        n_traps, n_queries = sum(one.is_trap for one in questions.questions), len(set(questions.queries))
        print(
            f"Made the campaign {made.name}: {len(questions) - n_traps:,} questions about {n_queries:,} queries, "
            f"{n_traps:,} traps."
        )
        return _take(arguments, store, made)


def _create_ranking(arguments: argparse.Namespace) -> bool:
    """A campaign about rankings; whether every file could be used."""
    from adjudge.web.ranking_holdings import put_candidates

    settings = ranking.decisions(arguments, common_decisions(arguments))
    given = ranking.read(arguments)
    with opened(arguments, new=True) as store:
        with store.database.write() as connection:
            made = _draft(arguments, connection, settings, now=store.now)
            put_candidates(connection, made, given.candidates, inputs=given.inputs, who=WHO, now=store.now)
        print(f"Made the campaign {made.name}: {ranking.counted(given)}.")
        return _take(arguments, store, made)


def documents(arguments: argparse.Namespace) -> None:
    """Take in documents for a campaign that is there."""
    need_web()
    from adjudge.formats.columns import check_columns
    from adjudge.web.campaign_rows import find_campaign

    _check_documents(arguments)
    check_columns()
    with opened(arguments) as store:
        with store.database.read() as connection:
            found = find_campaign(connection, arguments.name)
        everything = _take(arguments, store, found)
    if not everything:
        sys.exit(1)


def common_decisions(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the options say that every campaign has."""
    languages = tuple(arguments.languages or ("en",))
    values: dict[str, Any] = {
        "title": arguments.title or arguments.name,
        "languages": languages,
        "instructions": _texts(arguments.instructions, languages[0]),
        "consent": _texts(arguments.consent, languages[0]),
    }
    names = ("judged_by", "repeat_share", "listen_seconds", "seed", "contact")
    return values | {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}


def decisions(arguments: argparse.Namespace) -> JudgingSettings:
    """The settings of a judging campaign that the options describe."""
    from adjudge.web.judging_settings import asked_scale, settings_from

    goal = {name: getattr(arguments, name) for name in ("level", "zone") if getattr(arguments, name) is not None}
    if arguments.goal is not None:
        goal["kind"] = arguments.goal
    values = {**common_decisions(arguments), "goal": goal}
    if arguments.scales:
        values["scales"] = [asked_scale(text).model_dump() for text in arguments.scales]
    for name in ("measure", "on_scale", "agreement_share", "estimator", "rule", "by_sound"):
        if getattr(arguments, name) is not None:
            values[name] = getattr(arguments, name)
    return settings_from(values)


def _texts(given: list[str], usual: str) -> dict[str, str]:
    """Texts by language, from files."""
    texts: dict[str, str] = {}
    for one in given:
        head, sign, tail = one.partition("=")
        is_named = bool(sign) and len(head) == 2 and head.isalpha()
        language, file = (head.lower(), tail) if is_named else (usual, one)
        if language in texts:
            raise AdjudgeError(f"Expected one text a language, got another in {language}: {file}")
        try:
            texts[language] = Path(file).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise InputError("expected text in UTF-8", source=file) from None
        except OSError as error:
            raise InputError(f"cannot be read: {reason(error)}", source=file) from None
    return texts


def _draft(arguments: argparse.Namespace, connection: Any, settings: AskingSettings, *, now: float) -> Campaign:
    """A new campaign of the organiser who is named."""
    from adjudge.web.campaigns import create_campaign

    owner = _owner(arguments.organiser, connection)
    return create_campaign(connection, name=arguments.name, settings=settings, organiser_id=owner, now=now)


def _owner(login: str | None, connection: Any) -> int | None:
    """Whose campaign it becomes: of the organiser named, or of the only one there is."""
    from adjudge.web.people import find_organiser, list_organisers

    if login is not None:
        return find_organiser(connection, login).id
    everybody = list_organisers(connection)
    return everybody[0].id if len(everybody) == 1 else None


def _check_documents(arguments: argparse.Namespace) -> None:
    """Refuse tables and folders that cannot be read before anything is stored."""
    from adjudge.web.documents import table_rows

    for role, table in (("document", arguments.metadata), ("query", arguments.queries)):
        if table is not None:
            table_rows(Path(table), role=role)
    for folder in (arguments.audio, arguments.query_audio):
        if folder is not None and not Path(folder).is_dir():
            raise InputError("expected a folder with files", source=folder)


def _take(arguments: argparse.Namespace, store: Store, found: Campaign) -> bool:
    """Take in documents and queries, and say what came of it; whether every file could be used."""
    from adjudge.web.holdings import missing_items

    usable = True
    parts = (("document", arguments.metadata, arguments.audio), ("query", arguments.queries, arguments.query_audio))
    for role, table, folder in parts:
        if table is not None or folder is not None:
            taken = _taken(arguments, store, found, role=role, table=table, folder=folder)
            _tell(role, taken)
            usable = usable and not taken.problems
    _hear(arguments, store, found)
    with store.database.read() as connection:
        missing = missing_items(connection, found)
    if missing:
        some = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
        many = "documents" if len(missing) > 1 else "document"
        print(f"Nothing to hear, read or see yet for {len(missing):,} {many}: {some}")
        print(f"Give them with: adjudge campaign documents {found.name} --audio DIR")
    elif found.state == "draft":
        print(f"Everything is there. Open it with: adjudge campaign open {found.name}")
    return usable


def _taken(
    arguments: argparse.Namespace, store: Store, found: Campaign, *, role: str, table: str | None, folder: str | None
) -> Taken:
    from adjudge.web.documents import take_documents
    from adjudge.web.uploads import folder_files

    with progress("preparing sound") as advance:
        return take_documents(
            store.database,
            store.settings,
            found,
            files={} if folder is None else folder_files(Path(folder)),
            table=None if table is None else Path(table),
            role=role,
            who=WHO,
            workers=arguments.workers,
            progress=advance,
        )


def _hear(arguments: argparse.Namespace, store: Store, found: Campaign) -> None:
    """Let the estimator hear the clips now, over processes, where the campaign asks for that."""
    from adjudge.parallel import count_workers
    from adjudge.web.hearing import hear

    with progress("hearing clips") as advance:
        hear(store.database, store.settings, found.id, workers=count_workers(arguments.workers), progress=advance)


def _tell(role: str, taken: Taken) -> None:
    """What came of taking documents in; problems on stderr."""
    one, many = ("document", "documents") if role == "document" else ("query", "queries")
    parts = [f"{taken.taken:,} {one if taken.taken == 1 else many} taken in"]
    parts += [f"{taken.already:,} were there already"] if taken.already else []
    parts += [f"{taken.skipped:,} that nobody will be asked about left out"] if taken.skipped else []
    print("; ".join(parts) + ".")
    say([f"{bad.document}: {bad.problem}" for bad in taken.problems[:_SHOWN_PROBLEMS]])
    if len(taken.problems) > _SHOWN_PROBLEMS:
        say([f"… and {len(taken.problems) - _SHOWN_PROBLEMS:,} more files that cannot be used"])
