from .agreement import Agreement, Ratings, ratings
from .agreement_coefficients import cohen_kappa, drift, fleiss_kappa, krippendorff_alpha, self_consistency
from .correlation import rbo, tau_ap
from .distributions import DISTRIBUTIONS, choose_distribution, prediction_interval
from .effects import effect_sizes
from .effects import equivalence as equivalence_tests
from .gtheory.anova import anova as anova_table
from .gtheory.dstudy import DStudy
from .gtheory.gstudy import GStudy, gstudy
from .gtheory.plan import Costs, Plan, Pricing, growth, power_plan
from .intervals import bootstrap_differences, bootstrap_interval, t_interval, wilson_interval
from .multiple import (
    CORRECTIONS,
    FAMILYWISE_TESTS,
    adjust,
    compact_letters,
    correction,
    familywise,
    friedman,
    friedman_tukey,
    randomised_tukey_hsd,
    tukey_hsd,
)
from .paired import PAIRED_TESTS, PairedTests, paired_test, paired_tests
from .power import detectable_difference, queries_needed
from .power import power as paired_power
from .summary import Summary, summarize

__all__ = [
    "CORRECTIONS",
    "DISTRIBUTIONS",
    "FAMILYWISE_TESTS",
    "PAIRED_TESTS",
    "Agreement",
    "Costs",
    "DStudy",
    "GStudy",
    "PairedTests",
    "Plan",
    "Pricing",
    "Ratings",
    "Summary",
    "adjust",
    "anova_table",
    "bootstrap_differences",
    "bootstrap_interval",
    "choose_distribution",
    "cohen_kappa",
    "compact_letters",
    "correction",
    "detectable_difference",
    "drift",
    "effect_sizes",
    "equivalence_tests",
    "familywise",
    "fleiss_kappa",
    "friedman",
    "friedman_tukey",
    "growth",
    "gstudy",
    "krippendorff_alpha",
    "paired_power",
    "paired_test",
    "paired_tests",
    "power_plan",
    "prediction_interval",
    "queries_needed",
    "randomised_tukey_hsd",
    "ratings",
    "rbo",
    "self_consistency",
    "summarize",
    "t_interval",
    "tau_ap",
    "tukey_hsd",
    "wilson_interval",
]
