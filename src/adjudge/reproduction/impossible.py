"""What the public data do not allow, and why: said plainly, item by item."""

from __future__ import annotations

_DRAWING = "a drawing, no numbers"
_EXPERTS = "needs the rankings that experts made in 2005, which are not public"

IMPOSSIBLE: dict[str, str] = {
    "T Table 5.1": "names the two errors of a test: no numbers",
    "T Table 6.4": "needs the judgments of MIREX 2006 by three assessors, which are not public",
    "T Figure 1.1": _DRAWING,
    "T Figure 1.2": "a time line, no numbers",
    "T Figure 1.3": "counts papers and citations of two conferences: no part of the data",
    "T Figure 2.1": _DRAWING,
    "T Figure 2.2": _DRAWING,
    "T Table 4.2": "residuals of fits to the 4,115 answers of the thesis, which are not public; those of a fit to "
    "other answers measure the noise of other answers",
    "T Figure 3.1": "a picture of the task as listeners saw it, no numbers",
    "T Figure 4.2": "needs a system of MIREX 2009, whose judgments are not public",
    "T Figure 4.3": _DRAWING,
    "T Figure 4.4": "needs two systems of MIREX 2007, whose judgments are not public",
    "T Figure 4.6": "needs two systems of MIREX 2009, whose judgments are not public",
    "T Figure 6.3": "needs MIREX 2012, judged to rank 10 and not public; lists of 2011 end at rank 5",
    "T Figure 6.4": "needs MIREX 2012, judged to rank 10 and not public; lists of 2011 end at rank 5",
    "U12 Figure 1": "a picture of the task as listeners saw it, no numbers",
    "L10 Figure 1": "three melodies as notes, no numbers",
    "L10 Figure 2": _EXPERTS,
}
"""A table or figure, as ``T Table 6.4``, and the reason why it cannot be made anew."""
