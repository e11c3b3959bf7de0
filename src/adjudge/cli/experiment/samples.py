"""What experiments draw queries from: runs evaluated on one scale or several, or tables of effectiveness."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adjudge.cli.options import read_collection
from adjudge.cli.output import command_line, progress, with_inputs
from adjudge.cli.score import add_judgments_or_table, check_judgments_or_table, named_tables, select_measures
from adjudge.errors import AdjudgeError, kept_warnings

if TYPE_CHECKING:
    from adjudge.experiments.samples import Samples
    from adjudge.measures import Measure
    from adjudge.model.collection import Collection
    from adjudge.model.effectiveness import Effectiveness
    from adjudge.preferences.questions import Combination


_THESIS_CUTOFF = 5


def add_samples(parser: argparse.ArgumentParser) -> None:
    """Where effectiveness comes from, and the strata of queries."""
    add_judgments_or_table(parser)
    group = parser.add_argument_group("samples")
    group.add_argument("--on", metavar="SCALES", help="scales of the measures, with commas: fine,graded3,binary40")
    group.add_argument(
        "--combinations",
        action="append",
        metavar="WHICH",
        help="single ones, as 'CG@5 on fine', a file with one per line, or 'thesis' (its 95, as far as grades allow); "
        "repeatable",
    )
    group.add_argument(
        "--stratify",
        metavar="COLUMN",
        help="draw as many queries of every value of this column of --metadata, such as genre; queries are documents",
    )
    group.add_argument("--strata", metavar="FILE", help="table of queries and their strata, instead of --stratify")


def check_samples(arguments: argparse.Namespace) -> None:
    """Refuse what cannot be sampled, before anything is read."""
    check_judgments_or_table(arguments, also=("metadata",))
    if arguments.stratify is not None and arguments.strata is not None:
        raise AdjudgeError("--stratify and --strata both say the strata of queries; expected one of them")
    if arguments.stratify is not None and arguments.metadata is None:
        raise AdjudgeError("--stratify takes a column of the metadata of documents; expected --metadata, got none")
    if arguments.on is not None and not arguments.measures:
        raise AdjudgeError("--on says on which scales the measures of --measure are; expected --measure, got none")
    if not arguments.effectiveness:
        return
    for name in ("on", "combinations"):
        if getattr(arguments, name) is not None:
            raise AdjudgeError(f"--{name} is for judgments and runs, not for tables of effectiveness")
    if arguments.metadata is not None and arguments.stratify is None:
        raise AdjudgeError("--metadata of tables of effectiveness are for strata; expected --stratify, got none")


def input_files(arguments: argparse.Namespace) -> list[str]:
    """Everything that is read, so that no output overwrites it."""
    tables = [file for _, file in named_tables(arguments.effectiveness or ())]
    single = (arguments.judgments, arguments.metadata, arguments.teams, arguments.strata)
    return [*tables, *(arguments.runs or ()), *(file for file in single if file is not None)]


def samples_from(arguments: argparse.Namespace) -> Samples:
    """The samples that the options describe, with what is worth saying about them."""
    from adjudge.experiments.samples import Samples, samples_of
    from adjudge.formats.columns import check_columns

    with kept_warnings() as said:
        parts = list(_read_tables(arguments) if arguments.effectiveness else _evaluated(arguments))
        found = [samples_of({name: eff}, scale=scale, strata=_strata(eff, arguments)) for name, scale, eff in parts]
        check_columns()
    members = tuple(sample for samples in found for sample in samples)
    inputs = dict(pair for samples in found for pair in samples.provenance.inputs)
    settings = _settings([samples.provenance.settings for samples in found])
    made = replace(found[0].provenance, inputs=tuple(inputs.items()), settings=settings)
    files = [arguments.strata] if arguments.strata else [arguments.metadata] if arguments.effectiveness else []
    made = with_inputs(made.with_settings(command=command_line()), [file for file in files if file])
    notes = dict.fromkeys([*(note for samples in found for note in samples.notes), *said])
    return Samples(members, made, tuple(notes))


def _settings(several: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Settings in common: scales differ from sample to sample, and are said there."""
    return {
        name: value for name, value in several[0].items() if all(settings.get(name) == value for settings in several)
    }


def _read_tables(arguments: argparse.Namespace) -> Iterator[tuple[str, str, Effectiveness]]:
    """Tables of effectiveness; a measure that nobody names is called as its file, unless the collection is."""
    from adjudge.formats.effectiveness import UNNAMED, read_effectiveness
    from adjudge.model.effectiveness import Effectiveness

    named = list(named_tables(arguments.effectiveness))
    for name, file in named:
        eff = read_effectiveness(file, missing="keep")
        if not isinstance(eff, Effectiveness):
            raise AdjudgeError(
                f"{file}: expected effectiveness of one assessor or of all together, got a column of them"
            )
        eff = select_measures(eff, arguments.measures)
        if eff.measures == (UNNAMED,) and not name:
            eff = replace(eff, measures=(os.path.splitext(os.path.basename(file))[0],))
        yield name, "", eff


def _evaluated(arguments: argparse.Namespace) -> Iterator[tuple[str, str, Effectiveness]]:
    """The runs by every measure on every scale asked for."""
    from adjudge.measures import default_measures, evaluate, parse_measures

    measures = parse_measures(arguments.measures) if arguments.measures else []  # a typo should not cost a reading
    with progress("reading runs") as advance:
        collection = read_collection(arguments, advance)
    on = [scale.strip() for scale in (arguments.on or "").split(",") if scale.strip()]
    wanted: dict[str, list[Measure]] = {scale: list(measures) for scale in on or ([""] if measures else [])}
    for combination in _combinations(arguments, collection):
        wanted.setdefault(combination.scale, []).append(combination.parsed)
    for scale, some in (wanted or {"": list(default_measures(collection))}).items():
        with progress("evaluating") as advance:
            yield (
                "",
                scale,
                evaluate(
                    _on_scale(collection, scale),
                    list(dict.fromkeys(some)),
                    unjudged=arguments.unjudged,
                    missing=arguments.missing,
                    ties=arguments.ties,
                    seed=arguments.seed,
                    progress=advance,
                ),
            )


def _combinations(arguments: argparse.Namespace, collection: Collection) -> tuple[Combination, ...]:
    if not arguments.combinations:
        return ()
    from adjudge.preferences.files import named_combinations
    from adjudge.users.combinations import relevance_scale

    depth = max(int(run.lengths.max(initial=1)) for run in collection.runs)
    scale = str(relevance_scale(str(collection.need_judgments().scale)))
    return named_combinations(arguments.combinations, [scale], min(depth, _THESIS_CUTOFF))


def _on_scale(collection: Collection, scale: str) -> Collection:
    """The collection with grades on a scale: the one it has, or one that they can be converted to."""
    from adjudge.users.combinations import relevance_scale

    given = str(collection.need_judgments().scale)
    if not scale or str(relevance_scale(scale)) == str(relevance_scale(given)):
        return collection
    asked = relevance_scale(scale)
    if asked.conversion is None:
        raise AdjudgeError(
            f"--on {scale}: grades are on the scale {given}, and are converted to gradedN or binaryX only, such as "
            "graded3 or binary40"
        )
    return collection.rescaled(asked.conversion.name)


def _strata(eff: Effectiveness, arguments: argparse.Namespace) -> dict[str, str] | None:
    if arguments.strata is not None:
        from adjudge.formats.reading import read_strata

        return read_strata(arguments.strata)
    if arguments.stratify is None:
        return None
    from adjudge.experiments.samples import strata_of
    from adjudge.formats.reading import read_metadata

    return strata_of(read_metadata(arguments.metadata), arguments.stratify, eff.queries)
