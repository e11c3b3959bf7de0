"""Files appear whole, through links, and never in place of a device."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from adjudge.errors import InputError
from adjudge.io import write_whole


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    link.symlink_to("real.txt")
    for content in (b"one", b"two"):  # a link to nothing yet, then to a file
        write_whole(link, content)
        assert link.is_symlink()
        assert real.read_bytes() == content


def test_an_older_file_keeps_its_permissions_and_a_new_one_has_the_usual(tmp_path: Path) -> None:
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text("old")
    old.chmod(0o604)
    previous = os.umask(0o027)
    try:
        for target, mode in ((old, 0o604), (new, 0o640)):
            write_whole(target, b"new")
            assert target.read_bytes() == b"new"
            assert stat.S_IMODE(target.stat().st_mode) == mode
    finally:
        os.umask(previous)


def test_a_device_or_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    write_whole(Path("/dev/null"), b"gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
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
