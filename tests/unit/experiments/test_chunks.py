"""Chunks: trials in any grouping give the same rows, and files say what they hold."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from tests.unit.experiments.trial_runs import Numbers, some_samples

from adjudge.experiments.chunks import Work, pack, run_chunk, unpack

SAMPLES = some_samples()
SPEC = Numbers(trials=9)


def test_a_trial_does_not_depend_on_its_chunk() -> None:
    whole = run_chunk(SPEC, SAMPLES, 0, 9)
    assert pl.concat([run_chunk(SPEC, SAMPLES, i, i + 3) for i in (0, 3, 6)]).equals(whole)
    assert whole["system"].dtype == pl.Enum(list(SAMPLES.systems))
    assert whole["trial"].n_unique() == 9
    assert whole["mean"].n_unique() == whole.height


def test_what_is_packed_comes_back_with_its_types() -> None:
    frame = run_chunk(SPEC, SAMPLES, 2, 5)
    found = unpack(pack(frame, "abc", (2, 5)), "abc")
    assert found is not None
    assert found[0] == (2, 5)
    assert found[1].equals(frame)
    assert found[1].schema == frame.schema


def test_packing_is_by_rows_and_not_by_how_they_came() -> None:
    frame = run_chunk(SPEC, SAMPLES, 0, 9)
    pieces = pl.concat([frame[:4], frame[4:]], rechunk=False)
    assert pack(pieces, "abc", (0, 9)) == pack(frame, "abc", (0, 9))


@pytest.mark.parametrize("cut", [0, 3, 50, -1])
def test_a_part_of_a_file_is_not_used(cut: int) -> None:
    assert unpack(pack(run_chunk(SPEC, SAMPLES, 0, 3), "abc", (0, 3))[:cut], "abc") is None


def test_a_file_with_a_changed_bit_is_not_used() -> None:
    data = pack(run_chunk(SPEC, SAMPLES, 0, 3), "abc", (0, 3))
    for place in range(0, len(data), 7):
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        assert unpack(bytes(damaged), "abc") is None


def test_files_of_another_experiment_or_with_other_trials_are_not_used() -> None:
    frame = run_chunk(SPEC, SAMPLES, 0, 3)
    assert unpack(pack(frame, "abc", (0, 3)), "abd") is None
    assert unpack(pack(frame, "abc", (0, 2)), "abc") is None
    assert unpack(pack(frame, "abc", (1, 3)), "abc") is None


def test_the_fingerprint_is_of_all_but_the_number_of_trials() -> None:
    mark = Work(SPEC, SAMPLES).fingerprint
    assert Work(replace(SPEC, trials=99), SAMPLES).fingerprint == mark
    assert Work(replace(SPEC, seed=1), SAMPLES).fingerprint != mark
