"""What a report is made of: effectiveness, its summary, comparisons under every measure, what users make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from adjudge.errors import AdjudgeError, unknown
from adjudge.model.collection import Collection
from adjudge.model.effectiveness import Effectiveness
from adjudge.reports.document import SECTIONS, Report, Section
from adjudge.stats.summary import Summary, summarize
from adjudge.users.comparison import Comparison, compare
from adjudge.users.satisfaction import Satisfaction, SatisfactionMapping, satisfaction
from adjudge.words import counted

if TYPE_CHECKING:
    from adjudge.experiments.specification import Findings
    from adjudge.reports.experts_section import Experts

Progress = Callable[[int, int], None]
# They register sections, in the order of the page.
_MODULES = (
    "sections", "users_section", "plan_section", "experiments_section", "effort_section", "experts_section",
    "query_sections",
)  # fmt: skip


@dataclass(frozen=True)
class Evidence:
    """Everything computed once, for all sections. The first measure is the main one."""

    eff: Effectiveness
    summary: Summary
    comparisons: dict[str, Comparison]
    satisfaction: Satisfaction
    collection: Collection | None = None
    experts: Experts | None = None
    experiments: tuple[Findings, ...] = ()

    @property
    def main(self) -> Comparison:
        """The comparison under the first measure."""
        return self.comparisons[self.eff.measures[0]]


def gather(
    eff: Effectiveness,
    *,
    confidence: float = 0.95,
    threshold: float = 0.5,
    satisfied: Iterable[SatisfactionMapping] | None = None,
    collection: Collection | None = None,
    experts: Experts | None = None,
    experiments: Iterable[Findings] = (),
    **options: Any,
) -> Evidence:
    """Compute what sections need; ``satisfied`` are own mappings to satisfaction, ``options`` go to ``compare``.

    With the ``collection`` a section can say what is not judged, with ``experts`` how far they bear out judgments, with
    ``experiments`` how far tests and numbers of queries can be trusted.
    """
    comparisons = {name: compare(eff[name], confidence=confidence, **options) for name in eff.measures}
    return Evidence(
        eff,
        summarize(eff, confidence=confidence, interval=options.get("interval", "t")),
        comparisons,
        satisfaction(eff, mappings=satisfied, threshold=threshold, confidence=confidence),
        collection,
        experts,
        tuple(experiments),
    )


def sections_in_order() -> list[str]:
    """All sections as a page has them, whatever was imported first; those of others come after ours."""
    for module in _MODULES:
        import_module(f"adjudge.reports.{module}")
    order = {f"adjudge.reports.{module}": place for place, module in enumerate(_MODULES)}
    return sorted(SECTIONS, key=lambda name: order.get(SECTIONS[name].__module__, len(order)))


def make_report(
    evidence: Evidence,
    *,
    title: str | None = None,
    sections: Iterable[str] | None = None,
    command: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Let every section, or the named ones, say what it has to say; ``progress`` hears of each."""
    known = sections_in_order()
    names = known if sections is None else list(dict.fromkeys(sections))
    for name in names:
        if name not in SECTIONS:
            raise unknown("report section", name, SECTIONS)
    made: list[Section] = []
    for n_done, name in enumerate(names, start=1):
        if (part := SECTIONS[name](evidence)) is not None:
            made += [part] if isinstance(part, Section) else part
        if progress is not None:
            progress(n_done, len(names) + 1)  # drawing it is still to come
    if not made:
        raise AdjudgeError(f"Nothing to report: {', '.join(names)} cannot be made for this evaluation.")
    eff, main = evidence.eff, evidence.main
    provenance = main.provenance.with_settings(threshold=evidence.satisfaction.threshold)
    if command is not None:
        provenance = provenance.with_settings(command=command)
    subtitle = (
        f"{len(eff.systems)} systems, {counted(eff.n_queries, 'query')}, {', '.join(eff.measures)}. "
        f"Differences by {main.test} test with {main.correction} correction at α = {main.alpha:g}."
    )
    return Report(
        title or f"{eff.measures[0]} of {len(eff.systems)} systems", subtitle, tuple(made), provenance.to_dict()
    )
