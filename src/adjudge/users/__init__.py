"""Users: what effectiveness means for the people who use a system.

>>> from adjudge.users import find_agreement, find_satisfaction, noticeable_difference
>>> sat = find_satisfaction("CG@5", "fine").mapping
>>> print(f"{sat(0.42):.2f} of users are satisfied with lists of CG@5 = 0.42")
0.46 of users are satisfied with lists of CG@5 = 0.42
>>> margin = noticeable_difference(find_agreement("CG@5", "fine").mapping)
>>> print(f"most users notice differences in CG@5 from {margin:.2f} on")
most users notice differences in CG@5 from 0.29 on
"""

from adjudge.users.combinations import Lookup, scale_of
from adjudge.users.files import Mappings, read_mappings, write_mappings
from adjudge.users.noticing import (
    FORMS,
    Agreement,
    AgreementFit,
    AgreementForm,
    AgreementMapping,
    agreement,
    agreement_form,
    agreement_interval,
    find_agreement,
    fit_agreement,
    held_out,
    noticeable_difference,
    noticeable_differences,
    noticeable_interval,
)
from adjudge.users.satisfaction import (
    CURVES,
    MONOTONE,
    CurveKind,
    Satisfaction,
    SatisfactionFit,
    SatisfactionForm,
    SatisfactionMapping,
    SystemSatisfaction,
    curve_error,
    find_satisfaction,
    fit_satisfaction,
    held_out_satisfaction,
    p_satisfied,
    satisfaction,
    satisfaction_form,
    satisfaction_interval,
)

__all__ = [
    "CURVES",
    "FORMS",
    "MONOTONE",
    "Agreement",
    "AgreementFit",
    "AgreementForm",
    "AgreementMapping",
    "CurveKind",
    "Lookup",
    "Mappings",
    "Satisfaction",
    "SatisfactionFit",
    "SatisfactionForm",
    "SatisfactionMapping",
    "SystemSatisfaction",
    "agreement",
    "agreement_form",
    "agreement_interval",
    "curve_error",
    "find_agreement",
    "find_satisfaction",
    "fit_agreement",
    "fit_satisfaction",
    "held_out",
    "held_out_satisfaction",
    "noticeable_difference",
    "noticeable_differences",
    "noticeable_interval",
    "p_satisfied",
    "read_mappings",
    "satisfaction",
    "satisfaction_form",
    "satisfaction_interval",
    "scale_of",
    "write_mappings",
]
