"""What every registered file format must obey."""

from __future__ import annotations

import random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from adjudge.errors import InputError, kept_warnings
from adjudge.formats import FORMATS, Kind, Source, pick

KINDS: tuple[Kind, ...] = ("runs", "judgments", "metadata")
TABLES: dict[Kind, pl.DataFrame] = {
    "runs": pl.DataFrame(
        {
            "system": "Timbre",
            "query": ["007", "007", "q2", "q2", "q2"],
            "document": ["1e5.wav", "Björk.mp3", "d3", "d1", "d2"],
            "score": [2.5, -0.125, 1e-9, 0.0, -3.0],
        }
    ),
    "judgments": pl.DataFrame(
        {"query": ["007", "007", "q2"], "document": ["1e5.wav", "Björk.mp3", "d3"], "grade": [2.0, 0.5, 0.0]}
    ),
    "metadata": pl.DataFrame(
        {
            "document": ["1e5.wav", "Björk.mp3", "d3"],
            "artist": ["12", "Sigur Rós", "x"],
            "genre": ["rock", None, "a jazz"],
        }
    ),
}
COMPLETE = pl.DataFrame(
    {
        "system": "Timbre",
        "query": ["007", "007", "q2", "q2"],
        "document": ["Björk.mp3", "1e5.wav", "Björk.mp3", "1e5.wav"],
        "score": [0.0, -0.125, -1e-9, -3.0],
    }
)
"""For formats that hold the distances of all documents to all queries."""
LEVELS = pl.DataFrame(
    {
        "query": ["007", "007", "007", "q2"],
        "document": ["1e5.wav", "Björk.mp3", "d3", "d3"],
        "grade": [2.0, 2.0, 1.0, 1.0],
    }
)
"""For formats that hold groups of documents in order, and no grades."""
READERS = [(name, kind) for name, candidate in FORMATS.items() for kind in KINDS if kind in candidate.kinds]
WRITERS = [(name, kind) for name, candidate in FORMATS.items() for kind in KINDS if kind in candidate.writes]
PROSE = (
    "It was the best of times, it was the worst.\nIt was: the age\tof wisdom\n\n{the age, of; foolishness,\n[3 4 5\n"
)


def noise(seed: int) -> bytes:
    """Lines of random words, numbers, separators and brackets."""
    generator = random.Random(seed)
    return "".join(generator.choices("ab 1.\t,;:{}[]\"'#\\/-é\n", k=400)).encode()


def table_for(name: str, kind: Kind) -> pl.DataFrame:
    return {"mirex-matrix": COMPLETE, "groups": LEVELS}.get(name, TABLES[kind])


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_says_what_it_is_and_what_it_holds(name: str) -> None:
    candidate = FORMATS[name]
    assert candidate.name == name
    assert candidate.about
    assert "\n" not in candidate.about
    assert candidate.kinds
    assert candidate.kinds <= set(KINDS)
    assert candidate.writes <= candidate.kinds
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in candidate.suffixes)
    assert type(candidate).__doc__


def test_no_two_formats_claim_the_same_suffix() -> None:
    claimed = [suffix for candidate in FORMATS.values() for suffix in candidate.suffixes]
    assert len(claimed) == len(set(claimed))


@pytest.mark.parametrize(("name", "kind"), WRITERS)
def test_what_is_written_is_read_back(name: str, kind: Kind) -> None:
    table = table_for(name, kind)
    source = Source("a.txt", FORMATS[name].write(table, kind))
    back = FORMATS[name].read(source, kind)
    assert_frame_equal(back.select(table.columns), table, check_exact=True)
    assert set(back.columns) - set(table.columns) <= {"subtopic", "group"}


def texts(*categories: str, without: str = "") -> st.SearchStrategy[str]:
    allowed = st.characters(exclude_categories=categories, exclude_characters=without)  # type: ignore[arg-type]
    return st.text(allowed, min_size=1).filter(lambda text: text == text.strip())


COLUMNS: dict[Kind, tuple[str, ...]] = {
    "runs": ("system", "query", "document", "score"),
    "judgments": ("query", "document", "grade"),
    "metadata": ("document", "artist", "colour"),
}
NAMES = {
    "trec": texts("C", "Z").filter(lambda text: not text.startswith("#")),
    "tsv": texts("C").filter(lambda text: not text.startswith("#")),
    "json": texts("Cs"),
    "jsonl": texts("Cs"),
    "mirex-list": texts("C", "Z", without=",/\\:#{["),
}


@pytest.mark.parametrize(("name", "kind"), [pair for pair in WRITERS if pair[0] not in ("mirex-matrix", "groups")])
@given(data=st.data())
def test_whatever_a_format_can_hold_is_read_back(name: str, kind: Kind, data: st.DataObject) -> None:
    text, number = NAMES.get(name, texts("C")), st.floats(allow_nan=False, allow_infinity=False)
    values = {"score": number, "grade": number, "artist": st.none() | text, "colour": st.none() | text}
    if name == "mirex-list":
        values["system"] = st.just(data.draw(text))
    fields = [values.get(column, text) for column in COLUMNS[kind]]
    types = {column: pl.Float64 if column in ("score", "grade") else pl.String for column in COLUMNS[kind]}
    frame = pl.DataFrame(data.draw(st.lists(st.tuples(*fields), min_size=1)), types, orient="row")
    back = (
        FORMATS[name]
        .read(Source("a", FORMATS[name].write(frame, kind)), kind)
        .select(frame.columns)
        .cast(pl.Schema(types))
    )
    is_grouped = name in ("json", "mirex-list")  # by query
    assert_frame_equal(back, frame, check_exact=True, check_row_order=not is_grouped)


@pytest.mark.parametrize(("name", "kind"), WRITERS)
def test_what_is_written_is_recognised(name: str, kind: Kind) -> None:
    table = table_for(name, kind)
    source = Source("a.txt", FORMATS[name].write(table, kind))
    assert FORMATS[name].sniff(source, kind)
    assert_frame_equal(pick(source, kind).read(source, kind).select(table.columns), table, check_exact=True)


@pytest.mark.parametrize(("name", "kind"), WRITERS)
def test_a_line_of_a_row_holds_what_the_row_holds(name: str, kind: Kind) -> None:
    table = table_for(name, kind)
    source = Source("a.txt", FORMATS[name].write(table, kind))
    for row, document in enumerate(table["document"]):
        line = FORMATS[name].line(source, kind, row)
        assert line is None or document in source.text.decode().split("\n")[line - 1]


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name, kind in WRITERS if kind == "runs" and name != "mirex-matrix"]
)
def test_rankings_without_scores_are_read_back_in_order(name: str, kind: Kind) -> None:
    table = TABLES[kind].drop("score")
    source = Source("a.txt", FORMATS[name].write(table, kind))
    for frame in (FORMATS[name].read(source, kind), pick(source, kind).read(source, kind)):
        assert_frame_equal(frame.select(table.columns), table)
        scores = frame.get_column("score", default=pl.Series([2.0, 1.0, 3.0, 2.0, 1.0]))
        assert scores[0] > scores[1]
        assert scores[2] > scores[3] > scores[4]


@pytest.mark.parametrize(("name", "kind"), WRITERS)
def test_identifiers_are_text_and_numbers_are_floats(name: str, kind: Kind) -> None:
    frame = FORMATS[name].read(Source("a", FORMATS[name].write(table_for(name, kind), kind)), kind)
    for column, dtype in frame.schema.items():
        assert dtype == (pl.Float64 if column in ("score", "grade", "group") else pl.String)


@pytest.mark.parametrize(("name", "kind"), READERS)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n \n",
        b"# only a comment\n",
        b"q1\0Q0\0d1\n",
        bytes(range(256)),
        b"\x1f\x8b broken",
        b"\x28\xb5\x2f\xfd broken",
        b"PAR1 broken PAR1",
        b"\x81,\x8d,\x90\n",
        PROSE.encode(),
    ],
)
def test_what_is_no_such_file_is_refused_in_one_line(name: str, kind: Kind, data: bytes) -> None:
    with pytest.raises(InputError, match=r"\Adir/a\.txt:[^\n]*\Z"), kept_warnings():
        FORMATS[name].read(Source("dir/a.txt", data), kind)


def read_or_refuse(name: str, kind: Kind, data: bytes) -> pl.DataFrame | str:
    try:
        with kept_warnings():
            return FORMATS[name].read(Source("dir/a.txt", data), kind)
    except InputError as error:
        return str(error)


def check_reads_or_refuses(name: str, kind: Kind, data: bytes) -> None:
    """Either a whole table comes back or an error of one line; anything else raises here."""
    result = read_or_refuse(name, kind, data)
    if isinstance(result, str):
        assert result.startswith("dir/a.txt:")
        assert "\n" not in result
    else:
        assert result.height > 0
        needed = result.select("document") if kind == "metadata" else result
        assert not any(needed.null_count().row(0))


@pytest.mark.filterwarnings("ignore:.*columns after the tag are ignored")
@pytest.mark.parametrize(("name", "kind"), READERS)
def test_random_text_never_breaks_a_reader(name: str, kind: Kind) -> None:
    for seed in range(200):
        check_reads_or_refuses(name, kind, noise(seed))


@pytest.mark.parametrize(("name", "kind"), WRITERS)
def test_a_file_cut_anywhere_never_breaks_a_reader(name: str, kind: Kind) -> None:
    whole = FORMATS[name].write(table_for(name, kind), kind)
    for end in range(0, len(whole), max(1, len(whole) // 200)):
        check_reads_or_refuses(name, kind, whole[:end])


@pytest.mark.filterwarnings("ignore:.*columns after the tag are ignored")
@pytest.mark.parametrize(("name", "kind"), WRITERS)
def test_a_flipped_byte_never_breaks_a_reader(name: str, kind: Kind) -> None:
    whole = bytearray(FORMATS[name].write(table_for(name, kind), kind))
    generator = random.Random(1)
    for _ in range(200):
        broken = whole.copy()
        broken[generator.randrange(len(whole))] = generator.randrange(256)
        check_reads_or_refuses(name, kind, bytes(broken))


@pytest.mark.parametrize("kind", KINDS)
def test_looking_inside_never_raises(kind: Kind) -> None:
    for data in [b"", b"\0", b"\xff", b"PAR1", b"\x1f\x8b", PROSE.encode(), *map(noise, range(200))]:
        for candidate in FORMATS.values():
            with kept_warnings():
                assert candidate.sniff(Source("a", data), kind) in (True, False)
