"""Reproducing: every table and figure has its place; missing data are said; the same seed gives the same numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from papers.claims import ANOTHER, Claim, Reason, as_printed, between
from papers.data import PARTS, Data
from papers.run import IMPOSSIBLE
from papers.studies import PAPERS, Effort, Found, Study

import adjudge as aj
from papers import STUDIES, reproduce

ITEMS = [f"{paper.key} {item}" for paper in PAPERS.values() for item in paper.items]
COVERED = [item for study in STUDIES.values() for item in study.covers]
OTHER_DATA, CHANCE = Reason("data", "other data"), Reason("draws", "chance")
ELSEWHERE = between(0.85, 0.92, "others")
MELODIES = "query,docA,docB,answer\n" + "".join(f"q{i % 11},a,b,{'abs'[i % 3]}\n" for i in range(2810))
"""As many preferences as the public data have."""


def test_every_table_and_figure_is_reproduced_or_it_is_said_why_not() -> None:
    assert set(ITEMS) == set(COVERED) | set(IMPOSSIBLE)


def test_nothing_is_both_reproduced_and_impossible_or_there_twice() -> None:
    assert not set(COVERED) & set(IMPOSSIBLE)
    assert len(set(COVERED)) == len(COVERED)
    assert len(set(ITEMS)) == len(ITEMS)


def test_the_papers_have_as_many_tables_and_figures_as_their_captions_number() -> None:
    """Counted in the papers: thesis 28 tables and 32 figures, AdMIRe 1 and 4, 2012: 5, 2011: 1 and 4, 2010: 4 and 4."""
    counts = {key: len(paper.items) for key, paper in PAPERS.items()}
    assert counts == {"T": 60, "U12": 5, "P11": 5, "L10": 8, "M12": 5}


@pytest.mark.parametrize("study", STUDIES.values(), ids=lambda one: str(one.name))
def test_a_study_names_what_there_is(study: Study) -> None:
    assert set(study.covers) <= set(ITEMS)
    assert set(study.partly) <= set(study.covers)
    assert set(study.needs) <= set(PARTS)
    assert study.title
    assert not study.title.endswith(".")


@pytest.mark.parametrize(
    "why", [*IMPOSSIBLE.values(), *(why for one in STUDIES.values() for why in one.partly.values())]
)
def test_reasons_are_sentences_without_their_full_stop(why: str) -> None:
    assert len(why) > 10
    assert not why.endswith(".")


def study_of(name: str, *claims: Claim, needs: tuple[str, ...] = ()) -> Study:
    return Study(name, f"About {name}", (), needs, lambda data, effort: Found(claims))


@pytest.fixture
def studies(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts other studies in place of all."""

    def put(*ones: Study) -> None:
        assert STUDIES  # all of them are there
        monkeypatch.setattr(STUDIES, "_members", {one.name: one for one in ones})

    return put


@pytest.fixture
def melodies(tmp_path: Path) -> Path:
    """A folder with one part of the data."""
    (tmp_path / "preferences-2010").mkdir()
    (tmp_path / "preferences-2010" / "judgments.csv").write_text(MELODIES)
    return tmp_path


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(aj.AdjudgeError, match=r"nowhere: expected the folder with the public data, got no such"):
        reproduce(tmp_path / "nowhere")


def test_a_folder_without_any_of_the_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        aj.AdjudgeError, match=r"expected the public data, got no 'mirex2011/runs.tsv', nor 6 more of its files"
    ):
        reproduce(tmp_path)


def test_studies_that_need_no_data_run_without_any(tmp_path: Path) -> None:
    made = reproduce(tmp_path, only=["examples"])
    assert [study.name for study, _ in made.found] == ["examples"]
    assert made.inputs == ()


def test_an_unknown_study_is_refused_with_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(aj.AdjudgeError, match=r"No study is called 'reliabilty'\. Did you mean 'reliability'"):
        reproduce(tmp_path, only=["reliabilty"])


def test_a_study_asked_for_twice_is_run_once(tmp_path: Path) -> None:
    made = reproduce(tmp_path, only=["examples", "examples"])
    assert len(made.found) == 1


def test_studies_whose_data_are_missing_are_left_out_and_say_which_files(
    melodies: Path, studies: Callable[..., None]
) -> None:
    studies(study_of("here", needs=("preferences-2010",)), study_of("away", needs=("preferences-2010", "trec")))
    made = reproduce(melodies)
    assert [study.name for study, _ in made.found] == ["here"]
    assert [(study.name, why) for study, why in made.left_out] == [("away", "there is no trec/adhoc8_ap.csv")]


def test_a_file_that_is_missing_is_named_although_others_of_its_part_are_there(tmp_path: Path) -> None:
    (tmp_path / "mirex2011").mkdir()
    for name in ("runs.tsv", "judgments.tsv"):
        (tmp_path / "mirex2011" / name).write_text("a\tb\tc\n")
    with pytest.raises(aj.AdjudgeError, match=r"expected the public data, got no 'mirex2011/metadata.tsv'$"):
        reproduce(tmp_path, only=["reliability"])


def test_other_data_of_the_same_form_are_refused_before_any_work(melodies: Path, studies: Callable[..., None]) -> None:
    def run(data: Data, effort: Effort) -> Found:
        raise AssertionError("nothing should be computed")

    file = melodies / "preferences-2010" / "judgments.csv"
    studies(study_of("first"), Study("a", "A", (), ("preferences-2010",), run))
    file.write_text("".join(MELODIES.splitlines(keepends=True)[:-3]))
    wanted = r"\(queries: 11, preferences: 2,810\), got others \(queries: 11, preferences: 2,807\)"
    with pytest.raises(aj.AdjudgeError, match=wanted):
        reproduce(melodies)
    file.write_text("")
    with pytest.raises(aj.AdjudgeError, match=r"judgments\.csv: expected data, got an empty file"):
        reproduce(melodies)


@pytest.mark.parametrize("part", PARTS)
def test_the_public_data_have_the_sizes_that_are_expected(data: Data, part: str) -> None:
    data.check([part])
    assert data.sizes(part) == PARTS[part].sizes


def test_provenance_has_the_digest_of_every_file_that_was_read_and_of_no_other(
    melodies: Path, studies: Callable[..., None]
) -> None:
    studies(study_of("here", needs=("preferences-2010",)), study_of("away", needs=("trec",)))
    provenance = reproduce(melodies, seed=7, quick=True).provenance("adjudge reproduce x")
    digest = hashlib.sha256(MELODIES.encode()).hexdigest()
    assert provenance["inputs"] == [{"file": "preferences-2010/judgments.csv", "sha256": digest}]
    assert provenance["settings"] == {"seed": 7, "quick": True, "command": "adjudge reproduce x"}
    assert provenance["adjudge"] == aj.__version__


def test_verdicts_are_counted_and_what_is_outside_its_bound_is_named(
    tmp_path: Path, studies: Callable[..., None]
) -> None:
    same = Claim.printed("T 1", "a", ".5", 0.5)
    outside = Claim("T 1", "c", ".5", 0.95, ELSEWHERE, OTHER_DATA)
    known = Claim("T 1", "d", ".5", 0.9, ELSEWHERE, OTHER_DATA)
    searched = Claim("T 1", "e", ".5", 0.5, as_printed(".5"), searched="the nearest of 3")
    studies(study_of("a", same, Claim.around("T 1", "b", ".5", 0.6, 0.2, basis="chance", why=CHANCE)))
    assert reproduce(tmp_path).failed == []
    studies(study_of("a", same), study_of("b", outside, known, searched))
    made = reproduce(tmp_path)
    assert made.failed == [outside]
    assert made.counts() == {"exact": 1, "found by search": 1, "within tolerance": 0, "differs": 1, "fails": 1}
    assert made.bases() == {"print": 2, "range": 2}
    assert str(made) == (
        "4 published numbers: 1 exact, 1 found by search, 0 within tolerance, 1 differs "
        "(1 for data that are not public), 1 fails."
    )


def test_numbers_that_are_not_exact_are_counted_by_their_cause(tmp_path: Path, studies: Callable[..., None]) -> None:
    same = Claim("T 1", "a", ".5", 0.5, as_printed(".5"), OTHER_DATA)
    near = Claim.around(ANOTHER, "b", ".5", 0.6, 0.2, basis="chance", why=CHANCE)
    far = Claim("T 1", "c", ".5", 0.9, ELSEWHERE, CHANCE, 0.2)
    studies(study_of("a", same, near, far, Claim("T 1", "d", ".5", 0.9, ELSEWHERE, OTHER_DATA)))
    made = reproduce(tmp_path)
    assert made.causes() == {
        "data": {"within tolerance": 0, "differs": 1},
        "draws": {"within tolerance": 1, "differs": 1},
    }
    assert str(made) == (
        "3 published numbers, and 1 of another implementation: 1 exact, 1 within tolerance, 2 differ "
        "(1 for data that are not public, 1 by chance)."
    )


def test_progress_is_told_after_every_study(tmp_path: Path, studies: Callable[..., None]) -> None:
    studies(study_of("a"), study_of("b"))
    told: list[tuple[int, int]] = []
    reproduce(tmp_path, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


def test_progress_moves_within_a_study_by_how_long_it_takes(tmp_path: Path, studies: Callable[..., None]) -> None:
    def run(data: Data, effort: Effort) -> Found:
        for place in range(2):
            part = effort.part(place, 2)
            assert part is not None
            part(1, 2)
        return Found(())

    studies(study_of("a"), Study("b", "B", (), (), run, weight=8))
    told: list[tuple[int, int]] = []
    reproduce(tmp_path, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 9), (3, 9), (7, 9), (9, 9)]
    assert Effort().part(0, 2) is None


def test_effort_reaches_the_study(tmp_path: Path, studies: Callable[..., None]) -> None:
    seen: list[Effort] = []

    def run(data: Data, effort: Effort) -> Found:
        seen.append(effort)
        return Found(())

    studies(Study("a", "A", (), (), run))
    reproduce(tmp_path, quick=True, seed=3, workers=1)
    assert (seen[0].trials(300, 20), seen[0].seed, seen[0].workers) == (20, 3, 1)
    assert Effort().trials(300, 20) == 300
