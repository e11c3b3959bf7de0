"""What a report begins with: who leads, what is real and what is noticed, what would settle the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import adjudge as aj
from adjudge.reporting.document import FigureBlock, Paragraph
from adjudge.reporting.render import render
from adjudge.users.noticing import AgreementMapping
from adjudge.users.report import gather, make_report

# Half prefer the better system from a difference of 0.25 on.
NOTICE = AgreementMapping("CG@5", "fine", "ordinal", (8.0, 2.0), source="our listeners")


def constant(means: Sequence[float], *, n: int = 40, spread: float = 0.02, measure: str = "CG@5") -> aj.Effectiveness:
    """Systems with exactly these means, whose differences vary a little from query to query."""
    noise = np.random.default_rng(7).normal(0, spread, (n, len(means)))
    names = [f"s{i}" for i in range(len(means))]
    return aj.Effectiveness.from_matrix(noise - noise.mean(axis=0) + means, systems=names, measure=measure)


def sentences(eff: object, **settings: object) -> list[str]:
    """The three sentences, by t tests unless told otherwise."""
    assert isinstance(eff, aj.Effectiveness)
    lead = make_report(gather(eff, **({"test": "t"} | settings)), sections=["overview"]).lead  # type: ignore[arg-type]
    assert isinstance(lead[-1], FigureBlock)
    return [block.text for block in lead if isinstance(block, Paragraph)]


def test_everything_significant_leaves_nothing_open() -> None:
    assert sentences(constant([0.2, 0.8, 0.5])) == [
        "s1 has the highest mean CG@5, 0.800 over 40 queries, significantly ahead of both others.",
        "All 3 differences are statistically significant (t test, holm correction, α = 0.05); whether users would "
        "notice them is not known.",
        "No difference is left open.",
    ]


def test_nothing_significant_is_a_tie_of_all() -> None:
    lead, count, rest = sentences(constant([0.500, 0.502, 0.501, 0.503, 0.5], spread=0.2))
    assert lead == "s3 has the highest mean CG@5, 0.503 over 40 queries, tied with all 4 others."
    assert count.startswith("None of the 10 differences is statistically significant")
    assert rest.startswith("Not even 100,000 queries would settle half of the 10 differences")


def test_the_queries_that_would_settle_two_systems_give_a_t_test_the_power_that_is_said() -> None:
    eff = constant([0.5, 0.52], spread=0.1)
    rest = sentences(eff)[2]
    found = re.match(r"About ([\d,]+) queries, for the 40 there are, would settle the difference that is open", rest)
    assert found is not None, rest
    n = int(found[1].replace(",", ""))
    difference = np.diff(eff.matrix(), axis=1)[:, 0]
    shift = difference.mean() / difference.std(ddof=1) * np.sqrt(n)
    edge = stats.t.ppf(0.975, n - 1)
    power = stats.nct.sf(edge, n - 1, shift) + stats.nct.cdf(-edge, n - 1, shift)
    assert power == pytest.approx(0.8, abs=0.01)  # the number is rounded to two digits


def test_two_systems_are_said_to_be_tied_or_one_to_be_better() -> None:
    assert sentences(constant([0.2, 0.8]))[0].startswith("s1 is better than s0: ΔCG@5 = 0.600 ± ")
    tied = sentences(constant([0.5, 0.501], spread=0.2))
    assert tied[0].startswith("s1 and s0 are tied: ΔCG@5 = 0.001 ± ")
    assert tied[1].startswith("The difference is not statistically significant (t test")


def test_equal_means_share_the_lead() -> None:
    x = np.random.default_rng(1).random(30)
    eff = aj.Effectiveness.from_matrix(np.stack([x / 2, x, x], axis=1), systems=["a", "b", "c"])
    lead, _, rest = sentences(eff)
    assert lead.startswith("b and c share the highest mean")
    assert lead.endswith("significantly ahead of a.")
    assert "not even 100,000 queries would put b alone at the top" in rest


def test_users_are_said_to_notice_what_most_of_them_notice() -> None:
    eff = constant([0.1, 0.2, 0.8])
    eff = replace(eff, provenance=aj.evaluate(aj.demo(queries=2), "CG@5").provenance)  # on the scale of the curve
    assert sentences(eff, mappings=[NOTICE])[1].endswith(
        "; most users would notice 2 of the 3, all of them significant."
    )
    assert sentences(eff.select(systems=["s0", "s1"]), mappings=[NOTICE])[1].endswith(
        "; most users would not notice one of this size."
    )
    page = render(make_report(gather(eff, test="t", mappings=[NOTICE])), "markdown")
    assert "A difference is noticeable when more than half of the users would prefer the better system" in page


def test_what_is_shown_to_be_too_small_is_not_open() -> None:
    rest = sentences(constant([0.5, 0.501, 0.9]), margin=0.1)[2]
    assert rest.startswith("No difference that matters is left open: 1 is shown to be smaller than 0.100")


def test_what_is_real_but_may_be_too_small_to_matter_is_open() -> None:
    real = constant([0.5, 0.56, 0.9], spread=0.1)  # 0.06 is significant, and not shown to be smaller than 0.08
    rest = sentences(real, margin=0.08)[2]
    assert rest == "1 is real, but it is open whether it matters."
    assert sentences(real.select(systems=["s0", "s1"]), margin=0.08)[2] == rest
    rest = sentences(constant([0.5, 0.56, 0.561, 0.9], spread=0.1), margin=0.08)[2]
    assert rest.startswith("1 of the 6 differences is shown to be smaller than 0.080")
    assert rest.endswith("2 are real, but it is open whether they matter.")
    eff = aj.evaluate(aj.demo(queries=20), "CG@5")
    pairs = aj.compare(eff, test="t", mappings=[NOTICE])
    n = sum(pair.significant and not pair.noticeable and (pair.p_equivalence or 0) > 0.05 for pair in pairs)
    assert n > 1
    rest = sentences(eff, mappings=[NOTICE])[2]
    assert rest.endswith(f" {n} are real, but it is open whether most users would notice them.")


def test_measures_beyond_the_unit_interval_claim_nothing_of_users() -> None:
    lead, count, _ = sentences(constant([20.0, 27.5, 31.0], spread=1.0, measure="BLEU"))
    assert "BLEU, 31.000 over 40 queries" in lead
    assert count.endswith("whether users would notice them is not known.")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"baseline": "s1"},
            "of the 3 systems compared with s1, 2 are significantly better and 1 significantly worse.",
        ),
        ({"baseline": ["s0", "s1"]}, "of 5 comparisons with s0 and s1, "),
        ({"baseline": "s1", "alternative": "greater"}, "2 are significantly better and 1 not shown to be better."),
        ({"baseline": "s1", "alternative": "less"}, "1 is significantly worse and 2 not shown to be worse."),
    ],
)
def test_with_baselines_systems_are_counted_by_how_they_compare(settings: dict[str, object], said: str) -> None:
    assert said in sentences(constant([0.1, 0.3, 0.6, 0.9]), **settings)[0]


def test_a_difference_the_other_way_round_is_not_one_that_queries_would_settle() -> None:
    rest = sentences(constant([0.1, 0.3, 0.6, 0.9]), baseline="s1", alternative="greater")[2]
    assert rest == "No difference is left open: 1 points the other way."


def test_a_test_that_is_not_of_means_may_prefer_another_system_than_the_first() -> None:
    most, few = np.full(38, 0.42), np.full(2, 0.0)
    first, second = np.concatenate([most - 0.02, few + 1]), np.concatenate([most, few])
    eff = aj.Effectiveness.from_matrix(np.stack([first, second, second / 9], axis=1), systems=["a", "b", "c"])
    assert "but the wilcoxon test prefers b" in sentences(eff, test="wilcoxon")[0]
    assert "but the wilcoxon test prefers b" in sentences(eff.select(systems=["a", "b"]), test="wilcoxon")[0]


def test_few_queries_are_said_to_be_rough() -> None:
    assert sentences(constant([0.5, 0.6, 0.4], n=5, spread=0.2))[2].endswith("With 5 queries all of this is rough.")


def test_data_sets_are_named_and_count_as_queries_where_only_their_means_are_known() -> None:
    rng = np.random.default_rng(3)
    rows = [
        {"dataset": d, "query": f"q{i}", "system": s, "measure": "nDCG@10", "value": rng.random()}
        for d in ("dl19", "dl20")
        for i in range(9)
        for s in "abc"
    ]
    assert " over 18 queries of 2 data sets, tied with " in sentences(aj.formats.read_effectiveness(rows))[0]
    means = [
        {"dataset": f"d{i}", "system": s, "measure": "nDCG@10", "value": rng.random()} for i in range(12) for s in "abc"
    ]
    lead, _, rest = sentences(aj.formats.read_effectiveness(means))
    assert " over 12 data sets, tied with " in lead
    assert "data sets, for the 12 there are, would settle half" in rest


def test_every_form_begins_with_the_same_answer() -> None:
    made = make_report(gather(constant([0.2, 0.8, 0.5]), test="t"), sections=["overview"])
    said = [block.text for block in made.lead if isinstance(block, Paragraph)]
    markdown, tex = render(made, "markdown"), render(made, "latex")
    html = render(made, "html").replace("\N{NO-BREAK SPACE}", " ")
    values = json.loads(render(made, "json"))
    assert [block["text"] for block in values["lead"][:3]] == said
    assert values["lead"][3]["figure"] == "forest"
    for text, title in ((markdown, "## Overview"), (tex, r"\section{Overview}"), (html, "Overview</h2>")):
        places = [text.index(sentence[:30]) for sentence in said]
        assert places == sorted(places)
        assert places[-1] < text.index("forest") < text.index(title)
