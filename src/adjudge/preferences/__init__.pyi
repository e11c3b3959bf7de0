from .attention_checks import make_traps
from .files import read_answers, read_questions, write_answers, write_questions
from .generation import make_questions, questions_from_runs
from .learning import Learnt, learn
from .participants import Influence, Quality
from .participants import influence as find_influence
from .participants import quality as check_quality
from .questions import Combination, Question, Questions, thesis_combinations
from .simulated import BEHAVIOURS, example_study, operating, simulate_study
from .study import Study
from .trust import CUES, AnswerFacts, TrustRules, assess, assess_all, must_stop, set_aside

__all__ = [
    "BEHAVIOURS",
    "CUES",
    "AnswerFacts",
    "Combination",
    "Influence",
    "Learnt",
    "Quality",
    "Question",
    "Questions",
    "Study",
    "TrustRules",
    "assess",
    "assess_all",
    "check_quality",
    "example_study",
    "find_influence",
    "learn",
    "make_questions",
    "make_traps",
    "must_stop",
    "operating",
    "questions_from_runs",
    "read_answers",
    "read_questions",
    "set_aside",
    "simulate_study",
    "thesis_combinations",
    "write_answers",
    "write_questions",
]
