r"""LaTeX: text that it prints unchanged, how wide that is, and documents that compile as they come.

Both pdfLaTeX and LuaLaTeX set what is written here. Characters that need further fonts go through
``\adjudgechar{97F3}{音}``, which prints the second argument where LuaLaTeX has it in the font at hand, and ``[U+97F3]``
otherwise: no name breaks a document, and none looks like another. A paper with fonts for more of them says
``\newcommand{\adjudgechar}[2]{#2}`` in its preamble.
"""

from __future__ import annotations

import math
import re
import unicodedata

from adjudge.text import unbroken

COLUMN, PAGE = 3.3, 7.0
"""Inches: one column of a paper with two, and both."""
_BETWEEN = 0.4  # inches between two columns
_SIZE, _LINE = 8, 9.5  # points: text of tables is as large as that of figures, whatever the paper's own size
GAP = 8
"""Points between the columns of a table."""
LINES = 54
"""Lines of a table that fit on a page, besides its caption."""

_GREEK = {"Α": "A", "Β": "B", "Ε": "E", "Ζ": "Z", "Η": "H", "Ι": "I", "Κ": "K", "Μ": "M", "Ν": "N", "Ο": "O"}
_GREEK |= {"Ρ": "P", "Τ": "T", "Χ": "X", "ο": "o"}  # letters that look like Latin ones
_GREEK_NAMES = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi _ pi rho _ sigma tau upsilon"
)
_MATHS = {chr(ord("α") + i): name for i, name in enumerate(_GREEK_NAMES.split()) if name != "_"}
_MATHS |= {"ς": "varsigma", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega", "ϵ": "epsilon", "ϕ": "phi"}
_MATHS |= {
    name[0]: name[1:]
    for name in ["ΓGamma", "ΔDelta", "ΘTheta", "ΛLambda", "ΞXi", "ΠPi", "ΣSigma", "ΥUpsilon", "ΦPhi", "ΨPsi", "ΩOmega"]
}
_MATHS |= {"±": "pm", "≤": "le", "≥": "ge", "≠": "ne", "≈": "approx", "×": "times", "·": "cdot", "√": "surd"}
_MATHS |= {"→": "to", "←": "gets", "↑": "uparrow", "↓": "downarrow", "⇒": "Rightarrow", "∞": "infty", "∈": "in"}
_MATHS |= {"∑": "sum", "∏": "prod", "∫": "int", "∂": "partial", "∇": "nabla", "∪": "cup", "∩": "cap", "⊂": "subset"}
_MATHS |= {"≪": "ll", "≫": "gg", "≡": "equiv", "∝": "propto", "÷": "div", "∗": "ast", "♯": "sharp", "♭": "flat"}
_MATHS["µ"] = "mu"
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
_SIGNS = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{character: f"${character}$" for character in "<>|"},
    **{character: rf"$\{name}$" for character, name in _MATHS.items()},
    **_GREEK,
    "°": r"$^{\circ}$",
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    '"': r"{\ttfamily\char34}",  # straight in any font, and no command of babel's
    "−": "$-$",
    "½": r"$\frac{1}{2}$",
    "¼": r"$\frac{1}{4}$",
    "¾": r"$\frac{3}{4}$",
    "–": "--",
    "—": "---",
    "‐": "-",
    "‑": "-",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "…": r"\ldots{}",
    "•": r"\textbullet{}",
    "§": r"\S{}",
    "¶": r"\P{}",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "©": r"\copyright{}",
    "®": r"\textregistered{}",
    "™": r"\texttrademark{}",
    "£": r"\pounds{}",
    "€": r"\texteuro{}",
    "¡": r"\textexclamdown{}",
    "¿": r"\textquestiondown{}",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "å": r"\aa{}",
    "Å": r"\AA{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "ı": r"\i{}",
}
_ACCENTS = dict(zip("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c", "`'^~=u.\"rHv", strict=True))
_ACCENTS |= {"\u0323": "d", "\u0327": "c", "\u0331": "b"}
_PART = re.compile(rf"[{''.join(_RAISED)}]+|[{''.join(_LOWERED)}]+|[-–—]{{2,}}|,{{2,}}|'{{2,}}|.", re.DOTALL)
_NUMBERS = re.compile(r"(?<![^\s(\[|])-(?=[\d.])"), re.compile(r"\b(\d(?:\.\d+)?)e([+-]\d+)\b")
_TO_RAISED = str.maketrans({plain: raised for raised, plain in _RAISED.items()})


def escape_latex(text: str) -> str:
    r"""Text that LaTeX prints unchanged, on one line; characters that move the cursor become question marks.

    >>> print(escape_latex("a_b & 5 %, Eρ² ≤ é"))
    a\_b \& 5 \%, E$\rho$$^{2}$ $\le$ \'{e}
    >>> print(escape_latex("音--x"))
    \adjudgechar{97F3}{音}-\kern0pt{}-x
    """
    return "".join(map(_escaped, _PART.findall(unicodedata.normalize("NFC", text))))


def _escaped(part: str) -> str:
    """A character, or several that LaTeX would join."""
    if part[0] in _RAISED:
        return f"$^{{{''.join(_RAISED[digit] for digit in part)}}}$"
    if part[0] in _LOWERED:
        return f"$_{{{''.join(_LOWERED[digit] for digit in part)}}}$"
    if len(part) > 1:
        return r"\kern0pt{}".join(
            _SIGNS.get(sign, sign) for sign in part
        )  # else they would be a dash or a quotation mark
    if part in _SIGNS:
        return _SIGNS[part]
    if part.isascii() and part.isprintable():
        return part
    category = unicodedata.category(part)
    if category[0] == "Z" or part in "\t\n\r\v\f":
        return "~" if part in "\u00a0\u202f" else " "
    if category in ("Cc", "Cf", "Cs"):
        return "" if category == "Cf" else "?"
    whole = unicodedata.normalize("NFD", part)
    letter, marks = whole[0], whole[1:]
    if letter.isascii() and all(mark in _ACCENTS for mark in marks):
        for mark in marks:
            letter = f"\\{_ACCENTS[mark]}{{{letter}}}"
        return letter
    return f"\\adjudgechar{{{ord(part):04X}}}{{{part}}}"


def with_signs(text: str) -> str:
    """Text whose numbers have a minus for a hyphen and a power of ten for an exponent.

    >>> with_signs("p < 1e-06, -0.5 [-1.2, 3.1e-05], bm25-2")
    'p < 10⁻⁶, −0.5 [−1.2, 3.1 × 10⁻⁵], bm25-2'
    """
    minus, power = _NUMBERS
    return power.sub(_as_power, minus.sub("−", text))


def _as_power(found: re.Match[str]) -> str:
    factor = "" if found[1] == "1" else f"{found[1]} × "
    return f"{factor}10{str(int(found[2])).translate(_TO_RAISED)}"


def sentence(text: str) -> str:
    """Text for people as LaTeX, with minus signs, powers of ten, and numbers that stay beside their signs."""
    return escape_latex(with_signs(unbroken(text)))


_WIDTHS = {  # thousandths of the size, of Latin Modern at 8 points, rounded up
    300: "!',.:;[]il|",
    350: "fj",
    400: " -",
    450: "()Irst",
    500: "cez",
    550: "$*/0123456789?Jag–",
    600: "Sbdhknopquvxy",
    700: "ZFL",
    750: "EP",
    800: "ABCHNRTUVXY_w",
    900: "#%m",
    1000: "M",
    1100: "W—™∑∏√→←⇒∞",
    1450: "…",
}
_WIDTH = {character: width for width, characters in _WIDTHS.items() for character in characters}
_WIDTH |= dict.fromkeys((*_RAISED, *_LOWERED), 500)
_OTHER = 900  # a sign, or a letter that is not known


def text_points(text: str) -> int:
    """How many points wide a text is in a table, at most: in Computer Modern, wider than the fonts of most papers.

    >>> text_points("0.500"), text_points("MAP"), text_points("音")
    (20, 21, 38)
    """
    total = 0
    for character in unicodedata.normalize("NFC", text):
        if "adjudgechar" in _escaped(character):
            total += sum(_WIDTH.get(letter, _OTHER) for letter in f"[U+{ord(character):04X}]")
        else:
            total += _WIDTH.get(unicodedata.normalize("NFD", character)[0], _OTHER)
    return math.ceil(total * _SIZE / 1000)


def set_small() -> str:
    """The command for the size of text in tables, and the gap between their columns."""
    return rf"\fontsize{{{_SIZE}}}{{{_LINE}}}\selectfont\setlength{{\tabcolsep}}{{{GAP / 2:g}pt}}"


_CHARACTER = r"""\ifdefined\adjudgechar\else
  \protected\def\adjudgechar#1#2{[U+#1]}
  \ifdefined\Uchar\protected\def\adjudgechar#1#2{\iffontchar\font"#1 #2\else[U+#1]\fi}\fi
\fi
"""


def with_characters(body: str) -> str:
    """Body that says first how characters are set that need further fonts, if it has any."""
    return _CHARACTER + body if r"\adjudgechar{" in body else body


_PREAMBLE = r"""\ifdefined\Uchar\else\usepackage[T1]{fontenc}\fi % else LuaLaTeX, which needs no encoding
\ifdefined\pdfgentounicode\input{glyphtounicode}\pdfgentounicode=1 \fi % text that is copied is what it reads
\usepackage{lmodern,textcomp,booktabs,graphicx,float}
\usepackage[tableposition=top,font=small]{caption}
\floatplacement{table}{H}\floatplacement{figure}{H} % where they are spoken of
\makeatletter
\if@twocolumn\else\@namedef{table*}{\table}\@namedef{endtable*}{\endtable}\fi % else [H] would lose them
\def\adjudgefit{\includegraphics[width=\linewidth,height=.85\textheight,keepaspectratio]}
\newcommand{\adjudgefigure}[1]{\setbox0\hbox{\includegraphics{#1}}% as it was drawn, where it fits
  \ifdim\wd0>\linewidth\adjudgefit{#1}\else\ifdim\ht0>.85\textheight\adjudgefit{#1}\else\box0\fi\fi}
\makeatother
\renewcommand{\topfraction}{.9}\renewcommand{\bottomfraction}{.8}\renewcommand{\textfraction}{.07}
\sloppy"""


def document(body: str, *, width: float = PAGE) -> str:
    """A document that compiles as it comes; where a column is narrow enough, with two of them on a page."""
    is_double = 2 * width + _BETWEEN <= PAGE + 0.01
    text = 2 * width + _BETWEEN if is_double else width
    sizes = f"paperwidth={max(8.5, text + 1):g}in,paperheight=11in,textwidth={text:g}in,textheight=9in"
    lines = [
        rf"\documentclass[10pt{',twocolumn' if is_double else ''}]{{article}}",
        rf"\usepackage[{sizes}]{{geometry}}",
        rf"\setlength{{\columnsep}}{{{_BETWEEN:g}in}}",
        _PREAMBLE,
        r"\begin{document}",
    ]
    return "".join(f"{line}\n" for line in lines) + f"{body}\\end{{document}}\n"
