"""Docstrings and help texts as Markdown, so that the reference says what the code says and nothing is written twice."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence

_ROLE = re.compile(r":(?:py:)?(?:func|class|meth|mod|data|attr|exc|obj):`~?(?:[\w.]+\.)?([\w]+)`")
_CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_COMMAND = re.compile(r"'adjudge ([a-z -]+)'")
_OPTION = re.compile(r"(?<![\w`'-])(--[a-z][\w-]*)")
_DOI = re.compile(r"\bdoi:(10\.\S*[^\s.,;)])")
_EMPHASIS = re.compile(r"(?<![\w*])\*(\w[^*]*)\*(?!\w)")


def paragraphs(documented: object) -> list[str]:
    """A docstring in Markdown, paragraph by paragraph, without its examples (they run elsewhere)."""
    parts = re.split(r"\n\s*\n", inspect.getdoc(documented) or "")
    return [_paragraph(part) for part in parts if part.strip() and not part.lstrip().startswith(">>>")]


def _paragraph(text: str) -> str:
    if text.startswith("    "):
        return f"```text\n{inspect.cleandoc(text)}\n```"
    if re.match(r"[-*] ", text):
        items = re.split(r"^[-*] ", text, flags=re.MULTILINE)[1:]
        return "\n".join(f"- {prose(item)}" for item in items)
    return prose(re.sub(r"^Reference: ", "", text))


def prose(text: str) -> str:
    r"""Running text of a docstring on one line: roles become names, what Markdown would take for markup is escaped.

    >>> print(prose("See :func:`~adjudge.stats.paired.wilcoxon`: ``p`` = 2 * P(d_1 < d*), *if* any."))
    See `wilcoxon`: `p` = 2 \* P(d_1 \< d\*), *if* any.
    """
    text = _ROLE.sub(r"``\1``", " ".join(text.split()))
    text = re.sub(r"(doi:\S+) (?=[A-Z]\w+, [A-Z]\.)", r"\1\n", text)  # one reference a line
    return outside_code(text, _escaped).replace("\n", "\\\n")


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Change what is not code; code itself is written with single backticks."""
    parts, last = [], 0
    for found in _CODE.finditer(text):
        parts += [change(text[last : found.start()]), f"`{found[2].strip()}`"]
        last = found.end()
    return "".join([*parts, change(text[last:])])


def _escaped(text: str) -> str:
    text = _EMPHASIS.sub("\0\\1\0", text)
    text = re.sub(r"([\\*\[\]<$])", r"\\\1", text).replace("\0", "*")
    text = re.sub(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9({])", r"\\_", text)
    text = re.sub(r"^(?=[-+#>] )", r"\\", text)  # no list, heading or quotation
    return _DOI.sub(_linked, text)


def _linked(doi: re.Match[str]) -> str:
    address = doi[1].replace("\\", "")
    return f"[doi:{doi[1]}](https://doi.org/{address})"


def help_text(text: str) -> str:
    """The help of an option: commands that it names become links, other options code.

    >>> help_text("as --json has it (see 'adjudge formats')")
    'as `--json` has it (see [`adjudge formats`](#adjudge-formats))'
    """
    parts = _COMMAND.split(" ".join(text.split()))  # text, command, text, …
    for i, part in enumerate(parts):
        link = f"[`adjudge {part}`](#adjudge-{part.replace(' ', '-')})"
        parts[i] = link if i % 2 else outside_code(part, lambda plain: _OPTION.sub(r"`\1`", _escaped(plain)))
    return "".join(parts)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def sentence(text: str) -> str:
    """With a capital letter and a full stop, unless it ends already."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", ":", "?", "!")) else ".")
