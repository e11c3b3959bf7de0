"""What a clip sounds like, as numbers: timbre, rhythm and harmony, each a registered feature.

``base`` defines what a feature is. ``spectra`` decodes a clip, resamples it to 22,050 Hz and computes its short-time
spectrum once; ``timbre`` (MFCCs), ``rhythm`` and ``tonal`` (chroma) are functions of that. ``extract`` computes the
features of a whole library over processes, keeps them beside it, and writes them for other programs.
"""

from __future__ import annotations

from adjudge.audio.features.base import AUDIO_FEATURES, AudioFeature, audio_feature

__all__ = ["AUDIO_FEATURES", "AudioFeature", "audio_feature"]
