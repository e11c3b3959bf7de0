"""The ten genres of the demo as musical recipes: tempo, harmony, instruments, rhythm. Data, no sound.

A bar is a string with a sign for every step (sixteenths, or the triplets of a shuffle). In the patterns of
accompaniment and bass, ``x`` plays the chord, ``X`` accents it, ``m`` mutes it, a digit plays one tone of it (0 the
root), ``a`` a tone that leads to the next chord's root; ``-`` holds and ``.`` rests. In rhythms ``x`` begins a tone of
the melody; in drums ``X``, ``x`` and ``o`` are loud, plain and soft strokes.

Chords are Roman numerals, capital for a major third, with what is added: ``I7``, ``iim7``, ``bVImaj7``, ``i5`` (the
power chord). Traits are what can change gradually, and what a track's place in the latent space moves.
"""

from __future__ import annotations

from dataclasses import dataclass

MODES = {
    "major": (0, 2, 4, 5, 7, 9, 11),
    "minor": (0, 2, 3, 5, 7, 8, 10),
    "harmonic": (0, 2, 3, 5, 7, 8, 11),
    "dorian": (0, 2, 3, 5, 7, 9, 10),
    "mixolydian": (0, 2, 4, 5, 7, 9, 10),
    "pentatonic": (0, 2, 4, 7, 9),
    "minor-pentatonic": (0, 3, 5, 7, 10),
    "blues": (0, 3, 5, 6, 7, 10),
}
_DEGREES = {"I": 0, "II": 2, "III": 4, "IV": 5, "V": 7, "VI": 9, "VII": 11}
_ADDED = {
    "5": (0, 7, 12),
    "7": (0, 4, 7, 10),
    "9": (0, 4, 7, 10, 14),
    "maj7": (0, 4, 7, 11),
    "maj9": (0, 4, 7, 11, 14),
    "m7": (0, 3, 7, 10),
    "m9": (0, 3, 7, 10, 14),
    "o": (0, 3, 6),
    "6": (0, 4, 7, 9),
}


@dataclass(frozen=True)
class Traits:
    """What changes gradually.

    ``tempo`` in beats a minute, ``brightness`` of timbre (0 is an instrument's own), ``density`` of the melody (0 to
    1), ``register`` of the melody as a MIDI pitch, ``reverb`` in seconds, ``swing`` from 0 (even) to 1 (triplets),
    ``drums`` their level in dB, ``legato`` the share of a tone's time that it is held.
    """

    tempo: float
    brightness: float
    density: float
    register: float
    reverb: float
    swing: float
    drums: float
    legato: float


@dataclass(frozen=True)
class Style:
    """How a genre is played; where there is more than one of something, an artist has a favourite.

    Instruments go from mellow to sharp and patterns from sparse to busy, so that what is near in a list sounds near.

    A progression is ``mode: chords``. ``mix`` is the level of melody, accompaniment, pad and bass in dB, ``drive`` how
    hard the guitars are driven (0: not at all), ``harmony`` whether some artists give the melody a second voice,
    ``bends`` the share of tones that glide, ``pump`` how much the kick ducks the rest (0 to 1), ``rubato`` how far the
    beat wavers, in beats.
    """

    traits: Traits
    progressions: tuple[str, ...]
    leads: tuple[str, ...]
    comps: tuple[str, ...]
    basses: tuple[str, ...]
    comp_patterns: tuple[str, ...]
    bass_patterns: tuple[str, ...]
    rhythms: tuple[str, ...]
    drums: tuple[str, ...] = ("",)
    pads: tuple[str, ...] = ("",)
    mix: tuple[float, float, float, float] = (0.0, -5.0, -9.0, -3.0)
    beats: int = 4
    steps: int = 4
    chords_per_bar: int = 1
    drive: float = 0.0
    harmony: bool = False
    bends: float = 0.0
    pump: float = 0.0
    rubato: float = 0.0


def chord(numeral: str) -> tuple[int, ...]:
    """The semitones of a chord above the tonic, root first.

    >>> chord("IV"), chord("iim7"), chord("bVI5")
    ((5, 9, 12), (2, 5, 9, 12), (8, 15, 20))
    """
    flat = numeral.startswith("b")
    letters = numeral[flat:]
    degree = letters[: len(letters) - len(letters.lstrip("IViv"))]
    root = _DEGREES[degree.upper()] - flat
    added = letters[len(degree) :]
    intervals = _ADDED[added] if added else (0, 4, 7) if degree.isupper() else (0, 3, 7)
    return tuple(root + interval for interval in intervals)


STYLES: dict[str, Style] = {
    "baroque": Style(
        Traits(tempo=96, brightness=0.05, density=0.85, register=76, reverb=1.3, swing=0.0, drums=-14, legato=0.80),
        progressions=(
            "major: I V vi iii IV I IV V",
            "harmonic: i iv bVII bIII bVI iio V i",
            "major: I vi ii V I IV V I",
            "harmonic: i V i iv i iv V V",
            "major: I IV V I vi ii V I",
        ),
        leads=("recorder", "chamber-organ", "violin", "oboe", "harpsichord"),
        comps=("lute", "chamber-organ", "harpsichord"),
        basses=("cello", "harpsichord"),
        comp_patterns=("x---x---x---x---", "0-1-2-1-0-1-2-1-", "012-012-012-012-", "0121012101210121"),
        bass_patterns=("0---1---0---a---", "0---3---0---a---", "0-1-2-1-0-1-2-a-"),
        rhythms=("x-x-x-x-x-x-x-x-", "x-xxx-xxx-xxx-x-", "x-xxx-x-x-xxx-x-", "xxxxx-x-xxxxx-x-", "xxxxxxxxxxxxx-x-"),
        mix=(0.0, -5.0, -9.0, -4.0),
        chords_per_bar=2,
        harmony=True,
    ),
    "blues": Style(
        Traits(tempo=86, brightness=-0.02, density=0.5, register=67, reverb=0.8, swing=0.9, drums=-5, legato=0.85),
        progressions=(
            "blues: I7 IV7 I7 V7",
            "blues: I7 I7 IV7 I7",
            "blues: im7 ivm7 im7 V7",
            "blues: I7 IV7 I7 IV7",
            "blues: im7 im7 ivm7 V7",
        ),
        leads=("upright", "blues-guitar", "twang", "sax", "harmonica"),
        comps=("upright", "guitar", "tonewheel"),
        basses=("upright-bass", "electric-bass"),
        comp_patterns=("x-----X-----", "x--..xx--..x", "0-22-20-22-2", "x-xx-xx-xx-x"),
        bass_patterns=("0--1--2--3--", "0--0--2--a--", "0-00-02-23-a"),
        rhythms=("x----------.", "x--x-----...", "x-xx--x-----", "x-xx-xx--...", "x-xx-xx-xx--"),
        drums=(
            "hat:x-xx-xx-xx-x kick:x.....x..... snare:...x.....x..",
            "ride:x-xx-xx-xx-x kick:x.....x....x rim:...x.....x..",
            "shaker:x-ox-ox-ox-o kick:x.....x..... brush:...X.....X..",
        ),
        mix=(0.0, -6.0, -9.0, -2.5),
        steps=3,
        bends=0.35,
    ),
    "classical": Style(
        Traits(tempo=112, brightness=-0.03, density=0.55, register=74, reverb=1.5, swing=0.0, drums=-14, legato=0.75),
        progressions=(
            "major: I I V V I IV V I",
            "major: I IV V I",
            "major: I ii V I",
            "major: I vi IV V",
            "harmonic: i iv V i",
        ),
        leads=("piano", "flute", "clarinet", "violin", "oboe"),
        comps=("nylon", "piano", "piano", "strings"),
        basses=("cello", "piano"),
        comp_patterns=("x---x---x---x---", "..x-..x-..x-..x-", "0-2-1-2-0-2-1-2-", "0212021202120212"),
        bass_patterns=("0---------------", "0-------2-------", "0---....0---...."),
        rhythms=("x-------x-------", "x-----x-x---x---", "x---x---x-x-x---", "x-x-x---x-x-x-x-", "xxxxx-x-xxxxx---"),
        pads=("", "strings"),
        mix=(0.0, -6.0, -9.0, -6.0),
    ),
    "country": Style(
        Traits(tempo=108, brightness=0.04, density=0.5, register=71, reverb=0.6, swing=0.25, drums=-9, legato=0.80),
        progressions=(
            "pentatonic: I IV I V",
            "pentatonic: I I IV V",
            "pentatonic: I V IV I",
            "pentatonic: vi IV I V",
            "mixolydian: I bVII IV I",
        ),
        leads=("steel", "twang", "banjo", "fiddle", "harmonica"),
        comps=("guitar", "guitar", "banjo"),
        basses=("upright-bass", "electric-bass"),
        comp_patterns=("0---x---2---x-x-", "..x-..xx..x-..xx", "0-x-x-x-2-x-x-x-", "0213021302130213"),
        bass_patterns=("0-------2-------", "0-------2---a---", "0---0---2---a---"),
        rhythms=("x-------x---x---", "x---x---x-------", "x-x-x---x---x---", "x--xx---x--xx-x-", "x-x-x-x-x-x-x-x-"),
        drums=(
            "kick:x.......x....... brush:xoxoXoxoxoxoXoxo",
            "kick:x.......x....... rim:....x.......x... hat:x.x.x.x.x.x.x.x.",
            "kick:x.......x.x..... snare:....o.......o... shaker:xoxoxoxoxoxoxoxo",
        ),
        mix=(0.0, -4.0, -9.0, -3.0),
        bends=0.25,
        harmony=True,
    ),
    "electronica": Style(
        Traits(tempo=124, brightness=0.10, density=0.6, register=72, reverb=1.2, swing=0.0, drums=2, legato=0.60),
        progressions=(
            "minor: i bVI bIII bVII",
            "dorian: im9 im9 IV9 IV9",
            "minor: i bVII bVI bVII",
            "minor: ivm9 im9 bVImaj7 bVII",
            "minor: im9 bVImaj7",
        ),
        leads=("bell", "glass", "synth-pluck", "synth-lead", "saw-lead"),
        comps=("glass", "synth-pluck", "saw-lead"),
        basses=("sub-bass", "fm-bass", "saw-bass"),
        comp_patterns=("..x...x...x...x.", "x--x--x-.x--x---", "0..1..2..3..2.1.", "0123012301230123"),
        bass_patterns=("..0-..0-..0-..0-", "0..0..0.0..0..0.", "0.30.30.0.30.30."),
        rhythms=("x-----------....", "x--x--x---------", "x..x..x.x..x..x.", "x.xx.xx.x.xx.xx.", "xxxxxxxxxxxxxxxx"),
        drums=(
            "kick:X...X...X...X... clap:....x.......x... hat:..x...x...x...x.",
            "kick:X...X...X...X... open-hat:..x...x...x...x. hat:xoooxoooxoooxooo",
            "kick:X.....x...x..... snare:....x.......x... hat:x.xxx.xxx.xxx.xx",
        ),
        pads=("warm-pad", "choir"),
        mix=(-1.0, -5.0, -5.0, -2.0),
        pump=0.6,
    ),
    "hiphop": Style(
        Traits(tempo=84, brightness=-0.05, density=0.3, register=69, reverb=0.7, swing=0.55, drums=2, legato=0.85),
        progressions=(
            "minor-pentatonic: im9 ivm9",
            "minor-pentatonic: im7 bVImaj7",
            "dorian: im9 IV9",
            "major: iim9 V9 Imaj9 vim7",
            "minor-pentatonic: im9 bVImaj7 ivm9 bVII",
        ),
        leads=("vibraphone", "bell", "nylon", "flute", "muted-trumpet"),
        comps=("electric-piano", "jazz-guitar", "upright"),
        basses=("sub-bass", "sub-bass", "upright-bass"),
        comp_patterns=("x-----x-........", "x-------..x-----", "x--...x---..x-..", "0-1-2-3-2-1-...."),
        bass_patterns=("0---------....0-", "0-----..0-0-....", "0--0......0--a.."),
        rhythms=("x-------........", "x---x---x-......", "..x-x---..x-x---", "x--x--x---x-....", "x-x-x-x---x-x-x-"),
        drums=(
            "kick:X......x.xx..... snare:....X.......X... hat:x.x.x.x.x.x.x.x.",
            "deep-kick:X.....x...x..... clap:....x.......x... hat:x.xxx.x.x.x.xxxx",
            "kick:X..x......x..x.. rim:....x.......x... shaker:xoxoxoxoxoxoxoxo",
        ),
        pads=("", "warm-pad"),
        mix=(-2.0, -2.0, -10.0, 1.0),
    ),
    "jazz": Style(
        Traits(tempo=134, brightness=-0.02, density=0.6, register=70, reverb=0.9, swing=0.95, drums=-9, legato=0.75),
        progressions=(
            "major: iim7 V9 Imaj9 vim7",
            "major: Imaj9 vim7 iim9 V7",
            "dorian: im9 im9 ivm9 V7",
            "major: Imaj7 iim7 iiim7 iim7",
            "dorian: im9 IV9 im9 IV9",
        ),
        leads=("vibraphone", "jazz-guitar", "piano", "sax", "muted-trumpet"),
        comps=("electric-piano", "jazz-guitar", "piano"),
        basses=("upright-bass",),
        comp_patterns=("......x-......x-", "x-....x-........", "..x-......x-....", "x---x---x---x---"),
        bass_patterns=("0---1---2---a---", "0---2---1---a---", "0---3---2---a---"),
        rhythms=("x-----x-........", "x---x-x-----..x-", "x-x-x-x---x---..", "..x-x-x-x-x-x---", "x-x-x-x-x-x-x-x-"),
        drums=(
            "ride:x...x.x.x...x.x. hat:....x.......x... kick:o.......o.......",
            "brush:xoxoXoxoxoxoXoxo ride:x...x...x...x...",
            "ride:x...x.x.x...x.x. hat:....x.......x... rim:............x.o.",
        ),
        mix=(0.0, -7.0, -9.0, -2.0),
        bends=0.1,
    ),
    "metal": Style(
        Traits(tempo=146, brightness=0.07, density=0.6, register=74, reverb=0.5, swing=0.0, drums=1, legato=0.92),
        progressions=(
            "minor: i5 bVI5 bVII5 i5",
            "harmonic: i5 i5 bVI5 V5",
            "minor: i5 bIII5 bVII5 bVI5",
            "minor: i5 bVII5 bVI5 bVII5",
            "harmonic: i5 iv5 bVI5 V5",
        ),
        leads=("lead-guitar",),
        comps=("rhythm-guitar",),
        basses=("picked-bass",),
        comp_patterns=("x---m-m-x---m-m-", "x--x--x--x--x-x-", "mmmmmmmmx---x---", "x-mmx-mmx-mmx-mm"),
        bass_patterns=("0---0-0-0---0-0-", "0-0-0-0-0-0-0-0-", "0-000-000-000-00"),
        rhythms=("x-------x-------", "x---x---x---x---", "x-x-x---x-x-x---", "x-x-x-x-x-x-x-x-", "xxxxxxxxxxxxxxxx"),
        drums=(
            "kick:x.xxx.xxx.xxx.xx snare:....X.......X... hat:x...x...x...x...",
            "kick:xxxxxxxxxxxxxxxx snare:....X.......X... ride:x...x...x...x...",
            "kick:x...x.x.x...x.x. snare:........X....... open-hat:x...x...x...x...",
        ),
        mix=(-2.0, 0.0, -9.0, -2.0),
        drive=5.0,
        harmony=True,
        bends=0.15,
    ),
    "rock": Style(
        Traits(tempo=118, brightness=0.03, density=0.45, register=70, reverb=0.7, swing=0.05, drums=-1, legato=0.85),
        progressions=(
            "major: I V vi IV",
            "mixolydian: I5 bVII5 IV5 I5",
            "minor: i bVII bVI bVII",
            "major: I IV vi V",
            "minor-pentatonic: i5 bIII5 IV5 i5",
        ),
        leads=("upright", "twang", "blues-guitar", "tonewheel", "lead-guitar"),
        comps=("guitar", "tonewheel", "rhythm-guitar", "rhythm-guitar"),
        basses=("electric-bass", "picked-bass"),
        comp_patterns=("x-------x--x--x-", "x--x--x-x--x--x-", "x-x-..x-x-x-..x-", "x-x-x-x-x-x-x-x-"),
        bass_patterns=("0---0---0---0-a-", "0--0--0-0--0--a-", "0-0-0-0-0-0-0-0-"),
        rhythms=("x-------x-------", "x-----x-x---....", "x---x-x---x-x---", "x-x-x---x-x-x-x-", "x-xxx-x-x-xxx-x-"),
        drums=(
            "kick:X.......x.x..... snare:....X.......X... hat:x.x.x.x.x.x.x.x.",
            "kick:X..x....x....... snare:....X.......X... open-hat:x...x...x...x...",
            "kick:X.....x.x.x..... snare:....X.......X... ride:x.x.x.x.x.x.x.x.",
        ),
        mix=(-1.0, -1.0, -9.0, -2.0),
        drive=1.6,
        bends=0.15,
    ),
    "romantic": Style(
        Traits(tempo=88, brightness=-0.03, density=0.35, register=72, reverb=2.1, swing=0.0, drums=-14, legato=0.97),
        progressions=(
            "harmonic: i iv V i",
            "major: I iiim7 vi IV",
            "harmonic: i bVI iv V",
            "major: Imaj7 vi iim7 V7",
            "major: I iv I V",
        ),
        leads=("grand", "flute", "clarinet", "cello", "violin"),
        comps=("grand", "grand", "strings"),
        basses=("cello", "grand"),
        comp_patterns=("....x-..x-..", "..1-2-..1-2-", "0-1-2-3-2-1-", "012321012321"),
        bass_patterns=("0-----------", "0-------2---"),
        rhythms=("x-----------", "x-------x---", "x-----x-x---", "x---x---x-x-", "x-x-x-x-x-x-"),
        pads=("", "strings", "strings"),
        mix=(0.0, -4.0, -8.0, -6.0),
        beats=3,
        rubato=0.12,
    ),
}
