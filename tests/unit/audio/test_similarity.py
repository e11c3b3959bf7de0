"""How alike documents sound, against the formula and on generated sound."""

from __future__ import annotations

import pickle
from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import soundfile
from scipy.stats import norm

from adjudge.arrays import Floats
from adjudge.audio import similarity
from adjudge.audio.features.timbre import pack
from adjudge.audio.library.folder import CLIP_COLUMNS
from adjudge.audio.similarity import SoundSimilarity, sound_similarity
from adjudge.errors import AdjudgeError

NAMES = [f"d{i}" for i in range(12)]


def made(seed: int = 1) -> dict[str, Floats]:
    rng = np.random.default_rng(seed)
    spread = rng.normal(size=(len(NAMES), 20, 40))
    timbre = [pack(rng.normal(size=20), frames @ frames.T / 40) for frames in spread]
    return {"timbre": np.array(timbre), "rhythm": rng.random((12, 30)), "tonal": rng.random((12, 24))}


def proximity(distances: Floats) -> Floats:
    """Mutual proximity of log-normal distances, pair by pair."""
    logs = [np.log(np.delete(row, place)) for place, row in enumerate(distances)]
    found = np.eye(len(distances))
    for x, y in permutations(range(len(distances)), 2):
        found[x, y] = np.prod([norm.sf(np.log(distances[x, y]), logs[i].mean(), logs[i].std()) for i in (x, y)])
    return found


def test_rhythm_is_compared_by_mutual_proximity_of_euclidean_distances() -> None:
    values = made()["rhythm"]
    distances = np.sqrt(((values[:, None] - values) ** 2).sum(axis=-1))
    found = SoundSimilarity(NAMES, {"rhythm": values}).among(NAMES)
    np.testing.assert_allclose(found, proximity(distances), atol=1e-12)


def test_aspects_count_the_same() -> None:
    values = made()
    single = [SoundSimilarity(NAMES, {name: values[name]}).among(NAMES) for name in values]
    np.testing.assert_allclose(SoundSimilarity(NAMES, values).among(NAMES), np.mean(single, axis=0), atol=1e-12)


def test_similarities_are_symmetric_from_0_to_1_whatever_is_asked_together() -> None:
    sound = SoundSimilarity(NAMES, made())
    all_of_them = sound.among(NAMES)
    np.testing.assert_array_equal(all_of_them, all_of_them.T)
    assert (np.diagonal(all_of_them) == 1).all()
    assert ((all_of_them >= 0) & (all_of_them <= 1)).all()
    places = [7, 2, 7, 11]
    few = pickle.loads(pickle.dumps(sound)).among([NAMES[place] for place in places])
    np.testing.assert_allclose(few, all_of_them[np.ix_(places, places)], atol=1e-9)


def test_what_is_not_known_is_nan_and_alone_is_itself() -> None:
    sound = SoundSimilarity(NAMES, made())
    found = sound.among(["d1", "nobody", "d2"])
    assert np.isnan(found[1]).all()
    assert np.isnan(found[:, 1]).all()
    assert found[0, 2] == sound.among(["d1", "d2"])[0, 1]
    assert sound.among(["d3"]).tolist() == [[1.0]]
    assert sound.among([]).shape == (0, 0)


def test_copies_are_as_similar_as_can_be_and_documents_equally_far_apart_neither_near_nor_far() -> None:
    values = made()
    for feature in values.values():
        feature[5] = feature[3]
    assert SoundSimilarity(NAMES, values).among(["d3", "d5"])[0, 1] > 0.99
    assert SoundSimilarity(["a", "b"], {"rhythm": np.eye(2)}).among(["a", "b"])[0, 1] == 0.25


def test_what_was_given_out_may_be_changed_and_is_remembered_only_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "_CACHE_SIZE", 20)
    sound = SoundSimilarity(NAMES, made())
    first = sound.among(["d1", "d2"])
    kept = first.copy()
    first[:] = 9
    np.testing.assert_array_equal(sound.among(["d1", "d2"]), kept)
    for _ in range(2):
        sound.among(NAMES[:4])
        np.testing.assert_array_equal(sound.among(["d1", "d2"]), kept)


def test_a_sample_of_others_is_enough_for_large_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"rhythm": np.random.default_rng(2).random((400, 8))}
    names = [f"d{i}" for i in range(400)]
    exact = SoundSimilarity(names, values).among(names[:50])
    monkeypatch.setattr(similarity, "MOST_OTHERS", 200)
    assert np.abs(SoundSimilarity(names, values).among(names[:50]) - exact).max() < 0.1


def test_the_digest_is_of_documents_features_and_aspects() -> None:
    values = made()
    digests = {
        SoundSimilarity(NAMES, values).digest,
        SoundSimilarity(NAMES[::-1], values).digest,
        SoundSimilarity(NAMES, made(2)).digest,
        SoundSimilarity(NAMES, {"rhythm": values["rhythm"]}).digest,
    }
    assert len(digests) == 4
    assert SoundSimilarity(NAMES, made()).digest in digests


@pytest.mark.parametrize(
    ("documents", "features", "said"),
    [
        (["a", "b"], {}, "expected features of documents, got none"),
        (["a", "b"], {"rhythm": np.zeros((3, 2))}, "expected rhythm of 2 documents, got 3"),
        (["a", "b"], {"taste": np.zeros((2, 2))}, "No aspect of sound is called 'taste'"),
        (["a"], {"rhythm": np.zeros((1, 2))}, "expected two documents or more, each once, got 1"),
        (["a", "a"], {"rhythm": np.zeros((2, 2))}, "expected two documents or more, each once, got 1"),
    ],
)
def test_what_cannot_be_compared_is_refused(documents: list[str], features: dict[str, Floats], said: str) -> None:
    with pytest.raises(AdjudgeError, match=said):
        SoundSimilarity(documents, features)


def test_a_library_is_listened_to(tmp_path: Path) -> None:
    """Two clips with the same tones in another order, and noise."""
    (tmp_path / "clips").mkdir()
    time, rng = np.arange(22050) / 22050, np.random.default_rng(3)
    low, high = np.sin(2 * np.pi * 220 * time), np.sin(2 * np.pi * 1760 * time)
    clips = {"a": [low, high], "b": [high, low], "noise": [rng.normal(size=44100) / 4]}
    for name, parts in clips.items():
        sound = 0.3 * np.concatenate(parts) + 0.001 * rng.normal(size=44100)
        soundfile.write(tmp_path / "clips" / f"{name}.mp3", sound, 22050, format="MP3")
    pl.DataFrame({"document": list(clips)}).write_csv(tmp_path / "tracks.csv")
    rows = {column: list(clips) if column == "document" else ["1"] * 3 for column in CLIP_COLUMNS}
    pl.DataFrame({**rows, "clip_sha256": list(clips)}).write_csv(tmp_path / "clips.csv")
    found = sound_similarity(tmp_path, ["timbre"], workers=1)
    alike = found.among(["a", "b", "noise"])
    assert alike[0, 1] > max(alike[0, 2], alike[1, 2])
    assert (len(found), found.aspects, repr(found)) == (3, ("timbre",), "SoundSimilarity(3 documents by timbre)")
    with pytest.raises(AdjudgeError, match="No aspect of sound is called 'timber'"):
        sound_similarity(tmp_path, ["timber"])
