"""The report of what was reproduced: the sentence first, reasons once, figures that can be read."""

from __future__ import annotations

import pytest
from papers.claims import Claim, Panel, Plot, Reason, Series, as_printed, between, independent
from papers.report import draw_plot, panels_are_alike, report_of, study_section, together
from papers.run import Reproduction
from papers.studies import Effort, Found, Study

from adjudge.reporting.canvas import Canvas
from adjudge.reporting.document import Paragraph, Section, TableBlock
from adjudge.tables import escape_latex

SAME = Claim.printed("T 1", "a", ".5", 0.5)
CHANCE = Claim.around("T 1", "b", ".5", 0.6, 0.2, basis="chance", why=Reason("draws", "chance"))
DATA = Reason("data", "other data")
ELSEWHERE = between(0.85, 0.92, "others")
OTHER = Claim("T 1", "c", ".5", 0.9, ELSEWHERE, DATA)
OUTSIDE = Claim("T 1", "d", ".5", 0.95, ELSEWHERE, DATA)
STUDY = Study("one", "Chapter one", ("T Table 6.1", "T Table 6.2"), (), lambda data, effort: Found(()))


def section_of(*claims: Claim, brief: bool = False) -> Section:
    return study_section(STUDY, Found(claims), brief=brief)


def tables(section: Section) -> list[TableBlock]:
    return [block for block in section.blocks if isinstance(block, TableBlock)]


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ((SAME, SAME), "2 numbers, all exact."),
        ((SAME, CHANCE, OTHER), "3 numbers: 1 exact, 1 within tolerance, 1 differs."),
        ((SAME, OTHER, OTHER), "3 numbers: 1 exact, 2 differ."),
        ((SAME, OTHER, OUTSIDE, OUTSIDE), "4 numbers: 1 exact, 1 differs, 2 fail."),
    ],
)
def test_a_study_says_first_what_agreed(claims: tuple[Claim, ...], said: str) -> None:
    assert section_of(*claims).blocks[0] == Paragraph(said)


def test_a_reason_stands_once_and_is_referred_to_by_its_number() -> None:
    reasons, numbers, _ = tables(section_of(OTHER, CHANCE, SAME, OTHER))
    assert reasons.rows == (("[1]", "data", "2", "other data."), ("[2]", "draws", "1", "chance."))
    assert [row[4] for row in numbers.rows] == ["differs [1]", "within tolerance [2]", "exact", "differs [1]"]
    assert numbers.emphasised == {(0, 4), (3, 4)}


def test_a_bound_stands_only_where_it_is_not_just_the_printed_number_and_says_where_it_comes_from() -> None:
    assert "bound" not in [column.name for column in tables(section_of(SAME))[0].columns]
    more = Claim("T 1", "d", ".07", 0.0669553, independent(".066955", "somebody else"))
    numbers, bounds = tables(section_of(SAME, more))
    place = [column.name for column in numbers.columns].index("bound")
    assert [row[place] for row in numbers.rows] == ["", ".066955"]
    assert bounds.rows == (("independent", "1", "somebody else."),)


def test_what_was_found_by_search_says_among_how_many() -> None:
    claim = Claim("T 1", "cell", ".5", 0.5, as_printed(".5"), searched="the nearest of 1,800 lists")
    assert Paragraph("Found by search: cell: the nearest of 1,800 lists.") in section_of(claim).blocks


def test_what_is_outside_its_bound_is_said_at_once() -> None:
    made = Reproduction(((STUDY, Found((SAME, OUTSIDE))),), (), (), Effort())
    said = [block.text for block in report_of(made).sections[0].blocks if isinstance(block, Paragraph)]
    assert said[1] == "Outside its bound: T 1, d (published .5, ours 0.95, bound 0.85 to 0.92: others)."


def test_a_terminal_gets_no_exact_numbers_and_long_names_on_several_lines() -> None:
    long = Claim("T Table 9.9", "a name that is so long that no terminal has room for it", ".5", 0.9, ELSEWHERE, DATA)
    numbers = tables(section_of(SAME, long, brief=True))[0]
    assert [row[1] for row in numbers.rows] == [".5", ""]
    assert " ".join(row[0].strip() for row in numbers.rows) == f"{long.source}: {long.what}"
    assert tables(section_of(SAME, SAME, brief=True)) == []


def test_the_summary_counts_causes_so_that_differences_nobody_could_avoid_are_seen_at_once() -> None:
    made = Reproduction(((STUDY, Found((SAME, CHANCE, OTHER, OTHER))),), (), (), Effort())
    _, causes, bounds = tables(report_of(made).sections[0])
    assert [row[:3] for row in causes.rows] == [("data", "0", "2"), ("draws", "1", "0")]
    assert [row[:2] for row in bounds.rows] == [("print", "1"), ("chance", "1"), ("range", "2")]


def test_signs_of_the_papers_are_ones_that_latex_knows() -> None:
    assert escape_latex("Eρ² ≥ .95, Φ, |Δ|, ± .05, ω, λ, μ − σ, α, β, τ, χ").isascii()
    assert escape_latex("Eρ²") == r"E$\rho$$^2$"


def test_what_cannot_be_made_is_grouped_by_its_reason() -> None:
    made = Reproduction((), (), (), Effort(), {"T Figure 1.1": "a drawing", "T Figure 2.1": "a drawing"})
    section = next(one for one in report_of(made).sections if one.name == "impossible")
    assert tables(section)[0].rows == (("T Figures 1.1, 2.1", "a drawing."),)
    assert together([]) == ""


def plot_of(*heights: tuple[float, ...], log: bool = False) -> Plot:
    panels = tuple(Panel("", (Series("a", tuple(map(float, range(len(y)))), y),)) for y in heights)
    return Plot("p", "T Figure 1", "", "", "x", "y", panels, log_y=log)


def test_panels_share_their_axis_only_where_each_can_be_read_on_it() -> None:
    assert panels_are_alike(plot_of((0.0, 1.0), (0.2, 0.9)))
    assert not panels_are_alike(plot_of((0.0, 1.0), (0.85, 0.9)))
    assert panels_are_alike(plot_of((0.001, 1.0), (0.001, 0.01), log=True))
    assert not panels_are_alike(plot_of((0.001, 1.0), (0.5, 0.9), log=True))
    assert panels_are_alike(plot_of(()))


def test_points_without_lines_have_none_in_the_legend() -> None:
    line, points = Series("line", (1.0, 2.0), (1.0, 2.0)), Series("points", (1.0, 2.0), (2.0, 1.0), joined=False)
    canvas = Canvas()
    draw_plot(Plot("p", "T Figure 1", "", "", "x", "y", (Panel("", (line, points)),)), canvas)
    assert [str(handle.get_linestyle()) for handle in canvas.figure.legends[0].get_lines()] == ["-", "None"]
