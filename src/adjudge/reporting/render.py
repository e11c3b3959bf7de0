"""Reports as HTML, Markdown, LaTeX and JSON, and their sentences and tables on a terminal."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from adjudge import latex as tex
from adjudge.errors import AdjudgeError
from adjudge.extras import need
from adjudge.io import write_whole
from adjudge.latex import COLUMN, PAGE
from adjudge.reporting.document import Block, FigureBlock, Paragraph, Report, Section, TableBlock
from adjudge.reporting.figures import DARK, DESCRIPTIONS, PALETTE
from adjudge.tables import Table, as_json, escape_markdown
from adjudge.text import unbroken

if TYPE_CHECKING:
    from jinja2 import Template
    from matplotlib.figure import Figure
    from rich.console import RenderableType

_HERE = Path(__file__).parent


def render(report: Report, form: str, *, figures: str = "", width: float = PAGE, standalone: bool = False) -> str:
    """The report as ``html``, ``markdown``, ``latex`` or ``json``.

    ``figures`` is the folder, seen from the page, in which Markdown and LaTeX find what :func:`write_figures` wrote.
    Tables in LaTeX are at most ``width`` inches wide; a ``standalone`` document in LaTeX compiles as it comes, with a
    line instead of each figure that is not there.
    """
    forms: dict[str, Callable[[], str]] = {
        "html": lambda: _html(report),
        "markdown": lambda: _markdown(report, figures),
        "latex": lambda: _latex(report, figures, width, standalone=standalone),
        "json": lambda: _json(report),
    }
    if form not in forms:
        raise AdjudgeError(f"Reports are written as {', '.join(forms)}, not as {form!r}.")
    return forms[form]()


FORMS = {".html": "html", ".htm": "html", ".md": "markdown", ".tex": "latex", ".json": "json"}
"""Forms of reports by the suffix of the file."""


def form_of(path: str | Path) -> str:
    """The form of a report by the name of its file."""
    form = FORMS.get(Path(path).suffix.lower())
    if form is None:
        raise AdjudgeError(f"{path}: reports are written as {', '.join(FORMS)}")
    return form


def write_report(
    report: Report,
    path: str | Path,
    *,
    figures: str | Path | None = None,
    width: float = PAGE,
    standalone: bool = False,
) -> None:
    """Write a report to a file, whole or not at all, and its figures to a folder; ``width`` is that of figures, too."""
    there = "" if figures is None else os.path.relpath(figures, Path(path).parent)
    there = "" if there == os.curdir else there
    text = render(report, form_of(path), figures=there, width=width, standalone=standalone)
    write_whole(Path(path), text.encode())
    if figures is not None:
        write_figures(report, Path(figures), width=width)


def _html(report: Report) -> str:
    """One self-contained page: no network, light and dark, prints well; its script adds, and nothing depends on it."""
    import markupsafe

    groups: list[tuple[Section, list[Section]]] = []  # sections of level 1 with their parts
    for section in report.sections:
        if section.level == 1:
            groups.append((section, []))
        else:
            groups[-1][1].append(section)
    titled = {section.name for section in report.sections} | {"provenance"}
    values = {
        "report": report,
        "groups": groups,
        "light": PALETTE,
        "dark": DARK,
        "script": markupsafe.Markup(page_script()),
        "kind": lambda block: type(block).__name__,
        "svg": _inline_svg,
        "column": COLUMN,
        "unbroken": unbroken,
        "whole": _whole,
        "value_of": _value,
        "id_of": lambda block: f"{block.name}-block" if block.name in titled else block.name,
    }
    return _page().render(values) + "\n"


def _whole(text: str) -> Any:
    """Text for a page, in which neither numbers and their signs nor names such as ADR-1 are broken."""
    import markupsafe

    escaped = str(markupsafe.escape(unbroken(text)))
    return markupsafe.Markup(re.sub(r"[^\W\d_]+-\d+", r'<span class="whole">\g<0></span>', escaped))


def _value(value: Any) -> str:
    """A setting for people; JSON has all its digits."""
    if value is None or value in ([], ()):
        return "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@cache
def _page() -> Template:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja")


@cache
def page_script() -> str:
    """The script of every page, which a server's content policy has to name by its digest."""
    return (_HERE / "page.js").read_text(encoding="utf-8")


def _inline_svg(block: FigureBlock, width: float = PAGE) -> Any:
    """The figure as an SVG element whose colours follow the page's, not much wider than it was drawn."""
    import markupsafe

    text = figure_bytes(block, "svg", width=width).decode()
    name = block.name if width == PAGE else f"{block.name}-narrow"
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, count=1, flags=re.DOTALL)
    drawn = re.search(r'<svg[^>]*? width="([\d.]+)pt"', text)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*" height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r"<[^>]+>", lambda tag: _themed(tag[0], name), text)
    label = markupsafe.escape(block.alt)
    widest = "" if drawn is None else f' style="max-width: {float(drawn[1]) * 1.5:.0f}px"'
    return markupsafe.Markup(text.replace("<svg", f'<svg role="img" aria-label="{label}"{widest}', 1))


def _themed(tag: str, name: str) -> str:
    """A tag with the page's colours, and with the figure's name in identifiers: all figures share those of a page.

    Paths have hundredths of a point, which is most of what a page weighs.
    """
    tag = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{name}-", tag)
    tag = re.sub(r'(?<= d=")[^"]*', lambda path: re.sub(r"(\.\d\d)\d+|\s+(?=[A-Za-z]|$)", r"\1", path[0]), tag)
    for variable, colour in PALETTE.items():
        tag = tag.replace(colour, f"var(--{variable})")
    return tag


def figure_bytes(block: FigureBlock, form: str, *, width: float = PAGE) -> bytes:
    """One figure as ``svg`` or ``pdf``, so many inches wide, the same bytes every time."""
    need("plots", "Figures need")
    from adjudge.reporting.canvas import draw

    metadata = {"Date": None} if form == "svg" else {"CreationDate": None}
    buffer = io.BytesIO()
    drawing = draw(block, width=width)
    if form == "svg":
        _link_marks(drawing)
    drawing.savefig(buffer, format=form, metadata=metadata)
    return _with_titles(buffer.getvalue()) if form == "svg" else buffer.getvalue()


def _link_marks(drawing: Figure) -> None:
    """Give a link to every mark that ``figures.describe`` described: Matplotlib draws these one by one."""
    from matplotlib.collections import Collection

    for artist in drawing.findobj(lambda artist: hasattr(artist, DESCRIPTIONS)):
        links = [f"title:{text}" for text in getattr(artist, DESCRIPTIONS)]
        if isinstance(artist, Collection):
            artist.set_urls(links)
        else:
            artist.set_url(links[0])


def _with_titles(svg: bytes) -> bytes:
    """Links of marks as groups with titles, which browsers show beside the pointer."""
    svg, n_marks = re.subn(rb'<a xlink:href="title:([^"]*)"[^>]*>', rb'<g class="datum"><title>\1</title>', svg)
    return svg.replace(b"</a>", b"</g>") if n_marks else svg


def write_figures(report: Report, directory: Path, *, width: float = PAGE) -> list[Path]:
    """Write every figure as SVG and PDF, so many inches wide; returns the paths."""
    need("plots", "Figures need")  # before a folder is made for them
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for block in report.figures:
        for form in ("svg", "pdf"):
            target = directory / f"{block.name}.{form}"
            write_whole(target, figure_bytes(block, form, width=width))
            written.append(target)
    return written


def _markdown(report: Report, figures: str) -> str:
    """The report as Markdown; figures are linked, with their captions."""
    parts = [f"# {escape_markdown(' '.join(report.title.split()))}\n\n{escape_markdown(report.subtitle)}\n"]
    parts += [
        f"\n[{escape_markdown(name)}]({quote(address, safe=':/?=&')})\n"
        for name, address in filter(None, [report.home])
    ]
    parts.extend(_markdown_block(block, figures) for block in report.lead)
    for section in report.sections:
        parts.append(f"\n#{'#' * section.level} {escape_markdown(section.title)}\n")
        parts.extend(_markdown_block(block, figures) for block in section.blocks)
    parts.append("\n## Provenance\n\n")
    parts.extend(f"- {name}: {escape_markdown(value)}\n" for name, value in _origins(report))
    return "".join(parts)


def _origins(report: Report) -> list[tuple[str, str]]:
    """Names and values of the provenance."""
    inputs = [("input", f"{entry['file']} (sha256 {entry['sha256']})") for entry in report.provenance["inputs"]]
    settings = [(name, _value(value)) for name, value in report.provenance["settings"].items()]
    return [("adjudge", report.provenance["adjudge"]), *settings, *inputs]


def _markdown_block(block: Block, figures: str) -> str:
    if isinstance(block, Paragraph):
        return f"\n{escape_markdown(block.text)}\n"
    if isinstance(block, FigureBlock):
        alt, caption = escape_markdown(block.alt), escape_markdown(block.caption)
        return f"\n![{alt}]({quote(_file(block, figures))}.svg)\n\n*{caption}*\n"
    about = [
        f"- {escape_markdown(column.name)}: {escape_markdown(column.about)}\n"
        for column in block.columns
        if column.about
    ]
    return "\n".join(["", _table(block).markdown(), *(["".join(about)] if about else [])])


def _file(block: FigureBlock, figures: str) -> str:
    """The path of a figure without its suffix."""
    return f"{figures}/{block.name}" if figures else block.name


def _latex(report: Report, figures: str, width: float, *, standalone: bool) -> str:
    """The report's sections for a paper: booktabs tables, figures by file name."""
    origins = [f"{name}: {value}" for name, value in _origins(report)]
    heads = [*report.title.splitlines(), "needs: booktabs, graphicx; figures by --figures", *origins]
    parts = []
    if standalone:
        title, subtitle = (tex.sentence(" ".join(text.split())) for text in (report.title, report.subtitle))
        parts.append(f"\\title{{{title}}}\n\\author{{}}\n\\date{{}}\n\\maketitle\n\n\\noindent {subtitle}\n")
    parts.extend(_latex_block(block, figures, width, standalone=standalone) for block in report.lead)
    for section in report.sections:
        parts.append(f"\n\\{'sub' * (section.level - 1)}section{{{tex.escape_latex(section.title)}}}\n")
        parts.extend(_latex_block(block, figures, width, standalone=standalone) for block in section.blocks)
    text = tex.with_characters("".join(parts))
    comment = "".join(f"% {line}\n" for head in heads for line in head.splitlines())
    return comment + (tex.document(text, width=width) if standalone else text)


def _latex_block(block: Block, figures: str, width: float, *, standalone: bool) -> str:
    if isinstance(block, Paragraph):
        return f"\n{tex.sentence(block.text)}\n"
    if isinstance(block, TableBlock):
        return "\n" + _table(block).latex(caption=block.caption, label=f"tab:{block.name}", width=width)
    path = f"{{{_file(block, figures)}}}"
    figure = f"\\includegraphics[width=\\linewidth,height=.85\\textheight,keepaspectratio]{path}"
    if standalone:
        missing = f"\\textit{{{_file(block, figures)}.pdf}} is to be written by \\texttt{{-{{}}-figures}}."
        figure = f"\\IfFileExists{{{_file(block, figures)}.pdf}}{{\\adjudgefigure{path}}}{{{missing}}}"
    caption = f"\\caption{{{tex.sentence(block.caption)}}}\n\\label{{fig:{block.name}}}\n"
    return f"\n\\begin{{figure}}\n\\centering\n{figure}\n{caption}\\end{{figure}}\n"


def _json(report: Report) -> str:
    """Everything as values: sentences, records of tables, data of figures."""
    sections = {
        section.name: {"title": section.title, "blocks": [_values(block) for block in section.blocks]}
        for section in report.sections
    }
    head = {"title": report.title, "subtitle": report.subtitle, "lead": [_values(block) for block in report.lead]}
    if report.home is not None:
        head["home"] = report.home[1]
    return as_json({**head, "sections": sections, "provenance": report.provenance})


def _values(block: Block) -> dict[str, Any]:
    if isinstance(block, Paragraph):
        return {"text": block.text}
    if isinstance(block, TableBlock):
        records = block.records or [dict(zip((c.name for c in block.columns), row, strict=True)) for row in block.rows]
        return {"table": block.name, "caption": block.caption, "rows": list(records)}
    data = asdict(block.data) if is_dataclass(block.data) and not isinstance(block.data, type) else block.data
    return {"figure": block.name, "caption": block.caption, "data": _without_arrays(data)}


def _without_arrays(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _without_arrays(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_without_arrays(value) for value in data]
    return data.tolist() if hasattr(data, "tolist") else data


def drawing(report: Report, *, notes: tuple[str, ...] = ()) -> RenderableType:
    """Sentences and tables of all sections, each table with its caption above it."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    for block in (block for section in report.sections for block in section.blocks):
        if isinstance(block, Paragraph):
            parts.append(Text(block.text))
        elif isinstance(block, TableBlock):
            parts += [Text(), _table(block)]
    return Group(*parts, *(Text(note, style="dim") for note in notes))


def _table(block: TableBlock) -> Table:
    return Table(block.columns, block.rows, block.caption, (), block.n_key, dict.fromkeys(block.emphasised, "bold"))
