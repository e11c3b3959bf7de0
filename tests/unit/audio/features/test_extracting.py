"""Features of a library are kept beside it, computed only where new, and never lost to one bad clip or file."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import soundfile

from adjudge.audio.features import AUDIO_FEATURES, AudioFeature
from adjudge.audio.features import extract as extracting
from adjudge.audio.features.extract import LibraryFeatures, extract, extract_library, extract_sound, write_features
from adjudge.audio.features.spectra import Samples, read_sound
from adjudge.audio.library.folder import CLIP_COLUMNS, Library, open_library
from adjudge.errors import AdjudgeError, InputError, kept_warnings


def make_library(folder: Path, names: str = "abc") -> Library:
    """A library of a second of noise for each letter, the same for the same letter."""
    (folder / "clips").mkdir(parents=True, exist_ok=True)
    rows = []
    for name in names:
        clip = folder / "clips" / f"{name}.mp3"
        rng = np.random.default_rng(ord(name))
        soundfile.write(clip, rng.uniform(-0.1, 0.1, size=(22050, 1)), 44100, format="MP3")
        digest = hashlib.sha256(clip.read_bytes()).hexdigest()
        rows.append(dict.fromkeys(CLIP_COLUMNS, "1") | {"document": name, "clip_sha256": digest})
    pl.DataFrame(rows).write_csv(folder / "clips.csv")
    pl.DataFrame({"document": list(names)}).write_csv(folder / "tracks.csv")
    return open_library(folder)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return make_library(tmp_path / "lab")


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of clips that are decoded meanwhile."""
    names: list[str] = []

    def reading(path: Path) -> Samples:
        names.append(path.stem)
        return read_sound(path)

    monkeypatch.setattr(extracting, "read_sound", reading)
    return names


def kept(library: Library, name: str = "timbre") -> Path:
    return library.folder / "features" / f"{name}.npz"


def test_sound_at_hand_has_the_features_of_its_file(library: Library) -> None:
    samples, rate = soundfile.read(library.clip("a"), always_2d=True)
    wanted = extract(library.clip("a"))
    for name, values in extract_sound(samples, rate).items():
        assert np.allclose(values, wanted[name], rtol=1e-6, atol=1e-9)


def test_without_the_extra_it_says_what_to_install(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "soundfile", None)
    wanted = r"^Audio features need soundfile, which is not installed: pip install 'adjudge\[audio\]'$"
    with pytest.raises(AdjudgeError, match=wanted):
        extract_library(library, workers=1)


def test_a_clip_is_decoded_once_for_all_features_and_never_again(library: Library, decoded: list[str]) -> None:
    first = extract_library(library, workers=1)
    assert sorted(decoded) == ["a", "b", "c"]
    again = extract_library(library, ["tonal", "timbre"], workers=1)
    assert (len(decoded), first.n_new, again.n_new) == (3, 3, 0)
    assert list(again.values) == ["tonal", "timbre"]
    assert (again.values["tonal"] == first.values["tonal"]).all()
    nothing = Library(library.folder, library.tracks[:0], library.clips[:0])
    assert extract_library(nothing, ["timbre"], workers=1).values["timbre"].shape == (0, 230)


def test_only_new_clips_are_computed_and_gone_ones_forgotten(library: Library, decoded: list[str]) -> None:
    extract_library(library, ["timbre"], workers=1)
    grown = make_library(library.folder, "bcd")
    decoded.clear()
    assert extract_library(grown, ["timbre"], workers=1).values["timbre"].shape == (3, 230)
    assert decoded == ["d"]
    with np.load(kept(library)) as archive:
        assert set(archive["digests"]) == set(grown.clips["clip_sha256"])


def test_a_new_version_is_computed_again(library: Library, decoded: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    extract_library(library, ["tonal"], workers=1)
    newer = AudioFeature("tonal", "Newer.", AUDIO_FEATURES["tonal"].compute, 99)
    assert AUDIO_FEATURES  # all of them are there
    monkeypatch.setitem(AUDIO_FEATURES._members, "tonal", newer)
    extract_library(library, ["tonal"], workers=1)
    assert len(decoded) == 6


@pytest.mark.parametrize("damage", ["nothing", "text", "cut", "flipped", "pickle", "narrow", "nan"])
def test_a_damaged_file_is_computed_again_with_a_warning(library: Library, damage: str) -> None:
    wanted = extract_library(library, ["timbre"], workers=1).values["timbre"]
    path = kept(library)
    data = path.read_bytes()
    arrays = dict(np.load(path))
    if damage in ("pickle", "narrow", "nan"):
        values = arrays["values"]
        others = {"pickle": np.array([{}, {}, {}], dtype=object), "narrow": values[:, :5], "nan": values * np.nan}
        np.savez(path, **arrays | {"values": others[damage]})
    else:
        flipped = data[:2000] + bytes(byte ^ 255 for byte in data[2000:2100]) + data[2100:]
        half = data[: len(data) // 2]
        path.write_bytes({"nothing": b"", "text": b"no archive", "cut": half, "flipped": flipped}[damage])
    with kept_warnings() as said:
        found = extract_library(library, ["timbre"], workers=1).values["timbre"]
    assert (found == wanted).all()
    assert said == [f"{path}: damaged; its numbers are computed again"]
    with kept_warnings() as said:
        extract_library(library, ["timbre"], workers=1)
    assert said == []


def test_a_clip_that_cannot_be_decoded_is_named_and_costs_no_other(library: Library, decoded: list[str]) -> None:
    library.clip("a").write_bytes(b"broken")
    with pytest.raises(InputError, match=r"clips/a\.mp3.*sound that can be decoded.*got [^\n]*"):
        extract_library(library, workers=1)
    library.clip("b").unlink()
    decoded.clear()
    with pytest.raises(InputError, match=r"a\.mp3: expected sound"):
        extract_library(library, workers=1)
    assert decoded == ["a"]  # the others are kept
    kept(library).unlink()
    with pytest.raises(InputError, match=r"\(and 1 more\)$"):
        extract_library(library, ["timbre"], workers=1)


def test_an_interruption_keeps_what_was_done(library: Library, decoded: list[str]) -> None:
    def interrupt(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extract_library(library, ["tonal"], workers=1, progress=interrupt)
    decoded.clear()
    extract_library(library, ["tonal"], workers=1)
    assert decoded == ["c"]


def test_what_is_done_is_saved_at_intervals(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extracting, "SAVE_EVERY", 0.0)
    monkeypatch.setattr(extracting, "_SAVING_SHARE", 1e9)
    seen = []

    def look(done: int, total: int) -> None:
        seen.append(len(np.load(kept(library))["digests"]) if kept(library).exists() else 0)

    extract_library(library, ["timbre"], workers=1, progress=look)
    assert seen == [0, 1, 2]


def test_processes_give_the_numbers_of_each_clip_in_the_order_of_documents(
    library: Library, pickled_jobs: Callable[[str], None]
) -> None:
    pickled_jobs("features.extract")
    spread = extract_library(library, workers=2).values
    assert list(spread) == list(AUDIO_FEATURES)
    for place, document in enumerate(library.documents):
        for name, values in extract(library.clip(document)).items():
            assert (spread[name][place] == values).all()


def test_the_same_clip_twice_is_computed_once(library: Library, decoded: list[str]) -> None:
    clips = library.clips.with_columns(clip_sha256=pl.lit(library.clips["clip_sha256"][0]))
    found = extract_library(Library(library.folder, library.tracks, clips), ["tonal"], workers=1).values["tonal"]
    assert len(decoded) == 1
    assert (found[0] == found[2]).all()


def test_a_clip_without_a_digest_is_never_taken_from_what_is_kept(library: Library, decoded: list[str]) -> None:
    clips = library.clips.with_columns(clip_sha256=pl.lit(None, dtype=pl.String))
    unknown = Library(library.folder, library.tracks, clips)
    for _ in range(2):
        assert extract_library(unknown, ["tonal"], workers=1).values["tonal"].shape == (3, 96)
    assert len(decoded) == 6


def test_what_cannot_be_done_is_refused(library: Library) -> None:
    with pytest.raises(AdjudgeError, match=r"'timber'.*'timbre'"):
        extract_library(library, ["timber"])
    with pytest.raises(AdjudgeError, match="'workers' must be"):
        extract_library(library, workers=0)
    (library.folder / "features").write_text("a file")
    with pytest.raises(AdjudgeError, match=r"features.*a folder to keep features in.*got File exists"):
        extract_library(library, ["timbre"], workers=1)


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])
def test_features_are_written_for_other_programs(tmp_path: Path, suffix: str) -> None:
    values = {"timbre": np.arange(6.0).reshape(2, 3), "tonal": np.ones((2, 12)) / 3}
    path = tmp_path / f"features{suffix}"
    write_features(LibraryFeatures(("é", "b,c"), values, 2), path)
    if suffix == ".npz":
        with np.load(path) as archive:
            assert archive["documents"].tolist() == ["é", "b,c"]
            assert (archive["tonal"] == values["tonal"]).all()
        return
    table = pl.read_csv(path) if suffix == ".csv" else pl.read_parquet(path)
    assert table["document"].to_list() == ["é", "b,c"]
    assert table.columns[1:5] == ["timbre_1", "timbre_2", "timbre_3", "tonal_01"]
    assert table["timbre_2"].to_list() == [1.0, 4.0]
    assert table["tonal_12"].to_list() == [1 / 3, 1 / 3]
