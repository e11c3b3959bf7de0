"""The demo's instruments: tones and drums as arrays of samples, made by code.

A tone is read from a wavetable whose rows go from dull to bright: row *q* holds harmonic *k* with amplitude
a_k q^(k-1), so that moving down the rows darkens a tone exactly as damping darkens a string (what Karplus and Strong's
plucked string does by averaging). An instrument says which amplitudes a_k it has, how bright a tone begins and ends,
how it swells and fades, and how it wavers. A few instruments (electric piano, bells) are two-operator FM instead.
Drums are swept sines and shaped noise. Every tone begins and ends at zero, smoothly: nothing clicks.

Waves are float32, channels x samples (one channel, or two where an instrument is wide); frequencies in Hz, times in
seconds, levels linear. Tones come near an RMS of 1 at their loudest; the mix sets levels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Wave = NDArray[np.float32]

COLUMNS = 4096  # samples of a period in a wavetable
N_ROWS = 33
BRIGHTNESSES = np.linspace(0.2, 1.0, N_ROWS)  # of its rows
_DULLEST, _ROWS_A_UNIT = float(BRIGHTNESSES[0]), (N_ROWS - 1) / float(np.ptp(BRIGHTNESSES))
MOST_PARTIALS = 40
VIBRATO_RATE, VIBRATO_DELAY = 5.2, 0.25  # Hz, seconds
BLEED = np.float32(0.45)  # of one side of a wide instrument into the other
GLIDE = 0.07  # seconds: time constant of a bend


@dataclass(frozen=True)
class Instrument:
    """What an instrument sounds like.

    ``spectrum`` names the amplitudes of its harmonics, or ``fm``. ``decay`` is the time constant of its level (0: it
    sustains), ``bright`` and ``dull`` the brightness it begins with and darkens to with time constant ``darkening``
    (it swells to it, as brass does, where ``bright`` is the less). ``vibrato`` and ``width`` (how far left and right
    are detuned) are in cents. ``breath`` is noise, relative to the tone. ``ratio`` and ``index`` are FM's.
    """

    spectrum: str
    attack: float = 0.006
    decay: float = 0.0
    release: float = 0.08
    bright: float = 0.8
    dull: float = 0.6
    darkening: float = 0.4
    vibrato: float = 0.0
    width: float = 0.0
    breath: float = 0.0
    ratio: float = 1.0
    index: float = 0.0


def _falling(power: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    return lambda k: k**-power


_SPECTRA: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "saw": _falling(1.0),
    "soft": _falling(1.7),
    "buzz": _falling(0.55),
    "sine": lambda k: np.where(k == 1, 1.0, np.where(k == 2, 0.08, 0.0)),
    "square": lambda k: np.where(k % 2 == 1, 1 / k, 0.02 / k),
    "hollow": lambda k: np.where(k % 2 == 1, k**-1.1, 0.12 * k**-1.0),
    "flute": lambda k: np.where(k == 1, 1.0, 0.75 * k**-2.0),
    "plucked": lambda k: k**-0.9 * np.abs(np.sin(np.pi * k * 0.23)),
    "twang": lambda k: k**-0.6 * np.abs(np.sin(np.pi * k * 0.11)),
    "hammered": lambda k: k**-1.15 * (0.35 + np.abs(np.sin(np.pi * k / 8.0))),
    "drawbars": lambda k: np.select([k == 1, k == 2, k == 3, k == 4, k == 6, k == 8], [1, 0.8, 0.6, 0.4, 0.2, 0.25], 0),
    "reed": lambda k: k**-0.8 * (0.25 + np.exp(-(((k - 4) / 2.5) ** 2))),
    "bowed": lambda k: k**-1.0 * (0.55 + 0.45 * np.cos(k * 1.9) ** 2),
}

# fmt: off
INSTRUMENTS: dict[str, Instrument] = {
    "harpsichord": Instrument("buzz", 0.002, 0.55, 0.06, bright=0.92, dull=0.70, darkening=0.35, width=3),
    "lute": Instrument("plucked", 0.003, 0.55, 0.10, bright=0.78, dull=0.40, darkening=0.25, width=2),
    "recorder": Instrument("flute", 0.03, 0.0, 0.06, bright=0.60, dull=0.55, vibrato=7, breath=0.025),
    "oboe": Instrument("reed", 0.03, 0.0, 0.07, bright=0.70, dull=0.78, darkening=0.1, vibrato=10),
    "chamber-organ": Instrument("drawbars", 0.025, 0.0, 0.09, bright=0.72, dull=0.72, width=4),
    "violin": Instrument("bowed", 0.06, 0.0, 0.12, bright=0.66, dull=0.80, darkening=0.12, vibrato=17, width=4),
    "cello": Instrument("bowed", 0.06, 0.0, 0.14, bright=0.58, dull=0.70, darkening=0.15, vibrato=12, width=4),
    "strings": Instrument("bowed", 0.16, 0.0, 0.30, bright=0.55, dull=0.68, darkening=0.3, vibrato=8, width=11),
    "piano": Instrument("hammered", 0.003, 1.1, 0.16, bright=0.74, dull=0.36, darkening=0.40, width=3),
    "grand": Instrument("hammered", 0.003, 1.6, 0.35, bright=0.80, dull=0.42, darkening=0.55, width=4),
    "upright": Instrument("hammered", 0.003, 0.8, 0.10, bright=0.84, dull=0.45, darkening=0.30, width=8),
    "flute": Instrument("flute", 0.05, 0.0, 0.09, bright=0.70, dull=0.66, vibrato=14, breath=0.04),
    "clarinet": Instrument("hollow", 0.035, 0.0, 0.08, bright=0.60, dull=0.70, darkening=0.1, vibrato=4),
    "guitar": Instrument("plucked", 0.003, 0.9, 0.12, bright=0.82, dull=0.48, darkening=0.30, width=3),
    "nylon": Instrument("plucked", 0.004, 0.7, 0.14, bright=0.66, dull=0.34, darkening=0.25, width=3),
    "twang": Instrument("twang", 0.002, 0.8, 0.09, bright=0.86, dull=0.60, darkening=0.30, vibrato=4),
    "banjo": Instrument("twang", 0.002, 0.24, 0.05, bright=0.88, dull=0.58, darkening=0.15, width=2),
    "steel": Instrument("soft", 0.03, 2.2, 0.18, bright=0.84, dull=0.70, vibrato=16, width=4),
    "fiddle": Instrument("bowed", 0.035, 0.0, 0.08, bright=0.72, dull=0.86, darkening=0.08, vibrato=12),
    "harmonica": Instrument("reed", 0.025, 0.0, 0.07, bright=0.66, dull=0.80, darkening=0.12, vibrato=14, width=7),
    "blues-guitar": Instrument("plucked", 0.004, 1.2, 0.10, bright=0.86, dull=0.64, darkening=0.35, vibrato=18),
    "jazz-guitar": Instrument("plucked", 0.004, 0.8, 0.10, bright=0.68, dull=0.42, darkening=0.30, width=2),
    "tonewheel": Instrument("drawbars", 0.008, 0.0, 0.05, bright=0.86, dull=0.82, vibrato=9, width=6),
    "sax": Instrument("reed", 0.03, 0.0, 0.09, bright=0.62, dull=0.80, darkening=0.08, vibrato=15, breath=0.04),
    "muted-trumpet": Instrument("buzz", 0.025, 0.0, 0.07, bright=0.56, dull=0.82, darkening=0.06, vibrato=10),
    "vibraphone": Instrument("fm", 0.003, 1.1, 0.30, index=0.55, ratio=4.0, darkening=0.12, width=4),
    "electric-piano": Instrument("fm", 0.004, 1.1, 0.14, index=1.4, ratio=1.0, darkening=0.45, width=5),
    "bell": Instrument("fm", 0.003, 0.9, 0.30, index=0.9, ratio=3.5, darkening=0.30, width=5),
    "music-box": Instrument("fm", 0.002, 0.6, 0.20, index=0.6, ratio=7.0, darkening=0.08, width=3),
    "synth-pluck": Instrument("saw", 0.003, 0.30, 0.10, bright=0.88, dull=0.35, darkening=0.10, width=9),
    "synth-lead": Instrument("square", 0.010, 0.0, 0.09, bright=0.80, dull=0.74, vibrato=9, width=8),
    "saw-lead": Instrument("saw", 0.012, 0.0, 0.10, bright=0.84, dull=0.78, vibrato=7, width=13),
    "glass": Instrument("fm", 0.010, 0.7, 0.25, index=1.3, ratio=2.0, darkening=0.20, width=8),
    "warm-pad": Instrument("saw", 0.18, 0.0, 0.35, bright=0.52, dull=0.68, darkening=0.8, width=14),
    "choir": Instrument("reed", 0.20, 0.0, 0.40, bright=0.50, dull=0.60, darkening=0.5, vibrato=9, width=12),
    "lead-guitar": Instrument("saw", 0.006, 3.0, 0.10, bright=0.82, dull=0.76, vibrato=16),
    "rhythm-guitar": Instrument("plucked", 0.003, 1.6, 0.05, bright=0.84, dull=0.62, darkening=0.5),
    "upright-bass": Instrument("plucked", 0.006, 0.55, 0.09, bright=0.60, dull=0.30, darkening=0.15),
    "electric-bass": Instrument("plucked", 0.004, 0.9, 0.07, bright=0.72, dull=0.45, darkening=0.25),
    "picked-bass": Instrument("twang", 0.003, 0.9, 0.06, bright=0.70, dull=0.50, darkening=0.30),
    "sub-bass": Instrument("sine", 0.008, 0.9, 0.10, bright=0.80, dull=0.60),
    "fm-bass": Instrument("fm", 0.004, 0.5, 0.06, index=1.8, ratio=1.0, darkening=0.12),
    "saw-bass": Instrument("saw", 0.005, 0.7, 0.06, bright=0.80, dull=0.55, darkening=0.15),
}
# fmt: on


def tone(
    instrument: Instrument, frequency: float, held: float, *, rate: int, brightness: float = 0.0, bend: float = 0.0
) -> Wave:
    """One tone, held for ``held`` seconds and then released: channels x samples.

    ``brightness`` moves the instrument's own (-0.3 to 0.2 stays musical); ``bend`` is where a glide into the pitch
    begins, in semitones from it.
    """
    n_samples = max(2, round((held + instrument.release) * rate))
    seconds = np.arange(n_samples, dtype=np.float32) / np.float32(rate)
    turns = _turns(instrument, frequency, bend, n_samples, rate)
    sides = (2 ** (instrument.width / 2400), 2 ** (-instrument.width / 2400)) if instrument.width else (1.0,)
    darkness = np.exp(seconds * np.float32(-1 / instrument.darkening))
    if instrument.spectrum == "fm":
        index = (instrument.index * (1 + brightness) * (0.25 + 0.75 * darkness)).astype(np.float32)
        waves = [_fm(turns * side, instrument.ratio, index) for side in sides]
    else:
        level = instrument.dull + (instrument.bright - instrument.dull) * darkness + np.float32(brightness)
        partials = int(np.clip(0.42 * rate / frequency, 1, MOST_PARTIALS))
        table = _table(instrument.spectrum, 1 << (partials.bit_length() - 1) if partials < MOST_PARTIALS else partials)
        waves = [_read(table, turns * side, level) for side in sides]
    if instrument.breath:
        waves = [wave + np.float32(instrument.breath) * np.resize(_breath(rate), n_samples) for wave in waves]
    if len(waves) == 2:  # a little of each side in the other: wide, but whole in one loudspeaker
        waves = [waves[0] + BLEED * waves[1], waves[1] + BLEED * waves[0]]
    return np.stack(waves) * _envelope(instrument, seconds, held)


def _turns(instrument: Instrument, frequency: float, bend: float, n_samples: int, rate: int) -> NDArray[np.float64]:
    """The phase in turns: straight, or with a bend at first and a vibrato that sets in later."""
    if not (instrument.vibrato or bend):
        return np.arange(n_samples, dtype=np.float64) * (frequency / rate)
    seconds = np.arange(n_samples, dtype=np.float32) / np.float32(rate)
    onset = np.clip((seconds - VIBRATO_DELAY) / 0.3, 0, 1)
    wave = onset * np.sin(np.float32(2 * np.pi * VIBRATO_RATE) * seconds) * np.float32(instrument.vibrato / 1200)
    if bend:
        wave += np.float32(bend / 12) * np.exp(seconds / np.float32(-GLIDE))
    return np.asarray(np.cumsum(np.exp2(wave), dtype=np.float64) * (frequency / rate), dtype=np.float64)


@lru_cache(maxsize=64)
def _table(spectrum: str, partials: int) -> Wave:
    """Rows from dull to bright x one period, flat; all of the loudness that the row at 0.8 would have at RMS 1."""
    harmonics = np.arange(1, partials + 1, dtype=np.float64)
    amplitudes = np.abs(_SPECTRA[spectrum](harmonics))
    phases = np.exp(-1j * np.pi * harmonics**2 / partials)  # spread, so that no sample carries them all
    lines = np.zeros((len(BRIGHTNESSES), COLUMNS // 2 + 1), dtype=complex)
    lines[:, 1 : partials + 1] = amplitudes * phases * BRIGHTNESSES[:, None] ** (harmonics - 1)
    rows = np.fft.irfft(lines, axis=1)
    reference = np.sqrt(np.mean(rows[np.argmin(np.abs(BRIGHTNESSES - 0.8))] ** 2))
    return np.ravel(rows / reference).astype(np.float32)


def _read(table: Wave, turns: NDArray[np.float64], level: Wave) -> Wave:
    """Read a wavetable along a phase, between its two rows nearest to a brightness."""
    column = (turns * COLUMNS).astype(np.int32) & (COLUMNS - 1)
    row = np.clip((level - _DULLEST) * _ROWS_A_UNIT, 0, N_ROWS - 1.01)
    lower = row.astype(np.int32)
    place = lower * COLUMNS + column
    dull = table[place]
    read: Wave = dull + (table[place + COLUMNS] - dull) * (row - lower).astype(np.float32)
    return read


def _fm(turns: NDArray[np.float64], ratio: float, index: Wave) -> Wave:
    carrier, modulator = _angle(turns), _angle(turns * ratio)
    wave: Wave = np.sin(carrier + index * np.sin(modulator)) * np.float32(np.sqrt(2))
    return wave


def _angle(turns: NDArray[np.float64]) -> Wave:
    """A phase in radians, from turns; whole turns are dropped while there are digits to keep the rest."""
    angle: Wave = (turns - np.floor(turns)).astype(np.float32) * np.float32(2 * np.pi)
    return angle


@lru_cache(maxsize=4)
def _breath(rate: int) -> Wave:
    """Noise of RMS 1 between 1 and 5 kHz, four seconds of it."""
    noise = np.random.default_rng(np.random.SeedSequence(0)).normal(size=4 * rate)
    return _band(noise, 1 / rate, 1000, 5000).astype(np.float32)


def _envelope(instrument: Instrument, seconds: Wave, held: float) -> Wave:
    level: Wave = np.ones_like(seconds)
    if instrument.decay:
        level = np.exp(seconds / np.float32(-instrument.decay))
    rise = np.searchsorted(seconds, instrument.attack)
    level[:rise] *= 0.5 - 0.5 * np.cos(np.pi * seconds[:rise] / np.float32(instrument.attack))
    fall = min(int(np.searchsorted(seconds, held)), len(seconds) - 2)
    level[fall:] *= 0.5 + 0.5 * np.cos(np.linspace(0, np.pi, len(seconds) - fall, dtype=np.float32))
    return level


@lru_cache(maxsize=128)
def drum(name: str, rate: int, tuning: float = 1.0) -> Wave:
    """One stroke of a drum, mono, by name: kick, deep-kick, snare, brush, clap, rim, hat, open-hat, ride, shaker, tom.

    ``tuning`` is a factor on its pitch. The noise of a drum is the same at every stroke and in every piece.
    """
    make, seconds = _DRUMS[name]
    time = np.arange(round(seconds * rate)) / rate
    noise = np.random.default_rng(np.random.SeedSequence([len(name), *name.encode()])).normal(size=len(time))
    wave = make(time, noise, tuning)
    ends = np.minimum(1, time / 0.0015) * np.minimum(1, (seconds - time) / 0.02)
    return np.asarray(wave * ends, dtype=np.float32)[None]


_Floats = NDArray[np.float64]


def _swept(time: _Floats, low: float, extra: float, fall: float) -> _Floats:
    """A sine whose pitch falls from ``low`` + ``extra`` to ``low``."""
    wave: _Floats = np.sin(2 * np.pi * (low * time + extra * fall * (1 - np.exp(-time / fall))))
    return wave


def _band(noise: _Floats, rate_step: float, low: float, high: float) -> _Floats:
    """Noise between two frequencies, with soft edges, by its spectrum."""
    frequencies = np.fft.rfftfreq(len(noise), rate_step)
    shape = 1 / (1 + (low / np.maximum(frequencies, 1)) ** 4) / (1 + (frequencies / high) ** 4)
    band = np.fft.irfft(np.fft.rfft(noise) * shape, len(noise))
    shaped: _Floats = band / np.sqrt(np.mean(band**2))
    return shaped


def _kick(time: _Floats, noise: _Floats, tuning: float) -> _Floats:
    body = _swept(time, 48 * tuning, 130, 0.028) * np.exp(-time / 0.11)
    return 1.5 * body + 0.05 * _band(noise, time[1], 1500, 4000) * np.exp(-time / 0.006)


def _deep_kick(time: _Floats, noise: _Floats, tuning: float) -> _Floats:
    return 1.6 * _swept(time, 44 * tuning, 90, 0.04) * np.exp(-time / 0.20) + 0 * noise


def _snare(time: _Floats, noise: _Floats, tuning: float) -> _Floats:
    wires = 0.42 * _band(noise, time[1], 1200, 7000) * np.exp(-time / 0.075)
    return wires + 0.7 * _swept(time, 180 * tuning, 60, 0.02) * np.exp(-time / 0.06)


def _brush(time: _Floats, noise: _Floats, tuning: float) -> _Floats:
    return 0.35 * _band(noise, time[1], 900 * tuning, 5000) * (time / 0.02 * np.exp(1 - time / 0.02)) ** 0.6


def _clap(time: _Floats, noise: _Floats, tuning: float) -> _Floats:
    bursts = sum(np.where(time >= at, np.exp(-(time - at) / wide), 0) for at, wide in
                 ((0.0, 0.006), (0.011, 0.006), (0.022, 0.075)))  # fmt: skip
    return 0.4 * _band(noise, time[1], 800 * tuning, 4500) * bursts


def _rim(time: _Floats, noise: _Floats, tuning: float) -> _Floats:
    return 0.7 * _swept(time, 820 * tuning, 200, 0.004) * np.exp(-time / 0.018) + 0.05 * noise * np.exp(-time / 0.004)


def _cymbal(low: float, fade: float, level: float) -> Callable[[_Floats, _Floats, float], _Floats]:
    return lambda time, noise, tuning: level * _band(noise, time[1], low * tuning, 12500) * np.exp(-time / fade)


def _ride(time: _Floats, noise: _Floats, tuning: float) -> _Floats:
    ping = sum(np.sin(2 * np.pi * f * tuning * time) for f in (3130.0, 4210.0, 5370.0)) * np.exp(-time / 0.09)
    return 0.05 * ping + 0.13 * _band(noise, time[1], 5000, 11000) * np.exp(-time / 0.22)


def _tom(time: _Floats, noise: _Floats, tuning: float) -> _Floats:
    return 1.2 * _swept(time, 95 * tuning, 50, 0.05) * np.exp(-time / 0.16) + 0 * noise


_DRUMS: dict[str, tuple[Callable[[_Floats, _Floats, float], _Floats], float]] = {
    "kick": (_kick, 0.45),
    "deep-kick": (_deep_kick, 0.8),
    "snare": (_snare, 0.35),
    "brush": (_brush, 0.25),
    "clap": (_clap, 0.4),
    "rim": (_rim, 0.12),
    "hat": (_cymbal(6500, 0.028, 0.3), 0.15),
    "open-hat": (_cymbal(6000, 0.14, 0.26), 0.5),
    "ride": (_ride, 0.9),
    "shaker": (_cymbal(4500, 0.04, 0.2), 0.18),
    "tom": (_tom, 0.6),
}
