"""Small rules about text that several formats share."""

from __future__ import annotations

BLANKS = " \t\n\r\v\f"
"""The white space of ASCII. Any other, such as the no-break space, is part of a name."""


def is_number(text: str) -> bool:
    """Whether Polars would read it as a number: Python's ``1_000`` and other digits than ours are none.

    >>> is_number("1e-3"), is_number("1_000"), is_number("²")
    (True, False, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def with_article(noun: str) -> str:
    """Put the indefinite article before a noun.

    >>> with_article("query"), with_article("assessor")
    ('a query', 'an assessor')
    """
    return f"{'an' if noun[:1].lower() in tuple('aeiou') else 'a'} {noun}"
