"""Pages from templates, and Markdown from organisers made safe.

Everything put into a template is escaped. Markdown may not hold HTML; its links open without telling where they were
followed from, and its images are dropped, because a page loads nothing from elsewhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import MutableMapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from fastapi.responses import HTMLResponse
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup

from adjudge._version import __version__
from adjudge.web import languages
from adjudge.web.languages import NAMES, words

HERE = Path(__file__).parents[1]
REPORTING = HERE.parent / "reporting"  # has the mark, which pages and reports share
_FOLDERS: dict[str, FileSystemLoader] = {}
_STATIC: dict[str, Path] = {}


def add_folder(name: str, folder: Path) -> None:
    """Take templates of a folder as ``name/…``, its static files and its words."""
    _FOLDERS[name] = FileSystemLoader(folder / "templates")
    _STATIC[name] = folder / "static"
    languages.add_folder(folder / "languages")


def own_style(kind: str, page: str) -> Markup:
    """The link to the style sheet that a kind of campaign has for its pages; nothing where it has none."""
    if kind not in _STATIC or not (_STATIC[kind] / f"{page}.css").is_file():
        return Markup("")
    return Markup('<link rel="stylesheet" href="{}">').format(static(f"{kind}/{page}.css"))


class _SafeRenderer(RendererHTML):
    """Renders links that keep to themselves, and the words of images instead of images."""

    def link_open(
        self, tokens: Sequence[Token], place: int, options: OptionsDict, env: MutableMapping[str, Any]
    ) -> str:
        tokens[place].attrSet("rel", "noopener noreferrer")
        tokens[place].attrSet("target", "_blank")
        return self.renderToken(tokens, place, options, env)

    def image(self, tokens: Sequence[Token], place: int, options: OptionsDict, env: MutableMapping[str, Any]) -> str:
        return str(Markup.escape(tokens[place].content))


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "linkify": False}, renderer_cls=_SafeRenderer).enable("table")


def markdown(text: str) -> Markup:
    r"""Markdown as HTML that is safe to show.

    >>> markdown("*Listen* to <b>both</b>.")
    Markup('<p><em>Listen</em> to &lt;b&gt;both&lt;/b&gt;.</p>\n')
    """
    return Markup(_markdown().render(text))


@cache
def static(path: str) -> str:
    """The address of a static file, which changes with its content so that browsers may keep it.

    Modules import one another by plain names, so one of a package carries the content of all its neighbours.
    """
    first, _, rest = path.partition("/")
    file = _STATIC[first] / rest if first in _STATIC else HERE / "static" / path
    family = sorted(file.parent.glob("*.js")) if file.suffix == ".js" else [file]
    digest = hashlib.sha256(b"".join(member.read_bytes() for member in family)).hexdigest()
    return f"/static/{path}?v={digest[:12]}"


@cache
def environment() -> Environment:
    """The templates, with what every one of them may use."""
    made = Environment(
        loader=ChoiceLoader([FileSystemLoader([HERE / "templates", REPORTING]), PrefixLoader(_FOLDERS)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(static=static, own_style=own_style, version=__version__, language_names=NAMES)
    made.filters["markdown"] = markdown
    return made


def render(template: str | Sequence[str], /, *, language: str = "en", csrf: str = "", **values: Any) -> str:
    """A template, or the first of several that is there, as text.

    ``t`` holds the words of the language; ``csrf`` goes into the page's head and forms.
    """
    chosen = environment().select_template([template] if isinstance(template, str) else template)
    return chosen.render(language=language, t=words(language), csrf=csrf, **values)


def page(
    template: str | Sequence[str], /, *, status: int = 200, language: str = "en", csrf: str = "", **values: Any
) -> HTMLResponse:
    """A template as a response that no cache keeps; the template may use its ``status``."""
    text = render(template, language=language, csrf=csrf, status=status, **values)
    return HTMLResponse(text, status_code=status, headers={"Cache-Control": "no-store", "Content-Language": language})
