"""What Adjudge raises and warns with.

Every message says what was wanted, what came and, where there is a place, where:
``runs/a.txt:17: expected 6 columns, got 5``.
"""

from __future__ import annotations

from collections.abc import Iterable


class AdjudgeError(ValueError):
    """Something the user gave cannot be used. The message is one line, fit for a terminal."""


class InputError(AdjudgeError):
    """A file or table that cannot be read as asked; carries its place when there is one."""

    def __init__(self, message: str, *, source: str | None = None, line: int | None = None) -> None:
        where = "" if source is None else "".join(sign if sign.isprintable() else "?" for sign in source)
        place = "" if source is None else f"{where}: " if line is None else f"{where}:{line}: "
        super().__init__(place + message)
        self.source = source
        self.line = line


class AdjudgeWarning(UserWarning):
    """The answer stands, but something about the data weakens it and should be known."""


def unknown(kind: str, name: str, known: Iterable[str]) -> AdjudgeError:
    """Build the error for a name that nobody registered, with the nearest that somebody did.

    >>> print(unknown("measure", "NDCG", ["nDCG", "AP"]))
    No measure is called 'NDCG'. Did you mean 'nDCG'?
    >>> print(unknown("format", "docx", ["trec", "csv"]))
    No format is called 'docx'. Known: csv, trec.
    """
    import difflib

    names = sorted(known)
    folded = {n.casefold(): n for n in names}
    near = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    hint = f"Did you mean {folded[near[0]]!r}?" if near else f"Known: {', '.join(names)}."
    return AdjudgeError(f"No {kind} is called {name!r}. {hint}")


def shown(text: object, limit: int = 60) -> str:
    """Quote a value for an error message, shortened and free of control characters.

    >>> shown("a" * 100, limit=8)
    "'aaaaaaa…'"
    """
    plain = str(text)
    return repr(plain if len(plain) <= limit else plain[: limit - 1] + "…")
