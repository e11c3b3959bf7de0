"""A folder of recordings becomes a library: all that can be used, nothing else, whatever happens on the way."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import soundfile
from numpy.typing import NDArray

from adjudge.audio.features.extract import extract, extract_library
from adjudge.audio.library import prepare
from adjudge.audio.library.folder import WORK_FOLDER, RecordingEntry, open_journal, open_library
from adjudge.audio.library.prepare import PreparedLibrary, choose_target_loudness, prepare_library
from adjudge.audio.library.scan import FileProblem, Recording
from adjudge.audio.loudness import integrated_loudness, true_peak
from adjudge.errors import AdjudgeError, InputError
from adjudge.parallel import CrashedError

Floats = NDArray[np.float64]
RATE = 32000
SETTINGS: dict[str, Any] = {"seconds": 1.0, "workers": 1}


def tune(seed: int, seconds: float = 2.0, *, level: float = 0.1) -> Floats:
    """Notes of a quarter of a second, different for every seed."""
    rng = np.random.default_rng(seed)
    notes = 220 * 2 ** (rng.integers(0, 36, size=round(seconds * 4)) / 12)
    phase = 2 * np.pi * np.cumsum(np.repeat(notes, RATE // 4)) / RATE
    sound: Floats = level * np.sin(phase) + 0.01 * rng.normal(size=len(phase))
    return sound[:, None]


def record(folder: Path, **sounds: Floats) -> Path:
    """A folder with recordings."""
    folder.mkdir(exist_ok=True)
    for name, samples in sounds.items():
        soundfile.write(folder / f"{name}.wav", samples, RATE)
    return folder


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three good recordings, and one of every kind that is not."""
    folder = record(tmp_path_factory.mktemp("music"), a=tune(1), silent=np.zeros((2 * RATE, 1)), short=tune(4, 0.75))
    (folder / "deep").mkdir()
    soundfile.write(folder / "b song.flac", tune(2, level=0.4), RATE)
    with soundfile.SoundFile(folder / "deep" / "c.ogg", "w", RATE, 1) as file:
        file.title, file.artist = "See", "The Cs"
        file.write(tune(3, level=0.02))
    shutil.copy(folder / "a.wav", folder / "deep" / "same.wav")
    (folder / "empty.mp3").write_bytes(b"")
    (folder / "broken.flac").write_bytes((folder / "b song.flac").read_bytes()[:9000])
    return folder


@pytest.fixture
def music(sources: Path, tmp_path: Path) -> Path:
    """A copy to do things to."""
    return Path(shutil.copytree(sources, tmp_path / "music"))


@pytest.fixture(scope="module")
def prepared(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> PreparedLibrary:
    """The library of the sources."""
    return prepare_library(sources, tmp_path_factory.mktemp("out") / "lab", **SETTINGS)


@pytest.fixture
def lab(prepared: PreparedLibrary, tmp_path: Path) -> Path:
    """A copy of the library to do things to."""
    return Path(shutil.copytree(prepared.library.folder, tmp_path / "lab"))


def files(library: Path) -> dict[str, str]:
    """Digests of all that people see of a library."""
    return {
        path.relative_to(library).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(library.rglob("*")) if path.is_file() and WORK_FOLDER not in path.parts
    }  # fmt: skip


def test_what_can_be_used_becomes_clips_and_the_rest_has_its_reason(prepared: PreparedLibrary) -> None:
    assert prepared.library.documents == ("a", "b-song", "deep-c")
    assert (prepared.n_new, prepared.n_kept) == (3, 0)
    assert {problem.file: problem.problem for problem in prepared.problems} == {
        "broken.flac": "broken", "deep/same.wav": "duplicate", "empty.mp3": "not audio", "short.wav": "too short",
        "silent.wav": "silent",
    }  # fmt: skip
    details = {problem.file: problem.detail for problem in prepared.problems}
    assert details["deep/same.wav"] == "the same file as a.wav"
    assert details["short.wav"] == "expected at least 1 s, got 0.8 s"
    assert str(prepared) == "3 clips (3 new), 5 files left out"


def test_clips_are_equally_loud_and_what_the_tables_say(prepared: PreparedLibrary) -> None:
    for row in prepared.library.clips.iter_rows(named=True):
        path = prepared.library.clip(row["document"])
        samples, rate = soundfile.read(path, always_2d=True)
        assert hashlib.sha256(path.read_bytes()).hexdigest() == row["clip_sha256"]
        assert (rate, samples.shape[1], len(samples) / rate) == (row["rate"], 1, pytest.approx(1.0, abs=0.1))
        assert integrated_loudness(samples, rate) == pytest.approx(-18, abs=0.5)
        assert integrated_loudness(samples, rate) == pytest.approx(row["loudness"], abs=0.01)
        assert true_peak(samples, rate) <= -1
        assert row["start"] == pytest.approx(0.5, abs=0.01)

    tracks = prepared.library.tracks
    assert tracks.columns == ["document", "title", "artist", "album", "genre", "year", "seconds"]
    assert tracks.rows()[2] == ("deep-c", "See", "The Cs", None, None, None, "2.000")


def test_doing_it_again_does_nothing_and_changes_nothing(sources: Path, prepared: PreparedLibrary) -> None:
    before = files(prepared.library.folder)
    seen: list[tuple[int, int]] = []
    again = prepare_library(
        sources, prepared.library.folder, progress=lambda done, of: seen.append((done, of)), **SETTINGS
    )
    assert (again.n_new, again.n_kept) == (0, 3)
    assert files(prepared.library.folder) == before
    assert again.problems == prepared.problems
    assert seen[-1] == (16, 16)


def test_only_what_is_new_or_changed_is_done_and_what_vanished_disappears(music: Path, lab: Path) -> None:
    before = files(lab)
    (music / "b song.flac").unlink()
    record(music, d=tune(5))
    os.utime(music / "a.wav", (1, 1))  # touched, not changed
    second = prepare_library(music, lab, **SETTINGS)
    assert second.library.documents == ("a", "d", "deep-c")
    assert (second.n_new, second.n_kept) == (1, 2)
    assert sorted(path.name for path in (lab / "clips").iterdir()) == ["a.mp3", "d.mp3", "deep-c.mp3"]
    record(music, a=tune(6))
    third = prepare_library(music, lab, **SETTINGS)
    assert third.library.documents == ("a", "d", "deep-c", "deep-same")  # which repeats nothing any more
    assert files(lab)["clips/deep-same.mp3"] == before["clips/a.mp3"] != files(lab)["clips/a.mp3"]


def test_of_what_a_library_lists_only_its_own_clips_go_and_before_new_ones_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    music, lab, mine = record(tmp_path / "music", a=tune(0), Song=tune(1)), tmp_path / "lab", tmp_path / "mine.mp3"
    prepare_library(music, lab, **SETTINGS)
    mine.write_bytes(b"kept")
    with (lab / "clips.csv").open("a") as table:
        table.write("../../mine,x.wav" + 10 * "," + "\n")
    (music / "Song.wav").rename(music / "song.wav")
    move = os.replace

    def moved(source: Path, target: Path) -> None:
        if Path(target).parent == lab / "clips":  # where case does not count, both names are one file
            assert not (lab / "clips" / "Song.mp3").exists()
        move(source, target)

    monkeypatch.setattr(os, "replace", moved)
    assert prepare_library(music, lab, **SETTINGS).library.documents == ("a", "song")
    assert sorted(path.name for path in (lab / "clips").iterdir()) == ["a.mp3", "song.mp3"]
    assert mine.exists()


def test_other_settings_make_other_clips(music: Path, lab: Path) -> None:
    softer = prepare_library(music, lab, loudness=-30, keep_duplicates=True, least_seconds=0.5, **SETTINGS)
    assert softer.library.documents == ("a", "b-song", "deep-c", "deep-same", "short")
    assert softer.n_new == 5
    assert np.allclose(softer.library.clips["loudness"].to_numpy(), -30, atol=0.5)
    starts = prepare_library(music, lab, place="start", **SETTINGS).library.clips["start"].to_list()
    assert starts == [0.0, 0.0, 0.0]


def test_a_copy_in_another_format_is_a_duplicate(tmp_path: Path) -> None:
    music = record(tmp_path / "music", a=tune(7, 8), c=tune(8, 8))
    soundfile.write(music / "b.mp3", 0.5 * tune(7, 8), RATE)
    prepared = prepare_library(music, tmp_path / "lab", seconds=8, workers=1)
    assert prepared.library.documents == ("a", "c")
    assert prepared.problems == (FileProblem("b.mp3", "duplicate", "the same recording as a.wav"),)


def test_peaks_lower_all_clips_alike_but_not_below_broadcasts(tmp_path: Path) -> None:
    hits = tune(9, level=0.05)
    hits[::RATE] = 0.35
    music = record(tmp_path / "music", hits=hits, tune=tune(10))
    auto = prepare_library(music, tmp_path / "lab", **SETTINGS)
    assert -23 <= auto.target < -18
    assert np.allclose(auto.library.clips["loudness"].to_numpy(), auto.target, atol=1)
    assert auto.quieter == ()
    fixed = prepare_library(music, tmp_path / "lab", loudness=-18, **SETTINGS)
    assert fixed.quieter == ("hits",)
    assert fixed.library.clips["limited"].to_list() == ["true", "false"]


@pytest.mark.parametrize(
    ("loudness", "peak", "target"), [(-10.0, 0.0, -18), (-20.0, -3.0, -18), (-17.6, 0.0, -19), (-30.0, 0.0, -23)]
)
def test_the_target_is_what_the_highest_peaks_allow(loudness: float, peak: float, target: float) -> None:
    assert choose_target_loudness([RecordingEntry("a", "a.wav", 0, 0, "", loudness=loudness, true_peak=peak)]) == target


def test_a_table_wins_over_tags_and_brings_its_own_columns(music: Path, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("file,artist,mood\ndeep/c.ogg,Somebody,calm\nnone.wav,X,\n")
    prepared = prepare_library(music, tmp_path / "lab", table=tmp_path / "table.csv", **SETTINGS)
    tracks = prepared.library.tracks
    assert tracks.columns[-1] == "mood"
    assert tracks.row(2, named=True) == {
        "document": "deep-c", "title": "See", "artist": "Somebody", "album": None, "genre": None, "year": None,
        "seconds": "2.000", "mood": "calm",
    }  # fmt: skip
    words = {(problem.file, problem.problem) for problem in prepared.problems}
    assert ("none.wav", "no file") in words
    assert "a.wav" not in {problem.file for problem in prepared.left_out}


class Stop:
    """Ends the work in the middle of a step, as Ctrl-C, or as if the process were killed."""

    def __init__(self, after: int, error: type[BaseException]) -> None:
        self.left, self.error = after, error

    def __call__(self, done: int, total: int) -> None:
        self.left -= 1
        if self.left < 0:
            raise self.error


class Killed(BaseException):
    """Nothing catches it."""


@pytest.mark.parametrize("after", [0, 4, 9, 11])
def test_work_that_was_cut_off_goes_on_and_gives_the_same(
    music: Path, tmp_path: Path, prepared: PreparedLibrary, after: int
) -> None:
    lab = tmp_path / "lab"
    with pytest.raises(Killed):
        prepare_library(music, lab, progress=Stop(after, Killed), **SETTINGS)
    journal = lab / WORK_FOLDER / "journal.jsonl"
    with journal.open("ab") as file:
        file.write(b'\n{"is": "Heard", "docu')  # as a line that was being written
    with pytest.raises(InputError, match="not finished"):
        open_library(lab)
    again = prepare_library(music, lab, **SETTINGS)
    assert files(lab) == files(prepared.library.folder)
    assert again.n_new + again.n_kept == 3
    assert again.n_kept == max(0, after - 9)


def test_a_library_is_never_read_half_old_and_half_new(music: Path, lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[Path] = []

    def move(source: Path, target: Path) -> None:
        if target.parent == lab / "clips":
            moved.append(target)
            if len(moved) == 2:
                raise Killed
        os.rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", move)
        with pytest.raises(Killed):
            prepare_library(music, lab, loudness=-25, **SETTINGS)
    with pytest.raises(InputError, match="not finished"):
        open_library(lab)
    again = prepare_library(music, lab, loudness=-25, **SETTINGS)
    assert (again.n_new, again.n_kept) == (0, 3)
    assert np.allclose(again.library.clips["loudness"].to_numpy(), -25, atol=0.5)


def test_an_interruption_leaves_what_is_ready(music: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt, match="1 clip is ready; the same command goes on in"):
        prepare_library(music, tmp_path / "lab", progress=Stop(10, KeyboardInterrupt), **SETTINGS)
    assert open_library(tmp_path / "lab").documents == ("a",)
    before = files(tmp_path / "lab")
    with pytest.raises(KeyboardInterrupt, match="nothing is lost"):  # an earlier library stays as it is
        prepare_library(music, tmp_path / "lab", progress=Stop(3, KeyboardInterrupt), loudness=-25, **SETTINGS)
    clips = [name for name in before if not name.startswith("features")]  # which may know clips to come already
    assert {name: files(tmp_path / "lab").get(name) for name in clips} == {name: before[name] for name in clips}


def test_several_processes_give_the_same(sources: Path, tmp_path: Path, prepared: PreparedLibrary) -> None:
    with pytest.raises(Killed):  # all are heard
        prepare_library(sources, tmp_path / "lab", progress=Stop(9, Killed), **SETTINGS)
    prepare_library(sources, tmp_path / "lab", seconds=1.0, workers=2)
    assert files(tmp_path / "lab") == files(prepared.library.folder)


def test_two_at_once_on_one_library_are_one_too_many(music: Path, tmp_path: Path) -> None:
    with (
        open_journal(tmp_path / "lab"),
        pytest.raises(AdjudgeError, match="lab: another process is preparing this library"),
    ):
        prepare_library(music, tmp_path / "lab", **SETTINGS)


def test_the_library_may_be_inside_the_music_or_around_it(music: Path, tmp_path: Path) -> None:
    inside = prepare_library(music, music / "lab", **SETTINGS)
    assert prepare_library(music, music / "lab", **SETTINGS).library.documents == inside.library.documents
    around = prepare_library(music, tmp_path, **SETTINGS)
    assert (tmp_path / "clips" / "a.mp3").is_file()
    assert around.library.documents == inside.library.documents


def test_a_folder_with_something_else_is_left_alone(music: Path, tmp_path: Path) -> None:
    lab = tmp_path / "lab"
    (lab / "clips").mkdir(parents=True)
    (lab / "clips" / "mine.mp3").write_bytes(b"mine")
    with pytest.raises(InputError, match=r"lab: expected a new folder, .*got another with its own clips"):
        prepare_library(music, lab, **SETTINGS)
    with pytest.raises(InputError, match="expected a folder for the clips, got a file"):
        prepare_library(music, music / "a.wav", **SETTINGS)
    with pytest.raises(InputError, match="expected recordings elsewhere than among the clips"):
        prepare_library(lab / "clips", lab, **SETTINGS)
    with pytest.raises(InputError, match=r"a\.wav/lab: (cannot be written|expected)"):
        prepare_library(music, music / "a.wav" / "lab", **SETTINGS)
    assert list(lab.rglob("*")) == [lab / "clips", lab / "clips" / "mine.mp3"]


def test_a_library_is_not_emptied_by_a_mistaken_folder(prepared: PreparedLibrary, tmp_path: Path) -> None:
    before = files(prepared.library.folder)
    record(tmp_path, other=tune(11))
    with pytest.raises(InputError, match="holds clips of other recordings, of which none is in"):
        prepare_library(tmp_path, prepared.library.folder, **SETTINGS)
    assert files(prepared.library.folder) == before


def test_nothing_that_can_be_used_is_said_with_the_reasons(tmp_path: Path) -> None:
    music = record(tmp_path / "music")
    for name in ("a.mp3", "b.mp3"):
        (music / name).touch()
    with pytest.raises(InputError, match=r"music: none of 2 files can be used: 2 not audio; see .*problems\.csv"):
        prepare_library(music, tmp_path / "lab", **SETTINGS)
    assert pl.read_csv(tmp_path / "lab" / "problems.csv").height == 2
    (music / "b.mp3").unlink()
    with pytest.raises(InputError, match="music: the only file cannot be used: 1 not audio"):
        prepare_library(music, tmp_path / "one", **SETTINGS)


def test_a_full_disk_is_one_line_and_the_next_try_goes_on(
    music: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(prepare, "encode_clip", full)
        with pytest.raises(InputError, match="lab: cannot be written: no space left"):
            prepare_library(music, tmp_path / "lab", **SETTINGS)
    assert prepare_library(music, tmp_path / "lab", **SETTINGS).n_new == 3


def test_a_file_that_changes_meanwhile_is_a_problem_and_is_mended_by_the_next_try(
    music: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = prepare.select_recordings

    def select_recordings(*given: Any, **options: Any) -> object:
        record(music, a=tune(12))
        return original(*given, **options)

    with monkeypatch.context() as patch:
        patch.setattr(prepare, "select_recordings", select_recordings)
        first = prepare_library(music, tmp_path / "lab", **SETTINGS)
    assert "a" not in first.library.documents
    assert [problem.detail for problem in first.problems if problem.file == "a.wav"] == [
        "expected a file that stays as it is, got one that changed meanwhile"
    ]
    assert "a" in prepare_library(music, tmp_path / "lab", **SETTINGS).library.documents


def test_a_clip_that_was_lost_or_harmed_is_made_again(music: Path, lab: Path) -> None:
    before = files(lab)
    (lab / "clips" / "a.mp3").unlink()
    (lab / "clips" / "b-song.mp3").write_bytes(b"harmed")
    assert prepare_library(music, lab, **SETTINGS).n_new == 2
    assert files(lab) == before
    shutil.rmtree(lab / WORK_FOLDER)
    assert prepare_library(music, lab, **SETTINGS).n_new == 3
    assert files(lab) == before


def test_a_library_that_was_copied_is_not_made_again(prepared: PreparedLibrary, sources: Path, tmp_path: Path) -> None:
    lab = tmp_path / "copy"
    shutil.copytree(prepared.library.folder, lab, copy_function=shutil.copyfile)
    assert prepare_library(sources, lab, **SETTINGS).n_new == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [({"seconds": 0}, "'seconds' must be from"), ({"place": "end"}, "'place' must be middle, start")],
)
def test_excerpts_that_cannot_be_are_refused_before_anything_is_written(
    music: Path, tmp_path: Path, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(AdjudgeError, match=said):
        prepare_library(music, tmp_path / "lab", **options)
    assert not (tmp_path / "lab").exists()


def test_a_recording_that_crashes_the_decoder_is_a_problem(
    music: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crashing(function: Any, jobs: dict[str, tuple[Recording, object]], **_: object) -> Iterator[object]:
        for document, job in jobs.items():
            yield document, CrashedError("died") if document == "a" else function(job)

    monkeypatch.setattr(prepare, "run_jobs", crashing)
    prepared = prepare_library(music, tmp_path / "lab", **SETTINGS)
    assert FileProblem("a.wav", "broken", "expected sound, got a crash while reading it") in prepared.problems
    lines = (tmp_path / "lab" / WORK_FOLDER / "journal.jsonl").read_text().splitlines()
    assert "a" not in {json.loads(line)["document"] for line in lines}  # tried again next time


@pytest.mark.parametrize("where", ["true_peak", "encode_clip"])
def test_what_nobody_thought_of_is_the_problem_of_one_recording(
    music: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    original, calls = getattr(prepare, where), []

    def once(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        if len(calls) == 1:
            raise ValueError("a corner\nof a case")
        return original(*arguments, **options)

    monkeypatch.setattr(prepare, where, once)
    prepared = prepare_library(music, tmp_path / "lab", **SETTINGS)
    assert FileProblem("a.wav", "broken", "expected sound, got a corner of a case") in prepared.problems
    assert "b-song" in prepared.library.documents
    assert "a" in prepare_library(music, tmp_path / "lab", **SETTINGS).library.documents  # tried again


def test_features_of_new_clips_are_those_that_would_be_computed_from_them(prepared: PreparedLibrary) -> None:
    library = prepared.library
    found = extract_library(library, workers=1)
    assert found.n_new == 0
    for place, document in enumerate(library.documents):
        for feature, values in extract(library.clip(document)).items():
            assert found.values[feature][place].tolist() == values.tolist()


def test_of_two_of_a_kind_the_one_stays_that_is_worth_more(tmp_path: Path) -> None:
    def kept(*files: tuple[str, dict[str, str], dict[str, str]]) -> list[str]:
        heard = {
            name: RecordingEntry(name, name, 0, 0, "", sha256="same", total_seconds=30, loudness=-20.0, tags=tags)
            for name, tags, _ in files
        }
        recordings = {name: Recording(name, tmp_path / name, name, told) for name, _, told in files}
        return list(prepare.select_recordings(heard, recordings, least_seconds=10, keep_duplicates=False)[0])

    known = {"artist": "A"}
    assert kept(("a.flac", known, {}), ("b.mp3", {}, known)) == ["b.mp3"]  # the table describes it
    assert kept(("a.mp3", known, {}), ("b.flac", {}, {})) == ["b.flac"]
    assert kept(("a.mp3", {}, {}), ("b.mp3", known, {})) == ["b.mp3"]
    assert kept(("a.mp3", {}, {}), ("b.mp3", {}, {})) == ["a.mp3"]
