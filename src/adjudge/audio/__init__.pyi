from .clips import prepare_clips
from .features import AUDIO_FEATURES, audio_feature
from .features.extract import extract, extract_library
from .library.folder import Library, open_library
from .library.prepare import prepare_library
from .notation.engraving import engrave
from .notation.files import read_pieces
from .notation.files import render as play
from .similarity import SoundSimilarity, sound_similarity
from .systems.base import BASELINES, baseline
from .systems.ranking import make_runs, sounds_of
from .systems.statistics import describe_runs

__all__ = [
    "AUDIO_FEATURES",
    "BASELINES",
    "Library",
    "SoundSimilarity",
    "audio_feature",
    "baseline",
    "describe_runs",
    "engrave",
    "extract",
    "extract_library",
    "make_runs",
    "open_library",
    "play",
    "prepare_clips",
    "prepare_library",
    "read_pieces",
    "sound_similarity",
    "sounds_of",
]
