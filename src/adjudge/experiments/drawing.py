"""What experiments that draw query sets of several sizes have in common, whatever they then do with them."""

from __future__ import annotations

from dataclasses import dataclass

from adjudge.checks import check_whole
from adjudge.errors import AdjudgeError
from adjudge.experiments.specification import Experiment

_FEWEST = 2  # queries from which anything can be estimated


@dataclass(frozen=True, kw_only=True)
class Drawing(Experiment):
    """``sizes`` are numbers of queries; where there are none, the samples settle them."""

    sizes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = tuple(check_whole("sizes", size, _FEWEST, where=f"{self.name}: ") for size in self.sizes)
        if len(set(sizes)) < len(sizes):
            raise AdjudgeError(f"{self.name}: expected each size once, got {', '.join(map(str, sizes))}")
        object.__setattr__(self, "sizes", sizes)
