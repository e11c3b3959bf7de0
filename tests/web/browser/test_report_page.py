"""The page of a report in a browser: what a reader sees of wide and of long tables, on a screen and on paper."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from scipy.stats import rankdata

import adjudge as aj
from adjudge.model.provenance import Provenance
from adjudge.reporting.document import Report, Section, TableBlock
from adjudge.reporting.render import render
from adjudge.tables import Heading

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page


@pytest.fixture
def opened(page: Page, tmp_path: Path) -> Page:
    """A page with a wide table, a narrow one and one that is folded."""

    def table(name: str, n_columns: int, *, folded: bool = False) -> TableBlock:
        columns = tuple(Heading(f"column{i}") for i in range(n_columns))
        return TableBlock(name, "Rates.", columns, (("0.123456789",) * n_columns,) * 5, folded=folded)

    blocks = (table("wide", 20), table("narrow", 3), table("long", 3, folded=True))
    report = Report("Title", "", (Section("all", "All", blocks),), Provenance().to_dict())
    (tmp_path / "page.html").write_text(render(report, "html"), encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    return page


@pytest.fixture
def sorting(page: Page, tmp_path: Path) -> Page:
    """A page with one table whose columns hold words, numbers with intervals, and numbers with gaps."""
    columns = (Heading("System", "left"), Heading("Mean"), Heading("Queries needed"))
    rows = (
        ("s10", "0.5 [0.4, 0.6]", "1,200"),
        ("s9", "−0.25", "never"),
        ("s1", "10.5", "–"),
        ("s2", "< 1e-06", "300"),
        ("all", "2", "9"),
    )
    table = TableBlock("means", "Means.", columns, rows, total=True)
    report = Report("Title", "", (Section("all", "All", (table,)),), Provenance().to_dict())
    (tmp_path / "page.html").write_text(render(report, "html"), encoding="utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    return page


def names(page: Page) -> list[str]:
    return page.locator("#means tbody th").all_inner_texts()


def press(page: Page, heading: str) -> str | None:
    """Press a heading; returns the order that it then tells screen readers."""
    page.get_by_role("button", name=heading).press("Enter")
    return page.get_by_role("columnheader", name=heading).get_attribute("aria-sort")


def test_a_table_sorts_by_numbers_and_words_and_comes_back_to_its_order(sorting: Page) -> None:
    assert press(sorting, "Mean") == "descending"
    assert names(sorting) == ["s1", "s10", "s2", "s9"]
    assert press(sorting, "Mean") == "ascending"
    assert names(sorting) == ["s9", "s2", "s10", "s1"]
    assert press(sorting, "Mean") is None
    assert names(sorting) == ["s10", "s9", "s1", "s2"]
    assert press(sorting, "System") == "ascending"
    assert names(sorting) == ["s1", "s2", "s9", "s10"], "numbers inside names count as numbers"
    assert sorting.locator("[aria-sort]").count() == 1


def test_what_is_not_known_and_the_row_of_all_stay_last_however_a_table_is_sorted(sorting: Page) -> None:
    assert press(sorting, "Queries needed") == "descending"
    assert names(sorting) == ["s9", "s10", "s2", "s1"], "never is more than any number"
    assert press(sorting, "Queries needed") == "ascending"
    assert names(sorting) == ["s2", "s10", "s9", "s1"]
    assert sorting.locator("#means tfoot th").inner_text() == "all"


def has_hint(box: Locator) -> bool:
    """Whether there is anything in the upper right corner of a table's box, where nothing of the table is."""
    from PIL import Image

    picture = np.asarray(Image.open(io.BytesIO(box.screenshot())).convert("L"))
    return bool(picture[:16, -120:].min() < 200)


def test_a_table_says_that_more_columns_follow_until_its_last_is_seen(opened: Page) -> None:
    wide, narrow = (opened.locator(f".scroll:has(#{name})") for name in ("wide", "narrow"))
    assert wide.evaluate("box => box.scrollWidth > box.clientWidth")
    assert has_hint(wide)
    assert not has_hint(narrow)
    wide.evaluate("box => { box.scrollLeft = box.scrollWidth }")
    assert not has_hint(wide)


def test_a_folded_table_opens_by_a_click_and_is_open_in_print(opened: Page) -> None:
    table = opened.locator("#long")
    assert not table.is_visible()
    opened.get_by_text("Rates. 5 rows").click()
    assert table.is_visible()
    opened.get_by_text("Rates. 5 rows").click()
    assert not table.is_visible()
    opened.emulate_media(media="print")
    assert opened.locator("details").bounding_box()["height"] > 5 * 12  # type: ignore[index]


def test_values_of_marks_are_read_by_arrow_keys_and_by_pointer(page: Page, tmp_path: Path) -> None:
    eff = aj.Effectiveness.from_matrix(np.random.default_rng(1).random((20, 3)), systems=["a", "b", "c"])
    (tmp_path / "page.html").write_text(render(aj.report(eff, test="t", sections=["overview"]), "html"), "utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    figure, best = page.locator("#forest"), max(range(3), key=lambda s: eff.matrix()[:, s].mean())
    words = figure.get_by_role("status")
    figure.focus()
    figure.press("ArrowRight")
    assert words.inner_text().startswith(f"{'abc'[best]}: {eff.matrix()[:, best].mean():.3f} [")
    last = words.inner_text()
    figure.press("ArrowLeft")
    assert words.inner_text() != last
    figure.locator(".datum:visible").first.hover()
    assert words.inner_text() == last
    assert figure.locator(".datum:visible title").first.text_content() == last


@pytest.mark.parametrize("n", [4, 50])
def test_every_figure_says_its_values(page: Page, tmp_path: Path, n: int) -> None:
    values = np.random.default_rng(1).random((20, n)) ** np.linspace(0.2, 3, n)
    names = [f"s{i}" for i in range(n)]
    eff = aj.Effectiveness.from_matrix(values, measure="CG@5", systems=names)
    (tmp_path / "page.html").write_text(render(aj.report(eff, test="t"), "html"), "utf-8")
    page.goto((tmp_path / "page.html").as_uri())
    assert (
        page.evaluate("[...document.querySelectorAll('figure')].filter(f => !f.querySelector('.value')).map(f => f.id)")
        == []
    )
    said = page.locator("#pair-matrix .datum:visible title").all_text_contents()
    best, worst = names[values.mean(axis=0).argmax()], names[values.mean(axis=0).argmin()]
    assert any(words.startswith(f"{best} over ") and worst in words for words in said)
    if n == 4:
        ranks = n + 1 - rankdata(values, axis=1).mean(axis=0)
        said = page.locator("#critical-difference .datum:visible title").all_text_contents()
        assert {f"{name}: mean rank {rank:.2f}" for name, rank in zip(names, ranks, strict=True)} <= set(said)
    else:
        assert len(said) < n * (n - 1) / 4, "neighbours that are alike are one mark"


@pytest.mark.parametrize("width", [375, 800, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_report_is_accessible_and_as_wide_as_its_page(
    browser: Browser, tmp_path: Path, width: int, scheme: Literal["light", "dark"]
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    made = aj.report(aj.evaluate(aj.demo(queries=12), ["CG@5", "nDCG@5"]), test="t")
    made = replace(made, home=("Campaign songs", "https://example.org/campaigns/songs"))
    (tmp_path / "page.html").write_text(render(made, "html"), encoding="utf-8")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == width
    wide = "[...document.querySelectorAll('figure')].filter(f => f.scrollWidth > f.clientWidth).map(f => f.id)"
    assert page.evaluate(wide) == [], "a figure is wider than its page"
    cut = """[...document.querySelectorAll('figure svg')].filter(svg => svg.getClientRects().length)
        .filter(svg => [...svg.querySelectorAll('text')].some(text => {
            const [a, b] = [text.getBoundingClientRect(), svg.getBoundingClientRect()];
            return a.left < b.left - 1 || a.right > b.right + 1; })).map(svg => svg.closest('figure').id)"""
    assert page.evaluate(cut) == [], "texts of a figure are cut"
    found = Axe().run(page).response["violations"]
    assert not found, [(each["id"], each["nodes"][0]["html"]) for each in found]
    assert page.get_by_role("link", name="Campaign songs").get_attribute("href") == made.home[1]  # type: ignore[index]
    context.close()
