"""Agreement curves fitted on the answers of the ISMIR 2012 user study.

Written by scripts/fit_agreement.py; do not edit. The data are by J. Urbano et al., CC BY-SA 4.0.
"""

from __future__ import annotations

from adjudge.users.agreement import AgreementMapping

SOURCE = "fitted on the user study of Urbano et al., ISMIR 2012"
PROVENANCE = (
    ("data", "answers.csv of the repository ismir2012-significance by J. Urbano et al."),
    ("licence", "CC BY-SA 4.0"),
    ("answers", "2200"),
    ("queries", "73"),
    ("covariance", "robust, clustered by query"),
    ("script", "scripts/fit_agreement.py"),
    ("sha256", "900ef8b52f80d340d9b78b90676fe6ecb9b9bc18468f4433aef560450c896a94"),
)

AGREEMENT_2012: tuple[AgreementMapping, ...] = (
    AgreementMapping(
        "CG@5",
        "broad",
        "two-stage",
        (-0.215962, 1.93694, 2.86123),
        (
            (0.00374829, -0.00781288, -0.00312244),
            (-0.00781288, 0.0302968, 0.0107858),
            (-0.00312244, 0.0107858, 0.0319608),
        ),
        SOURCE,
        PROVENANCE,
    ),
    AgreementMapping(
        "CG@5",
        "fine",
        "two-stage",
        (-0.235703, 2.95585, 4.23916),
        (
            (0.00386468, -0.0120936, -0.00549811),
            (-0.0120936, 0.0707745, 0.0307184),
            (-0.00549811, 0.0307184, 0.073899),
        ),
        SOURCE,
        PROVENANCE,
    ),
    AgreementMapping(
        "DCG@5",
        "broad",
        "two-stage",
        (-0.266688, 2.03595, 2.82882),
        (
            (0.00358251, -0.00733988, -0.00330004),
            (-0.00733988, 0.0286916, 0.0116314),
            (-0.00330004, 0.0116314, 0.0347024),
        ),
        SOURCE,
        PROVENANCE,
    ),
    AgreementMapping(
        "DCG@5",
        "fine",
        "two-stage",
        (-0.259159, 3.01446, 4.16998),
        (
            (0.00350236, -0.0104872, -0.00473534),
            (-0.0104872, 0.0636704, 0.029521),
            (-0.00473534, 0.029521, 0.0814743),
        ),
        SOURCE,
        PROVENANCE,
    ),
)
