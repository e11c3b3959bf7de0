"""What a clip sounds like, as numbers: timbre, rhythm and harmony, each a registered function of a clip's spectra.

``spectra`` decodes a clip, resamples it to 22,050 Hz and computes its short-time spectrum once; ``timbre`` (MFCCs),
``rhythm`` and ``tonal`` (chroma) are functions of that. ``extract`` computes the features of a whole library over
processes, keeps them beside it, and writes them for other programs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adjudge.arrays import Floats
from adjudge.audio.features.spectra import Spectra
from adjudge.registry import Registry

Compute = Callable[[Spectra], Floats]


@dataclass(frozen=True)
class AudioFeature:
    """A registered feature: what it describes in one sentence, and how it is computed.

    ``compute`` returns a vector of the same length for every clip. ``version`` goes up when its numbers change, so that
    those kept beside a library are computed again.
    """

    name: str
    about: str
    compute: Compute
    version: int


AUDIO_FEATURES: Registry[AudioFeature] = Registry("audio feature", "adjudge.audio.features.*")


def audio_feature(name: str, *, version: int = 1) -> Callable[[Compute], Compute]:
    """Register a feature under its name, with the first line of its docstring; the function comes back unchanged."""

    def register(compute: Compute) -> Compute:
        AUDIO_FEATURES.add(name, AudioFeature(name, (compute.__doc__ or "").partition("\n")[0], compute, version))
        return compute

    return register
