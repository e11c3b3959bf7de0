"""The comparison that U12 (ISMIR 2012, section 5.3) works through: significant, and yet hardly anyone notices."""

from __future__ import annotations

import adjudge as aj


def test_a_pair_of_mirex_2011_differs_significantly_but_not_noticeably(mirex2011: aj.Collection) -> None:
    compared = aj.compare(aj.evaluate(mirex2011, "CG@5"), test="t", correction="none")
    found = [
        pair
        for pair in compared.pairs
        if [round(value, 4) for value in (pair.difference, pair.low, pair.high)] == [0.0815, 0.0508, 0.1122]
    ]
    assert len(found) == 1
    assert round(found[0].smallest_significant, 4) == 0.0307
    assert found[0].significant
    assert found[0].noticeable is False
    assert found[0].verdict == "different but too small to notice"
