"""Bytes of files as text: compression, encodings, line ends."""

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
def test_compressed_files_are_read_whatever_the_name_and_refused_if_truncated(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_bytes(PACKERS[suffix](b"a\nb\n"))
    assert Source.open(path).text == b"a\nb\n"
    packed = PACKERS[suffix](bytes(range(1, 200)) * 50)
    with pytest.raises(InputError, match=r"^a: expected intact compressed data, got "):
        _ = Source("a", packed[:-7]).data


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (zstandard.compress(b"a\n") + zstandard.compress(b"b\n"), "a\nb\n"),
        (b"BZh9 Q0 d 1 1 s\n", "BZh9 Q0 d 1 1 s\n"),  # bzip2 begins like it
        ("\ufeffq1 Q0 dé\r\n".encode("utf-16-le"), "q1 Q0 dé\n"),
        ("\ufeffq1 Q0 dé\r\n".encode("utf-16-be"), "q1 Q0 dé\n"),
        ("\ufeffé".encode(), "é"),
        (b"a\r\nb\rc\n", "a\nb\nc\n"),
    ],
)
def test_text_is_utf_8_with_plain_line_ends(data: bytes, text: str) -> None:
    assert Source("a", data).text == text.encode()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("text", "encoding"), [("Zoë, Çelik", "Latin-1"), ("“Zoë” – 5 €", "Windows-1252")])
def test_what_is_not_utf_8_is_read_with_a_note_that_names_file_and_encoding(text: str, encoding: str, end: str) -> None:
    with kept_warnings() as notes:
        assert Source("dir/a", f"x{end}{text}{end}".encode(encoding)).text == f"x\n{text}\n".encode()
    assert notes == [f"dir/a: not UTF-8 (line 2); read as {encoding}."]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("x\né\n".encode() + b"\xe9\n", "a:3: expected UTF-8 text, got the byte 0xe9"),
        (b"x\n\xe9\x81\n", "a:2: expected text in UTF-8, UTF-16, Latin-1 or Windows-1252, got the byte 0x81"),
        (b"x\n\xe9\n\x01\n", "a:3: expected text in UTF-8, UTF-16, Latin-1 or Windows-1252, got the byte 0x01"),
        (
            zstandard.compress(b"a\n") + zstandard.compress(b"b\n" * 99)[:-3],
            "a: expected intact compressed data, got .*",
        ),
        ("\ufeffq1".encode("utf-16-le")[:-1], "a: expected text, got UTF-16 that is cut or damaged"),
        *(
            (b"x" + end + b"y" + end + b"\0", "a:3: expected text, got binary data .*")
            for end in (b"\n", b"\r\n", b"\r")
        ),
        *((data, "a: expected data, got an empty file") for data in (b"", b"\n\n", b" \t\r\n", b"\xef\xbb\xbf")),
        (b"# a\n#b", "a: expected data, got only comments"),
    ],
)
def test_what_is_damaged_or_no_text_is_refused_with_its_line(data: bytes, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}$"):
        _ = Source("a", data).uncommented()
    assert Source("a", data).head(1) in ([], ["# a"])


def test_lines_that_begin_with_a_hash_are_comments_and_others_keep_their_numbers() -> None:
    assert Source("a", b"#1\na #2\n#3\n #4\n").uncommented() == b"a #2\n #4\n"
    assert list(Source("a", b"#\n\na\n \t\nb").lines()) == [(3, "a"), (5, "b")]


@pytest.mark.parametrize("name", ["runs/bm25.txt", "runs/bm25.txt.gz", "bm25.TXT.ZST", "bm25"])
def test_stem_and_suffix_are_without_directories_and_compression(name: str) -> None:
    assert Source(name, b"").stem == "bm25"
    assert Source(name, b"").suffix == (".txt" if "." in name else "")


@pytest.mark.parametrize(
    ("name", "message"),
    [("nowhere.txt", "no such file or directory"), (".", "is a directory"), ("a\0b", "embedded null byte")],
)
def test_what_cannot_be_opened_is_named(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"cannot be read: {message}$"):
        Source.open(tmp_path / name)


def test_standard_input_that_is_closed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(InputError, match=r"^<stdin>: cannot be read: it is closed$"):
        Source.stdin()


def test_the_digest_is_that_of_the_file_on_disk() -> None:
    packed = gzip.compress(b"a", mtime=0)
    assert Source("a", packed).sha256 != Source("a", b"a").sha256
