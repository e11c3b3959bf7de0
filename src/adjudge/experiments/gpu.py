"""Resamples on a graphics card, where PyTorch finds one."""

from __future__ import annotations

from collections.abc import Sequence

from adjudge.arrays import Floats
from adjudge.errors import AdjudgeError
from adjudge.stats.paired import How, Outcome
from adjudge.stats.resampling import Resampling


def resampled_tests_on_gpu(matrices: Sequence[Floats], how: How, scheme: Resampling) -> list[Outcome]:
    """The same as :func:`~adjudge.stats.paired.resampled_tests`, with draws of the card's own."""
    raise AdjudgeError("--gpu needs PyTorch and a CUDA device, got none")
