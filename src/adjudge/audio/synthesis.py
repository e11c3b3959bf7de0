"""The demo's music: a short piece for each of its 3,000 tracks, invented by code and free to play to anybody.

What is similar in the demo's latent space sounds similar. The centres of the ten genres span that space, so a track is
a mixture of genres: mostly its own, leaning to some and away from others. Its traits (tempo, brightness, and so on) are
those of its genre, moved as it leans. What cannot change gradually (instruments, key, accompaniment) is cut from
perpendicular directions of the artist's place in its genre, in pieces of equal probability: neighbours share more of it
than strangers. The melody is the track's own: a bar of rhythm and contour, heard as A A B A over the artist's chords.

An instrument is a pair of waveforms, one bright and one dull, between which a tone darkens while it fades; a drum is a
swept sine and noise. The room is a filter on the spectrum of the whole piece, and circular: its sound is there when a
piece begins, as in an excerpt of something longer.

:func:`write_demo_music` makes a folder such as a lab might have, to try every step from a folder to a campaign: tracks
of the demo, equally many per genre and two per artist, so that an artist filter has an effect; three useless files (one
silent, one empty, one a copy under another name); and the grades of the demo's listeners for every pair of tracks.

The same document, seed, length and rate give the same samples: floats within +-0.75, samples x 2, about -18 LUFS.

>>> synthesise("jazz-03-07", seconds=1.0).shape
(32000, 2)
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.special import ndtr

from adjudge.arrays import Floats
from adjudge.checks import Between, Whole, checked
from adjudge.embedded import (
    ARTIST_SPREAD,
    N_ARTISTS,
    N_DIMENSIONS,
    N_DOCUMENTS,
    N_TRACKS,
    demo_judgments,
    demo_space,
    demo_tables,
)
from adjudge.errors import AdjudgeError, shown
from adjudge.extras import need
from adjudge.parallel import CrashedError, Progress, run_jobs

Wave = NDArray[np.float32]

RATE = 32000  # Hz
LENGTH = Between(0.5, 120, "both", meaning="seconds of a piece")
LOUDNESS, PEAK = 0.105, 0.75  # weighted RMS that is wanted (about -18 LUFS), and what no sample exceeds
FADE_IN, FADE_OUT = 0.02, 0.6  # seconds
COLUMNS, MOST_PARTIALS = 4096, 40  # samples and harmonics of a waveform
DARKENING, VIBRATO, GLIDE = 0.3, 5.2, 0.07  # time constant (s), Hz, time constant (s)
PANS = {"lead": 0.2, "comp": -0.3, "hat": 0.3, "ride": -0.35, "shaker": 0.4, "rim": -0.25}  # -1 left to 1 right
WIDTHS = {"lead": 0.15, "comp": 0.35, "pad": 0.6, "bass": 0.0}  # of the stereo image
BY_ARTIST, OF_GENRE = 2, 12  # tracks of an artist before the next artist, and per genre, in a folder of music
_PIECES, _DIRECTIONS = 100, 101  # random streams, away from those of the demo's tables


class Instrument(NamedTuple):
    """An instrument: times in seconds (``decay`` 0 sustains), brightness at first and later (0 to 1), and cents."""

    waveform: str
    attack: float
    decay: float
    bright: float
    dull: float
    vibrato: float = 0.0
    width: float = 0.0  # between two detuned tones

    @property
    def release(self) -> float:
        """Seconds that a tone takes to end."""
        return 0.05 + 1.2 * self.attack + 0.08 * self.decay


class Traits(NamedTuple):
    """The properties of a piece that change gradually."""

    tempo: float  # beats per minute
    brightness: float  # of timbre; 0 is an instrument's own
    density: float  # of the melody, 0 to 1
    register: float  # of the melody, as a MIDI pitch
    reverb: float  # seconds
    swing: float  # from 0 (even) to 1 (triplets)
    drums: float  # level in dB
    legato: float  # share of a tone's time that it is held


class Style(NamedTuple):
    """How a genre is played. Of everything listed an artist has a favourite; what is near in a list sounds near.

    A bar is a string with one character per step: ``x`` plays the chord, ``m`` mutes it, a digit plays one tone of it
    (0 the root), ``a`` leads to the next chord's root, ``-`` holds and ``.`` rests; in ``rhythms`` ``x`` begins a tone
    of the melody, in ``kits`` ``X``, ``x`` and ``o`` are loud, plain and soft strokes. ``progressions`` are a mode and
    chords. ``levels`` of lead, comp, pad and bass are in dB; ``drive`` distorts guitars, ``pump`` ducks all but the
    melody on the beat, ``bends`` is the share of tones that glide in.
    """

    traits: Traits
    progressions: str
    leads: str
    comps: str
    basses: str
    comping: str
    walking: str
    rhythms: str
    kits: str = ""
    pads: str = "none"
    levels: tuple[float, float, float, float] = (0, -5, -9, -3)
    beats: int = 4
    steps: int = 4
    chords_per_bar: int = 1
    drive: float = 0.0
    pump: float = 0.0
    bends: float = 0.0


# How far traits follow a track away from its genre: 1 is all the way; genres differ little in brightness and register.
LEANING = Traits(0.6, 2.0, 0.6, 1.2, 0.8, 0.6, 0.6, 0.6)
LIMITS = Traits(58, -0.09, 0.0, 60, 0.35, 0.0, -16, 0.5), Traits(172, 0.11, 1.0, 82, 2.6, 1.0, 3, 1.0)
# fmt: off
INSTRUMENTS = {
    "banjo": Instrument("twang", 0.002, 0.24, 0.88, 0.58), "bell": Instrument("bars", 0.003, 0.9, 1.0, 0.9, 0, 5),
    "cello": Instrument("bowed", 0.06, 0, 0.58, 0.70, 12), "clarinet": Instrument("hollow", 0.035, 0, 0.60, 0.70, 4),
    "crunch": Instrument("plucked", 0.003, 1.6, 0.84, 0.62), "double-bass": Instrument("plucked", 0.006, 0.6, 0.6, 0.3),
    "electric-bass": Instrument("plucked", 0.004, 0.9, 0.7, 0.45), "epiano": Instrument("bars", 0.004, 1, 1, 0.5, 0, 5),
    "flute": Instrument("flute", 0.04, 0, 0.70, 0.65, 12), "guitar": Instrument("plucked", 0.003, 0.9, 0.82, 0.48),
    "harmonica": Instrument("reed", 0.02, 0, 0.66, 0.8, 14, 7), "harpsichord": Instrument("buzz", 0.002, 0.5, 0.9, 0.7),
    "lute": Instrument("plucked", 0.003, 0.55, 0.78, 0.40), "nylon": Instrument("plucked", 0.004, 0.7, 0.66, 0.34),
    "oboe": Instrument("reed", 0.03, 0, 0.70, 0.78, 10), "organ": Instrument("drawbars", 0.015, 0, 0.80, 0.76, 0, 4),
    "overdrive": Instrument("saw", 0.006, 3.0, 0.82, 0.76, 16), "pad": Instrument("saw", 0.18, 0, 0.52, 0.68, 0, 14),
    "piano": Instrument("hammered", 0.003, 1.1, 0.74, 0.36), "pluck": Instrument("saw", 0.003, 0.3, 0.80, 0.30, 0, 9),
    "saw": Instrument("saw", 0.012, 0, 0.84, 0.78, 7, 13), "saw-bass": Instrument("saw", 0.005, 0.7, 0.75, 0.50),
    "sax": Instrument("reed", 0.03, 0, 0.60, 0.78, 15), "square": Instrument("hollow", 0.01, 0, 0.88, 0.80, 9, 8),
    "steel": Instrument("soft", 0.03, 2.2, 0.84, 0.70, 16), "strings": Instrument("bowed", 0.16, 0, 0.55, 0.68, 0, 11),
    "sub-bass": Instrument("flute", 0.008, 0.9, 0.30, 0.20), "trumpet": Instrument("buzz", 0.025, 0, 0.60, 0.82, 10),
    "twang": Instrument("twang", 0.002, 0.8, 0.9, 0.6, 4), "upright": Instrument("hammered", 0.003, 1, 0.8, 0.5, 0, 8),
    "vibraphone": Instrument("bars", 0.003, 1.1, 0.9, 0.7), "violin": Instrument("bowed", 0.06, 0, 0.66, 0.80, 16),
}
_WAVEFORMS: dict[str, Callable[[Floats], Floats]] = {  # amplitude of harmonic k at full brightness
    "saw": lambda k: 1 / k,
    "soft": lambda k: k**-1.7,
    "buzz": lambda k: k**-0.55,
    "flute": lambda k: np.where(k == 1, 1, 0.75 / k**2),
    "hollow": lambda k: np.where(k % 2, 1, 0.1) / k,
    "plucked": lambda k: k**-0.9 * np.abs(np.sin(np.pi * k * 0.23)),
    "twang": lambda k: k**-0.6 * np.abs(np.sin(np.pi * k * 0.11)),
    "hammered": lambda k: k**-1.15 * (0.35 + np.abs(np.sin(np.pi * k / 8))),
    "drawbars": lambda k: np.select([k == 1, k == 2, k == 3, k == 4, k == 6, k == 8], [1, 0.8, 0.6, 0.4, 0.2, 0.25], 0),
    "bars": lambda k: np.select([k == 1, k == 2, k == 4, k == 10], [1, 0.15, 0.35, 0.12], 0),
    "reed": lambda k: k**-0.8 * (0.25 + np.exp(-(((k - 4) / 2.5) ** 2))),
    "bowed": lambda k: (0.55 + 0.45 * np.cos(k * 1.9) ** 2) / k,
}
# A sine (Hz, how much higher it begins, how fast it falls, level, decay) and noise (level, from which Hz, decay).
_DRUMS = {
    "kick": (48, 130, 0.028, 1.5, 0.11, 0.05, 1500, 0.006),
    "snare": (180, 60, 0.02, 0.7, 0.06, 0.42, 1200, 0.075),
    "brush": (0, 0, 1, 0, 0.05, 0.25, 1500, 0.05),
    "clap": (0, 0, 1, 0, 0.05, 0.40, 1000, 0.07),
    "rim": (820, 200, 0.004, 0.7, 0.018, 0.05, 2000, 0.004),
    "hat": (0, 0, 1, 0, 0.05, 0.26, 6500, 0.03),
    "open-hat": (0, 0, 1, 0, 0.05, 0.22, 6000, 0.14),
    "ride": (4200, 0, 1, 0.06, 0.09, 0.12, 5000, 0.20),
    "shaker": (0, 0, 1, 0, 0.05, 0.18, 4500, 0.04),
}
STYLES = {
    "baroque": Style(
        Traits(96, 0.05, 0.85, 76, 1.3, 0.0, -14, 0.80), levels=(0, -5, -9, -4), chords_per_bar=2,
        progressions="major I V vi iii IV I IV V|harmonic i iv bVII bIII bVI iio V i|major I vi ii V I IV V I",
        leads="flute organ violin oboe harpsichord", comps="lute organ harpsichord", basses="cello harpsichord",
        comping="x---x---x---x--- 0-1-2-1-0-1-2-1- 0121012101210121", walking="0---1---0---a--- 0-1-2-1-0-1-2-a-",
        rhythms="x-x-x-x-x-x-x-x- x-xxx-xxx-xxx-x- xxxxx-x-xxxxx-x- xxxxxxxxxxxxx-x-"),
    "blues": Style(
        Traits(86, -0.02, 0.5, 67, 0.8, 0.9, -5, 0.85), levels=(0, -6, -9, -2.5), steps=3, bends=0.35,
        progressions="blues I7 IV7 I7 V7|blues I7 I7 IV7 I7|blues im7 ivm7 im7 V7|blues im7 im7 ivm7 V7",
        leads="upright guitar twang sax harmonica", comps="upright guitar organ", basses="double-bass electric-bass",
        comping="x-----x----- x--..xx--..x x-xx-xx-xx-x", walking="0--1--2--3-- 0-00-02-23-a",
        rhythms="x----------. x--x-----... x-xx--x----- x-xx-xx--... x-xx-xx-xx--",
        kits="hat:x-xx-xx-xx-x kick:x.....x..... snare:...x.....x.."
        "|ride:x-xx-xx-xx-x kick:x.....x....x rim:...x.....x.."
        "|shaker:x-ox-ox-ox-o kick:x.....x..... brush:...X.....X.."),
    "classical": Style(
        Traits(112, -0.03, 0.55, 74, 1.5, 0.0, -14, 0.75), levels=(0, -6, -9, -6), pads="none strings",
        progressions="major I I V V I IV V I|major I IV V I|major I ii V I|major I vi IV V|harmonic i iv V i",
        leads="piano flute clarinet violin oboe", comps="nylon piano piano strings", basses="cello piano",
        comping="x---x---x---x--- ..x-..x-..x-..x- 0212021202120212", walking="0--------------- 0---....0---....",
        rhythms="x-------x------- x-----x-x---x--- x---x---x-x-x--- x-x-x---x-x-x-x- xxxxx-x-xxxxx---"),
    "country": Style(
        Traits(108, 0.04, 0.5, 71, 0.6, 0.25, -9, 0.80), levels=(0, -4, -9, -3), bends=0.25,
        progressions="pentatonic I IV I V|pentatonic I I IV V|pentatonic I V IV I|mixolydian I bVII IV I",
        leads="steel twang banjo violin harmonica", comps="guitar guitar banjo", basses="double-bass electric-bass",
        comping="0---x---2---x-x- ..x-..xx..x-..xx 0213021302130213", walking="0-------2------- 0---0---2---a---",
        rhythms="x-------x---x--- x---x---x------- x-x-x---x---x--- x--xx---x--xx-x- x-x-x-x-x-x-x-x-",
        kits="kick:x.......x....... brush:xoxoXoxoxoxoXoxo"
        "|kick:x.......x....... rim:....x.......x... hat:x.x.x.x.x.x.x.x."
        "|kick:x.......x.x..... snare:....o.......o... shaker:xoxoxoxoxoxoxoxo"),
    "electronica": Style(
        Traits(124, 0.10, 0.6, 72, 1.2, 0.0, 2, 0.60), levels=(-1, -5, -5, -2), pump=0.6, pads="pad strings",
        progressions="minor i bVI bIII bVII|dorian im9 im9 IV9 IV9|minor i bVII bVI bVII|minor ivm9 im9 bVImaj7 bVII",
        leads="bell pluck square saw", comps="bell pluck saw", basses="sub-bass saw-bass",
        comping="..x...x...x...x. x--x--x-.x--x--- 0123012301230123", walking="..0-..0-..0-..0- 0.30.30.0.30.30.",
        rhythms="x-----------.... x--x--x--------- x..x..x.x..x..x. x.xx.xx.x.xx.xx. xxxxxxxxxxxxxxxx",
        kits="kick:X...X...X...X... clap:....x.......x... hat:..x...x...x...x."
        "|kick:X...X...X...X... hat:xoooxoooxoooxooo open-hat:..x...x...x...x."
        "|kick:X.....x...x..... snare:....x.......x... hat:x.xxx.xxx.xxx.xx"),
    "hiphop": Style(
        Traits(84, -0.05, 0.3, 69, 0.7, 0.55, 2, 0.85), levels=(-2, -2, -10, 1), pads="none pad",
        progressions="minor-pentatonic im9 ivm9|minor-pentatonic im7 bVImaj7|dorian im9 IV9|major iim9 V9 Imaj9 vim7",
        leads="vibraphone bell nylon flute trumpet", comps="epiano nylon upright", basses="sub-bass double-bass",
        comping="x-----x-........ x-------..x----- 0-1-2-3-2-1-....", walking="0---------....0- 0--0......0--a..",
        rhythms="x-------........ x---x---x-...... ..x-x---..x-x--- x--x--x---x-.... x-x-x-x---x-x-x-",
        kits="kick:X......x.xx..... snare:....X.......X... hat:x.x.x.x.x.x.x.x."
        "|kick:X.....x...x..... clap:....x.......x... hat:x.xxx.x.x.x.xxxx"
        "|kick:X..x......x..x.. rim:....x.......x... shaker:xoxoxoxoxoxoxoxo"),
    "jazz": Style(
        Traits(134, -0.02, 0.6, 70, 0.9, 0.95, -9, 0.75), levels=(0, -7, -9, -2), bends=0.1,
        progressions="major iim7 V9 Imaj9 vim7|major Imaj9 vim7 iim9 V7|dorian im9 im9 ivm9 V7|major Imaj7 iim7",
        leads="vibraphone nylon piano sax trumpet", comps="epiano nylon piano", basses="double-bass",
        comping="......x-......x- x-....x-........ x---x---x---x---", walking="0---1---2---a--- 0---3---2---a---",
        rhythms="x-----x-........ x---x-x-----..x- x-x-x-x---x---.. ..x-x-x-x-x-x--- x-x-x-x-x-x-x-x-",
        kits="ride:x...x.x.x...x.x. hat:....x.......x... kick:o.......o......."
        "|brush:xoxoXoxoxoxoXoxo ride:x...x...x...x..."
        "|ride:x...x.x.x...x.x. hat:....x.......x... rim:............x.o."),
    "metal": Style(
        Traits(146, 0.07, 0.6, 74, 0.5, 0.0, 1, 0.92), levels=(-2, 0, -9, -2), drive=5.0, bends=0.15,
        progressions="minor i5 bVI5 bVII5 i5|harmonic i5 i5 bVI5 V5|minor i5 bIII5 bVII5 bVI5|minor i5 bVII5",
        leads="overdrive", comps="crunch", basses="electric-bass",
        comping="x---m-m-x---m-m- x--x--x--x--x-x- x-mmx-mmx-mmx-mm", walking="0---0-0-0---0-0- 0-000-000-000-00",
        rhythms="x-------x------- x---x---x---x--- x-x-x---x-x-x--- x-x-x-x-x-x-x-x- xxxxxxxxxxxxxxxx",
        kits="kick:x.xxx.xxx.xxx.xx snare:....X.......X... hat:x...x...x...x..."
        "|kick:xxxxxxxxxxxxxxxx snare:....X.......X... ride:x...x...x...x..."
        "|kick:x...x.x.x...x.x. snare:........X....... open-hat:x...x...x...x..."),
    "rock": Style(
        Traits(118, 0.03, 0.45, 70, 0.7, 0.05, -1, 0.85), levels=(-1, -1, -9, -2), drive=1.6, bends=0.15,
        progressions="major I V vi IV|mixolydian I5 bVII5 IV5 I5|minor i bVII bVI bVII|minor i5 bIII5 IV5",
        leads="upright twang guitar organ overdrive", comps="guitar organ crunch crunch", basses="electric-bass",
        comping="x-------x--x--x- x--x--x-x--x--x- x-x-x-x-x-x-x-x-", walking="0---0---0---0-a- 0-0-0-0-0-0-0-0-",
        rhythms="x-------x------- x-----x-x---.... x---x-x---x-x--- x-x-x---x-x-x-x- x-xxx-x-x-xxx-x-",
        kits="kick:X.......x.x..... snare:....X.......X... hat:x.x.x.x.x.x.x.x."
        "|kick:X..x....x....... snare:....X.......X... open-hat:x...x...x...x..."
        "|kick:X.....x.x.x..... snare:....X.......X... ride:x.x.x.x.x.x.x.x."),
    "romantic": Style(
        Traits(88, -0.03, 0.35, 72, 2.1, 0.0, -14, 0.97), levels=(0, -4, -8, -6), beats=3, pads="none strings strings",
        progressions="harmonic i iv V i|major I iiim7 vi IV|harmonic i bVI iv V|major Imaj7 vi iim7 V7|major I iv I V",
        leads="piano flute clarinet cello violin", comps="piano piano strings", basses="cello piano",
        comping="....x-..x-.. ..1-2-..1-2- 012321012321", walking="0----------- 0-------2---",
        rhythms="x----------- x-------x--- x-----x-x--- x---x---x-x- x-x-x-x-x-x-"),
}
_MODES = {
    "major": (0, 2, 4, 5, 7, 9, 11), "minor": (0, 2, 3, 5, 7, 8, 10), "harmonic": (0, 2, 3, 5, 7, 8, 11),
    "dorian": (0, 2, 3, 5, 7, 9, 10), "mixolydian": (0, 2, 4, 5, 7, 9, 10), "pentatonic": (0, 2, 4, 7, 9),
    "minor-pentatonic": (0, 3, 5, 7, 10), "blues": (0, 3, 5, 6, 7, 10),
}
_DEGREES = {"i": 0, "ii": 2, "iii": 4, "iv": 5, "v": 7, "vi": 9, "vii": 11}
_ADDED = {
    "5": (0, 7, 12), "7": (0, 4, 7, 10), "9": (0, 4, 7, 10, 14), "maj7": (0, 4, 7, 11), "maj9": (0, 4, 7, 11, 14),
    "m7": (0, 3, 7, 10), "m9": (0, 3, 7, 10, 14), "o": (0, 3, 6),
}
# fmt: on
_FIFTHS = "10 5 0 7 2 9 4 11"  # keys, neighbours a fifth apart
_STRENGTHS = {"X": 1.0, "x": 0.8, "m": 0.75, "o": 0.4}
Note = tuple[float, float, int, float, float]  # start and length (s), MIDI pitch, strength, glide (semitones)


@checked("demo", seconds=LENGTH, rate=Whole(8000, 192_000))
def synthesise(document: str, *, seed: int = 2012, seconds: float = 12.0, rate: int = RATE) -> Floats:
    """Play a track of the demo: samples x 2, faded in and out.

    ``seed`` is that of the demo. From 0.5 to 120 seconds, from 8 to 192 kHz.

    >>> synthesise("polka-01-01")
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: demo: no document is called 'polka-01-01'; they go from baroque-01-01 to romantic-25-12
    """
    number = _find_number(document, seed)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_PIECES, number)))
    return _Piece(document, number, seed).play(seconds, rate, rng)


@checked("demo", seconds=LENGTH)
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

    Existing files are replaced. ``progress`` is told how many are done, of how many. Every document is looked up before
    anything is written.
    """
    need("audio", "Files of sound need", "soundfile")
    wanted = list(dict.fromkeys(documents))
    for document in wanted:
        _find_number(document, seed)
    folder.mkdir(parents=True, exist_ok=True)
    write = partial(_write_track, folder=folder, seed=seed, seconds=seconds)
    metadata = demo_tables(seed, queries=1, depth=1).metadata
    tags = {row["document"]: row for row in metadata.iter_rows(named=True)}
    written: dict[str, Path] = {}
    for document, result in run_jobs(write, {name: tags[name] for name in wanted}, workers=workers, progress=progress):
        if isinstance(result, CrashedError):
            raise AdjudgeError(f"demo: expected the sound of {document}, got a process that died")
        written[document] = result
    return {document: written[document] for document in wanted}


def _write_track(tags: Mapping[str, str], *, folder: Path, seed: int, seconds: float) -> Path:
    import soundfile

    document = tags["document"]
    path, temporary = folder / f"{document}.flac", folder / f".{document}.flac.part"
    with soundfile.SoundFile(temporary, "w", RATE, 2, "PCM_16", format="FLAC") as file:
        file.title, file.artist, file.genre = tags["title"], tags["artist"], tags["genre"]
        file.album = f"{tags['artist']}, volume {(int(document[-2:]) + 1) // 2}"
        file.write(synthesise(document, seed=seed, seconds=seconds))
    temporary.replace(path)
    return path


@checked("demo", tracks=Whole(2, N_DOCUMENTS))
def choose_tracks(tracks: int) -> list[str]:
    """Documents of the demo: genres in turn, one genre per twelve tracks, and two tracks per artist in a row.

    >>> choose_tracks(36)[:7]
    ['baroque-01-01', 'blues-01-01', 'classical-01-01', 'baroque-01-02', 'blues-01-02', 'classical-01-02',
    'baroque-02-01']
    """
    number, genre = np.divmod(np.arange(tracks), min(len(STYLES), max(2, tracks // OF_GENRE)))
    round_, number_in_round = np.divmod(number, N_ARTISTS * BY_ARTIST)
    artist, track = np.divmod(number_in_round, BY_ARTIST)
    code = (genre * N_ARTISTS + artist) * N_TRACKS + round_ * BY_ARTIST + track
    ids = demo_space()[0]
    return [ids[int(place)] for place in code]


class DemoMusic(NamedTuple):
    """What was written: the folder of music, its number of usable tracks, and the listeners' grades."""

    music: Path
    listeners: Path
    n_tracks: int
    n_grades: int


def write_demo_music(
    folder: Path,
    *,
    tracks: int = 60,
    seed: int = 2012,
    seconds: float = 12.0,
    workers: int | None = None,
    progress: Progress | None = None,
) -> DemoMusic:
    """Write tracks of the demo with tags into ``folder``/music, and the listeners' grades beside it."""
    chosen, music, listeners = choose_tracks(tracks), folder / "music", folder / "listeners.csv"
    written = write_demo_audio(chosen, music, seed=seed, seconds=seconds, workers=workers, progress=progress)
    import soundfile

    soundfile.write(music / "silence.flac", np.zeros((round(seconds * RATE), 2)), RATE, format="FLAC")
    (music / "unfinished.wav").touch()
    shutil.copyfile(written[chosen[0]], music / f"copy of {chosen[0]}.flac")
    judged = demo_judgments(chosen, seed)
    judged.write_csv(listeners)
    return DemoMusic(music, listeners, len(chosen), judged.height)


@lru_cache(maxsize=4)
def _locate_tracks(seed: int) -> tuple[dict[str, int], Floats, Floats, Floats]:
    """Numbers of tracks, tracks x genres that they mix, and twice tracks x directions, as probabilities.

    The first directions are those of the artist in its genre, the second those of the track among its artist's.
    """
    ids, space = demo_space(seed)
    by_genre = space.reshape(-1, N_ARTISTS, N_TRACKS, N_DIMENSIONS)
    centres, artists = by_genre.mean(axis=(1, 2)), by_genre.mean(axis=2, keepdims=True)
    turned = np.random.default_rng(np.random.SeedSequence(_DIRECTIONS)).normal(size=(N_DIMENSIONS, N_DIMENSIONS))
    directions = np.linalg.qr(turned)[0] / ARTIST_SPREAD
    artist_places = np.repeat((artists - centres[:, None, None]) @ directions, N_TRACKS, axis=2)
    places = [ndtr(x.reshape(-1, N_DIMENSIONS)) for x in (artist_places, (by_genre - artists) @ directions)]
    return {document: number for number, document in enumerate(ids)}, space @ np.linalg.pinv(centres), *places


def _find_number(document: str, seed: int) -> int:
    numbers = _locate_tracks(seed)[0]
    if document not in numbers:
        first, *_, last = numbers
        raise AdjudgeError(f"demo: no document is called {shown(document)}; they go from {first} to {last}")
    return numbers[document]


def _choose(options: str, share: float, separator: str = " ") -> str:
    """The option in whose piece of the range from 0 to 1 a share lies."""
    known = options.split(separator)
    return known[min(len(known) - 1, int(share * len(known)))]


def _move_traits(mixture: Floats, genre: int) -> Traits:
    """The traits of a genre, moved as a track leans to the others; tempo and reverberation in logarithms."""
    logarithmic = [Traits._fields.index(name) for name in ("tempo", "reverb")]
    table = np.array([style.traits for style in STYLES.values()], dtype=np.float64)
    table[:, logarithmic] = np.log(table[:, logarithmic])
    leaning = mixture - np.eye(len(table))[genre]
    moved = table[genre] + np.array(LEANING) * (leaning @ (table - table.mean(axis=0)))
    moved[logarithmic] = np.exp(moved[logarithmic])
    return Traits(*np.clip(moved, *LIMITS).tolist())


def _parse_chord(numeral: str) -> tuple[int, tuple[int, ...], set[int]]:
    """Root, intervals to play, and the pitch classes at which a melody is at home; a power chord has no third."""
    letters = numeral.lstrip("b")
    degree = letters[: len(letters) - len(letters.lstrip("IViv"))]
    root, third = _DEGREES[degree.lower()] - (letters != numeral), 4 if degree.isupper() else 3
    intervals = _ADDED.get(letters.removeprefix(degree), (0, third, 7))
    return root, intervals, {(root + interval) % 12 for interval in (*intervals, third)}


class _Piece:
    """A track as its artist plays it: what was chosen from the style, and where the steps of a bar are in time."""

    def __init__(self, document: str, number: int, seed: int) -> None:
        _, mixtures, artists, tracks = _locate_tracks(seed)
        genre, artist = document.split("-", maxsplit=1)[0], artists[number]
        self.style = style = STYLES[genre]
        self.traits = _move_traits(mixtures[number], list(STYLES).index(genre))
        kinds = {"lead": style.leads, "comp": style.comps, "bass": style.basses, "pad": style.pads}
        self.instruments = {part: _choose(kinds[part], share) for part, share in zip(kinds, artist, strict=False)}
        mode, *chords = _choose(style.progressions, (artist[4] + 0.5 * tracks[number][4]) / 1.5, "|").split()
        self.comping, self.walking = _choose(style.comping, artist[5]), _choose(style.walking, artist[6])
        self.kit = _choose(style.kits, artist[7], "|").split()
        self.key, self.tuning = int(_choose(_FIFTHS, artist[8])), round(0.85 + 0.3 * float(artist[9]), 1)
        self.chords = [_parse_chord(chord) for chord in chords]
        self.classes = {(self.key + step) % 12 for step in _MODES[mode]}
        self.beat, self.n_steps = 60 / self.traits.tempo, style.beats * style.steps
        position = np.arange(self.n_steps + 1) / style.steps
        if style.steps == 4:  # swung eighths, or sixteenths where the style is slow
            pair = 1.0 if style.traits.tempo >= 100 else 0.5
            swung = np.interp(position / pair % 1, (0, 0.5, 1), (0, 0.5 + self.traits.swing / 6, 1))
            position = (position // pair + swung) * pair
        self.times: list[float] = (position * self.beat).tolist()

    def chord_at(self, bar: int, step: int) -> tuple[int, tuple[int, ...], set[int]]:
        per_bar = self.style.chords_per_bar
        return self.chords[(bar * per_bar + step * per_bar // self.n_steps) % len(self.chords)]

    def events(self, pattern: str, bar: int) -> Iterator[tuple[int, str, float, float]]:
        """Step, character, start and length (s) of everything that a pattern begins in a bar."""
        for step, symbol in enumerate(pattern):
            if symbol not in "-.":
                rest = pattern[step + 1 :]
                end = step + 1 + len(rest) - len(rest.lstrip("-"))
                yield step, symbol, bar * self.times[-1] + self.times[step], self.times[end] - self.times[step]

    def nearest_home(self, pitch: float, bar: int, step: int) -> int:
        """The tone of the chord nearest to a pitch."""
        home = {(self.key + above) % 12 for above in self.chord_at(bar, step)[2]}
        near = range(round(pitch) - 6, round(pitch) + 7)
        return min((p for p in near if p % 12 in home), key=lambda p: abs(p - pitch))

    def compose_melody(self, n_bars: int, rng: np.random.Generator) -> Iterator[Note]:
        """A A B A: the same steps from a tone of each bar's chord, at home on beats and where it stays."""
        rhythms, register = self.style.rhythms.split(), self.traits.register
        scale = [p for p in range(round(register) - 9, round(register) + 10) if p % 12 in self.classes]
        dense = min(len(rhythms) - 1, int(self.traits.density * len(rhythms)))
        other = dense - 1 if dense == len(rhythms) - 1 or (dense and rng.random() < 0.5) else dense + 1
        contours = rng.choice((-3, -2, -1, -1, 1, 1, 2, 3), size=(2, self.n_steps)).tolist()
        arc, place = rng.permutation([0, 2, 4])[[0, 0, 1, 2]].tolist(), round(register)
        for bar in range(n_bars):
            answer = bar % 4 == 2
            place = self.nearest_home((register - 2 + arc[bar % 4] + place) / 2, bar, 0)
            for number, (step, _, start, length) in enumerate(self.events(rhythms[other if answer else dense], bar)):
                move, last, on_beat = contours[answer][number], place, step % self.style.steps == 0
                if number:
                    at = int(np.argmin(np.abs(np.array(scale) - place)))
                    place = scale[at + move if 0 <= at + move < len(scale) else at - move]
                if on_beat or length >= self.beat:
                    place = self.nearest_home(place, bar, step)
                    if number and place == last:  # keep moving
                        place = self.nearest_home(last + (4 if move > 0 else -4), bar, step)
                bend = float(rng.integers(-2, 0)) if rng.random() < self.style.bends else 0.0
                yield start, length * self.traits.legato, place, 0.8 if on_beat else 0.65, bend

    def accompany(self, pattern: str, bar: int, centre: int, *, rooted: bool = False) -> Iterator[Note]:
        """A pattern on the chords of a bar, voiced around a pitch, or from the root up, as power chords always are."""
        for step, symbol, start, length in self.events(pattern, bar):
            root, intervals, _ = self.chord_at(bar, step)
            low = centre + (self.key + root - centre) % 12
            pitches = [low + interval for interval in (*intervals, 12)[:4]]
            if intervals[-1] == 12 and not rooted:
                pitches = [pitch - 12 for pitch in pitches[:3]]
            elif not rooted:
                pitches = sorted(centre - 6 + (low + interval - centre + 6) % 12 for interval in intervals)
            held, strength = length * min(0.95, self.traits.legato + 0.1), 0.8 if step % self.style.steps == 0 else 0.65
            if symbol == "a":  # from below into the next root
                yield start, held, centre + (self.key + self.chord_at(bar + 1, 0)[0] - centre) % 12 - 1, strength, 0.0
            elif symbol.isdigit():
                octaves, place = divmod(int(symbol), len(pitches))
                yield start, held, pitches[place] + 12 * octaves, strength, 0.0
            else:
                for number, pitch in enumerate(pitches[:2] if symbol == "m" else pitches):  # as a hand strums
                    yield start + 0.009 * number, held * (0.5 if symbol == "m" else 1), pitch, _STRENGTHS[symbol], 0.0

    def play(self, seconds: float, rate: int, rng: np.random.Generator) -> Floats:
        """Play every part, balance them, and put them in a room."""
        bars, n = range(int(np.ceil(seconds / self.times[-1]))), round(seconds * rate)
        centre, per_bar = round(self.traits.register) - 15, self.style.chords_per_bar
        held = f"x{'-' * (self.n_steps // per_bar - 1)}" * per_bar
        parts = {
            "lead": list(self.compose_melody(len(bars), rng)),
            "comp": [note for bar in bars for note in self.accompany(self.comping, bar, centre)],
            "pad": [note for bar in bars for note in self.accompany(held, bar, 60)],
            "bass": [note for bar in bars for note in self.accompany(self.walking, bar, 31, rooted=True)],
        }
        mix, late = np.zeros((2, n), dtype=np.float32), round(0.011 * rate)
        for (part, notes), level in zip(parts.items(), self.style.levels, strict=True):
            if self.instruments[part] == "none":
                continue
            bus = self.play_part(self.instruments[part], notes, n, rate, rng)
            if self.style.pump and part != "lead":
                since = np.arange(n, dtype=np.float32) / np.float32(self.beat * rate) % 1  # beats since the last one
                dip = np.minimum(1, 40 * since) * (np.exp(-4 * since) - np.float32(np.exp(-4)))
                bus *= 1 - np.float32(self.style.pump) * dip
            bus *= np.float32(10 ** (level / 20) / _rms(bus))
            _add_panned(mix, bus, PANS.get(part, 0.0))
            bus *= np.float32(WIDTHS[part])
            mix[0, late:] += bus[: n - late]  # an echo of opposite signs widens, and is silent in one loudspeaker
            mix[1, late:] -= bus[: n - late]
        for lane in self.kit:
            name, pattern = lane.split(":")
            wave, bus = _make_drum(name, rate, self.tuning), np.zeros(n, dtype=np.float32)
            for _, symbol, start, _ in (event for bar in bars for event in self.events(pattern, bar)):
                _add_wave(bus, wave * np.float32(_STRENGTHS[symbol]), start, rate)
            _add_panned(mix, bus * np.float32(1.9 * 10 ** (self.traits.drums / 20)), PANS.get(name, 0.0))
        return _finish(mix, self.traits, rate)

    def play_part(self, name: str, notes: list[Note], n: int, rate: int, rng: np.random.Generator) -> Wave:
        """One part on an instrument; tones that are alike are made once."""
        bus, made = np.zeros(n, dtype=np.float32), dict[tuple[int, float, float], Wave]()
        errors = rng.normal(scale=(0.004, 0.04), size=(len(notes), 2)).tolist()  # of time (s) and strength
        for (start, held, pitch, strength, bend), (late, firm) in zip(notes, errors, strict=True):
            key = pitch, max(0.04, round(25 * held) / 25), bend
            if key not in made:
                brightness = self.traits.brightness - 0.004 * max(0, pitch - 72)
                made[key] = tone(name, *key[:2], rate=rate, brightness=brightness, bend=bend)
            _add_wave(bus, made[key] * np.float32(max(0.1, strength + firm)), max(0.0, start + late), rate)
        if not self.style.drive or name not in ("overdrive", "crunch"):
            return bus
        speaker = np.hanning(2 * (rate // 4500) + 3)[1:-1]  # lets little of what distortion adds above 4.5 kHz through
        hot = np.tanh(bus * np.float32(self.style.drive / 2 / _rms(bus)))
        return np.convolve(hot, (speaker / speaker.sum()).astype(np.float32), "same")


def tone(name: str, pitch: float, held: float, *, rate: int, brightness: float = 0.0, bend: float = 0.0) -> Wave:
    """One tone of an instrument at a MIDI pitch, held for some seconds and released; its RMS is near 1 at its loudest.

    ``brightness`` moves the instrument's own (-0.3 to 0.2 stays musical); ``bend`` is where a glide into the pitch
    begins, in semitones from it.
    """
    instrument, frequency = INSTRUMENTS[name], 440 * 2 ** ((pitch - 69) / 12)
    n = max(2, round((held + instrument.release) * rate))
    steps, (drift, darkness, level) = _courses(name, rate, 1 << n.bit_length())
    if bend:
        drift = drift - np.float32(bend / 12 * np.log(2) * GLIDE) * np.expm1(steps / np.float32(-GLIDE * rate))
    partials = int(np.clip(0.42 * rate / frequency, 1, MOST_PARTIALS))
    dull, extra = _waveforms(name, 1 << partials.bit_length() - 1, round(brightness, 2))
    wave = np.zeros(n, dtype=np.float32)
    for side in (1, -1) if instrument.width else (0,):
        detuned = frequency * 2 ** (side * instrument.width / 2400)
        phase = steps[:n] * np.uint32(round(detuned / rate * 2**32))  # 32 bits are a turn
        if instrument.vibrato or bend:
            phase += (drift[:n] * np.float32(detuned * 2**32)).astype(np.int64).astype(np.uint32)
        phase >>= np.uint32(33 - COLUMNS.bit_length())
        wave += dull[phase] + extra[phase] * darkness[:n]
    fall = _make_ramp(round(instrument.release * rate))[::-1][-n:]
    wave *= level[:n]
    wave[n - len(fall) :] *= fall
    return wave


@lru_cache(maxsize=32)
def _courses(name: str, rate: int, n: int) -> tuple[NDArray[np.uint32], Wave]:
    """What the tones of an instrument share: sample numbers; seconds by which vibrato is ahead, darkness, level."""
    instrument, steps = INSTRUMENTS[name], np.arange(n, dtype=np.uint32)
    time, turn = steps / rate, 2 * np.pi * VIBRATO
    ahead = instrument.vibrato / 1200 * np.log(2) / turn * np.clip((time - 0.25) / 0.3, 0, 1) * -np.cos(turn * time)
    level = np.exp(-time / instrument.decay) if instrument.decay else np.ones(n)
    rise = _make_ramp(round(instrument.attack * rate))[:n]
    level[: len(rise)] *= rise
    return steps, np.array([ahead, np.exp(-time / DARKENING), level], dtype=np.float32)


@lru_cache(maxsize=512)
def _waveforms(name: str, partials: int, brightness: float) -> Wave:
    """A period of the dull waveform of an instrument, and what the bright one adds to it."""
    instrument, k = INSTRUMENTS[name], np.arange(1, partials + 1, dtype=np.float64)
    damping = np.clip([instrument.dull + brightness, instrument.bright + brightness, 0.8], 0.1, 1)
    lines = np.zeros((3, COLUMNS // 2 + 1), dtype=complex)
    lines[:, 1 : partials + 1] = _WAVEFORMS[instrument.waveform](k) * damping[:, None] ** (k - 1)
    lines[:, 1 : partials + 1] *= np.exp(-1j * np.pi * k**2 / partials)  # phases spread, so that peaks are low
    dull, bright, usual = np.fft.irfft(lines, axis=1)
    return np.array([dull, bright - dull], np.float32) / np.float32(_rms(usual) * (2**0.5 if instrument.width else 1))


@lru_cache(maxsize=64)
def _make_drum(name: str, rate: int, tuning: float) -> Wave:
    """One stroke of a drum; ``tuning`` is a factor on its pitch."""
    low, extra, fall, level, decay, noise_level, noise_low, noise_decay = _DRUMS[name]
    n = round(7 * max(decay, noise_decay) * rate)
    time, hertz = np.arange(n) / rate, np.maximum(np.fft.rfftfreq(n, 1 / rate), 1)
    lines = np.fft.rfft(np.random.default_rng(np.random.SeedSequence([*name.encode()])).normal(size=n))
    noise = np.fft.irfft(lines / (1 + (noise_low * tuning / hertz) ** 4) / (1 + (hertz / 10000) ** 4), n)
    sine = np.sin(2 * np.pi * (low * tuning * time - extra * fall * np.expm1(-time / fall)))
    wave = level * sine * np.exp(-time / decay) + noise_level * noise / _rms(noise) * np.exp(-time / noise_decay)
    return np.asarray(wave * np.minimum(1, time / 0.0015), dtype=np.float32)


@lru_cache(maxsize=64)
def _make_ramp(n: int) -> Wave:
    """From 0 to 1 along half a cosine."""
    return np.asarray(0.5 - 0.5 * np.cos(np.pi * np.arange(n) / n), dtype=np.float32)


def _rms(wave: Wave | Floats) -> float:
    return max(1e-9, float(np.sqrt(np.mean(wave * wave))))


def _add_wave(bus: Wave, wave: Wave, start: float, rate: int) -> None:
    """Add a wave at a time; what is beyond the end is cut."""
    part = bus[round(start * rate) :][: len(wave)]
    part += wave[: len(part)]


def _add_panned(mix: Wave, bus: Wave, pan: float) -> None:
    """Add a part, moved left or right at equal power."""
    angle = (pan + 1) * np.pi / 4
    mix[0] += np.float32(np.sqrt(2) * np.cos(angle)) * bus
    mix[1] += np.float32(np.sqrt(2) * np.sin(angle)) * bus


@lru_cache(maxsize=8)
def _make_room(reverb: float, size: int, rate: int) -> tuple[NDArray[np.complex64], Wave]:
    """Spectra of the two sides of a room: noise that fades within a time, the treble first.

    And for every line: what removes rumble, the logarithm of what brightens, and the weight in loudness.
    """
    time, hertz = np.arange(min(size, round(reverb * rate))) / rate, np.maximum(fft.rfftfreq(size, 1 / rate), 1)
    noise = np.random.default_rng(np.random.SeedSequence(_DIRECTIONS)).normal(size=(2, len(time)))
    early, late = (fft.rfft(noise * np.exp(-6.9 * time / fade), size) for fade in (0.5 * reverb, reverb))
    tail = (0.3 * early + late / (1 + hertz / 1200)) / (1 + (250 / hertz) ** 2)
    tail *= np.sqrt(len(hertz) / np.sum(np.abs(tail) ** 2, axis=1, keepdims=True))
    weights = (1 + 1.5 / (1 + (1500 / hertz) ** 4)) / (1 + (40 / hertz) ** 4)  # about those of BS.1770
    shapes = [1 / (1 + (32 / hertz) ** 4), np.log(np.clip(hertz / 800, 0.2, 8)), weights]
    return tail.astype(np.complex64), np.array(shapes, dtype=np.float32)


def _finish(mix: Wave, traits: Traits, rate: int) -> Floats:
    """Add the room, remove rumble, tilt the timbre, level, round the peaks off, and fade in and out."""
    n = mix.shape[1]
    size = fft.next_fast_len(n, real=True)
    tail, (no_rumble, treble, weights) = _make_room(max(0.4, round(traits.reverb / 0.4) * 0.4), size, rate)
    spectra = fft.rfft(mix, size)
    spectra += np.float32(0.22) * (spectra[0] + spectra[1]) * tail
    spectra *= no_rumble * np.exp(np.float32(1.5 * traits.brightness) * treble)
    power = float(np.sum((spectra.real**2 + spectra.imag**2) * weights)) / size / n
    spectra *= np.float32(LOUDNESS / PEAK / max(1e-9, np.sqrt(power)))
    piece: Floats = np.tanh(fft.irfft(spectra, size)[:, :n]).T.astype(np.float64, order="C") * PEAK
    for seconds, side in ((FADE_IN, 1), (FADE_OUT, -1)):
        ramp = _make_ramp(min(round(seconds * rate), n // 2))
        piece[::side][: len(ramp)] *= ramp[:, None]
    return piece
