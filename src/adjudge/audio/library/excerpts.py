"""The part of a recording that people will hear: 30 seconds of the middle, the beginning, or the most typical part.

No more than the excerpt and one block of a recording are ever in memory. A place is one of

- ``middle``: half-way, where a piece has usually developed. Where half of that or more is silence (a hidden track after
  minutes of nothing), the nearest place of which at least four fifths are audible, or else most;
- ``start``: the beginning;
- ``representative``: the place, to a second, whose timbre is nearest to that of the whole recording.

For the last, let N_w and N be the Gaussians that fit the 20 MFCCs of the window that begins at second w and those of
the recording. The excerpt is the window with the least symmetric Kullback-Leibler divergence

    D_w = KL(N_w, N) + KL(N, N_w)
        = 1/2 [tr(S_w^-1 S) + tr(S^-1 S_w) + (m_w - m)' (S_w^-1 + S^-1) (m_w - m)] - 20,

the first of those that are equal. The sums of coefficients and of their products are kept second by second, so that
their cumulative sums give the mean m_w and the covariance S_w of all windows at once.

Excerpts are faded over 20 ms where they were cut. Times are in seconds, rates in Hz.

References: Mandel and Ellis, "Song-level features and support vector machines for music classification", ISMIR 2005,
doi:10.5281/zenodo.1417197; Kullback and Leibler (1951), doi:10.1214/aoms/1177729694.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from adjudge.arrays import Floats
from adjudge.audio.clips import fade
from adjudge.audio.loudness import AudioError
from adjudge.audio.sources import LEAST_SECONDS, MOST_SECONDS, BrokenError, ShortError, Sound, digest_of, open_sound

PLACES = ("middle", "start", "representative")
SECONDS = 30.0
AUDIBLE = -60.0  # dB relative to full scale: a second with a lower root mean square is silent
ENOUGH, PLENTY = 0.5, 0.8  # shares of an excerpt that must be audible in the middle, and elsewhere
BLOCK = 2**24  # samples of all channels that are decoded at once: 64 MiB
SCANNED = 60  # seconds that are read at once
WINDOWS = 1000  # excerpts that are compared with the whole at once

Samples = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Excerpt:
    """A part of a recording: samples x 1 or 2 channels at ``rate`` Hz, from ``start`` on, of ``total_seconds``.

    ``sha256`` is that of the whole file.
    """

    samples: Samples
    rate: int
    start: float
    total_seconds: float
    sha256: str

    @property
    def seconds(self) -> float:
        """Duration of the excerpt."""
        return len(self.samples) / self.rate


def read_excerpt(
    path: str | Path, *, seconds: float = SECONDS, place: str = "middle", start: float | None = None, sha256: str = ""
) -> Excerpt:
    """Read the part of a recording at a place, or all of a recording that is not longer than ``seconds``.

    ``start`` and ``sha256`` are given where they are already known. A recording that is shorter than 0.5 s, cut off, or
    has NaN or infinity in the excerpt is refused in one line, as is a file that is no recording.

    >>> read_excerpt("nowhere.flac")
    Traceback (most recent call last):
    adjudge.audio.sources.UnreadableError: nowhere.flac: expected a file, got none
    >>> read_excerpt("nowhere.flac", place="chorus")
    Traceback (most recent call last):
    adjudge.audio.loudness.AudioError: 'place' must be middle, start or representative, got 'chorus'
    """
    check_excerpt(seconds, place)
    path = Path(path)
    with open_sound(path) as sound:
        if sound.seconds < LEAST_SECONDS:
            raise ShortError(f"expected at least {LEAST_SECONDS} s, got {sound.seconds:.3f} s")
        sound.check_end()
        n_wanted = min(sound.n_samples, max(1, round(seconds * sound.rate)))
        if start is not None:
            first = min(round(start * sound.rate), sound.n_samples - n_wanted)
        elif place == "start" or n_wanted == sound.n_samples:
            first = 0
        else:
            first = (_find_representative if place == "representative" else _find_middle)(sound, n_wanted)
        samples = _read_part(sound, first, n_wanted)
        if len(samples) < LEAST_SECONDS * sound.rate:
            raise BrokenError(f"expected sound from {first / sound.rate:.0f} s on, got {len(samples)} samples")
        is_last = first + len(samples) >= sound.n_samples
        samples = fade(samples, sound.rate, start=first > 0, end=not is_last)
        return Excerpt(samples, sound.rate, first / sound.rate, sound.seconds, sha256 or digest_of(path))


def check_excerpt(seconds: float, place: str) -> None:
    """Refuse an excerpt of an impossible length, or at an unknown place."""
    if place not in PLACES:
        raise AudioError(f"'place' must be {', '.join(PLACES[:-1])} or {PLACES[-1]}, got {place!r}")
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise AudioError(f"'seconds' must be from {LEAST_SECONDS:g} to {MOST_SECONDS:g}, got {seconds:g}")


def _read_part(sound: Sound, first: int, n_wanted: int) -> Samples:
    """``n_wanted`` samples from ``first`` on, mono or stereo; fewer only where the length was a guess."""
    block = max(1, BLOCK // sound.n_channels)
    parts: list[Samples] = []
    at, end = first, first + n_wanted
    while at < end and len(part := sound.read(min(block, end - at), start=at, dtype="float32")):
        parts.append(part.astype(np.float32, copy=False))
        at += len(part)
    if sound.is_length_known and end - at > sound.slack:
        where = f"{at / sound.rate:.2f} s of {sound.seconds:.2f} s"
        raise BrokenError(f"expected a whole file, got one that is damaged at {where}")
    return np.concatenate(parts) if parts else np.empty((0, 1), np.float32)


def _read_blocks(sound: Sound) -> Iterator[Samples]:
    """All of a recording, one minute at a time, up to where it cannot be decoded."""
    length = min(SCANNED * sound.rate, max(sound.rate, BLOCK // sound.n_channels // sound.rate * sound.rate))
    for first in range(0, sound.n_samples, length):
        try:
            yield _read_part(sound, first, min(length, sound.n_samples - first))
        except BrokenError:  # matters only inside the excerpt
            return


def _find_middle(sound: Sound, n_wanted: int) -> int:
    """The middle, or the nearest place that is not mostly silent."""
    middle = (sound.n_samples - n_wanted) // 2
    if np.mean(_find_audible_seconds(_read_part(sound, middle, n_wanted), sound.rate)) > ENOUGH:
        return middle
    parts = [_find_audible_seconds(block, sound.rate) for block in _read_blocks(sound)]
    audible = np.concatenate(parts) if parts else np.empty(0, dtype=np.bool_)
    if not audible.any():  # faint everywhere, or damaged at its beginning: levelling tells whether it is silence
        return middle
    length = min(len(audible), max(1, round(n_wanted / sound.rate)))
    shares = _sum_windows(audible.astype(np.float64), length) / length
    enough = np.flatnonzero(shares >= min(PLENTY, shares.max()))
    second = int(enough[np.argmin(np.abs(enough - middle / sound.rate))])
    return min(second * sound.rate, sound.n_samples - n_wanted)


def _find_audible_seconds(samples: Samples, rate: int) -> npt.NDArray[np.bool_]:
    """Whether each second is above silence; the remainder at the end counts as one."""
    power = np.square(samples).mean(axis=1)
    starts = np.arange(0, len(power), rate)
    means = np.add.reduceat(power, starts) / np.diff(np.append(starts, len(power)))
    audible: npt.NDArray[np.bool_] = means > 10 ** (AUDIBLE / 10)
    return audible


def _sum_windows(values: Floats, length: int) -> Floats:
    """Sums of all runs of ``length`` rows."""
    sums = np.zeros((len(values) + 1, *values.shape[1:]))
    np.cumsum(values, axis=0, out=sums[1:])
    windows: Floats = sums[length:] - sums[:-length]
    return windows


def _find_representative(sound: Sound, n_wanted: int) -> int:
    """The window whose Gaussian of MFCCs is nearest to that of the whole recording."""
    parts = [_sum_moments(block, sound.rate) for block in _read_blocks(sound)]
    moments = np.concatenate(parts) if parts else np.empty((0, 0))
    length = round(n_wanted / sound.rate)
    if not 0 < length < len(moments):
        return (sound.n_samples - n_wanted) // 2
    whole, windows = moments.sum(axis=0), _sum_windows(moments, length)
    parts = [windows[start : start + WINDOWS] for start in range(0, len(windows), WINDOWS)]
    distances = np.concatenate([_compute_divergences(part, whole) for part in parts])
    return min(int(np.argmin(distances)) * sound.rate, sound.n_samples - n_wanted)


def _sum_moments(samples: Samples, rate: int) -> Floats:
    """Each whole second as 1 + 20 + 400 numbers: frames, the sums of their MFCCs and of the products of these."""
    from adjudge.audio.features.spectra import HOP, RATE, compute_spectra, mix_and_resample
    from adjudge.audio.features.timbre import N_MFCC, mfcc

    n_seconds = len(samples) // rate
    if n_seconds == 0:
        return np.empty((0, 1 + N_MFCC + N_MFCC**2))
    coefficients = mfcc(compute_spectra(mix_and_resample(samples[: n_seconds * rate], rate))).astype(np.float64)
    second = np.minimum(np.arange(len(coefficients)) * HOP // RATE, n_seconds - 1)
    starts = np.searchsorted(second, np.arange(n_seconds))
    products = (coefficients[:, :, None] * coefficients[:, None, :]).reshape(len(coefficients), -1)
    each = np.concatenate([np.ones((len(coefficients), 1)), coefficients, products], axis=1)
    sums: Floats = np.add.reduceat(each, starts)
    return sums


def _compute_divergences(windows: Floats, whole: Floats) -> Floats:
    """Symmetric Kullback-Leibler divergence of every window's Gaussian from that of the whole."""
    means, covariances = _fit_gaussians(windows)
    mean, covariance = (part[0] for part in _fit_gaussians(whole[None]))
    inverses, inverse = np.linalg.inv(covariances), np.linalg.inv(covariance)
    traces = np.einsum("wij,ji->w", inverses, covariance) + np.einsum("ij,wji->w", inverse, covariances)
    apart = means - mean
    distances: Floats = 0.5 * (traces + np.einsum("wi,wij,wj->w", apart, inverses + inverse, apart)) - len(mean)
    return distances


def _fit_gaussians(moments: Floats) -> tuple[Floats, Floats]:
    """Means (n x 20) and covariances (n x 20 x 20) of sums of coefficients and of their products."""
    from adjudge.audio.features.timbre import RIDGE

    size = round((moments.shape[1] - 1) ** 0.5)
    means = moments[:, 1 : 1 + size] / moments[:, :1]
    products = (moments[:, 1 + size :] / moments[:, :1]).reshape(-1, size, size)
    covariances = products - means[:, :, None] * means[:, None, :] + RIDGE * np.eye(size)
    return means, covariances
