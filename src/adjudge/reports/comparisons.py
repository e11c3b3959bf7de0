"""The table of ``adjudge compare``: pairs of systems under each measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.reports import latex
from adjudge.reports.tables import FittedTable, as_csv, as_json
from adjudge.stats.intervals import percent, with_interval
from adjudge.users.comparison import Comparison
from adjudge.users.pairs import Pair

if TYPE_CHECKING:
    from rich.console import RenderableType

_SHOWN = 60


@dataclass(frozen=True)
class ComparisonTable:
    """Comparisons ready to be shown. ``drawing`` is for a terminal, ``text`` for ``csv``, ``json`` and ``latex``."""

    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]
    command: str | None

    def text(self, style: str) -> str:
        """The table as ``csv``, ``json`` or ``latex``."""
        styles: dict[str, Callable[[], str]] = {"csv": self._csv, "json": self._json, "latex": self._latex}
        return styles[style]()

    def _records(self) -> list[dict[str, Any]]:
        return [{"measure": one.measure, **row} for one in self.comparisons for row in one.to_dicts()]

    def _csv(self) -> str:
        return as_csv([{k: "" if v is None else v for k, v in row.items()} for row in self._records()])

    def _json(self) -> str:
        first = self.comparisons[0]
        settings = {"resamples": first.resamples, "seed": first.seed, "command": self.command}
        return as_json(
            {
                "pairs": self._records(),
                "margins": {
                    one.measure: {"margin": one.margin, "source": one.margin_source} for one in self.comparisons
                },
                "notes": [*self.notes, *dict.fromkeys(line for one in self.comparisons for line in one.cautions)],
                "provenance": first.provenance.with_settings(**settings).to_dict(),
            }
        )

    def _latex(self) -> str:
        parts = []
        for one in self.comparisons:
            header = [latex.escape(name) for name in _header(one)]
            rows = [[latex.escape(cell) for cell in cells(pair)] for pair in one.pairs]
            comment = [f"Adjudge {one.provenance.version}", self.command or "", *_foot(one, n_shown=len(one))]
            parts.append(latex.booktabs(header, rows, align=f"ll{'r' * (len(header) - 7)}ccrrr", comment=comment))
        return "\n".join(parts)

    def drawing(self) -> RenderableType:
        """A table a measure: differences, p-values, and the two answers side by side."""
        from rich.console import Group
        from rich.text import Text

        parts: list[RenderableType] = []
        for one in self.comparisons:
            parts.append(self._table(one))
            parts.extend(Text(line, style="dim") for line in _foot(one, n_shown=_SHOWN))
        return Group(*parts, *(Text(note, style="dim") for note in self.notes))

    @staticmethod
    def _table(one: Comparison) -> FittedTable:
        shown = one.pairs[:_SHOWN]
        header = _header(one)
        place = header.index("significant")
        styles = {(r, place): "bold" for r, pair in enumerate(shown) if pair.significant}
        styles |= {(r, place + 1): "bold yellow" for r, pair in enumerate(shown) if pair.parted}
        return FittedTable(header, [cells(pair) for pair in shown], 2, 2, styles)


def _header(one: Comparison) -> list[str]:
    first, second = ("better", "worse") if one.alternative == "two-sided" else ("system", "baseline")
    own = [one.estimand] if one.about_test else []
    return [first, second, f"Δ{one.measure}", *own, "p", "significant", "noticeable", "users", "wins", "d"]


def cells(pair: Pair) -> list[str]:
    """A pair as text: systems, difference, p (a test's own estimate before it), the two answers, users, wins, size."""
    return [
        pair.system,
        pair.other,
        with_interval(pair.difference, pair.low, pair.high),
        *([] if pair.shown_estimate is None else [pair.shown_estimate]),
        pair.shown_p,
        "yes" if pair.significant else "no",
        "–" if pair.noticeable is None else "yes" if pair.noticeable else "no",
        pair.shown_users,
        f"{pair.superiority:.0%}",
        f"{pair.d_z:.2f}",
    ]


def _foot(one: Comparison, *, n_shown: int) -> list[str]:
    correction = "no correction" if one.correction == "none" else f"{one.correction} correction"
    lines = [
        f"{one.test} test, {correction}, α = {one.alpha:g}; "
        f"{percent(one.confidence)} intervals are of one pair each, not corrected."
    ]
    if len(one) > n_shown:
        lines.append(f"{len(one) - n_shown} smaller differences are not shown; --csv has them all.")
    known = one.margin is not None
    lines.append(f"Noticeable: {one.margin_source}." if known else f"Noticeable is not known: {one.margin_source}.")
    if one.agreement is not None:
        lines.append("Users, averaged over queries: prefer the first | cannot tell | prefer the second.")
    if one.parted:
        lines.append(f"Significant and noticeable part ways in {len(one.parted)} of {len(one)} pairs.")
    return [*lines, f"{one.about_test}."] if one.about_test else lines
