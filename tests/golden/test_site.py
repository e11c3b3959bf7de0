"""The site builds without a warning, and everything on it leads somewhere."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from scripts.docs.pages import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
_MADE = ("genindex.html", "search.html")  # by Sphinx, not from pages of ours
_LOADS = {
    "img": "src",
    "script": "src",
    "link": "href",
    "iframe": "src",
    "audio": "src",
    "video": "src",
    "source": "src",
}


@dataclass
class Built(HTMLParser):
    """A page as a browser gets it: its anchors, what it links to, and what it loads."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif given.get(_LOADS.get(tag, "")):
            self.loads.append(given[_LOADS[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "docs", str(target)]
    done = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Built]:
    return {path: _read(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts}


def _read(path: Path) -> Built:
    built = Built()
    built.feed(path.read_text(encoding="utf-8"))
    return built


def _within(page: Path, built: Built) -> Iterator[tuple[Path, str]]:
    """Where links of the page lead within the site: a file, and an anchor in it or nothing."""
    for link in [*built.links, *built.loads]:
        parts = urlsplit(link)
        if not parts.scheme and not parts.netloc:
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            yield target, unquote(parts.fragment)


def test_every_page_is_built_and_reached_from_the_first(site: Path, pages: dict[Path, Built]) -> None:
    reached, waiting = set(), [site / "index.html"]
    while waiting:
        page = waiting.pop()
        if page in pages and page not in reached:
            reached.add(page)
            waiting += [target for target, _ in _within(page, pages[page])]
    sources = (path for suffix in ("md", "ipynb") for path in (ROOT / "docs").rglob(f"*.{suffix}"))
    written = {site / path.relative_to(ROOT / "docs").with_suffix(".html") for path in sources}
    assert written <= reached, f"nothing leads to {sorted(str(one.relative_to(site)) for one in written - reached)}"


def test_every_link_within_the_site_leads_somewhere(site: Path, pages: dict[Path, Built]) -> None:
    for page, built in pages.items():
        for target, anchor in _within(page, built):
            where = f"{page.relative_to(site)} links to {target.name}#{anchor}"
            assert target.exists(), where
            if anchor and target in pages and page.name not in _MADE:
                assert anchor in pages[target].anchors, where


def test_no_page_loads_anything_from_another_host(site: Path, pages: dict[Path, Built]) -> None:
    for page, built in pages.items():
        for load in built.loads:
            assert not urlsplit(load).netloc, f"{page.relative_to(site)} loads {load}"
    for style in site.rglob("*.css"):
        assert "url(http" not in style.read_text(encoding="utf-8").replace("'", "").replace('"', ""), style.name


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_each_plot_with_an_alternative_text(site: Path, notebook: Path) -> None:
    cells = [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells), "the site makes outputs"
    said = [cell["metadata"]["mystnb"]["image"]["alt"] for cell in cells if ".plot(" in "".join(cell["source"])]
    page = (site / notebook.relative_to(ROOT / "docs").with_suffix(".html")).read_text(encoding="utf-8")
    shown = re.findall(r'<img alt="([^"]*)" src="[^"]*_images/', page)
    assert len(said) > 2
    assert [html.unescape(text) for text in shown] == said


def test_every_page_says_something(site: Path, pages: dict[Path, Built]) -> None:
    for page in pages:
        article = page.read_text(encoding="utf-8").partition("<article ")[2].partition("</article>")[0]
        words = re.sub(r"^[^>]*>|<[^>]+>", " ", article).split()
        assert page.name in _MADE or len(words) > 80, f"{page.relative_to(site)} is all but empty"


def test_pages_can_be_searched_for_commands_and_measures(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8").lower()
    for word in ("ndcg", "wilcoxon", "groundtruth", "krippendorff"):
        assert word in index
