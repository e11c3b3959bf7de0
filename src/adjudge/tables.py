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
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from adjudge.io import not_finite, plain

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
        parts = self._parts(width, _GAP) if self.headings else []
        tables = [line for place, columns in enumerate(parts) for line in self._lines(columns, width, place > 0)]
        said = [[line for text in texts if text for line in fold(text, width)] for texts in ([self.title], self.notes)]
        return "\n".join([*said[0], *tables, *said[1]])

    def _lines(self, columns: Sequence[int], width: int, is_continued: bool) -> list[str]:
        """One part of the table; cells that are wider than their column continue on the next line."""
        cells = [[self.headings[i].name for i in columns], *([row[i] for i in columns] for row in self.rows)]
        caps = self._caps(columns, width)
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

    def _caps(self, columns: Sequence[int], width: int) -> list[int]:
        """The maximum width of each column, so that the columns that name a row leave room for the others."""
        n_key = min(self.n_key, len(columns))
        wide = [self._width(i) for i in columns]
        room = width - _GAP * (len(columns) - 1)
        if sum(wide) <= room:
            return wide
        others = min(sum(wide[n_key:]), max(room // 2, _LEAST)) if len(columns) > n_key else 0
        keys = _shares(wide[:n_key], room - others)
        return keys + _shares(wide[n_key:], room - sum(keys))

    def _width(self, column: int) -> int:
        return max(text_width(cell) for cell in (self.headings[column].name, *(row[column] for row in self.rows)))

    def _parts(self, width: int, gap: int) -> list[list[int]]:
        """Columns of each part, as many as fit; at least one besides those that name a row."""
        needed = [self._width(i) + gap for i in range(len(self.headings))]
        key = list(range(min(self.n_key, len(needed))))
        start = sum(needed[: len(key)])
        parts, used = [list(key)], start
        for i in range(len(key), len(needed)):
            last = gap if gap == _GAP else 0  # plain text has no gap after the last column
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
        for columns in self._parts(options.max_width, _RICH_GAP):
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

    def latex(self, *, comment: Iterable[str] = (), caption: str = "", label: str = "") -> str:
        """A booktabs table for a paper, below comments on its origin; with a caption or label, it floats."""
        said = [line for text in (*comment, *filter(None, [self.title]), *self.notes) for line in text.splitlines()]
        body = [
            rf"\begin{{tabular}}{{{''.join(heading.align[0] for heading in self.headings)}}}",
            r"\toprule",
            " & ".join(escape_latex(heading.name) for heading in self.headings) + r" \\",
            r"\midrule",
            *(" & ".join(map(escape_latex, row)) + r" \\" for row in self.rows),
            r"\bottomrule",
            r"\end{tabular}",
        ]
        if caption or label:
            more = [rf"\caption{{{escape_latex(caption)}}}"] if caption else []
            more += [rf"\label{{{label}}}"] if label else []
            body = [r"\begin{table}", r"\centering", *body, *more, r"\end{table}"]
        return "".join(f"{line}\n" for line in [*(f"% {line}" for line in said), *body])


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


def text_width(text: str) -> int:
    r"""Columns of a terminal that a text takes: wide characters take two, combining ones none.

    >>> text_width("音楽"), text_width("e\u0301")
    (4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def fold(text: str, width: int) -> list[str]:
    """A text in lines of at most this width, broken between words where possible.

    >>> fold("no system is better", 10)
    ['no system', 'is better']
    """
    text = printable(text)
    if text_width(text) <= width:
        return [text]
    if text_width(text) == len(text):
        return textwrap.wrap(text, width) or [""]
    lines = [""]
    for character in text:
        if text_width(lines[-1] + character) > width:
            lines.append("")
        lines[-1] += character
    return lines


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


_GREEK = {"Δ": "Delta", "Λ": "Lambda", "Σ": "Sigma", "Φ": "Phi", "α": "alpha", "β": "beta", "δ": "delta"}
_GREEK |= {"ε": "varepsilon", "θ": "theta", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "π": "pi", "ρ": "rho"}
_GREEK |= {"σ": "sigma", "τ": "tau", "φ": "phi", "χ": "chi", "ω": "omega"}
_SYMBOLS = {"±": "pm", "≤": "le", "≥": "ge", "≠": "ne", "≈": "approx", "×": "times", "·": "cdot", "√": "surd"}
_SYMBOLS |= {"→": "to", "∞": "infty"}
_LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{character: f"${character}$" for character in "<>|"},
    **{character: rf"$\{name}$" for character, name in (_GREEK | _SYMBOLS).items()},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    "²": r"$^2$",
    "½": r"$\frac{1}{2}$",
    "₀": "$_0$",
    "–": "--",
    "…": r"\ldots{}",
}
_LATEX_SPECIAL = re.compile("[" + re.escape("".join(_LATEX)) + "]")


def escape_latex(text: str) -> str:
    r"""Text that LaTeX prints unchanged.

    >>> print(escape_latex("a_b & 5 %"))
    a\_b \& 5 \%
    """
    return _LATEX_SPECIAL.sub(lambda match: _LATEX[match[0]], text)
