"""One kernel that multiplies differences by weights and counts the sums, which never leave the card's registers.

Written in Triton, which comes with PyTorch. A program takes a block of pairs and runs over blocks of resamples: two
products of half-precision matrices into one single-precision sum (:mod:`~adjudge.experiments.fixed_point`), compared
with the bounds of the pair and counted.
"""

from __future__ import annotations

from functools import cache
from typing import Any

PAIRS, RESAMPLES = 128, 128
"""Rows and columns of a block."""
_WARPS, _STAGES = 4, 2
_PROGRAMS = 8  # to aim at for each multiprocessor, so that one counts while another multiplies


def padded(n_queries: int) -> int:
    """Queries rounded up to what the kernel takes.

    >>> padded(9), padded(50), padded(65)
    (16, 64, 128)
    """
    return max(16, 1 << (n_queries - 1).bit_length())


@cache
def _kernel() -> Any:
    import triton
    import triton.language as tl

    @triton.jit  # type: ignore[untyped-decorator, unused-ignore]
    def count(  # type: ignore[no-untyped-def]  # noqa: PLR0917
        high,
        low,
        least,
        most,
        weights,
        upper,
        lower,
        n_pairs,
        n_resamples,
        splits,
        QUERIES: tl.constexpr,  # noqa: N803
        TWO_SIDED: tl.constexpr,  # noqa: N803
        ROWS: tl.constexpr,  # noqa: N803
        COLUMNS: tl.constexpr,  # noqa: N803
        STAGES: tl.constexpr,  # noqa: N803
    ):
        row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
        query = tl.arange(0, QUERIES)
        there = row < n_pairs
        cell = row.to(tl.int64)[:, None] * QUERIES + query[None, :]
        above = tl.load(high + cell, mask=there[:, None], other=0.0)
        below = tl.load(low + cell, mask=there[:, None], other=0.0)
        bound = tl.load(least + row, mask=there, other=0.0)
        ceiling = tl.load(most + row, mask=there, other=0.0)
        n_upper = tl.zeros([ROWS], dtype=tl.int32)
        n_lower = tl.zeros([ROWS], dtype=tl.int32)
        for block in tl.range(tl.program_id(0), n_resamples // COLUMNS, splits, num_stages=STAGES):
            column = block * COLUMNS + tl.arange(0, COLUMNS)
            drawn = tl.load(weights + query.to(tl.int64)[:, None] * n_resamples + column[None, :])
            sums = tl.dot(below, drawn, tl.dot(above, drawn))
            if TWO_SIDED:
                # tl.abs clears a bit, one instruction more for each sum; this becomes part of the comparison
                sums = tl.inline_asm_elementwise("abs.f32 $0, $1;", "=r,r", [sums], tl.float32, is_pure=True, pack=1)
                n_upper += tl.sum((sums >= bound[:, None]).to(tl.int32), 1)
            else:
                n_upper += tl.sum((sums >= bound[:, None]).to(tl.int32), 1)
                n_lower += tl.sum((sums <= ceiling[:, None]).to(tl.int32), 1)
        tl.atomic_add(upper + row, n_upper, mask=there)
        if not TWO_SIDED:
            tl.atomic_add(lower + row, n_lower, mask=there)

    return count


def count_on_card(
    fixed: tuple[Any, Any, Any, Any], weights: Any, upper: Any, lower: Any, *, two_sided: bool, units: int
) -> None:
    """Add to ``upper`` and ``lower`` how many columns of ``weights`` reach the bounds of each pair.

    ``fixed`` has the two halves of differences (pairs x padded queries) and the bounds; ``weights`` are padded queries
    x resamples, a multiple of a block of them; ``units`` is the number of multiprocessors.
    """
    (n_pairs, queries), n_resamples = fixed[0].shape, weights.shape[1]
    blocks = -(-n_pairs // PAIRS)
    splits = max(1, min(n_resamples // RESAMPLES, -(-_PROGRAMS * units // blocks)))
    _kernel()[(splits, blocks)](
        *fixed,
        weights,
        upper,
        lower,
        n_pairs,
        n_resamples,
        splits,
        QUERIES=queries,
        TWO_SIDED=two_sided,
        ROWS=PAIRS,
        COLUMNS=RESAMPLES,
        STAGES=_STAGES,
        num_warps=_WARPS,
    )
