"""What the docs show is what the program prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scripts.docs import pages
from scripts.docs.pages import ROOT

from adjudge.measures.base import MEASURES
from adjudge.measures.parameters import GAINS
from adjudge.reporting.document import SECTIONS
from adjudge.users.report import sections_in_order

_PAGES = [str(page.relative_to(ROOT)) for page in pages.all_pages()]
_ON_A_MACHINE_OF_ONES_OWN = ("README.md", "CONTRIBUTING.md", "docs/handbook/", "docs/contributing/")


@pytest.fixture
def _own_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page registers is gone with it: other tests of this process look at what is registered."""
    sections_in_order()  # registers ours, once and for all
    for registry in (MEASURES, GAINS, SECTIONS):
        monkeypatch.setattr(registry, "_members", dict(registry))


@pytest.mark.usefixtures("one_processor", "_own_registries")
@pytest.mark.parametrize("page", [page for page in _PAGES if pages.runs(ROOT / page)])
def test_a_page_shows_what_its_commands_print(page: str, tmp_path: Path) -> None:
    pages.check(ROOT / page, tmp_path)


@pytest.mark.parametrize("page", _PAGES)
def test_everything_fenced_is_executed_or_data(page: str) -> None:
    """What takes root, Docker or a package index is marked as such, and only where installing is the matter."""
    for block in pages.blocks_of(ROOT / page):
        where = f"{page}:{block.line}"
        if block.language == "sh":
            assert page.startswith(_ON_A_MACHINE_OF_ONES_OWN), f"{where}: say console, so that it is executed"
        else:
            known = (*pages.EXECUTED, *pages.DIRECTIVES, *pages.DATA_LANGUAGES)
            assert block.language in known, f"{where}: expected one of {', '.join(known)}, got {block.language!r}"
    assert pages.overlooked(ROOT / page) == [], f"{page}: blocks begin with ``` at the margin, hidden ones with <!-- $ "


@pytest.mark.parametrize("page", _PAGES)
def test_commands_in_running_text_exist_with_their_options(page: str) -> None:
    """Also those in blocks that are not executed."""
    for command in pages.mentioned_commands(ROOT / page):
        assert (wrong := pages.unknown_words(command)) == [], f"{page}: {command!r} has unknown {wrong}"


def test_links_between_pages_lead_somewhere() -> None:
    for page in pages.all_pages():
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text()):
            assert pages.leads_somewhere(page, target), f"{page.name} links to {target}"


def test_the_page_on_few_judgments_names_everything_registered() -> None:
    from adjudge.relevance import ESTIMATORS, GOALS, RULES

    page = (ROOT / "docs" / "guides" / "low_cost.md").read_text()
    for name in (*ESTIMATORS, *GOALS, *RULES):
        assert f"`{name}`" in page, f"docs/guides/low_cost.md does not mention {name}"


def test_the_page_on_audio_names_everything_registered() -> None:
    from adjudge.audio.features import AUDIO_FEATURES
    from adjudge.audio.library.excerpts import PLACES
    from adjudge.audio.systems import BASELINES

    page = (ROOT / "docs" / "guides" / "audio.md").read_text()
    for name in (*AUDIO_FEATURES, *PLACES):
        assert f"`{name}`" in page, f"docs/guides/audio.md does not mention {name}"
    for system in BASELINES.values():
        assert f"| `{system.name}` | {system.about} |" in page, (
            f"docs/guides/audio.md does not say what {system.name} does"
        )


def test_the_page_on_ground_truth_names_everything_registered() -> None:
    from adjudge.groundtruth import COMPARISONS, FUNCTIONS

    path = ROOT / "docs" / "guides" / "groundtruth.md"
    for name in (*FUNCTIONS, *COMPARISONS):
        assert f"`{name}`" in path.read_text(), f"docs/guides/groundtruth.md does not mention {name}"


def test_the_page_on_experiments_names_every_experiment_and_option() -> None:
    from adjudge.cli.experiment.options import KINDS, SETTINGS

    path = ROOT / "docs" / "guides" / "experiments.md"
    for name in (*(f"`{kind}`" for kind in KINDS), *(one.option for one in SETTINGS.values())):
        assert name in path.read_text(), f"docs/guides/experiments.md does not mention {name}"
