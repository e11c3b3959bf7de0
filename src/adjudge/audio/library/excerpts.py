"""The part of a recording that people will hear: 30 seconds of the middle, the beginning, or what is most like it all.

A recording of any length is sought in, not read: no more than the excerpt and one block is ever in memory, so that
three hours cost no more than three minutes. A place is one of

- ``middle``: half-way, where a piece has usually come to itself. Where half of it or more is silence (a hidden track
  after minutes of nothing), the nearest place where at least four fifths are heard, or else where most are;
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
from adjudge.audio.clips import faded
from adjudge.audio.loudness import AudioError
from adjudge.audio.sources import LEAST_SECONDS, BrokenError, ShortError, Sound, digest_of, open_sound

PLACES = ("middle", "start", "representative")
SECONDS = 30.0
MOST_SECONDS = 1800.0
HEARD = -60.0  # dB relative to full scale: a second whose root mean square is below is silent
ENOUGH, PLENTY = 0.5, 0.8  # shares of an excerpt that must be heard in the middle, and elsewhere
BLOCK = 2**24  # samples of all channels that are decoded at once: 64 MiB
SCANNED = 60  # seconds that are looked at at once
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
    """Read the part of a recording that a place means, or all of one that is not longer than ``seconds``.

    ``start`` and ``sha256`` are given where they are known from before. A recording shorter than 0.5 s, cut off, or
    with samples in the excerpt that are no numbers is refused in one line, and so is what is no recording.

    >>> read_excerpt("nowhere.flac")
    Traceback (most recent call last):
    adjudge.audio.sources.UnreadableError: nowhere.flac: expected a file, got none
    >>> read_excerpt("nowhere.flac", place="chorus")
    Traceback (most recent call last):
    adjudge.audio.loudness.AudioError: 'place' must be middle, start or representative, got 'chorus'
    """
    check_wanted(seconds, place)
    path = Path(path)
    with open_sound(path) as sound:
        if sound.seconds < LEAST_SECONDS:
            raise ShortError(f"expected at least {LEAST_SECONDS} s, got {sound.seconds:.3f} s")
        sound.check_end()
        wanted = min(sound.n_samples, max(1, round(seconds * sound.rate)))
        first = (
            _first(sound, wanted, place) if start is None else min(round(start * sound.rate), sound.n_samples - wanted)
        )
        samples = _part(sound, first, wanted)
        if len(samples) < LEAST_SECONDS * sound.rate:
            raise BrokenError(f"expected sound from {first / sound.rate:.0f} s on, got {len(samples)} samples")
        is_last = first + len(samples) >= sound.n_samples
        samples = faded(samples, sound.rate, start=first > 0, end=not is_last)
        return Excerpt(samples, sound.rate, first / sound.rate, sound.seconds, sha256 or digest_of(path))


def check_wanted(seconds: float, place: str) -> None:
    """Refuse an excerpt that cannot be: a length that is none, a place that nobody knows."""
    if place not in PLACES:
        raise AudioError(f"'place' must be {', '.join(PLACES[:-1])} or {PLACES[-1]}, got {place!r}")
    if not LEAST_SECONDS <= seconds <= MOST_SECONDS:
        raise AudioError(f"'seconds' must be from {LEAST_SECONDS:g} to {MOST_SECONDS:g}, got {seconds:g}")


def _first(sound: Sound, wanted: int, place: str) -> int:
    """The sample at which the excerpt begins."""
    if place == "start" or wanted == sound.n_samples:
        return 0
    return _representative(sound, wanted) if place == "representative" else _middle(sound, wanted)


def _part(sound: Sound, first: int, wanted: int) -> Samples:
    """Samples from one on, mono or stereo; fewer only where the length was a guess."""
    sound.seek(first)
    block = max(1, BLOCK // sound.n_channels)
    parts: list[Samples] = []
    missing = wanted
    while missing > 0 and len(part := sound.read(min(block, missing), dtype="float32")):
        parts.append(part.astype(np.float32, copy=False))
        missing -= len(part)
    if sound.is_sure and missing > sound.slack:
        at = (first + wanted - missing) / sound.rate
        raise BrokenError(f"expected a whole file, got one that is damaged at {at:.2f} s of {sound.seconds:.2f} s")
    return np.concatenate(parts) if parts else np.empty((0, 1), np.float32)


def _blocks(sound: Sound) -> Iterator[Samples]:
    """All of a recording, a minute at a time; what cannot be decoded ends it."""
    length = min(SCANNED * sound.rate, max(sound.rate, BLOCK // sound.n_channels // sound.rate * sound.rate))
    for first in range(0, sound.n_samples, length):
        try:
            yield _part(sound, first, min(length, sound.n_samples - first))
        except BrokenError:  # only matters where it would be heard
            return


def _middle(sound: Sound, wanted: int) -> int:
    """The middle, or the nearest place that is not mostly silent."""
    middle = (sound.n_samples - wanted) // 2
    if np.mean(_are_heard(_part(sound, middle, wanted), sound.rate)) > ENOUGH:
        return middle
    parts = [_are_heard(block, sound.rate) for block in _blocks(sound)]
    heard = np.concatenate(parts) if parts else np.empty(0, dtype=np.bool_)
    if not heard.any():  # faint all over, or damaged at once: levelling will say whether it is silence
        return middle
    length = min(len(heard), max(1, round(wanted / sound.rate)))
    shares = _window_sums(heard.astype(np.float64), length) / length
    enough = np.flatnonzero(shares >= min(PLENTY, shares.max()))
    second = int(enough[np.argmin(np.abs(enough - middle / sound.rate))])
    return min(second * sound.rate, sound.n_samples - wanted)


def _are_heard(samples: Samples, rate: int) -> npt.NDArray[np.bool_]:
    """Whether each second is above silence; what is left over at the end counts as one."""
    power = np.square(samples).mean(axis=1)
    starts = np.arange(0, len(power), rate)
    means = np.add.reduceat(power, starts) / np.diff(np.append(starts, len(power)))
    heard: npt.NDArray[np.bool_] = means > 10 ** (HEARD / 10)
    return heard


def _window_sums(values: Floats, length: int) -> Floats:
    """Sums of all runs of ``length`` rows."""
    sums = np.zeros((len(values) + 1, *values.shape[1:]))
    np.cumsum(values, axis=0, out=sums[1:])
    windows: Floats = sums[length:] - sums[:-length]
    return windows


def _representative(sound: Sound, wanted: int) -> int:
    """The window whose Gaussian of MFCCs is nearest to that of the whole recording."""
    parts = [_moments(block, sound.rate) for block in _blocks(sound)]
    moments = np.concatenate(parts) if parts else np.empty((0, 0))
    length = round(wanted / sound.rate)
    if not 0 < length < len(moments):
        return (sound.n_samples - wanted) // 2
    whole, windows = moments.sum(axis=0), _window_sums(moments, length)
    some = (windows[start : start + WINDOWS] for start in range(0, len(windows), WINDOWS))
    distances = np.concatenate([_divergences(part, whole) for part in some])
    return min(int(np.argmin(distances)) * sound.rate, sound.n_samples - wanted)


def _moments(samples: Samples, rate: int) -> Floats:
    """Each whole second as 1 + 20 + 400 numbers: how many frames, the sums of their MFCCs and of their products."""
    from adjudge.audio.features.spectra import HOP, RATE, sound_of, spectra_of
    from adjudge.audio.features.timbre import N_MFCC, mfcc

    n_seconds = len(samples) // rate
    if n_seconds == 0:
        return np.empty((0, 1 + N_MFCC + N_MFCC**2))
    coefficients = mfcc(spectra_of(sound_of(samples[: n_seconds * rate], rate))).astype(np.float64)
    second = np.minimum(np.arange(len(coefficients)) * HOP // RATE, n_seconds - 1)
    starts = np.searchsorted(second, np.arange(n_seconds))
    products = (coefficients[:, :, None] * coefficients[:, None, :]).reshape(len(coefficients), -1)
    each = np.concatenate([np.ones((len(coefficients), 1)), coefficients, products], axis=1)
    sums: Floats = np.add.reduceat(each, starts)
    return sums


def _divergences(windows: Floats, whole: Floats) -> Floats:
    """Symmetric Kullback-Leibler divergence of every window's Gaussian from that of the whole."""
    means, covariances = _gaussians(windows)
    mean, covariance = (part[0] for part in _gaussians(whole[None]))
    inverses, inverse = np.linalg.inv(covariances), np.linalg.inv(covariance)
    traces = np.einsum("wij,ji->w", inverses, covariance) + np.einsum("ij,wji->w", inverse, covariances)
    apart = means - mean
    distances: Floats = 0.5 * (traces + np.einsum("wi,wij,wj->w", apart, inverses + inverse, apart)) - len(mean)
    return distances


def _gaussians(moments: Floats) -> tuple[Floats, Floats]:
    """Means (n x 20) and covariances (n x 20 x 20) of sums of coefficients and of their products."""
    from adjudge.audio.features.timbre import RIDGE

    size = round((moments.shape[1] - 1) ** 0.5)
    means = moments[:, 1 : 1 + size] / moments[:, :1]
    products = (moments[:, 1 + size :] / moments[:, :1]).reshape(-1, size, size)
    covariances = products - means[:, :, None] * means[:, None, :] + RIDGE * np.eye(size)
    return means, covariances
