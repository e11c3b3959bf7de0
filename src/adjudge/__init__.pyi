from . import audio, errors, experiments, formats, groundtruth, measures, model, preferences, relevance, stats, users
from ._version import __version__
from .embedded import demo
from .errors import AdjudgeError, AdjudgeWarning, InputError
from .experiments.run import run_experiment as experiment
from .explaining import explain
from .formats.reading import read, write
from .groundtruth.building import build as ground_truth
from .measures.base import Measure, measure, parse_measure
from .measures.evaluation import evaluate
from .model.collection import Collection
from .model.effectiveness import Effectiveness
from .model.scales import Scale
from .planning import plan
from .preferences.learning import learn
from .relevance.calibration import calibrate_judging as calibrate
from .relevance.session import judging
from .relevance.simulation import simulate_judging as simulate
from .stats.agreement import agreement
from .stats.gtheory.gstudy import gstudy
from .stats.summary import summarize
from .users.comparison import compare
from .users.gate import gate
from .users.leaderboard.board import leaderboard
from .users.report import report
from .users.satisfaction import satisfaction
from .web.client import connect

__all__ = [
    "AdjudgeError",
    "AdjudgeWarning",
    "Collection",
    "Effectiveness",
    "InputError",
    "Measure",
    "Scale",
    "__version__",
    "agreement",
    "audio",
    "calibrate",
    "compare",
    "connect",
    "demo",
    "errors",
    "evaluate",
    "experiment",
    "experiments",
    "explain",
    "formats",
    "gate",
    "ground_truth",
    "groundtruth",
    "gstudy",
    "judging",
    "leaderboard",
    "learn",
    "measure",
    "measures",
    "model",
    "parse_measure",
    "plan",
    "preferences",
    "read",
    "relevance",
    "report",
    "satisfaction",
    "simulate",
    "stats",
    "summarize",
    "users",
    "write",
]
