from .audit import Audit
from .base import ESTIMATORS, RelevanceModel, Scores, estimator
from .calibration import Calibration
from .candidates import Candidates
from .candidates import candidates as find_candidates
from .choosing import GOALS, RULES, Goal, noticeable_zone, rule
from .features import FEATURES, feature
from .models import FittedModel, fit_estimator, published_model
from .session import Session, judging
from .significance import estimate_significance
from .similarity import embedding_similarity, text_similarity
from .simulation import Simulation
from .worth import next_steps

__all__ = [
    "ESTIMATORS",
    "FEATURES",
    "GOALS",
    "RULES",
    "Audit",
    "Calibration",
    "Candidates",
    "FittedModel",
    "Goal",
    "RelevanceModel",
    "Scores",
    "Session",
    "Simulation",
    "embedding_similarity",
    "estimate_significance",
    "estimator",
    "feature",
    "find_candidates",
    "fit_estimator",
    "judging",
    "next_steps",
    "noticeable_zone",
    "published_model",
    "rule",
    "text_similarity",
]
