"""All experiments: importing this registers them."""

from adjudge.experiments import error_rates, goodness, optimality, power, reliability, stability

__all__ = ["error_rates", "goodness", "optimality", "power", "reliability", "stability"]
