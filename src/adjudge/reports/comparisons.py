"""The table of ``adjudge compare``: pairs of systems under each measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.reports import latex
from adjudge.reports.tables import FittedTable, as_csv, as_json
from adjudge.users.comparison import Comparison, Pair, shown_p

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
                "notes": self.notes,
                "provenance": first.provenance.with_settings(**settings).to_dict(),
            }
        )

    def _latex(self) -> str:
        header = ["", "", *(f"$\\Delta$ {name}" for name in ("mean",)), "$p$", "significant", "noticeable"]
        parts = []
        for one in self.comparisons:
            rows = [
                [
                    latex.escape(pair.system),
                    latex.escape(pair.other),
                    rf"${pair.difference:.3f}\pm{pair.half_width:.3f}$",
                    latex.escape(_p(pair)).replace("<", "$<$"),
                    *_answers(pair),
                ]
                for pair in one.pairs
            ]
            comment = [f"{one.measure}: {one.test} test, {one.correction} correction", self.command or ""]
            parts.append(latex.booktabs(header, rows, align="llrrcc", comment=[line for line in comment if line]))
        return "\n".join(parts)

    def drawing(self) -> RenderableType:
        """A table a measure: differences, p-values, and the two answers side by side."""
        from rich.console import Group
        from rich.text import Text

        parts: list[RenderableType] = []
        for one in self.comparisons:
            parts.append(self._table(one))
            parts.extend(Text(line, style="dim") for line in _foot(one))
        return Group(*parts, *(Text(note, style="dim") for note in self.notes))

    @staticmethod
    def _table(one: Comparison) -> FittedTable:
        header = ["better", "worse", f"Δ{one.measure}", "p", "significant", "noticeable", "users", "wins", "d"]
        rows, styles = [], {}
        for r, pair in enumerate(one.pairs[:_SHOWN]):
            users = (
                "–" if pair.prefer is None else f"{pair.prefer:.0%} | {pair.cannot_tell:.0%} | {pair.prefer_other:.0%}"
            )
            difference = f"{pair.difference:.3f} ± {pair.half_width:.3f}"
            numbers = (users, f"{pair.superiority:.0%}", f"{pair.d_z:.2f}")
            rows.append([pair.system, pair.other, difference, _p(pair), *_answers(pair), *numbers])
            if pair.significant:
                styles[r, 4] = "bold"
            if pair.noticeable is not None and pair.significant != pair.noticeable:
                styles[r, 5] = "bold yellow"
        return FittedTable(header, rows, 2, styles)


def _p(pair: Pair) -> str:
    return shown_p(pair.p_corrected).removeprefix("p = ").removeprefix("p ")


def _answers(pair: Pair) -> tuple[str, str]:
    noticeable = "–" if pair.noticeable is None else "yes" if pair.noticeable else "no"
    return "yes" if pair.significant else "no", noticeable


def _foot(one: Comparison) -> list[str]:
    lines = [
        f"{one.test} test, {one.correction} correction, α = {one.alpha:g}; "
        f"± is half of the {one.confidence * 100:g} % interval."
    ]
    if len(one) > _SHOWN:
        lines.append(f"{len(one) - _SHOWN} smaller differences are not shown; --csv has them all.")
    if one.margin is None:
        lines.append(f"Noticeable is not known: {one.margin_source}.")
    else:
        lines.append(f"Noticeable: at least {one.margin:.3f}; {one.margin_source}.")
    if one.agreement is not None:
        lines.append("Users: share who would prefer the better system | cannot tell | prefer the worse.")
    if one.parted:
        lines.append(f"Significant and noticeable part ways in {len(one.parted)} of {len(one)} pairs.")
    return lines
