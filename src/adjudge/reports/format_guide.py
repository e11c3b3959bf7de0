"""The guide to file formats, drawn from their registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.formats import FORMATS
from adjudge.reports.tables import as_csv, as_json, as_markdown, drawn

if TYPE_CHECKING:
    from rich.console import RenderableType

_LISTS = """
## Partially ordered lists

A list holds groups of documents, the most similar group first, in any order within a group. Wherever judgments are
wanted, lists may stand:

- text, `query group document` between blanks or tabs, where group 1 is the most similar (`.groups`);
- a table (CSV, TSV, Parquet, JSON lines) with a column `group` instead of a grade;
- JSON, `{"q1": [["d3", "d7"], ["d2"]]}`.

The last group of a query has grade 1, the one before it 2, and so on. Only the order of these grades means anything:
ADR asks for nothing else and is the first measure where none is named; other measures take them for what they are.
Documents in no list are not judged.

The text has three columns on purpose. With four, other tools would take groups for grades, and the last group for the
best. A file of three columns of numbers could be either: it is taken for lists if it is called `.groups` or begins as
the files that Adjudge writes, with `# query group document`.

`adjudge convert judgments FILE -o lists.groups` makes a group of the documents of each grade and leaves out, aloud,
those graded 0 or less.

## Rankings and preferences of experts

`adjudge groundtruth` reads these, from CSV (commas or semicolons), TSV, Parquet or JSON lines:

| file | columns | what cells mean |
|---|---|---|
| rankings | query, expert, document, rank | 1 is the most similar; equal: a tie; empty: left unranked |
| rankings, wide | query, document, one column an expert | no rank at all for a query: not asked |
| preferences | query, document_a, document_b, answer, assessor | a, b or same; empty ones are left out, aloud |

Columns go by other names, too: topic; doc, item, track, incipit; assessor, participant, worker, annotator; position,
place; doc_a, left, first. JSON rankings are `{"q1": {"ann": [["d3", "d7"], ["d2"]]}}` or
`{"q1": {"ann": {"d3": 1, "d7": 1, "d2": 3, "d5": null}}}`.
"""


def rows() -> list[dict[str, str]]:
    """One row a format, in the order in which they are tried."""
    return [
        {
            "format": name,
            "reads": ", ".join(sorted(member.kinds)),
            "writes": ", ".join(sorted(member.writes)) or "–",
            "suffixes": " ".join(member.suffixes) or "–",
            "what it is": member.about,
        }
        for name, member in FORMATS.items()
    ]


def text(style: str) -> str:
    """The guide as ``json``, ``csv`` or ``markdown``."""
    if style == "markdown":
        return (
            "# File formats\n\n"
            "Formats are recognised by what is in the file; `--format NAME` names one. Any of them may be compressed "
            "(gzip, zstd, bzip2, xz).\nThey are tried in this order.\n\n" + as_markdown(rows()) + _LISTS
        )
    return as_json(rows()) if style == "json" else as_csv(rows())


def overview() -> RenderableType:
    """The guide for a terminal."""
    return drawn(rows())
