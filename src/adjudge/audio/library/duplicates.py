"""Repeated recordings: the same in another format, at another level, or cut a little differently.

A fingerprint says, eight times a second and for 32 pairs of neighbouring bands from 150 to 3,500 Hz, whether the
balance of the two has risen or fallen within half a second (after Haitsma and Kalker, 2002, whose windows are shorter:
with one second, a shift of 60 ms changes little). Constant gains and filters cancel. Where the balance moves by less
than 3 dB, the sign could be chance and is unknown:

    b(t, m) = sign(D),    D = L(t, m + 1) - L(t, m) - L(t - 4, m + 1) + L(t - 4, m),    where |D| >= 3 dB

with L(t, m) the level in dB of band m in frame t, not lower than 40 dB below the loudest. Two recordings are the same
where at most 0.01 of the signs known of both differ, at the best of all shifts of up to two seconds.

That limit comes from measurements. Clips of 30 s of freely licensed game music, encoded at the lowest qualities of MP3
and Vorbis, folded to mono, shifted by 50 ms, or cut up to 1.9 s later, differ in at most 0.0032 of their signs; two
pieces in 0.28 or more. Invented music is harder: 16,500 pairs of pieces by one artist of the demo, with the same
accompaniment in the same tempo, differ in 0.024 or more. One channel of a stereo recording (up to 0.05) is often not
recognised.

Sound that is nearly constant or repeats itself every half second has few known signs or none, as have noise, silence
and clips of less than about four seconds: fewer than 256 common signs prove nothing, so only equal files are found.

J. Haitsma and T. Kalker: A highly robust audio fingerprinting system. ISMIR 2002,
https://ismir2002.ismir.net/proceedings/02-FP04-2.pdf; replicated by J. Six, F. Bressan and M. Leman, TISMIR 1(1), 2018,
https://doi.org/10.5334/tismir.4
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats

Bits = npt.NDArray[np.uint8]
Signs = npt.NDArray[np.int8]

FRAMES_PER_SECOND, WINDOW, LAG = 8, 1.0, 4  # the window in seconds, the lag in frames
N_BANDS, LOWEST, HIGHEST = 33, 150.0, 3500.0  # Hz
LEAST_CHANGE = 3.0  # dB
QUIETEST = -80.0  # dB of full scale: quieter clips have no fingerprint
FLOOR = 1e-4  # of the highest energy that any band has: -40 dB
MOST_DIFFERENT = 0.01  # share of signs that may differ
LONGEST_SHIFT = 16  # frames: two seconds
LEAST_OVERLAP = 0.75  # of the longer one
CERTAINTY = 8.0  # standard deviations from chance, where signs are few
INDEPENDENT = 0.25  # signs that count as independent, of those there are
STEP, SHIFT_STEP = 8, 2  # frames between those compared first, and between shifts
NEAR = 0.5  # correlation from which a pair is looked at closely
BLOCK = 512  # documents
_BYTES = 2 * (N_BANDS - 1) // 8  # of a frame: signs, then which of them are known


def fingerprint(samples: npt.NDArray[Any], rate: int) -> Bits:
    """The fingerprint of a clip, as bits in bytes; empty where it is shorter than 1.5 s or nearly silent.

    ``samples`` are one channel or samples x channels. Channels are averaged, unless that cancels them. Every frame has
    eight bytes: 32 signs (1 is rising), and for each whether it is known.

    >>> time = np.arange(3 * 8000) / 8000
    >>> fingerprint(np.sin(6000 * time + 40 * np.sin(9 * time)), 8000).shape
    (104,)
    """
    mono: npt.NDArray[np.float32] = np.asarray(samples, dtype=np.float32)
    if mono.ndim > 1:
        mean = mono.mean(axis=1)
        is_cancelled = len(mean) and np.mean(mean**2) < 0.01 * np.mean(mono**2)
        mono = np.ascontiguousarray(mono[:, 0]) if is_cancelled else mean
    bands = _measure_bands(mono, rate)
    if len(bands) <= LAG:
        return np.zeros(0, dtype=np.uint8)
    level = 10 * np.log10(bands + FLOOR * bands.max() + 1e-30)
    balance = np.diff(level, axis=1)
    change = balance[LAG:] - balance[:-LAG]
    known = np.abs(change) >= LEAST_CHANGE
    bits = np.packbits(np.hstack([(change > 0) & known, known]), axis=1)
    return bits.ravel() if known.any() else np.zeros(0, dtype=np.uint8)


def _measure_bands(samples: npt.NDArray[np.float32], rate: int) -> Floats:
    """Energies, frames x bands; no frames where the clip is nearly silent."""
    from scipy import fft
    from scipy.signal import resample_poly

    factor = max(1, int(rate // 8000))
    if len(samples) < WINDOW * rate:
        return np.zeros((0, N_BANDS))
    low = resample_poly(samples, 1, factor) if factor > 1 else samples
    rate_low = rate / factor
    size = round(WINDOW * rate_low)
    n_frames = 1 + int((len(low) - size) / (rate_low / FRAMES_PER_SECOND))
    starts = np.round(np.arange(n_frames) * rate_low / FRAMES_PER_SECOND).astype(np.int64)
    window = np.hanning(size + 1)[:-1].astype(np.float32)
    edges = np.minimum(np.round(np.geomspace(LOWEST, HIGHEST, N_BANDS + 1) * WINDOW).astype(np.int64), size // 2)
    bands = np.empty((n_frames, N_BANDS))
    for frame, start in enumerate(starts):
        spectrum = fft.rfft(low[start : start + size] * window)[: edges[-1] + 1]
        total = np.concatenate([[0.0], np.cumsum(spectrum.real**2 + spectrum.imag**2, dtype=np.float64)])
        bands[frame] = np.diff(total[edges])
    power = 2 * bands.sum(axis=1).mean() / (size * float(window @ window))  # mean square, by Parseval's theorem
    return bands if 10 * np.log10(power + 1e-30) > QUIETEST else bands[:0]


def find_duplicates(fingerprints: Mapping[str, Bits]) -> dict[str, str]:
    """For every document that repeats an earlier one, in the order given, the first that it repeats.

    That original repeats nothing itself: of the documents that are not in the answer, no two are the same. All
    pairs are correlated at 17 shifts by matrix products, block by block, on every eighth frame; only pairs with a high
    correlation are compared in full.

    >>> find_duplicates({})
    {}
    """
    names = [name for name, bits in fingerprints.items() if len(bits)]
    packed = [fingerprints[name] for name in names]
    repeats: dict[int, int] = {}
    for begin in range(0, len(names), BLOCK):
        originals = [place for place in range(min(begin + BLOCK, len(names))) if place not in repeats]
        for later, earlier in sorted(set(_find_candidates(packed, originals, begin))):
            is_open = later not in repeats and earlier not in repeats
            if is_open and measure_difference(unpack_signs(packed[earlier]), unpack_signs(packed[later])) is not None:
                repeats[later] = earlier
    return {names[later]: names[earlier] for later, earlier in repeats.items()}


def _find_candidates(packed: Sequence[Bits], originals: Sequence[int], begin: int) -> Iterator[tuple[int, int]]:
    """Places in the block from ``begin`` on, each with an earlier original that correlates with it at some shift."""
    block = [unpack_signs(bits) for bits in packed[begin : begin + BLOCK]]
    n_steps = -(-max(len(bits) for bits in packed) // _BYTES // STEP)
    shifts = range(-LONGEST_SHIFT, LONGEST_SHIFT + 1, SHIFT_STEP)
    shifted = np.concatenate([_subsample(block, n_steps, shift) for shift in shifts])
    for start in range(0, len(originals), BLOCK):
        places = originals[start : start + BLOCK]
        rows = _subsample([unpack_signs(packed[place]) for place in places], n_steps, 0)
        for row, column in np.argwhere(rows @ shifted.T >= NEAR):
            later = begin + int(column) % len(block)
            if places[row] < later:
                yield later, places[row]


def _subsample(signs: Sequence[Signs], n_steps: int, shift: int) -> npt.NDArray[np.float32]:
    """Every eighth frame of each fingerprint, from a shift on, as rows of length 1; 0 where it has no frame."""
    rows = np.zeros((len(signs), n_steps, N_BANDS - 1), dtype=np.float32)
    first = max(0, -(shift // STEP))
    for row, frames in zip(rows, signs, strict=True):
        taken = frames[first * STEP + shift :: STEP][: n_steps - first]
        row[first : first + len(taken)] = taken
    flat = rows.reshape(len(signs), -1)
    lengths = np.sqrt(np.maximum(1, np.count_nonzero(flat, axis=1))).astype(np.float32)
    unit: npt.NDArray[np.float32] = flat / lengths[:, None]
    return unit


def unpack_signs(bits: Bits) -> Signs:
    """Signs as numbers, frames x 32: 1 rising, -1 falling, 0 unknown."""
    frames = np.asarray(bits, dtype=np.uint8)[: len(bits) // _BYTES * _BYTES].reshape(-1, _BYTES)
    both = np.unpackbits(frames, axis=1).astype(np.int8)
    rising, known = np.hsplit(both, 2)
    signs: Signs = known * (2 * rising - 1)
    return signs


def measure_difference(first: Signs, second: Signs) -> float | None:
    """Share of signs that differ at the best shift, or None where two recordings are not the same.

    Of k signs known of both, k/4 count as independent, because windows and bands overlap; by chance half of them
    differ, with a standard deviation of 0.5/sqrt(k/4). Two recordings are the same where at most 0.01 of the signs
    differ and that is 8 standard deviations from chance.
    """
    least: float | None = None
    for shift in range(-LONGEST_SHIFT, LONGEST_SHIFT + 1):
        first_part, second_part = first[max(0, shift) :], second[max(0, -shift) :]
        length = min(len(first_part), len(second_part))
        product = first_part[:length] * second_part[:length]
        known = np.count_nonzero(product)
        if length < LEAST_OVERLAP * max(len(first), len(second)) or not known:
            continue
        share = np.count_nonzero(product < 0) / known
        limit = min(MOST_DIFFERENT, 0.5 - CERTAINTY * 0.5 / np.sqrt(INDEPENDENT * known))
        if share <= limit:
            least = share if least is None else min(least, share)
    return least
