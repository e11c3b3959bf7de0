"""The reports of all experiments: importing this registers them."""

from adjudge.reports import (
    experiment_errors,
    experiment_fit,
    experiment_power,
    experiment_reliability,
    experiment_tests,
)

__all__ = ["experiment_errors", "experiment_fit", "experiment_power", "experiment_reliability", "experiment_tests"]
