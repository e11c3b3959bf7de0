"""The guide to file formats, drawn from their registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.formats import FORMATS
from adjudge.formats.columns import COLUMNS
from adjudge.tables import as_csv, as_json, as_markdown, as_rich

if TYPE_CHECKING:
    from rich.console import RenderableType


_TABLES = """
## Tables

Tables are CSV, TSV, spreadsheets, Parquet and JSON. Text is UTF-8, UTF-16 with a byte-order mark, Latin-1 or
Windows-1252; a note says which of the last two it is. Commas, semicolons or tabs separate columns, whichever make a
header, or whatever a first line such as `sep=;` names. Semicolons and tabs allow decimal commas. Lines that begin
with `#` are comments, unless they are quoted; files of questions and answers have no comments. Rows above the header
with fewer cells than it has are a title, which is skipped with a note.

Of a spreadsheet (`.xlsx`, `.xls`, `.xlsb`, `.ods`; `pip install 'adjudge[spreadsheets]'`) the first sheet that is
visible and not empty is read; `table.xlsx#Sheet2` names another, wherever a file can be named. Errors name the row of
the sheet. Whole numbers are names without a point (1.0 is `1`), and dates look like `2026-05-01`: format a column as
text before you type names such as `1-2` into it, or the spreadsheet turns them into dates.

## Columns

Every reader of tables knows these names. They are compared without case, spaces, dots, hyphens and underscores:
`Query-ID`, `queryId` and `query_id` are the same, and so are Elasticsearch's `_id` and `id`. Names before a semicolon
win over those after it; two columns with equally good names are refused. Names in the last column count only where a
table needs them and has no other. So `user_id` is the assessor of judgments, but the query of a table without queries,
as recommenders answer users, and a note says so.

"""

_NAMING = """
For any other names, say which column holds what: `--columns query=who,document=what,grade=stars` in every command that
reads tables, `columns={"query": "who", "document": "what", "grade": "stars"}` in Python, a field `columns` in the API
of the server. Before the `=` may be any name above that means nothing else: `--columns expert=who` is
`--columns assessor=who`. A table that has such a column uses it for nothing else; a name that no table has is refused.
"""

_EFFECTIVENESS = """
## Effectiveness

`score`, `compare`, `report`, `plan`, `leaderboard` and `experiment` take `--effectiveness [NAME=]FILE...` instead of
judgments and runs; in Python their functions take a file, a data frame or a list of these where they take
effectiveness. Recognised are:

| what | shape |
|---|---|
| long table | columns for system, query, measure and value, or a column per measure; without systems the file is one |
| wide table | a row per query, a column per system |
| trec_eval `-q` | measure, query, value; `runid` names the system, counts such as `num_ret` are dropped |
| ir_measures `-q` | query, measure, value, or its JSON lines |
| pytrec_eval | `{query: {measure: value}}`, or that by system |
| ranx | `Run.scores` `{measure: {query: value}}`, `evaluate(…, return_mean=False)`; reports (means) |
| PyTerrier | `Experiment(…, perquery=True)`: name, qid, measure, value; without `perquery` (means) |
| ndeval, gdeval | runid, topic and a column per measure |
| BEIR | `{"ndcg": {"NDCG@10": value}, …}` (means), in `SYSTEM/DATASET.json` |
| MTEB | result files of tasks (means), in `results/ORG__MODEL/REVISION/TASK.json`; `load_results().to_dataframe()` |

Several data sets come in a column `dataset`, or in a file each, named by `NAME=` or after the file. Files that share
queries and no value are one data set together, such as a file per system. Files with the same queries and systems need
`NAME=` if they are data sets, and a column `measure` if they are measures. Where a file has means only, each data set
counts as one query. `all` and `amean` are no queries, but the mean over queries.

Missing cells are named, and complete cases are left: systems that lack a whole data set are left out, then measures
that a system lacks, then queries that a system lacks. No value is ever put in. Values may be outside [0, 1]; then
nothing is said about users. NaN is a missing value, infinity and values that come twice are refused. Where a table does
not say on which scale its documents were judged, `--scale` does.
"""

_LISTS = """
## Partially ordered lists

A list holds groups of documents, the most similar group first, in any order within a group. Lists may be given
wherever judgments are expected:

- text, `query group document` separated by spaces or tabs, where group 1 is the most similar (`.groups`);
- a table (CSV, TSV, Parquet, JSON lines) with a column `group` instead of a grade;
- JSON, `{"q1": [["d3", "d7"], ["d2"]]}`.

The last group of a query has grade 1, the one before it 2, and so on. Only the order of these grades means anything:
ADR needs nothing else and is the first measure where none is named; other measures use them as grades. Documents in no
list are not judged.

The text has three columns on purpose. With four, other tools would take groups for grades, and the last group for the
best. A file of three columns of numbers could be either: it holds lists if its suffix is `.groups` or if it begins as
the files that Adjudge writes, with `# query group document`.

`adjudge convert judgments FILE -o lists.groups` makes a group of the documents of each grade and leaves out those
graded 0 or less, with a warning.

## Rankings and preferences of experts

`adjudge groundtruth` reads these, from CSV (commas or semicolons), TSV, spreadsheets, Parquet or JSON lines:

| file | columns | what cells mean |
|---|---|---|
| rankings | query, expert, document, rank | 1 is the most similar; equal: a tie; empty: left unranked |
| rankings, wide | query, document, one column per expert | no rank at all for a query: not asked |
| preferences | query, document_a, document_b, answer, assessor | a, b or same; empty: left out, with a warning |

Experts are assessors, and columns have all names [above](#columns). JSON rankings are
`{"q1": {"ann": [["d3", "d7"], ["d2"]]}}` or `{"q1": {"ann": {"d3": 1, "d7": 1, "d2": 3, "d5": null}}}`.
"""


def rows() -> list[dict[str, str]]:
    """One row per format, in the order in which they are tried."""
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


def column_rows() -> list[dict[str, str]]:
    """One row for everything that a column may hold."""
    rows = []
    for name, column in COLUMNS.items():
        known = column.rule or "; ".join(", ".join(tier) for tier in column.names[: column.sure])
        last = "; ".join(", ".join(tier) for tier in column.names[column.sure :])
        rows.append({"column": name, "holds": column.holds, "names": known, "where nothing else is": last or "–"})
    return rows


def text(style: str) -> str:
    """The guide as ``json``, ``csv`` (formats, then columns of tables) or ``markdown``."""
    if style == "markdown":
        recognised = (
            "# File formats\n\n"
            "Formats are recognised by the content of the file; `--format NAME` names one. Any of them may be "
            "compressed (gzip, zstd, bzip2, xz).\nThey are tried in this order.\n\n"
        )
        return (
            recognised + as_markdown(rows()) + _TABLES + as_markdown(column_rows()) + _NAMING + _EFFECTIVENESS + _LISTS
        )
    if style == "json":
        return as_json({"formats": rows(), "columns": column_rows()})
    return as_csv([*rows(), *column_rows()])


def overview() -> RenderableType:
    """The guide for a terminal, or for a file as wide as a wide terminal."""
    from rich.console import Group
    from rich.constrain import Constrain

    about = "Columns of tables, and their known names; name others with --columns query=NAME,document=NAME"
    return Constrain(Group(as_rich(rows()), about, as_rich(column_rows())), width=120)
