"""Options that several commands share."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, get_args

from adjudge.checks import CONFIDENCE, COUNT, FIGURE_WIDTH, Combine, Constraint, Interval, Names, Precision
from adjudge.cli.output import progress, with_inputs
from adjudge.errors import AdjudgeError

if TYPE_CHECKING:
    from adjudge.formats.reading import Progress
    from adjudge.model.collection import Collection
    from adjudge.model.effectiveness import Effectiveness
    from adjudge.preferences.questions import Combination
    from adjudge.preferences.study import Study
    from adjudge.users.files import Mappings

_IN_LIBRARY = re.compile(r"\{([\w.]+):(\w+)\.(\w+)\}")


def add_option(group: argparse._ActionsContainer, *names: str, usual: str, **how: Any) -> None:
    """Add an option that is left to the library where it is not given, and whose help says what the library does then.

    ``usual`` are words in which ``{adjudge.preferences.trust:TrustRules.quiz}`` stands for the default of a parameter
    or field. It is looked up when somebody asks for help, and not before.
    """
    setattr(group.add_argument(*names, **how), "usual", usual)  # noqa: B010 - argparse knows no such attribute


def help_of(action: argparse.Action) -> str:
    """What help says of an option: what it means, its limits and its default, from the declaration and the parser.

    Where the help text names the default in words, because data or files settle it, these are kept.
    """
    constraint = action.type if isinstance(action.type, Constraint) else None
    text = (action.help or (constraint.meaning if constraint else "")).replace(" (default: %(default)s)", "")
    limits = constraint.limits if constraint and action.choices is None else ""
    if "(default:" in text:
        return text.replace("(default:", f"({limits}; default:") if limits else text
    usual = _usual(action).replace("%", "%%")
    said = "; ".join(part for part in (limits, f"default: {usual}" if usual else "") if part)
    return f"{text} ({said})" if said else text


def _usual(action: argparse.Action) -> str:
    """The default in words; nothing where there is none, or where it says nothing."""
    words: str | None = getattr(action, "usual", None)
    if words is not None:
        from adjudge.cli.defaults import library_default

        return _IN_LIBRARY.sub(lambda match: shown_default(library_default(*match.groups())), words)
    is_needed = not action.option_strings and action.nargs != "?"
    return "" if is_needed or action.default is argparse.SUPPRESS else shown_default(action.default)


def shown_default(value: Any) -> str:
    """A default as one would type it; nothing for one that says nothing.

    >>> [shown_default(value) for value in (0.95, 2000, 100_000, "auto", None, False, True, [], ("en",))]
    ['0.95', '2000', '100,000', 'auto', '', '', 'yes', '', 'en']
    """
    if isinstance(value, bool) or value is None:
        return "yes" if value else ""
    if isinstance(value, int):
        return f"{value:,}" if value >= 10_000 else str(value)
    if isinstance(value, float):
        return f"{value:g}"
    return ", ".join(map(shown_default, value)) if isinstance(value, list | tuple) else str(value)


def add_output(parser: argparse.ArgumentParser, *, page: str = "latex") -> None:
    """How results are shown: as a table for people, as JSON, as CSV, or for a ``page`` in LaTeX or Markdown."""
    group = parser.add_argument_group("output")
    about = "as a LaTeX table (booktabs)" if page == "latex" else "as a Markdown page"
    add_styles(group, json="as JSON, with provenance", csv="as CSV", **{page: about})
    group.add_argument("-o", "--output", metavar="FILE", help="write to a file; its suffix says in which form")


def add_styles(group: argparse._ArgumentGroup, **about: str) -> None:
    """Options of which at most one says in which style results are shown, with what help says of each."""
    kinds = group.add_mutually_exclusive_group()
    for style, text in about.items():
        kinds.add_argument(f"--{style}", dest="style", action="store_const", const=style, help=text)


def add_listing(parser: argparse.ArgumentParser) -> None:
    """Output of a command that shows one table or list."""
    add_output(parser, page="markdown")


def add_pages(parser: argparse.ArgumentParser) -> None:
    """Output of a command that can write a page with figures."""
    add_listing(parser)
    add_figures(parser)


def add_figures(group: argparse._ActionsContainer) -> None:
    """Figures as files, and how wide they are."""
    group.add_argument("--figures", metavar="DIR", help="write every figure as SVG and PDF, too")
    about = "width of these figures, such as 3.3 for a column of a paper and 7 for a page"
    group.add_argument("--figure-width", type=FIGURE_WIDTH, default=7.0, help=about)


def add_intervals(group: argparse._ArgumentGroup) -> None:
    """Level and kind of the intervals."""
    group.add_argument("--confidence", type=CONFIDENCE, default=0.95)
    group.add_argument("--interval", choices=get_args(Interval), default="t", help="intervals by t or bootstrap")


def add_collection(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Which runs and judgments to read, and how."""
    one, some = (None, "+") if required else ("?", "*")
    parser.add_argument(
        "judgments", metavar="JUDGMENTS", nargs=one, help="file with judgments (qrels), or ir_datasets:ID"
    )
    parser.add_argument("runs", metavar="RUN", nargs=some, help="files, directories or patterns with runs")
    add_reading(parser)


def add_combine(group: argparse._ArgumentGroup) -> None:
    """What becomes of the grades of several assessors."""
    group.add_argument("--combine", choices=get_args(Combine), default="mean", help="grades of several assessors")


def add_columns(group: argparse._ActionsContainer) -> None:
    """Which columns of tables hold what, where names do not say it."""
    group.add_argument(
        "--columns",
        metavar="NAMES",
        help="which columns of tables hold what, where their names do not say it: "
        "query=userId,document=movieId,grade=rating; 'adjudge formats' has the names that are known",
    )


def add_run_reading(group: argparse._ArgumentGroup) -> None:
    """How to read runs."""
    group.add_argument("--format", help="format of the runs (default: recognised; see 'adjudge formats')")
    group.add_argument("--teams", metavar="FILE", help="table of systems and their teams")
    group.add_argument(
        "--names",
        choices=get_args(Names),
        default="tag",
        help="name systems after the tag in their file or after the file",
    )
    group.add_argument(
        "--artist-filter",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="remove the query and its artist's documents from rankings (default: for MIREX formats)",
    )


def check_run_reading(arguments: argparse.Namespace) -> None:
    """Refuse options about runs where there are none."""
    for name in ("metadata", "teams", "format", "names", "artist_filter"):
        if getattr(arguments, name) not in (None, "tag") and not arguments.runs:  # tag is what --names has unasked
            raise AdjudgeError(f"--{name.replace('_', '-')} is about the lists of --runs, got none")


def read_runs(arguments: argparse.Namespace) -> Collection:
    """The runs of ``--runs``, read as :func:`add_run_reading` offers."""
    from adjudge.formats import read

    with progress("reading runs") as advance:
        return read(
            arguments.runs,
            metadata=arguments.metadata,
            teams=arguments.teams,
            format=arguments.format,
            names=arguments.names,
            artist_filter=arguments.artist_filter,
            progress=advance,
        )


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How to read runs, judgments and what belongs to them."""
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--scale",
        help="relevance scale: broad, fine, binary or an interval such as 0..4 (default: highest grade found)",
    )
    group.add_argument("--rescale", metavar="TO", help="convert grades: graded3, graded5, binary40, …")
    add_combine(group)
    add_run_reading(group)
    group.add_argument("--judgments-format", metavar="FORMAT", help="format of the judgments (default: recognised)")
    group.add_argument("--metadata", metavar="FILE", help="table of documents: artist, genre, any column")
    add_columns(group)
    group.add_argument("--depth", type=COUNT, help="keep the first N documents of every ranking")
    group.add_argument(
        "--score-precision",
        choices=get_args(Precision),
        default="single",
        help="compare scores in single precision, as trec_eval 9, or in double, as trec_eval 10",
    )


def read_collection(arguments: argparse.Namespace, progress: Progress | None) -> Collection:
    """Read the collection that the options describe."""
    from adjudge.formats import read
    from adjudge.formats.columns import check_columns

    collection = read(
        arguments.runs,
        arguments.judgments,
        arguments.metadata,
        scale=arguments.scale,
        teams=arguments.teams,
        format=arguments.format,
        judgments_format=arguments.judgments_format,
        names=arguments.names,
        artist_filter=arguments.artist_filter,
        depth=arguments.depth,
        score_precision=arguments.score_precision,
        progress=progress,
    )
    if not any(getattr(arguments, name, None) for name in ("experts", "strata")):  # which are read later
        check_columns()
    if arguments.judgments is None:
        return collection
    if arguments.rescale is not None:
        collection = collection.rescaled(arguments.rescale)
    return collection.combined(arguments.combine) if arguments.combine != "mean" else collection


def add_users(group: argparse._ArgumentGroup) -> None:
    """The user's own mappings from effectiveness to users."""
    group.add_argument(
        "--users",
        metavar="FILE",
        help="own mappings from effectiveness to users (JSON or CSV), such as adjudge fit writes",
    )


def own_mappings(arguments: argparse.Namespace) -> Mappings | None:
    """The user's own mappings from effectiveness to users, if a file was given."""
    if arguments.users is None:
        return None
    from adjudge.users.files import read_mappings

    return read_mappings(arguments.users)


def with_users_file(eff: Effectiveness, arguments: argparse.Namespace) -> Effectiveness:
    """The same effectiveness, with the file of own mappings among its inputs."""
    if arguments.users is None:
        return eff
    from dataclasses import replace

    return replace(eff, provenance=with_inputs(eff.provenance, [arguments.users]))


WHICH = "'thesis' (its 95, as far as grades allow), one such as 'CG@5 on fine', or a file with one per line; repeatable"


def add_combinations(group: argparse._ArgumentGroup, *, usual: str) -> None:
    """Which measures on which scales; ``usual`` says what is meant when nobody says."""
    group.add_argument("--combinations", action="append", metavar="WHICH", help=f"{WHICH} (default: {usual})")
    group.add_argument(
        "-m",
        "--measure",
        dest="measures",
        action="append",
        metavar="MEASURE",
        help="a measure, or several in quotes, on the scales of --on; repeatable",
    )
    group.add_argument("--on", metavar="SCALES", help="scales, with commas: fine,binary40 (default: those with grades)")


def combinations_of(
    arguments: argparse.Namespace,
    scales: Sequence[str],
    k: int,
    *,
    usual: Sequence[str] = (),
    tells: Callable[[Combination], bool] = lambda combination: True,
) -> tuple[Combination, ...]:
    """What the options ask for, each once; where they say nothing, the ``usual`` measures, else what the thesis has.

    ``scales`` are those with grades, ``k`` is the length of lists, and ``tells`` says which of the thesis's to take.
    """
    from adjudge.measures import parse_measures
    from adjudge.preferences.files import THESIS, named_combinations
    from adjudge.preferences.questions import crossed

    texts = list(arguments.combinations or ())
    measures = arguments.measures or ([] if texts else usual)
    if arguments.on is not None and not measures:
        raise AdjudgeError("--on says on which scales the measures of --measure are; expected --measure, got none")
    on = [scale.strip() for scale in (arguments.on or "").split(",") if scale.strip()] or list(scales)
    found = [*crossed([str(measure) for measure in parse_measures(measures)], on)] if measures and on else []
    found += named_combinations(texts or ([] if measures else [THESIS]), scales, k, tells=tells)
    return tuple(dict.fromkeys(found))


def study_combinations(arguments: argparse.Namespace, study: Study) -> tuple[Combination, ...]:
    """What to learn from a study: CG and DCG of whole lists on its scales, if nothing is said.

    Of the thesis's combinations, those are left out by which all answers are about one size.
    """
    from adjudge.preferences.curves import has_several_sizes
    from adjudge.preferences.study import evidence

    asked = study.questions
    return combinations_of(
        arguments,
        sorted(asked.grades, key=lambda scale: scale != "fine"),
        asked.n_ranks,
        usual=[f"CG@{asked.n_ranks}", f"DCG@{asked.n_ranks}"],
        tells=lambda combination: has_several_sizes(evidence(study, combination.measure, combination.scale).delta),
    )


def combination_files(arguments: argparse.Namespace) -> list[str]:
    """The files among the values of ``--combinations``."""
    from adjudge.preferences.files import is_combination_file

    return [text for text in arguments.combinations or () if is_combination_file(text)]
