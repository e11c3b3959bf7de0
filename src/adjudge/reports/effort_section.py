"""A report's section about what is not judged: the ranking with the relevance of those documents estimated."""

from __future__ import annotations

from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.relevance import judging
from adjudge.reports.document import Paragraph, Section, section
from adjudge.reports.evidence import Evidence
from adjudge.reports.judging_sections import estimate_section


@section("effort")
def effort(evidence: Evidence) -> Section | None:
    """How sure the ranking is in spite of unjudged documents; nothing to say where everything is judged."""
    if evidence.collection is None:
        return None
    with kept_warnings():
        try:
            session = judging(evidence.collection, evidence.main.measure)
        except AdjudgeError:  # a measure whose expectation has no sound form
            return None
    left = int((~session.model.judged).sum())
    if left == 0:
        return None
    text = (
        f"{left:,} of {len(session.candidates):,} documents in the first {session.candidates.cutoff} of the systems "
        "are not judged. Elsewhere on this page they count as not relevant; here their relevance is estimated."
    )
    part = estimate_section(session, level=evidence.summary.confidence)
    return Section("effort", "What is not judged", (Paragraph(text), *part.blocks))
