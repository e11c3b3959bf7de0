"""Files appear whole, through links, and never in place of a device."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

import adjudge as aj
from adjudge.errors import AdjudgeError, InputError
from adjudge.formats import convert
from adjudge.formats.base import format_for
from adjudge.formats.reading import write
from adjudge.io import COMPRESSIONS, write_whole


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    link.symlink_to("real.txt")
    for content in (b"one", b"two"):  # a link to nothing yet, then to a file
        write_whole(link, content)
        assert link.is_symlink()
        assert real.read_bytes() == content


def test_an_older_file_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(0o640)
    write_whole(target, b"new")
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    previous = os.umask(0o027)
    try:
        write_whole(tmp_path / "a.txt", b"new")
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640


def test_a_device_is_written_to_and_stays() -> None:
    write_whole(Path("/dev/null"), b"gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    came: list[bytes] = []
    reader = threading.Thread(target=lambda: came.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, b"through")
    reader.join(300)
    assert came == [b"through"]
    assert pipe.is_fifo()


def test_what_a_shell_has_opened_for_us_is_not_cut(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("before\n")
    with log.open("a") as file:
        write_whole(Path(f"/proc/self/fd/{file.fileno()}"), b"after\n")
    assert log.read_text() == "before\nafter\n"


@pytest.mark.parametrize("name", ["no/such/a.txt", "x" * 300, "a\0b", "."])
def test_what_cannot_be_written_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be written: "):
        write_whole(tmp_path / name, b"x")
    assert list(tmp_path.iterdir()) == []


def test_a_long_name_leaves_room_for_that_of_the_unfinished_file(tmp_path: Path) -> None:
    write_whole(tmp_path / ("x" * 255), b"x")
    assert [len(path.name) for path in tmp_path.iterdir()] == [255]


@pytest.mark.parametrize("suffix", [known.suffix for known in COMPRESSIONS])
def test_what_is_compressed_is_read_back_whatever_the_case(tmp_path: Path, suffix: str) -> None:
    judgments = aj.read({"s": {"q": ["d"]}}, {"q": {"d": 1}}).need_judgments()
    for name in (f"a.csv{suffix}", f"b.CSV{suffix.upper()}"):
        write(judgments, tmp_path / name)
        packed = (tmp_path / name).read_bytes()
        assert [known.suffix for known in COMPRESSIONS if known.magic.match(packed)] == [suffix]
        assert aj.read({"s": {"q": ["d"]}}, tmp_path / name).need_judgments().grade.tolist() == [1]


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("a.txt", "trec"),
        ("a", "trec"),
        ("a.TXT.gz", "trec"),
        ("a.run", "trec"),
        ("a.tab", "tsv"),
        ("a.ndjson", "jsonl"),
    ],
)
def test_the_suffix_chooses_the_format(name: str, chosen: str) -> None:
    assert format_for(name, "runs").name == chosen


def test_the_library_does_not_overwrite_an_input_either(tmp_path: Path) -> None:
    target = tmp_path / "a.qrels"
    target.write_text("q 0 d 1\n")
    for given in (target, (path for path in [target]), {target}):
        with pytest.raises(AdjudgeError, match=r"a\.qrels: is an input, and would be overwritten$"):
            convert(given, target, kind="judgments")
    assert target.read_text() == "q 0 d 1\n"


def test_written_ranks_agree_with_the_ranking_when_scores_tie(tmp_path: Path) -> None:
    runs = aj.read({"s": {"q": {"a": 1.0 + 1e-9, "b": 1.0}}}).runs  # equal in single precision: b comes first
    write(runs, tmp_path / "a.txt")
    lines = [line.split() for line in (tmp_path / "a.txt").read_text().splitlines()]
    assert [(line[2], line[3]) for line in lines] == [("b", "1"), ("a", "2")]
