from .comparing import parse_procedure, parse_procedures
from .error_rates import Errors
from .goodness import Fit
from .optimality import Optimality
from .power import Power
from .reliability import Reliability
from .report import experiment_report
from .run import open_experiment, resume_experiment, run_experiment
from .samples import Sample, Samples, samples_of, strata_of
from .simulate.collection import CollectionModel, fit_collection
from .simulate.copulas import DEPENDENCES
from .simulate.margins import MARGINS
from .spec import EXPERIMENTS, Experiment, Findings
from .stability import Stability

__all__ = [
    "DEPENDENCES",
    "EXPERIMENTS",
    "MARGINS",
    "CollectionModel",
    "Errors",
    "Experiment",
    "Findings",
    "Fit",
    "Optimality",
    "Power",
    "Reliability",
    "Sample",
    "Samples",
    "Stability",
    "experiment_report",
    "fit_collection",
    "open_experiment",
    "parse_procedure",
    "parse_procedures",
    "resume_experiment",
    "run_experiment",
    "samples_of",
    "strata_of",
]
