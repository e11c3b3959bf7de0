"""Whole matrices in files, block by block."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.unit.audio.systems.invented_sounds import invented

from adjudge.arrays import Floats, Ints
from adjudge.audio.systems import BASELINES, distances
from adjudge.audio.systems.base import Baseline
from adjudge.audio.systems.ranking import write_matrix
from adjudge.errors import AdjudgeError, AdjudgeWarning, InputError
from adjudge.formats import read


def test_a_matrix_for_numpy_has_its_documents_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distances, "BLOCK_BYTES", 12 * 8 * 5)
    sounds, told = invented(12), []
    path = write_matrix(sounds, "timbre", tmp_path / "m", progress=lambda done, total: told.append((done, total)))
    matrix = np.load(path)
    assert matrix.dtype == np.float32
    assert matrix == pytest.approx(BASELINES["timbre"].start(sounds).rows(np.arange(12)), rel=1e-6, abs=1e-9)
    assert (tmp_path / "m" / "timbre.documents.txt").read_text().split() == list(sounds.documents)
    assert told == [(5, 12), (10, 12), (12, 12)]
    assert sorted(one.name for one in path.parent.iterdir()) == ["timbre.documents.txt", "timbre.npy"]


def test_a_matrix_for_mirex_is_read_back(tmp_path: Path) -> None:
    sounds = invented(12)
    path = write_matrix(sounds, "rhythm", tmp_path, form="mirex")
    lines = path.read_text().splitlines()
    assert lines[0] == "rhythm"
    assert lines[1] == "1\td000"
    assert lines[13].startswith("Q/R\t1\t2\t")
    assert lines[14].startswith("1\t0.0\t")
    with pytest.warns(AdjudgeWarning, match="MIREX"):
        runs = read(str(path)).runs
    values = BASELINES["rhythm"].start(sounds).rows(np.arange(12))
    table = runs.to_polars()
    assert table.height == 12 * 11
    place = {name: i for i, name in enumerate(sounds.documents)}
    for _, query, document, score in table.iter_rows():
        assert -score == pytest.approx(values[place[query], place[document]], rel=1e-6)


class Failing:
    """Distances that fail after a block."""

    def rows(self, places: Ints) -> Floats:
        raise MemoryError


def test_what_fails_leaves_nothing_behind_and_what_was_there_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sounds = invented(5)
    path = write_matrix(sounds, "random", tmp_path, form="mirex")
    before = path.read_bytes()
    failing = Baseline("random", "", (), lambda sounds: Failing())
    monkeypatch.setitem(BASELINES._members, "random", failing)
    with pytest.raises(MemoryError):
        write_matrix(sounds, "random", tmp_path, form="mirex")
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_place_or_form_that_does_not_do_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_matrix(invented(5), "random", tmp_path / "file")
    with pytest.raises(AdjudgeError, match="'matrix' must be one of npy, mirex, got 'xls'"):
        write_matrix(invented(5), "random", tmp_path, form="xls")  # type: ignore[arg-type]
