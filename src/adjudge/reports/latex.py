"""LaTeX: escaping and booktabs tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    "±": r"$\pm$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "≠": r"$\ne$",
    "≈": r"$\approx$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "−": "$-$",
    "Δ": r"$\Delta$",
    "Λ": r"$\Lambda$",
    "Σ": r"$\Sigma$",
    "Φ": r"$\Phi$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "δ": r"$\delta$",
    "ε": r"$\varepsilon$",
    "θ": r"$\theta$",
    "κ": r"$\kappa$",
    "λ": r"$\lambda$",
    "μ": r"$\mu$",
    "ν": r"$\nu$",
    "π": r"$\pi$",
    "ρ": r"$\rho$",
    "σ": r"$\sigma$",
    "τ": r"$\tau$",
    "φ": r"$\phi$",
    "χ": r"$\chi$",
    "ω": r"$\omega$",
    "²": r"$^2$",
    "½": r"$\frac{1}{2}$",
    "√": r"$\surd$",
    "₀": "$_0$",
    "→": r"$\to$",
    "–": "--",
    "…": r"\ldots{}",
    "∞": r"$\infty$",
}
_SIGNS = re.compile("[" + re.escape("".join(_SPECIAL)) + "]")


def escape(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    >>> print(escape("a_b & 5 %"))
    a\_b \& 5 \%
    """
    return _SIGNS.sub(lambda match: _SPECIAL[match[0]], text)


def booktabs(header: Sequence[str], rows: Sequence[Sequence[str]], *, align: str, comment: Sequence[str] = ()) -> str:
    """A table whose cells are LaTeX already; comments say where it came from."""
    lines = [
        *(f"% {line}" for text in comment for line in text.splitlines()),
        rf"\begin{{tabular}}{{{align}}}",
        r"\toprule",
        " & ".join(header) + r" \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"
