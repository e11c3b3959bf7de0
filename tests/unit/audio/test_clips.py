"""Recordings of every kind become clips or one clear line; what was written is decoded and measured here."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray
from tests.unit.audio.sound_formats import FORMATS

from adjudge.audio.clips import Clip, encode_clip, prepare_clip, prepare_clips
from adjudge.audio.loudness import AudioError, integrated_loudness, true_peak
from adjudge.audio.sources import ForeignError, NotAudioError, read_source

Floats = NDArray[np.float64]


def music(seconds: float = 1.5, rate: int = 44100, *, channels: int = 2, level: float = 0.2) -> Floats:
    """A chord that beats, with a little noise: the same in all channels but for the noise."""
    time = np.arange(round(seconds * rate)) / rate
    chord = np.sin(2 * np.pi * np.outer(time, [220.0, 277.2, 329.6])).mean(axis=1)
    noise = np.random.default_rng(5).normal(size=(len(time), channels))
    samples: Floats = level * (chord[:, None] * (0.7 + 0.3 * np.sin(2 * np.pi * 2 * time))[:, None] + 0.05 * noise)
    return samples


def write(path: Path, samples: Floats, rate: int = 44100, **options: str) -> Path:
    kind = FORMATS.get(path.suffix[1:], {}) | options
    soundfile.write(path, samples, rate, **kind)
    return path


def check(clip: Clip, *, target: float = -18.0, ceiling: float = -1.0) -> Floats:
    """What holds for every clip; returns its samples."""
    samples, rate = soundfile.read(clip.path, always_2d=True)
    assert clip.path.name == f"{hashlib.sha256(clip.path.read_bytes()).hexdigest()}.mp3" == f"{clip.clip_sha256}.mp3"
    assert soundfile.info(clip.path).format == "MP3"
    assert (rate, samples.shape[1]) == (clip.rate, clip.channels)
    assert len(samples) / rate == pytest.approx(clip.seconds, abs=0.1)
    assert true_peak(samples, rate) <= ceiling
    assert integrated_loudness(samples, rate) == pytest.approx(clip.loudness, abs=0.01)
    assert clip.limited or clip.loudness == pytest.approx(target, abs=1)
    sound: Floats = samples
    return sound


@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("kind", list(FORMATS))
def test_every_format_becomes_a_levelled_mp3_whatever_its_name(tmp_path: Path, kind: str, channels: int) -> None:
    rate = 48000 if kind == "opus" else 44100
    source = write(tmp_path / f"song.{kind}", music(rate=rate, channels=channels), rate)
    source = source.rename(tmp_path / "song.m4a.wav") if channels == 1 else source
    clip = prepare_clip(source, tmp_path / "clips")
    check(clip)
    assert (clip.source_name, clip.rate, clip.channels) == (source.name, rate, channels)
    assert clip.original_sha256 == hashlib.sha256(source.read_bytes()).hexdigest()
    assert clip.seconds == pytest.approx(1.5, abs=0.06)


@pytest.mark.parametrize(
    ("rate", "becomes"),
    [(8000, 44100), (11025, 44100), (22050, 44100), (32000, 32000), (48000, 48000), (96000, 44100), (192000, 44100)],
)
def test_rates_that_mp3_does_not_have_become_44100(tmp_path: Path, rate: int, becomes: int) -> None:
    clip = prepare_clip(write(tmp_path / "song.wav", music(rate=rate), rate), tmp_path / "clips")
    samples = check(clip)
    assert clip.rate == becomes
    spectrum = np.abs(np.fft.rfft(samples[:, 0]))
    assert np.argmax(spectrum) * becomes / len(samples) == pytest.approx(220, abs=120)  # not a chipmunk


def test_a_clip_sounds_like_its_source_and_is_the_same_whenever_it_is_made(tmp_path: Path) -> None:
    original = music()
    source = write(tmp_path / "song.wav", original)
    clip = prepare_clip(source, tmp_path / "clips")
    samples = check(clip)
    assert np.corrcoef(samples[:, 0], original[: len(samples), 0])[0, 1] > 0.99
    assert np.std(samples) / np.std(original) == pytest.approx(10 ** (clip.gain_db / 20), rel=0.02)
    assert prepare_clip(source, tmp_path / "clips") == clip
    assert len(list((tmp_path / "clips").iterdir())) == 1


def with_clicks() -> Floats:
    """Clicks at full scale over a quiet chord."""
    samples = music(3, level=0.01)
    samples[::22050] = 1.0
    return samples


@pytest.mark.parametrize(("samples", "target"), [(with_clicks(), -14), (np.sign(music(2)) * 0.99, 0)])
def test_peaks_hold_a_clip_back_and_survive_the_encoder(tmp_path: Path, samples: Floats, target: float) -> None:
    clip = prepare_clip(write(tmp_path / "a.wav", samples, subtype="FLOAT"), tmp_path / "clips", target=target)
    check(clip, target=target)
    assert clip.limited


def test_a_long_recording_is_cut_and_faded(tmp_path: Path) -> None:
    clip = prepare_clip(write(tmp_path / "song.flac", music(5)), tmp_path / "clips", max_seconds=1.0)
    samples = check(clip)
    assert clip.seconds == 1.0
    assert np.max(np.abs(samples[-200:])) < 0.1 * np.max(np.abs(samples))


def surround(channel: int, kind: str, folder: Path) -> Path:
    """Six channels of which one sounds."""
    samples = np.zeros((44100, 6))
    samples[:, channel] = music(1, channels=1)[:, 0]
    return write(folder / f"surround.{kind}", samples)


@pytest.mark.parametrize(("kind", "centre", "left_behind"), [("wav", 2, 4), ("flac", 2, 4), ("ogg", 1, 3)])
def test_the_order_of_channels_is_that_of_the_format(tmp_path: Path, kind: str, centre: int, left_behind: int) -> None:
    middle = check(prepare_clip(surround(centre, kind, tmp_path), tmp_path / "clips"))
    assert middle.shape[1] == 2
    assert np.allclose(middle[:, 0], middle[:, 1], atol=0.01)
    behind = read_source(surround(left_behind, kind, tmp_path)).samples
    assert np.std(behind[:, 0]) > 20 * np.std(behind[:, 1])


def test_the_low_frequency_channel_alone_is_silence(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match=r"surround\.wav: expected sound, got silence"):
        prepare_clip(surround(3, "wav", tmp_path), tmp_path / "clips")


@pytest.mark.parametrize("kind", list(FORMATS))
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, kind: str) -> None:
    source = write(tmp_path / f"song.{kind}", music(3, 48000), 48000)
    whole = source.read_bytes()
    source.write_bytes(whole[: len(whole) * 6 // 10])
    with pytest.raises(AudioError, match=rf"song\.{kind}: expected a whole file, got one that is cut off"):
        prepare_clip(source, tmp_path / "clips")


@pytest.mark.parametrize("promised", [b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f"])
def test_a_wav_that_was_written_to_a_pipe_is_whole(tmp_path: Path, promised: bytes) -> None:
    source = write(tmp_path / "song.wav", music())
    data = bytearray(source.read_bytes())
    data[4:8] = promised
    at = data.index(b"data") + 4
    data[at : at + 4] = promised
    source.write_bytes(data)
    assert prepare_clip(source, tmp_path / "clips").seconds == 1.5


@pytest.mark.parametrize(
    ("kind", "name", "data", "said"),
    [
        (NotAudioError, "empty.mp3", b"", "expected audio, got a file of zero bytes"),
        (NotAudioError, "text.mp3", b"These are the lyrics.\n" * 500, "got a file that is none of them"),
        (NotAudioError, "zeros.wav", bytes(5000), "got a file that is none of them"),
        (NotAudioError, "voice.raw", b"ab" * 5000, "got a file that is none of them"),
        (NotAudioError, "riff.wav", b"RIFF\xff\xff\xff\xffWAVEfmt ", "got a file that is none of them"),
        (ForeignError, "song.m4a", b"\0\0\0\x20ftypM4A " + bytes(500), r"got MPEG-4 audio \(AAC or ALAC\), which"),
        (ForeignError, "song.aac", b"\xff\xf1" + bytes(500), "convert it to FLAC, WAV, MP3, Ogg or Opus"),
        (ForeignError, "song.wma", b"\x30\x26\xb2\x75\x8e\x66\xcf\x11" + bytes(500), r"got Windows Media \(WMA\)"),
        (ForeignError, "strange.WMA", b"nothing known", "got WMA, which cannot be read here; convert it"),
    ],
)
def test_what_is_no_audio_is_refused_in_one_line(
    tmp_path: Path, kind: type[AudioError], name: str, data: bytes, said: str
) -> None:
    source = tmp_path / name
    source.write_bytes(data)
    with pytest.raises(kind, match=said) as refused:
        prepare_clip(source, tmp_path / "clips")
    assert str(refused.value).startswith(f"{source}: expected ")
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "clips").exists()


@pytest.mark.parametrize(
    ("samples", "said"),
    [
        (np.zeros((44100, 2)), r"expected sound, got silence \(nothing above -70 LUFS\)"),
        (music(0.4), r"expected at least 0\.5 s, got 0\.400 s"),
        (np.where(np.arange(44100) == 999, np.nan, 0.1)[:, None], "expected finite samples, got NaN or infinity"),
        (np.where(np.arange(44100) == 999, np.inf, 0.1)[:, None], "expected finite samples, got NaN or infinity"),
        (np.zeros((0, 1)), r"expected at least 0\.5 s, got 0\.000 s"),
    ],
    ids=["silent", "short", "nan", "infinite", "no samples"],
)
def test_sound_that_cannot_be_played_is_refused(tmp_path: Path, samples: Floats, said: str) -> None:
    source = write(tmp_path / "song.wav", samples, subtype="FLOAT")
    with pytest.raises(AudioError, match=rf"song\.wav: {said}$"):
        prepare_clip(source, tmp_path / "clips")


def test_a_header_that_promises_days_of_sound_is_refused_before_it_is_read(tmp_path: Path) -> None:
    source = write(tmp_path / "bomb.flac", music())
    data = bytearray(source.read_bytes())
    data[21] |= 0x0F  # the 36 bits of STREAMINFO that say how many samples there are
    data[22:26] = b"\xff\xff\xff\xff"
    source.write_bytes(data)
    with pytest.raises(AudioError, match="expected at most 30 minutes, got 25971"):
        prepare_clip(source, tmp_path / "clips")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "expected a file, got something else"),
        ("missing.wav", r"missing\.wav: expected a file, got none"),
        ("nu\0ll.wav", r"nu\?ll\.wav: expected a file, got none"),
    ],
)
def test_a_folder_or_nothing_is_no_source(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(AudioError, match=said):
        prepare_clip(tmp_path / name, tmp_path / "clips")


@pytest.mark.parametrize("most", [0.0, -1.0, float("nan")])
def test_a_length_that_is_none_is_refused(tmp_path: Path, most: float) -> None:
    with pytest.raises(AudioError, match="expected 'max_seconds' above 0, got"):
        prepare_clip(tmp_path / "song.wav", tmp_path / "clips", max_seconds=most)


def test_a_hostile_name_is_read_but_printed_harmlessly(tmp_path: Path) -> None:
    good = write(tmp_path / "a.wav", music()).rename(tmp_path / "\x1b[31m red\n<b>.wav")
    check(prepare_clip(good, tmp_path / "clips"))
    bad = tmp_path / "\x1b[2J\r\nlie: fine\u202e.mp3"
    bad.write_text("no audio")
    with pytest.raises(AudioError, match=r"\?\[2J\?\?lie: fine\?\.mp3: expected") as refused:
        prepare_clip(bad, tmp_path / "clips")
    assert str(refused.value).isprintable()


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Good and bad sources in no order."""
    folder = tmp_path_factory.mktemp("sources")
    (folder / "bad.mp3").write_bytes(b"no audio")
    sources = {"z": write(folder / "z.wav", music(1)), "bad": folder / "bad.mp3", "none": folder / "none.wav"}
    return sources | {"a": write(folder / "a.ogg", music(1.2))}


def test_one_bad_source_stops_no_other(mixed: dict[str, Path], tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    prepared = prepare_clips(mixed, tmp_path, workers=1, progress=lambda done, of: seen.append((done, of)))
    assert list(prepared.clips) == ["z", "a"]
    assert list(prepared.problems) == ["bad", "none"]
    assert prepared.problems["none"] == f"{mixed['none']}: expected a file, got none"
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert str(prepared) == "2 clips (0 held back by their peaks), 2 problems"
    for clip in prepared.clips.values():
        check(clip)


def test_other_processes_give_the_same_clips(
    mixed: dict[str, Path], tmp_path: Path, pickled_jobs: Callable[[str], None]
) -> None:
    here = prepare_clips(mixed, tmp_path, workers=1)
    pickled_jobs("clips")
    assert prepare_clips(mixed, tmp_path, workers=2) == here


def test_a_folder_that_cannot_be_written_is_a_problem_not_a_crash(mixed: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    prepared = prepare_clips({"z": mixed["z"]}, tmp_path / "file", workers=1)
    assert prepared.clips == {}
    assert prepared.problems["z"].startswith(f"{mixed['z']}: expected a clip, got ")


def ready(folder: Path, *, target: float = -18.0, level: float = 0.2) -> Path:
    """A clip under a name of its own."""
    source = write(folder / "song.wav", music(2, level=level))
    made = prepare_clip(source, folder / "made", target=target)
    return made.path.rename(folder / "ready.mp3")


@pytest.mark.parametrize(("target", "level"), [(-18.0, 0.2), (-18.0, 0.01), (-23.0, 0.2)])
def test_a_clip_is_not_encoded_twice_and_stays_as_loud_as_those_levelled_with_it(
    tmp_path: Path, target: float, level: float
) -> None:
    source = ready(tmp_path, target=target, level=level)
    again = prepare_clip(source, tmp_path / "clips")
    check(again, target=target)
    assert again.path.read_bytes() == source.read_bytes()
    assert (again.gain_db, again.original_sha256) == (0.0, again.clip_sha256)


def test_a_clip_that_its_peaks_hold_back_is_taken_as_it_is(tmp_path: Path) -> None:
    first = prepare_clip(write(tmp_path / "hits.wav", with_clicks(), subtype="FLOAT"), tmp_path / "made", target=-18)
    assert first.loudness < -20
    again = prepare_clip(first.path, tmp_path / "clips")
    assert (again.clip_sha256, again.limited) == (first.clip_sha256, True)


def test_an_mp3_that_is_no_clip_is_encoded(tmp_path: Path) -> None:
    loud = write(tmp_path / "loud.mp3", music(2, level=0.9))
    low = write(tmp_path / "low.mp3", music(2, 22050), 22050)
    long = ready(tmp_path)
    for source, most in ((loud, None), (low, None), (long, 1.0)):
        clip = prepare_clip(source, tmp_path / "clips", max_seconds=most)
        check(clip)
        assert clip.clip_sha256 != clip.original_sha256


def test_a_note_that_lies_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "liar.mp3"
    with soundfile.SoundFile(path, "w", 44100, 2, format="MP3") as file:
        file.comment = "Levelled to -40 LUFS"
        file.write(music(2))
    check(prepare_clip(path, tmp_path / "clips"))


def test_a_clip_is_written_under_the_name_it_is_given(tmp_path: Path) -> None:
    clip = encode_clip(music(1), 44100, tmp_path, source_name="a.wav", original_sha256="0" * 64, name="song-1.mp3")
    assert clip.path == tmp_path / "song-1.mp3"
    assert hashlib.sha256(clip.path.read_bytes()).hexdigest() == clip.clip_sha256
