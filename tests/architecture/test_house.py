"""The house keeps its shape: no import cycle, no fragment, no overfull folder, and things are where one looks."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((SOURCE / "adjudge").rglob("*.py"))
}
MOST_FILES = 20
SUBJECTS = {
    "adjudge.audio.library.duplicates": "recordings that are there twice",
    "adjudge.audio.library.excerpts": "which part of a recording people hear",
    "adjudge.audio.notation.engraving": "drawing notation",
    "adjudge.experiments.gpu": "resamples on a graphics card",
    "adjudge.experiments.simulate.copulas": "copulas",
    "adjudge.experiments.simulate.margins": "distributions of one system's effectiveness",
    "adjudge.formats.results": "effectiveness as other tools write it",
    "adjudge.groundtruth.strengths": "models of choice: Bradley-Terry, Plackett-Luce",
    "adjudge.relevance.hierarchical.scores": "scores of systems under the hierarchical model",
    "adjudge.relevance.known_item": "search for the one relevant document of a query",
    "adjudge.relevance.models": "fitted models of relevance, and those of the thesis",
    "adjudge.stats.gtheory.reml": "restricted maximum likelihood",
    "adjudge.web.app": "the application as a value",
    "adjudge.web.live": "the thread that makes snapshots",
}
"""Modules that one sibling alone imports, and that are subjects of their own all the same."""

WHERE_IS = {
    "attention checks": ("preferences/attention_checks.py", "make_traps"),
    "trust in participants": ("preferences/trust.py", "CUES"),
    "D-study": ("stats/gtheory/dstudy.py", "DStudy"),
    "G-study": ("stats/gtheory/gstudy.py", "gstudy"),
    "REML": ("stats/gtheory/reml.py", "reml"),
    "copulas": ("experiments/simulate/copulas.py", "DEPENDENCES"),
    "Krippendorff's alpha": ("stats/agreement_coefficients.py", "krippendorff_alpha"),
    "atomic writing": ("io.py", "write_whole"),
    "compression of files": ("io.py", "COMPRESSIONS"),
    "names of columns": ("formats/columns.py", "COLUMNS"),
    "TREC runs and qrels": ("formats/trec.py", "Trec"),
    "the notation of measures": ("measures/base.py", "parse_measure"),
    "nDCG": ("measures/gains.py", "normalised_dcg"),
    "corrections for many comparisons": ("stats/multiple.py", "CORRECTIONS"),
    "bootstrap intervals": ("stats/intervals.py", "bootstrap_interval"),
    "leaderboards": ("users/leaderboard/board.py", "leaderboard"),
    "ranks that are possible": ("stats/ranks.py", "rank_sets"),
    "the mixed model of data sets": ("stats/gtheory/datasets.py", "study_datasets"),
    "satisfaction of users": ("users/satisfaction.py", "satisfaction"),
    "what users notice": ("users/noticing.py", "noticeable_difference"),
    "what to judge next": ("relevance/choosing.py", "RULES"),
    "when to stop judging": ("relevance/choosing.py", "GOALS"),
    "partially ordered lists": ("groundtruth/lists.py", "PartialLists"),
    "loudness of clips": ("audio/loudness.py", "integrated_loudness"),
    "MFCCs": ("audio/features/timbre.py", "mfcc"),
    "the report's HTML page": ("reporting/render.py", "render"),
    "many jobs at once, and Dask": ("parallel.py", "run_jobs"),
    "where a result came from": ("model/provenance.py", "Provenance"),
    "what a kind of campaign is": ("web/kinds/base.py", "Kind"),
    "opening and closing a campaign": ("web/kinds/lifecycle.py", "set_state"),
    "why somebody's answers do not count": ("web/kinds/lifecycle.py", "exclude_participant"),
    "checks of a stored campaign": ("web/kinds/verify.py", "verify"),
    "the dashboard of a preference campaign": ("web/kinds/preference/dashboard.py", "PreferenceObserver"),
    "the next question of a ranking campaign": ("web/kinds/ranking/assignment.py", "make_ranking_desk"),
    "exports of a judging campaign": ("web/kinds/judging/export.py", "export_judgments"),
    "tables of the database": ("web/store/schema.py", "campaign"),
    "leases of questions": ("web/store/leases.py", "Lease"),
    "answers as they are stored": ("web/store/answers.py", "append_answer"),
    "erasing a person": ("web/store/erase.py", "erase_participant"),
    "backups of a server": ("web/store/archive.py", "backup"),
    "codes of recruiters": ("web/store/recruiting.py", "Recruiter"),
    "security headers": ("web/http/security.py", "add_security"),
    "who is asking": ("web/http/access.py", "as_organiser"),
    "the thread that estimates": ("web/live.py", "Estimating"),
}


def imported(path: Path) -> Iterator[str]:
    """Modules that a file imports at run time, inside functions as well."""
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.ImportFrom(module=str(module), names=names):
                for alias in names:
                    whole = f"{module}.{alias.name}"
                    yield whole if whole in MODULES else module
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
        nodes += ast.iter_child_nodes(node)


@cache
def all_imports() -> dict[str, set[str]]:
    """Modules of ours that each module imports."""
    return {module: {name for name in imported(path) if name in MODULES} - {module} for module, path in MODULES.items()}


def cycles(imports: dict[str, set[str]]) -> list[str]:
    """What is left when modules that import none, or that none imports, are taken away again and again."""
    left = {module: set(names) for module, names in imports.items()}
    size = -1
    while len(left) != size:
        size = len(left)
        used = set().union(*left.values())
        left = {module: names & left.keys() for module, names in left.items() if names & left.keys() and module in used}
    return sorted(left)


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == ["b", "c"]  # it finds one
    assert cycles(all_imports()) == []


def test_general_code_of_the_server_imports_no_kind_of_campaign() -> None:
    """Whatever kinds there are: a new one needs no line in the contracts of import-linter."""
    home = "adjudge.web.kinds."
    kinds = {module for module, path in MODULES.items() if module.startswith(home) and path.name == "__init__.py"}
    assert len(kinds) >= 3

    def kind_of(module: str) -> str | None:
        return next((kind for kind in kinds if f"{module}.".startswith(f"{kind}.")), None)

    found = {
        (module, name)
        for module, names in all_imports().items()
        for name in names
        if module.startswith(("adjudge.web", "adjudge.cli")) and module != "adjudge.web.demo"
        if kind_of(name) not in (None, kind_of(module))
    }
    assert found == set()


def test_a_module_that_one_sibling_alone_imports_is_part_of_it_or_a_subject_of_its_own() -> None:
    users = defaultdict(set)
    for module, names in all_imports().items():
        for name in names:
            users[name].add(module)
    alone = {
        module
        for module, by in users.items()
        if len(by) == 1 and next(iter(by)).rpartition(".")[0] == module.rpartition(".")[0]
        if not module.startswith(("adjudge.cli", "adjudge.web.kinds"))  # parts that the parser or a kind imports
    }
    assert alone == SUBJECTS.keys()


def test_no_folder_is_too_full() -> None:
    files = Counter(path.parent.relative_to(SOURCE).as_posix() for path in MODULES.values())
    assert {folder: count for folder, count in files.items() if count > MOST_FILES} == {}


@pytest.mark.parametrize("thing", WHERE_IS)
def test_a_newcomer_finds_it_by_the_names_of_folders(thing: str) -> None:
    path, name = WHERE_IS[thing]
    tree = ast.parse((SOURCE / "adjudge" / path).read_text(encoding="utf-8"))
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert name in stored | defined


def test_shares_in_per_cent_are_written_in_one_place() -> None:
    """Python's own format has no space before the sign: ``text.percent`` and columns of results have one."""
    own = [
        name
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"[.,]?\d+%", node.value)
    ]
    assert not own
