"""Documents with invented features and tags, for tests of systems."""

from __future__ import annotations

import numpy as np
import polars as pl

from adjudge.arrays import Floats
from adjudge.audio.features.timbre import pack
from adjudge.audio.systems import Sounds


def gaussians(n: int, d: int = 20, *, seed: int = 0, frames: int = 60) -> tuple[Floats, Floats]:
    """Means and covariances as of clips, the first dimension by far the loudest."""
    rng = np.random.default_rng(seed)
    deviations = np.linspace(6.0, 0.6, d)
    noise = rng.normal(size=(n, d, frames)) * deviations[:, None] * np.exp(0.3 * rng.normal(size=(n, 1, 1)))
    return 0.7 * rng.normal(size=(n, d)) * deviations - 50 * deviations, noise @ noise.transpose(0, 2, 1) / frames


def invented(n: int = 40, *, seed: int = 0, tagged: bool = True) -> Sounds:
    """Documents of four genres and ten artists, or without any tags."""
    rng = np.random.default_rng(seed)
    documents = tuple(f"d{place:03d}" for place in range(n))
    features = {
        "timbre": np.array([pack(*gaussian) for gaussian in zip(*gaussians(n, seed=seed), strict=True)]),
        "rhythm": rng.gamma(1.0, size=(n, 30)),
        "tonal": rng.random((n, 96)),
    }
    places = np.arange(n)
    columns = {
        "title": [f"song {place}" for place in places],
        "artist": [f"artist {place % 10}" for place in places],
        "album": [f"album {place // 2 % 10}" for place in places],
        "genre": [("rock", "death metal", "metal", "jazz")[place % 4] for place in places],
        "year": [str(1970 + place) for place in places],
    }
    tracks = pl.DataFrame(
        {"document": documents, **{name: cells if tagged else None for name, cells in columns.items()}}
    )
    return Sounds(documents, features, tracks, seed)
