"""Tables of text, rendered in one place: for a terminal, a notebook, Markdown and LaTeX; and rows as CSV and JSON.

A :class:`Table` holds cells of text. Results make theirs from the columns that they declare (:mod:`adjudge.results`),
reports from their sections.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from adjudge import latex as tex
from adjudge.checks import PAPER_WIDTH, checked
from adjudge.io import not_finite, plain
from adjudge.text import text_width

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table as RichTable

Align = Literal["left", "right", "center"]
Row = Mapping[str, Any]

_GAP = 2  # spaces between columns of plain text
_RICH_GAP = 3  # and between those that rich draws
_LEAST = 8  # characters of the last column beside the columns that name a row, however wide these are


@dataclass(frozen=True)
class Heading:
    """A column of a table: its header, how its cells are aligned, and a sentence that explains it."""

    name: str
    align: Align = "right"
    about: str = ""


@dataclass(frozen=True)
class Table:
    r"""A table of text. The first ``n_key`` columns name a row; ``styles`` are those of rich, by row and column.

    Columns that do not fit on the terminal go into further tables below, each with the columns that name a row: no name
    and no digit is lost.

    >>> table = Table([Heading("system", "left"), Heading("nDCG@5")], [["a_1", "0.500"], ["b", "–"]])
    >>> print(table.text())
    system  nDCG@5
    a_1      0.500
    b            –
    >>> print(table.markdown(), end="")
    | system | nDCG@5 |
    | :--- | ---: |
    | a\_1 | 0.500 |
    | b | – |
    """

    headings: Sequence[Heading]
    rows: Sequence[Sequence[str]]
    title: str = ""
    notes: Sequence[str] = ()
    n_key: int = 1
    styles: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def first(self, most: int, where: str = "") -> Table:
        """The first rows, with a note of how many are not shown, and ``where`` they are."""
        if len(self.rows) <= most:
            return self
        rest = f"… and {len(self.rows) - most:,} more" + (f": {where}" if where else "")
        return replace(self, rows=self.rows[:most], notes=[rest, *self.notes])

    def take(self, places: Sequence[int]) -> Table:
        """Some rows, in the order given."""
        styles = {
            (new, i): style for new, old in enumerate(places) for (r, i), style in self.styles.items() if r == old
        }
        return replace(self, rows=[self.rows[place] for place in places], styles=styles)

    def without(self, place: int) -> Table:
        """The same table without a column."""
        kept = [i for i in range(len(self.headings)) if i != place]
        styles = {(r, i - (i > place)): style for (r, i), style in self.styles.items() if i != place}
        rows = [[row[i] for i in kept] for row in self.rows]
        n_key = self.n_key - (place < self.n_key)
        return replace(self, headings=[self.headings[i] for i in kept], rows=rows, styles=styles, n_key=n_key)

    def insert(self, place: int, columns: Sequence[tuple[Heading, Sequence[str]]]) -> Table:
        """The same table with further columns before one."""
        headings = [*self.headings[:place], *(heading for heading, _ in columns), *self.headings[place:]]
        rows = [[*row[:place], *(cells[r] for _, cells in columns), *row[place:]] for r, row in enumerate(self.rows)]
        styles = {(r, i + len(columns) * (i >= place)): style for (r, i), style in self.styles.items()}
        return replace(self, headings=headings, rows=rows, styles=styles)

    def text(self, width: int = 80) -> str:
        """Plain text of at most this width: title, table, notes."""
        parts = self._parts(self._widths(), width, _GAP) if self.headings else []
        tables = [line for place, columns in enumerate(parts) for line in self._lines(columns, width, place > 0)]
        said = [[line for text in texts if text for line in fold(text, width)] for texts in ([self.title], self.notes)]
        return "\n".join([*said[0], *tables, *said[1]])

    def _lines(self, columns: Sequence[int], width: int, is_continued: bool) -> list[str]:
        """One part of the table; cells that are wider than their column continue on the next line."""
        cells = [[self.headings[i].name for i in columns], *([row[i] for i in columns] for row in self.rows)]
        caps = self._caps(columns, self._widths(), width, _GAP)
        folded = [[fold(cell, cap) for cell, cap in zip(row, caps, strict=True)] for row in cells]
        widths = [max((text_width(line) for row in folded for line in row[i]), default=0) for i in range(len(columns))]
        lines = [""] if is_continued else []
        for row in folded:
            for n in range(max(map(len, row))):
                texts = [cell[n] if n < len(cell) else "" for cell in row]
                aligned = [
                    _aligned(text, w, self.headings[i].align) for text, w, i in zip(texts, widths, columns, strict=True)
                ]
                lines.append((" " * _GAP).join(aligned).rstrip())
        return lines

    def _caps(self, columns: Sequence[int], widths: Sequence[int], width: int, gap: int) -> list[int]:
        """The maximum width of each column, so that the columns that name a row leave room for the others."""
        n_key = min(self.n_key, len(columns))
        wide = [widths[i] for i in columns]
        room = width - gap * (len(columns) - 1)
        if sum(wide) <= room:
            return wide
        others = min(sum(wide[n_key:]), max(room // 2, _LEAST)) if len(columns) > n_key else 0
        keys = _shares(wide[:n_key], room - others)
        return keys + _shares(wide[n_key:], room - sum(keys))

    def _widths(self) -> list[int]:
        """Columns of a terminal that each column takes."""
        return [
            max(text_width(cell) for cell in (heading.name, *(row[i] for row in self.rows)))
            for i, heading in enumerate(self.headings)
        ]

    def _parts(self, widths: Sequence[int], width: int, gap: int) -> list[list[int]]:
        """Columns of each part, as many as fit; at least one besides those that name a row."""
        needed = [wide + gap for wide in widths]
        key = list(range(min(self.n_key, len(needed))))
        start = sum(needed[: len(key)])
        parts, used = [list(key)], start
        for i in range(len(key), len(needed)):
            last = 0 if gap == _RICH_GAP else gap  # only rich has a gap after the last column
            if used + needed[i] - last > width and len(parts[-1]) > len(key):
                parts.append(list(key))
                used = start
            parts[-1].append(i)
            used += needed[i]
        return parts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.text import Text

        if self.title:
            yield Text(printable(self.title), style="bold")
        for columns in self._parts(self._widths(), options.max_width, _RICH_GAP):
            yield self._rich(columns)
        yield from (Text(printable(note), style="dim") for note in self.notes)

    def _rich(self, columns: Sequence[int]) -> RichTable:
        from rich.text import Text

        table = rich_table()
        for i in columns:
            heading = self.headings[i]
            table.add_column(Text(printable(heading.name)), justify=heading.align, overflow="fold")
        for r, row in enumerate(self.rows):
            table.add_row(*(Text(printable(row[i]), style=self.styles.get((r, i), "")) for i in columns))
        return table

    def html(self) -> str:
        """An HTML table that needs no other file and takes its colours from the page, light or dark.

        Headers say which cells they are for, tooltips what a column means; a wide table scrolls by keyboard, too.
        """
        head = ""
        for heading in self.headings:
            tooltip = f' title="{html.escape(heading.about)}"' if heading.about else ""
            head += f'<th scope="col" style="text-align:{heading.align}"{tooltip}>{html.escape(heading.name)}</th>'
        body = "".join(
            f"<tr>{''.join(self._html_cell(r, i) for i in range(len(row)))}</tr>\n" for r, row in enumerate(self.rows)
        )
        title = html.escape(self.title)
        caption = f"<caption>{title}</caption>\n" if title else ""
        notes = "".join(f"<p>{html.escape(note)}</p>\n" for note in self.notes)
        region = f'<div class="adjudge-scroll" role="region" tabindex="0" aria-label="{title or "Table"}">'
        table = f"<table>\n{caption}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"
        return f'<div class="adjudge-result">\n<style>{_STYLE}</style>\n{region}{table}</div>\n{notes}</div>\n'

    def _html_cell(self, r: int, i: int) -> str:
        align = f' style="text-align:{self.headings[i].align}"'
        text = html.escape(self.rows[r][i])
        if (r, i) in self.styles:
            text = f"<strong>{text}</strong>"
        return f'<th scope="row"{align}>{text}</th>' if i < self.n_key else f"<td{align}>{text}</td>"

    def markdown(self) -> str:
        """A Markdown table; title above, notes below it."""
        marks = {"left": ":---", "right": "---:", "center": ":---:"}
        lines = [
            [escape_markdown(heading.name) for heading in self.headings],
            [marks[heading.align] for heading in self.headings],
            *([escape_markdown(cell) for cell in row] for row in self.rows),
        ]
        table = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
        title = f"*{escape_markdown(self.title)}*\n\n" if self.title else ""
        return title + table + "".join(f"\n{escape_markdown(note)}\n" for note in self.notes)

    @checked(width=PAPER_WIDTH)
    def latex(
        self,
        *,
        comment: Iterable[str] = (),
        caption: str = "",
        label: str = "",
        width: float = tex.PAGE,
        with_notes: bool = False,
    ) -> str:
        """A booktabs table at most ``width`` inches wide, below comments on its origin.

        With a caption or label, it floats: in one column where it is narrow enough, across both where it is not.
        Columns that do not fit go into further tables below, as on a terminal, each with the columns that name a row;
        what is longer than a page continues on the next, with the headings again: no name and no digit is lost, and all
        text is of one size. Title and notes are comments; of a table that floats, the notes may stand below it.
        """
        said = [line for text in (*comment, *filter(None, [self.title]), *self.notes) for line in text.splitlines()]
        parts, used = self._tabulars(int(width * 72.27)) if self.headings else ([], 0)
        if not (caption or label):
            body = "\n".join(f"{{{tex.set_small()}\n{text}\\par}}\n" for _, text in parts)
        else:
            place = "table" if used <= tex.COLUMN * 72.27 else "table*"
            pages = [_float(page, n, caption, label) for n, page in enumerate(_pages(parts))]
            pages[-1] += _below(self.notes if with_notes else ())
            body = "\n".join(f"\\begin{{{place}}}\n{page}\\end{{{place}}}\n" for page in pages)
        return "".join(f"% {line}\n" for line in said) + tex.with_characters(body)

    def _tabulars(self, width: int) -> tuple[list[tuple[int, str]], int]:
        """Tables of no more columns than fit and no more lines than a page has, and how wide the widest is."""
        columns = [_PaperColumn.of(self, i) for i in range(len(self.headings))]
        widths, made, used = [column.width for column in columns], [], 0
        for places in self._parts(widths, width, tex.GAP):
            caps = self._caps(places, widths, width, tex.GAP)
            chosen = [columns[i].capped(cap) for i, cap in zip(places, caps, strict=True)]
            used = max(used, sum(caps) + tex.GAP * (len(caps) - 1))
            head = _row_lines(chosen, [column.head() for column in chosen])
            rows = [_row_lines(chosen, [column.cell(r) for column in chosen]) for r in range(len(self.rows))]
            spec = "".join(column.spec for column in chosen)
            for lines in _chunks(rows, tex.LINES - len(head)):
                text = [rf"\begin{{tabular}}{{@{{}}{spec}@{{}}}}", r"\toprule", *head, r"\midrule", *lines]
                made.append((len(lines) + len(head), "".join(f"{line}\n" for line in (*text, *_END))))
        return made, used


_END = (r"\bottomrule", r"\end{tabular}")
_NUMBER = re.compile(r"(?:[<>≤≥≈~] ?)?[+−]?\d[\d,]*(?=$|[. %⁰¹²³⁴-⁹⁻])")  # no range, such as 50–75


@dataclass(frozen=True)
class _PaperColumn:
    """A column as LaTeX sets it; numbers whose decimals differ are set in two parts that meet at the decimal point."""

    heading: Heading
    cells: Sequence[str]
    bold: frozenset[int]
    splits: Sequence[int] | None
    width: int

    @classmethod
    def of(cls, table: Table, place: int) -> _PaperColumn:
        heading, cells = table.headings[place], [" ".join(row[place].split()) for row in table.rows]
        if heading.align != "left":
            cells = [tex.with_signs(cell) for cell in cells]
        bold = frozenset(r for (r, i), style in table.styles.items() if i == place and "bold" in style)
        splits = None if heading.align == "left" else _decimal_points(cells, is_mixed=bool(bold))
        widest = max((tex.text_points(cell) for cell in cells), default=0)
        if splits is not None:
            pairs = [(cell[:at], cell[at:]) for cell, at in zip(cells, splits, strict=True)]
            widest = sum(max(map(tex.text_points, texts)) for texts in zip(*pairs, strict=True))
        if bold:
            widest += widest // 7
        return cls(heading, cells, bold, splits, max(widest, tex.text_points(heading.name)))

    def capped(self, cap: int) -> _PaperColumn:
        """The column no wider than this: cells go on in the next line."""
        return self if cap >= self.width else replace(self, width=cap, splits=None)

    @property
    def spec(self) -> str:
        return "r@{}l" if self.splits is not None else self.heading.align[0]

    def head(self) -> list[str]:
        """Lines of the heading."""
        lines = [tex.escape_latex(line) for line in fold(self.heading.name, self.width, tex.text_points)]
        return lines if self.splits is None else [rf"\multicolumn{{2}}{{c}}{{{line}}}" for line in lines]

    def cell(self, row: int) -> list[str]:
        """Lines of a cell."""
        text = self.cells[row]
        form = r"\textbf{{{}}}".format if row in self.bold and text else "{}".format
        if self.splits is None:
            return [form(tex.escape_latex(line)) for line in fold(text, self.width, tex.text_points)]
        at = self.splits[row]
        rest = re.sub("^ ", "\N{NO-BREAK SPACE}", text[at:])  # TeX skips a space at which a cell begins
        return [" & ".join(form(tex.escape_latex(part)) if part else "" for part in (text[:at], rest))]

    @property
    def blank(self) -> str:
        """A line of a cell that has ended above."""
        return "" if self.splits is None else "&"


_STYLE = (
    ".adjudge-result{color:inherit}"
    ".adjudge-result .adjudge-scroll{overflow-x:auto;max-width:100%}"
    ".adjudge-result table{border-collapse:collapse;color:inherit;background:transparent;"
    "font-variant-numeric:tabular-nums}"
    ".adjudge-result caption{caption-side:top;text-align:left;font-weight:bold;color:inherit;padding:.3em 0}"
    ".adjudge-result th,.adjudge-result td{padding:.2em .8em .2em 0;white-space:nowrap;color:inherit;"
    "background:transparent;border:0}"
    ".adjudge-result tbody th{font-weight:normal}"
    ".adjudge-result thead th{border-bottom:1px solid currentcolor}"
    ".adjudge-result p{margin:.3em 0;color:inherit}"
)


def rich_table() -> RichTable:
    """An empty table with the look that all tables on a terminal share."""
    from rich import box
    from rich.table import Table as RichTable

    return RichTable(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")


def as_csv(rows: Sequence[Row]) -> str:
    """A header and one line per row; missing values and numbers that are not finite are left empty."""
    buffer = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(buffer, fieldnames=columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: "" if not_finite(value) else value for name, value in row.items()} for row in rows)
    return buffer.getvalue()


def as_json(content: Any) -> str:
    """Indented JSON; numbers that are not finite become null, as JSON has none."""
    return json.dumps(plain(content), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def as_latex(
    tables: Sequence[Table],
    *,
    comment: Iterable[str] = (),
    caption: str = "",
    label: str = "",
    width: float = tex.PAGE,
    standalone: bool = False,
) -> str:
    """Tables for a paper, the first with the caption and label; or a document of them, with their titles and notes."""
    made = []
    for n, table in enumerate(tables):
        texts: dict[str, Any] = {"comment": comment, "caption": caption, "label": label} if n == 0 else {}
        if standalone:
            texts["caption"] = texts.get("caption") or table.title
        made.append(table.latex(**texts, width=width, with_notes=standalone))
    text = "\n".join(made)
    return tex.document(text, width=width) if standalone else text


def as_markdown(rows: Sequence[Row]) -> str:
    """Rows of values as a Markdown table.

    >>> print(as_markdown([{"a": 1, "b": "x"}]), end="")
    | a | b |
    |---|---|
    | 1 | x |
    """
    header = list(rows[0])
    lines = [header, ["---"] * len(header), *([str(row[name]).replace("|", "\\|") for name in header] for row in rows)]
    return "".join(f"|{'|'.join(cells)}|\n" if cells[0] == "---" else f"| {' | '.join(cells)} |\n" for cells in lines)


def as_rich(rows: Sequence[Row], *, bold: str | None = None) -> RichTable:
    """Rows of text for a terminal; long cells continue on the next line."""
    from rich.text import Text

    table = rich_table()
    for i, name in enumerate(rows[0]):
        table.add_column(name, overflow="fold", no_wrap=i == 0)
    for row in rows:
        table.add_row(*(Text(str(value), style="bold" if name == bold else "") for name, value in row.items()))
    return table


def printable(text: str) -> str:
    """Text without characters that would move the cursor or change colours."""
    return "".join(character if character.isprintable() else "?" for character in text)


def fold(text: str, width: int, measure: Callable[[str], int] = text_width) -> list[str]:
    """A text in lines of at most this width, broken between words where possible, else within names.

    >>> fold("no system is better", 10)
    ['no system', 'is better']
    """
    text = printable(text)
    if measure(text) <= width:
        return [text]
    if measure is text_width and text_width(text) == len(text):
        return textwrap.wrap(text, width) or [""]
    lines = [""]
    for word in re.findall(r"[^ _/-]*[ _/-]|[^ _/-]+", text):
        if lines[-1] and measure(lines[-1] + word.rstrip()) > width:
            lines.append("")
        for character in word:
            if lines[-1] and measure((lines[-1] + character).rstrip()) > width:
                lines.append("")
            lines[-1] += character
    return [line.strip() for line in lines]


def _decimal_points(cells: Sequence[str], *, is_mixed: bool) -> list[int] | None:
    """Where the decimals of each number begin; None for other text, and where alignment on the right does as well."""
    found = [_NUMBER.match(cell) for cell in cells]
    if not all(match or cell in ("–", "") for match, cell in zip(found, cells, strict=True)):
        return None
    ends = [match.end() if match else len(cell) for match, cell in zip(found, cells, strict=True)]
    widths = {len(cell) - end for cell, match, end in zip(cells, found, ends, strict=True) if match}
    return ends if len(widths) > 1 or (is_mixed and widths != {0}) else None


def _row_lines(columns: Sequence[_PaperColumn], cells: Sequence[Sequence[str]]) -> list[str]:
    """A row as lines of LaTeX: cells of several lines go on below."""
    pairs = list(zip(columns, cells, strict=True))
    return [
        " & ".join(cell[n] if n < len(cell) else column.blank for column, cell in pairs) + r" \\"
        for n in range(max(map(len, cells)))
    ]


def _chunks(rows: Sequence[Sequence[str]], most: int) -> list[list[str]]:
    """Rows on pages of at most so many lines; at least one page."""
    pages: list[list[str]] = [[]]
    for lines in rows:
        if pages[-1] and len(pages[-1]) + len(lines) > most:
            pages.append([])
        pages[-1] += lines
    return pages


def _pages(parts: Sequence[tuple[int, str]]) -> list[list[str]]:
    """Tables that fit on a page together."""
    pages: list[list[str]] = []
    left = 0
    for n_lines, text in parts:
        if n_lines > left:
            pages.append([])
            left = tex.LINES
        pages[-1].append(text)
        left -= n_lines + 2
    return pages


def _float(texts: Sequence[str], page: int, caption: str, label: str) -> str:
    """Tables that float together, with the number of the first where they continue it."""
    said, lines = tex.sentence(caption), [r"\centering"]
    if page == 0:
        lines += [rf"\caption{{{said}}}"] if said else []
        lines += [rf"\label{{{label}}}"] if label else []
    elif said:
        lines += [r"\addtocounter{table}{-1}", rf"\caption[]{{{said} (continued)}}"]
    return "\n".join([*lines, tex.set_small(), "\\par\\medskip\n".join(texts)])


def _below(notes: Sequence[str]) -> str:
    """Notes below a table that floats, as wide as the column."""
    if not notes:
        return ""
    lines = [r"\par\medskip\begin{minipage}{\linewidth}\raggedright", *(rf"{tex.sentence(note)}\par" for note in notes)]
    return "\n".join([*lines, r"\end{minipage}", ""])


def _aligned(text: str, width: int, align: Align) -> str:
    gap = max(width - text_width(text), 0)
    left = {"left": 0, "right": gap, "center": gap // 2}[align]
    return " " * left + text + " " * (gap - left)


def _shares(wanted: Sequence[int], room: int) -> list[int]:
    """The room divided among columns: the widths they want, or less for the widest where there is no room."""
    caps = list(wanted)
    while sum(caps) > max(room, len(caps)):
        caps[caps.index(max(caps))] -= 1
    return caps


def escape_markdown(text: str) -> str:
    r"""Text that Markdown shows unchanged, on one line.

    >>> print(escape_markdown("a_b | *c*"))
    a\_b \| \*c\*
    """
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", " ".join(text.splitlines()))
