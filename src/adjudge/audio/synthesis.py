"""The demo's sound: a short piece of invented music for each of its 3,000 tracks, made by code.

Nobody's music, free to play to anybody, and it agrees with the demo's judgments. A genre is a style (tempo, harmony,
instruments, rhythm: ``synthesis_styles``), an artist has habits within it, a track has a melody of its own
(``synthesis_score``) and instruments play it (``synthesis_voices``).

What is similar in the demo's latent space sounds similar. The ten genres' centres span that space, so a track is a
mixture of genres: mostly its own, leaning to some and away from others. Its traits (tempo, brightness, density,
register, reverberation, swing, drums, legato) are those of its genre, moved as it leans: a rock track on the way to
metal is faster and brighter, one on the way to the Romantics slower and more reverberant. What cannot change gradually
(instruments, key, groove) is cut from ten perpendicular directions of the artist's place in its genre, in pieces of
equal probability: neighbours share more of it than strangers.

The same document, seed, length and rate give the same samples. Samples are floats between -1 and 1, samples x 2; an
RMS of -20 dB is wanted, and reached within a decibel or two.

>>> synthesise("jazz-03-07", seconds=1.0).shape
(32000, 2)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import fft, signal
from scipy.special import ndtr

from adjudge.arrays import Floats
from adjudge.audio.synthesis_score import Habits, Note, Score, compose
from adjudge.audio.synthesis_styles import STYLES, Traits
from adjudge.audio.synthesis_voices import INSTRUMENTS, Wave, drum, tone
from adjudge.embedded import ARTIST_SPREAD, N_ARTISTS, N_DIMENSIONS, N_TRACKS, demo_space, demo_tables
from adjudge.errors import AdjudgeError, shown
from adjudge.extras import need
from adjudge.parallel import CrashedError, Progress, run_jobs

Choice = TypeVar("Choice")
Spectrum = NDArray[np.complex64]

LEAST_SECONDS, MOST_SECONDS = 0.5, 120.0
RATE, LEAST_RATE, MOST_RATE = 32000, 8000, 192000
# How far traits follow a track away from its genre; 1 would take it all the way to its neighbours, and brightness and
# register, in which genres differ little, go beyond.
LEANING = Traits(0.6, 2.0, 0.6, 1.2, 0.8, 0.6, 0.6, 0.6)
LIMITS = (Traits(58, -0.09, 0.0, 60, 0.35, 0.0, -16, 0.5), Traits(172, 0.11, 1.0, 82, 2.6, 1.0, 3, 1.0))
FIFTHS = (10, 5, 0, 7, 2, 9, 4, 11)  # keys, neighbours a fifth apart
RMS, PEAK = 0.1, 0.85  # of the finished piece: wanted, and never reached
FADE_IN, FADE_OUT = 0.02, 0.7  # seconds
PANS = {"lead": 0.12, "comp": -0.28, "pad": 0.0, "bass": 0.0}  # -1 left to 1 right
DRUM_PANS = {"hat": 0.3, "open-hat": 0.3, "ride": -0.35, "shaker": 0.4, "clap": -0.1, "brush": 0.15, "rim": -0.25}
SENDS = {"lead": 0.30, "comp": 0.25, "pad": 0.35, "bass": 0.04, "drums": 0.10}  # share that goes to the reverberation
KIT_RMS = 0.28  # of a kit with a kick and a snare, as its strokes come
DRIVEN = {"lead-guitar", "rhythm-guitar"}
_PIECES, _DIRECTIONS = 100, 101  # random streams, away from those of the demo's tables


@dataclass(frozen=True)
class _Places:
    """The latent space as a listener might describe it; tracks in the demo's order.

    ``mixture`` is tracks x genres, ``artists`` tracks x directions: the artist's place in its genre along ten
    perpendicular directions, as probabilities from 0 to 1.
    """

    index: dict[str, int]
    mixture: Floats
    artists: Floats
    tracks: Floats


def synthesise(document: str, *, seed: int = 2012, seconds: float = 12.0, rate: int = RATE) -> Floats:
    """Play a track of the demo: samples x 2, faded in and out.

    ``seed`` is that of the demo. From 0.5 to 120 seconds, from 8 to 192 kHz.

    >>> synthesise("polka-01-01")
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: demo: no document is called 'polka-01-01'; they go from baroque-01-01 to romantic-25-12
    """
    _check("seconds", seconds, LEAST_SECONDS, MOST_SECONDS)
    _check("rate", rate, LEAST_RATE, MOST_RATE)
    habits = _habits(document, seed)
    number = _places(seed).index[document]
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_PIECES, number)))
    score = compose(habits, seconds, rng)
    return _mixed(habits, score, round(seconds * rate), rate)


def write_demo_audio(
    documents: Iterable[str],
    folder: Path,
    *,
    seed: int = 2012,
    seconds: float = 12.0,
    workers: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Path]:
    """Write tracks of the demo as ``<document>.flac`` (32 kHz, 16 bits) with their tags, over processes.

    What was there is replaced. ``progress`` is told how many are done, of how many. Every document is looked up before
    anything is written.
    """
    need("audio", "Files of sound need", "soundfile")
    wanted = list(dict.fromkeys(documents))
    for document in wanted:
        _habits(document, seed)
    _check("seconds", seconds, LEAST_SECONDS, MOST_SECONDS)
    folder.mkdir(parents=True, exist_ok=True)
    write = partial(_write, folder=folder, seed=seed, seconds=seconds)
    metadata = demo_tables(seed, queries=1, depth=1).metadata
    tags = {row["document"]: row for row in metadata.iter_rows(named=True)}
    written: dict[str, Path] = {}
    for document, result in run_jobs(write, {name: tags[name] for name in wanted}, workers=workers, progress=progress):
        if isinstance(result, CrashedError):
            raise AdjudgeError(f"demo: expected the sound of {document}, got a process that died")
        written[document] = result
    return {document: written[document] for document in wanted}


def _write(tags: Mapping[str, str], *, folder: Path, seed: int, seconds: float) -> Path:
    import soundfile

    document = tags["document"]
    path, temporary = folder / f"{document}.flac", folder / f".{document}.flac.part"
    samples = synthesise(document, seed=seed, seconds=seconds, rate=RATE)
    with soundfile.SoundFile(temporary, "w", RATE, 2, "PCM_16", format="FLAC") as file:
        file.title, file.artist, file.genre = tags["title"], tags["artist"], tags["genre"]
        file.album = f"{tags['artist']}, volume {(int(document[-2:]) + 1) // 2}"
        file.write(samples)
    temporary.replace(path)
    return path


def _check(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise AdjudgeError(f"demo: {name!r} must be from {least:g} to {most:g}, got {value!r}")


@lru_cache(maxsize=4)
def _places(seed: int) -> _Places:
    ids, space = demo_space(seed)
    by_genre = space.reshape(-1, N_ARTISTS, N_TRACKS, N_DIMENSIONS)
    centres = by_genre.mean(axis=(1, 2))
    turned = np.random.default_rng(np.random.SeedSequence(_DIRECTIONS)).normal(size=(N_DIMENSIONS, N_DIMENSIONS))
    directions = np.linalg.qr(turned)[0]
    artists = (by_genre.mean(axis=2) - centres[:, None]) / ARTIST_SPREAD @ directions
    own = (by_genre - by_genre.mean(axis=2, keepdims=True)) / ARTIST_SPREAD @ directions
    return _Places(
        index={document: number for number, document in enumerate(ids)},
        mixture=space @ np.linalg.pinv(centres),
        artists=ndtr(np.repeat(artists.reshape(-1, N_DIMENSIONS), N_TRACKS, axis=0)),
        tracks=ndtr(own.reshape(-1, N_DIMENSIONS)),
    )


def _habits(document: str, seed: int) -> Habits:
    """How the artist of a track plays it."""
    places = _places(seed)
    if document not in places.index:
        known = list(places.index)
        raise AdjudgeError(f"demo: no document is called {shown(document)}; they go from {known[0]} to {known[-1]}")
    number = places.index[document]
    style = STYLES[document.split("-", maxsplit=1)[0]]
    artist, track = places.artists[number], places.tracks[number]
    return Habits(
        style=style,
        traits=_traits(places.mixture[number], list(STYLES.values()).index(style)),
        lead=_cut(style.leads, artist[0]),
        comp=_cut(style.comps, artist[1]),
        bass=_cut(style.basses, artist[2]),
        pad=_cut(style.pads, artist[3]),
        progression=_cut(style.progressions, (artist[4] + 0.5 * track[4]) / 1.5),
        comp_pattern=_cut(style.comp_patterns, artist[5]),
        bass_pattern=_cut(style.bass_patterns, artist[6]),
        drums=_cut(style.drums, artist[7]),
        key=_cut(FIFTHS, artist[8]),
        voices=style.harmony and bool(artist[9] > 0.55),
        tuning=0.85 + 0.3 * float(artist[9]),
    )


def _cut(options: tuple[Choice, ...], share: float) -> Choice:
    """The option in whose piece of the range from 0 to 1 a share lies."""
    return options[min(len(options) - 1, int(share * len(options)))]


def _traits(mixture: Floats, genre: int) -> Traits:
    """The traits of a genre, moved as a track leans to the others; tempo and reverberation in logarithms."""
    logarithmic = np.array([name in ("tempo", "reverb") for name in Traits.__dataclass_fields__])
    table = np.array([astuple(style.traits) for style in STYLES.values()], dtype=np.float64)
    table[:, logarithmic] = np.log(table[:, logarithmic])
    leaning = mixture - np.eye(len(table))[genre]
    moved = table[genre] + np.array(astuple(LEANING)) * (leaning @ (table - table.mean(axis=0)))
    moved[logarithmic] = np.exp(moved[logarithmic])
    low, high = np.array([astuple(limit) for limit in LIMITS], dtype=np.float64)
    return Traits(*np.clip(moved, low, high).tolist())


def _mixed(habits: Habits, score: Score, n_samples: int, rate: int) -> Floats:
    """Play every part, balance them, and put them in a room."""
    dry = np.zeros((3, n_samples), dtype=np.float32)  # left, right, and what goes to the room
    names = {"lead": habits.lead, "comp": habits.comp, "pad": habits.pad, "bass": habits.bass}
    ducked = _ducking(habits, score, n_samples, rate)
    for (part, name), level in zip(names.items(), habits.style.mix, strict=True):
        if score.parts[part]:
            bus = _played(score.parts[part], name, habits, n_samples, rate)
            bus *= _gain(bus, level) * (ducked if part != "lead" else 1)
            _add(dry, bus, PANS[part], SENDS[part])
    if score.strokes:
        bus = _drummed(score, habits, n_samples, rate)
        _add(dry, bus * _kit_gain(bus, habits.traits.drums - 3), 0.0, SENDS["drums"])
    return _finished(_in_a_room(dry, habits.traits, rate), rate)


def _gain(bus: Wave, level: float) -> np.float32:
    """The factor that brings a part to a level in dB."""
    return np.float32(10 ** (level / 20) / max(1e-9, float(np.sqrt(np.mean(bus * bus)))))


def _kit_gain(bus: Wave, level: float) -> np.float32:
    """The factor for drums: between one for all kits and one for this kit, so that light ones stay light."""
    return np.float32(np.sqrt(_gain(bus, level) * 10 ** (level / 20) / KIT_RMS))


def _add(dry: Wave, bus: Wave, pan: float, send: float) -> None:
    """Add a part of two channels to the mix, moved left or right at equal power."""
    angle = (pan + 1) * np.pi / 4
    dry[0] += bus[0] * np.float32(np.sqrt(2) * np.cos(angle))
    dry[1] += bus[1] * np.float32(np.sqrt(2) * np.sin(angle))
    dry[2] += (bus[0] + bus[1]) * np.float32(send / 2)


def _played(notes: list[Note], name: str, habits: Habits, n_samples: int, rate: int) -> Wave:
    """One part, two channels. Tones that are alike are made once."""
    instrument, bus = INSTRUMENTS[name], np.zeros((2, n_samples), dtype=np.float32)
    made: dict[tuple[float, float, float, float], Wave] = {}
    for note in notes:
        held = max(0.05, round(note.held * 50) / 50)
        layer = round(note.strength * 5) / 5
        sort = (note.pitch, held, layer, note.bend)
        if sort not in made:
            frequency = 440 * 2 ** ((note.pitch - 69) / 12)
            brightness = habits.traits.brightness + 0.15 * (layer - 0.8) - 0.004 * max(0, note.pitch - 72)
            made[sort] = tone(instrument, frequency, held, rate=rate, brightness=brightness, bend=note.bend)
        _place(bus, made[sort], note.start, note.strength, rate)
    return _driven(bus, habits.style.drive, rate) if name in DRIVEN and habits.style.drive else bus


def _place(bus: Wave, wave: Wave, start: float, strength: float, rate: int) -> None:
    first = round(start * rate)
    length = min(wave.shape[1], bus.shape[1] - first)
    if length > 0:
        bus[:, first : first + length] += wave[:, :length] * np.float32(strength)


def _driven(bus: Wave, drive: float, rate: int) -> Wave:
    """An amplifier: overdriven, through a loudspeaker, and doubled 13 ms later, more on the other side."""
    level = float(np.sqrt(np.mean(bus[0] ** 2))) or 1.0
    hot = np.tanh(bus[0] * np.float32(drive / level / 2))
    speaker = signal.butter(2, [80, min(4500, 0.45 * rate)], "bandpass", fs=rate, output="sos").astype(np.float32)
    out = signal.sosfilt(speaker, hot).astype(np.float32)
    late = round(0.013 * rate)
    echo = np.concatenate([np.zeros(late, dtype=np.float32), out[: max(0, len(out) - late)]])[: len(out)]
    return np.stack([out + np.float32(0.4) * echo, echo + np.float32(0.4) * out])


def _drummed(score: Score, habits: Habits, n_samples: int, rate: int) -> Wave:
    bus = np.zeros((2, n_samples), dtype=np.float32)
    tuning = round(habits.tuning * 20) / 20
    for stroke in score.strokes:
        angle = (DRUM_PANS.get(stroke.drum, 0.0) + 1) * np.pi / 4
        sides = np.sqrt(2) * np.array([[np.cos(angle)], [np.sin(angle)]], dtype=np.float32)
        _place(bus, drum(stroke.drum, rate, tuning) * sides, stroke.start, stroke.strength, rate)
    return bus


def _ducking(habits: Habits, score: Score, n_samples: int, rate: int) -> Wave | float:
    """How much of everything but the melody is left under the kick: down at once, back within a beat."""
    kicks = np.array([stroke.start for stroke in score.strokes if stroke.drum == "kick"], dtype=np.float32)
    if not habits.style.pump or not len(kicks):
        return 1.0
    recovery = np.float32(-3.5 * habits.traits.tempo / 60)  # per second
    left = np.exp(recovery * np.diff(kicks, prepend=np.float32(-9)))  # of the last duck, when the next begins
    time = np.arange(n_samples, dtype=np.float32) / np.float32(rate)
    last = np.maximum(np.searchsorted(kicks, time, side="right") - 1, 0)
    since = np.maximum(time - kicks[last], 0)
    onset = np.minimum(1, since / np.float32(0.012))
    shape = left[last] * (1 - onset) + onset * np.exp(recovery * since)
    return np.asarray(1 - habits.style.pump * shape, dtype=np.float32)


@lru_cache(maxsize=16)
def _room(reverb: float, size: int, rate: int) -> Spectrum:
    """The spectrum of a room: two noises that fade within its reverberation time, the treble first, 12 ms late."""
    time = np.arange(round((reverb + 0.05) * rate)) / rate
    noise = np.random.default_rng(np.random.SeedSequence(_DIRECTIONS)).normal(size=(2, len(time)))
    bright = noise * np.exp(-time * 6.9 / (0.6 * reverb))
    dark = signal.lfilter([0.12], [1, -0.88], noise * np.exp(-time * 6.9 / reverb), axis=1)
    tail = (0.25 * bright + 2.0 * dark) * np.clip((time - 0.012) / 0.02, 0, 1)
    tail /= np.sqrt(np.sum(tail**2, axis=1, keepdims=True))
    spectrum: Spectrum = fft.rfft(tail.astype(np.float32), size)
    return spectrum


@lru_cache(maxsize=4)
def _tone_control(size: int, rate: int) -> tuple[Wave, Wave]:
    """For every line of a spectrum: what removes rumble, and the logarithm of what brightens."""
    frequency = np.maximum(fft.rfftfreq(size, 1 / rate), 1)
    no_rumble = 1 / (1 + (32 / frequency) ** 4)
    return no_rumble.astype(np.float32), np.log(np.clip(frequency / 800, 0.2, 8)).astype(np.float32)


def _in_a_room(dry: Wave, traits: Traits, rate: int) -> Wave:
    """Dry sound and its reverberation, without rumble, and brighter or darker on the whole."""
    reverb = round(traits.reverb * 5) / 5
    size = fft.next_fast_len(dry.shape[1] + round((LIMITS[1].reverb + 0.05) * rate), real=True)
    spectra = fft.rfft(dry, size)
    no_rumble, treble = _tone_control(size, rate)
    shape = no_rumble * np.exp(np.float32(1.5 * traits.brightness) * treble)
    wet = spectra[2] * _room(reverb, size, rate)
    return np.asarray(fft.irfft((spectra[:2] + wet) * shape, size)[:, : dry.shape[1]], dtype=np.float32)


def _finished(mix: Wave, rate: int) -> Floats:
    """Bring a piece to its level, round its highest peaks off, and fade it in and out."""
    level = max(1e-9, float(np.sqrt(np.mean(mix * mix))))
    piece: Floats = (np.tanh(mix * np.float32(RMS / level / PEAK)) * np.float32(PEAK)).T.astype(np.float64, order="C")
    for seconds, side in ((FADE_IN, 1), (FADE_OUT, -1)):
        length = min(round(seconds * rate), len(piece) // 2)
        piece[::side][:length] *= (0.5 - 0.5 * np.cos(np.pi * np.arange(length) / length))[:, None]
    return piece
