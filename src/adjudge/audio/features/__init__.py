"""What a clip sounds like, as numbers: timbre, rhythm and harmony, each a registered feature.

``base`` says what a feature is. ``spectra`` decodes a clip (``resampling`` brings it to 22,050 Hz) and computes its
short-time spectrum once; ``timbre`` (with ``mfcc``), ``rhythm`` and ``tonal`` are functions of that. ``extracting``
computes those of a whole library over processes, ``keeping`` keeps them beside it, ``exporting`` writes them for other
programs.
"""

from __future__ import annotations

from adjudge.audio.features import rhythm, timbre, tonal  # noqa: F401  (they register themselves)
from adjudge.audio.features.base import AUDIO_FEATURES, AudioFeature, audio_feature

__all__ = ["AUDIO_FEATURES", "AudioFeature", "audio_feature"]
