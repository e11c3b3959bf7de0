"""The page of a report in a browser: what a reader sees of wide and of long tables, on a screen and on paper."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from adjudge.model.provenance import Provenance
from adjudge.reporting.document import Report, Section, TableBlock
from adjudge.reporting.render import render
from adjudge.tables import Heading

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


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
