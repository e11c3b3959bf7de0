"""Rows of plain values as CSV, JSON, Markdown, or a drawing for a terminal.

LaTeX: escaping and booktabs tables.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adjudge.io import not_finite, plain

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.table import Table


Row = Mapping[str, Any]
_GAP = 3  # blanks between columns


def as_csv(rows: Sequence[Row]) -> str:
    """A header and one line a row; what a row lacks, and numbers that are not finite, are left empty."""
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
    """A Markdown table.

    >>> print(as_markdown([{"a": 1, "b": "x"}]), end="")
    | a | b |
    |---|---|
    | 1 | x |
    """
    header = list(rows[0])
    lines = [header, ["---"] * len(header), *([str(row[name]).replace("|", "\\|") for name in header] for row in rows)]
    return "".join(f"|{'|'.join(cells)}|\n" if cells[0] == "---" else f"| {' | '.join(cells)} |\n" for cells in lines)


def drawn(rows: Sequence[Row], *, bold: str | None = None) -> Table:
    """A table of text columns for a terminal."""
    from rich.text import Text

    table = plain_table()
    for i, name in enumerate(rows[0]):
        table.add_column(name, overflow="fold", no_wrap=i == 0)
    for row in rows:
        table.add_row(*(Text(str(value), style="bold" if name == bold else "") for name, value in row.items()))
    return table


def plain_table() -> Table:
    """The look that all tables share: a line under the header, nothing else."""
    from rich import box
    from rich.table import Table

    return Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")


@dataclass(frozen=True)
class FittedTable:
    """A table for a terminal that never loses a name or a digit: what does not fit goes into further tables below.

    The first ``n_key`` columns name a row and stand in every part; the first ``n_text`` stand left, the others right.
    ``styles`` are by row and column.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    n_text: int
    n_key: int = 1
    styles: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        for columns in self._parts(options.max_width):
            yield self._part(columns)

    def _parts(self, width: int) -> list[list[int]]:
        """Columns of each part, as many as fit; at least one besides those that name a row."""
        from rich.cells import cell_len

        cells = [[name, *(row[i] for row in self.rows)] for i, name in enumerate(self.header)]
        needed = [max(map(cell_len, column)) + _GAP for column in cells]
        key = list(range(self.n_key))
        parts, used = [list(key)], sum(needed[: self.n_key])
        for i in range(self.n_key, len(needed)):
            if used + needed[i] > width and len(parts[-1]) > self.n_key:
                parts.append(list(key))
                used = sum(needed[: self.n_key])
            parts[-1].append(i)
            used += needed[i]
        return parts

    def _part(self, columns: Sequence[int]) -> Table:
        from rich.text import Text

        table = plain_table()
        for i in columns:
            table.add_column(
                Text(printable(self.header[i])), justify="left" if i < self.n_text else "right", overflow="fold"
            )
        for r, row in enumerate(self.rows):
            table.add_row(*(Text(printable(row[i]), style=self.styles.get((r, i), "")) for i in columns))
        return table


def printable(text: str) -> str:
    """Text without signs that would move the cursor or change colours."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    "±": r"$\pm$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "≠": r"$\ne$",
    "≈": r"$\approx$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "−": "$-$",
    "Δ": r"$\Delta$",
    "Λ": r"$\Lambda$",
    "Σ": r"$\Sigma$",
    "Φ": r"$\Phi$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "δ": r"$\delta$",
    "ε": r"$\varepsilon$",
    "θ": r"$\theta$",
    "κ": r"$\kappa$",
    "λ": r"$\lambda$",
    "μ": r"$\mu$",
    "ν": r"$\nu$",
    "π": r"$\pi$",
    "ρ": r"$\rho$",
    "σ": r"$\sigma$",
    "τ": r"$\tau$",
    "φ": r"$\phi$",
    "χ": r"$\chi$",
    "ω": r"$\omega$",
    "²": r"$^2$",
    "½": r"$\frac{1}{2}$",
    "√": r"$\surd$",
    "₀": "$_0$",
    "→": r"$\to$",
    "–": "--",
    "…": r"\ldots{}",
    "∞": r"$\infty$",
}
_SIGNS = re.compile("[" + re.escape("".join(_SPECIAL)) + "]")


def escape(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    >>> print(escape("a_b & 5 %"))
    a\_b \& 5 \%
    """
    return _SIGNS.sub(lambda match: _SPECIAL[match[0]], text)


def booktabs(header: Sequence[str], rows: Sequence[Sequence[str]], *, align: str, comment: Sequence[str] = ()) -> str:
    """A table whose cells are LaTeX already; comments say where it came from."""
    lines = [
        *(f"% {line}" for text in comment for line in text.splitlines()),
        rf"\begin{{tabular}}{{{align}}}",
        r"\toprule",
        " & ".join(header) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"
