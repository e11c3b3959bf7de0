from .base import ESTIMATORS, RelevanceModel, Scores, estimator
from .calibration import Calibration
from .candidates import Candidates
from .candidates import candidates as find_candidates
from .choosing import GOALS, RULES, Goal, noticeable_zone, rule
from .features import FEATURES, feature
from .models import FittedModel, fit_estimator, published_model
from .session import Session, judging
from .significance import estimate_significance
from .simulation import Simulation

__all__ = [
    "ESTIMATORS",
    "FEATURES",
    "GOALS",
    "RULES",
    "Calibration",
    "Candidates",
    "FittedModel",
    "Goal",
    "RelevanceModel",
    "Scores",
    "Session",
    "Simulation",
    "estimate_significance",
    "estimator",
    "feature",
    "find_candidates",
    "fit_estimator",
    "judging",
    "noticeable_zone",
    "published_model",
    "rule",
]
