"""Bytes of files made plain: compression, encodings, line ends."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from adjudge.errors import InputError, kept_warnings
from adjudge.formats.source import Source

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": zstandard.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


@pytest.mark.parametrize("suffix", PACKERS)
def test_compression_is_undone_whatever_the_name(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_bytes(PACKERS[suffix](b"a\nb\n"))
    assert Source.open(path).text == b"a\nb\n"


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_truncated_compressed_file_is_refused(suffix: str) -> None:
    packed = PACKERS[suffix](bytes(range(1, 200)) * 50)
    with pytest.raises(InputError, match=r"^a: expected intact compressed data, got "):
        _ = Source("a", packed[:-7]).data


def test_several_zstd_frames_are_one_file() -> None:
    assert Source("a", zstandard.compress(b"a\n") + zstandard.compress(b"b\n")).data == b"a\nb\n"


def test_a_second_zstd_frame_that_is_cut_is_refused() -> None:
    packed = zstandard.compress(b"a\n") + zstandard.compress(b"b\n" * 99)[:-3]
    with pytest.raises(InputError, match="expected intact compressed data"):
        _ = Source("a", packed).data


def test_a_text_that_begins_like_bzip2_is_text() -> None:
    assert Source("a", b"BZh9 Q0 d 1 1 s\n").text == b"BZh9 Q0 d 1 1 s\n"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_with_a_byte_order_mark_is_read(encoding: str) -> None:
    assert Source("a", "\ufeffq1 Q0 dé\r\n".encode(encoding)).text == "q1 Q0 dé\n".encode()


def test_utf_16_that_is_cut_is_refused() -> None:
    with pytest.raises(InputError, match=r"^a: expected text, got UTF-16 that is cut or damaged$"):
        _ = Source("a", "\ufeffq1".encode("utf-16-le")[:-1]).text


def test_a_name_that_no_file_can_have_is_refused() -> None:
    with pytest.raises(InputError, match="cannot be read: embedded null byte"):
        Source.open(Path("a\0b"))


def test_crlf_and_lone_cr_are_line_ends() -> None:
    assert Source("a", b"a\r\nb\rc\n").text == b"a\nb\nc\n"


def test_a_byte_order_mark_is_dropped() -> None:
    assert Source("a", "\ufeffé".encode()).text == "é".encode()


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_binary_data_is_refused_with_its_line(end: bytes) -> None:
    with pytest.raises(InputError, match=r"^a:3: expected text, got binary data"):
        _ = Source("a", b"x" + end + b"y" + end + b"\0").text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("text", "encoding"), [("Zoë, Çelik", "Latin-1"), ("“Zoë” – 5 €", "Windows-1252")])
def test_what_is_not_utf_8_is_read_with_a_note_that_names_file_and_encoding(text: str, encoding: str, end: str) -> None:
    with kept_warnings() as notes:
        assert Source("dir/a", f"x{end}{text}{end}".encode(encoding)).text == f"x\n{text}\n".encode()
    assert notes == [f"dir/a: is not UTF-8 (line 2); read as {encoding}."]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("x\né\n".encode() + b"\xe9\n", "a:3: expected UTF-8 text, got the byte 0xe9"),
        (b"x\n\xe9\x81\n", "a:2: expected text in UTF-8, UTF-16, Latin-1 or Windows-1252, got the byte 0x81"),
        (b"x\n\xe9\n\x01\n", "a:3: expected text in UTF-8, UTF-16, Latin-1 or Windows-1252, got the byte 0x01"),
    ],
)
def test_what_is_damaged_or_no_text_is_refused_with_its_line_and_byte(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}$"):
        _ = Source("a", data).text


@pytest.mark.parametrize("data", [b"", b"\n\n", b" \t\r\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match=r"^a: expected data, got an empty file$"):
        _ = Source("a", data).text


def test_a_file_of_comments_is_refused() -> None:
    with pytest.raises(InputError, match=r"^a: expected data, got only comments$"):
        Source("a", b"# a\n#b").uncommented()


def test_only_lines_that_begin_with_a_hash_are_comments() -> None:
    assert Source("a", b"#1\na #2\n#3\n #4\n").uncommented() == b"a #2\n #4\n"


def test_lines_keep_their_numbers() -> None:
    assert list(Source("a", b"#\n\na\n \t\nb").lines()) == [(3, "a"), (5, "b")]


def test_the_head_of_what_is_not_text_is_empty() -> None:
    assert Source("a", b"PAR1\0\0").head() == []


@pytest.mark.parametrize("name", ["runs/bm25.txt", "runs/bm25.txt.gz", "bm25.TXT.ZST", "bm25"])
def test_the_stem_drops_directories_and_suffixes(name: str) -> None:
    assert Source(name, b"").stem == "bm25"


def test_the_suffix_is_in_lower_case_without_compression() -> None:
    assert Source("a.CSV.GZ", b"").suffix == ".csv"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.txt: cannot be read: no such file"):
        Source.open(tmp_path / "nowhere.txt")


def test_standard_input_that_is_closed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(InputError, match=r"^<stdin>: cannot be read: it is closed$"):
        Source.stdin()


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: is a directory"):
        Source.open(tmp_path)


def test_the_digest_is_that_of_the_file_on_disk() -> None:
    packed = gzip.compress(b"a", mtime=0)
    assert Source("a", packed).sha256 != Source("a", b"a").sha256
