"""Queries that cannot be used, and queries that are named but not there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adjudge.errors import AdjudgeError, did_you_mean, shown


class QueryError(AdjudgeError):
    """Nothing can be made of the answers about a ``query`` as a whole; without it the others can be used.

    An error of a file that comes from one has it as its cause, unless the file has no other query.
    """

    def __init__(self, message: str, *, query: str) -> None:
        super().__init__(f"Query {shown(query)}: {message}")
        self.query = query


def check_named(asked: Iterable[str], known: Sequence[str]) -> None:
    """Refuse names that no query has.

    >>> check_named(["q2"], ["q1", "p"])
    Traceback (most recent call last):
    adjudge.errors.AdjudgeError: No query is called 'q2'. Did you mean 'q1'?
    """
    for query in asked:
        if query not in known:
            some = ", ".join(known[:5]) + (", …" if len(known) > 5 else "")
            there = f"There is only {some}." if len(known) == 1 else f"There are {len(known)}: {some}."
            raise AdjudgeError(f"No query is called {shown(query)}. {did_you_mean(query, known) or there}")


def check_left_out(asked: Iterable[str], known: Sequence[str]) -> None:
    """Refuse to leave out queries that are not there, and all that are."""
    gone = set(asked)
    check_named(sorted(gone), known)
    if gone and gone >= set(known):
        raise AdjudgeError("Queries left out: expected at least one query to be left, got none")
