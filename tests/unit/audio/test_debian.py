"""Music from Debian packages: found, downloaded, kept and credited, against an archive in a folder."""

from __future__ import annotations

import csv
import shutil
import subprocess
from importlib import import_module
from pathlib import Path

import pytest
from tests.unit.audio.debian_archive import FORMAT, Archive, sound, two_games

from adjudge.audio import debian_packages
from adjudge.audio.debian import DebianMusic, collect_music, write_attribution
from adjudge.audio.debian_attribution import credit_lines
from adjudge.audio.debian_credits import Credit, holder
from adjudge.audio.debian_packages import find_packages, unpack
from adjudge.errors import AdjudgeError

GAMES = ["hyper-music", "max-1.16-music"]


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    """An archive with two games, and apt that knows it."""
    made = Archive(tmp_path, monkeypatch)
    two_games(made)
    return made


def collected(tmp_path: Path, names: list[str] | None = None) -> DebianMusic:
    return collect_music(tmp_path / "demo", names or GAMES, least_seconds=1.0)


def credits_by_file(music: DebianMusic) -> dict[str, Credit]:
    return {credit.file: credit for credit in music.credits}


def test_music_is_kept_and_sounds_are_not(archive: Archive, tmp_path: Path) -> None:
    music = collected(tmp_path)
    kept = sorted(path.relative_to(music.music).as_posix() for path in music.music.rglob("*") if path.is_file())
    assert kept == sorted(credits_by_file(music))
    assert kept == [
        "hyper-music/hunting.ogg", "hyper-music/mountain.ogg", "hyper-music/ours.ogg",
        "max-1.16-music/02 - Max - City Blues.ogg", "max-1.16-music/win/Apex.ogg",
    ]  # fmt: skip
    assert (tmp_path / "demo" / "copyright" / "max-1.16-music.txt").read_text().startswith("This package")
    assert music.notes == ()
    assert not list((tmp_path / "demo").rglob(".*"))


def test_credits_come_from_tags_and_copyright_files(archive: Archive, tmp_path: Path) -> None:
    found = credits_by_file(collected(tmp_path))
    facts = {name: (credit.title, credit.artist, credit.licence, credit.copyright) for name, credit in found.items()}
    domina = "2014 Lincoln Domina (http://domina.example.org)"
    assert facts == {
        # Without an artist: whom the stanza about this file, and no other, names.
        "hyper-music/hunting.ogg": ("hunting", "Lincoln Domina", "CC-BY-SA-3.0", domina),
        "hyper-music/mountain.ogg": ("Up | there", "Domina", "CC-BY-SA-3.0", domina),
        "hyper-music/ours.ogg": ("ours", "Zeno", "GPL-2+", "2011 Zeno Rogue <zeno@example.org>"),
        # By the name of the file; the licence from free text, the copyright from the tags.
        "max-1.16-music/02 - Max - City Blues.ogg": ("City Blues", "Max", "GPL-2+", "Max (C) 2007"),
        "max-1.16-music/win/Apex.ogg": (
            "Apex", "Max", "CC-BY-3.0 (tags), GPL-2+ (package)", "Copyright (C) 2007 Max McCracken",
        ),
    }  # fmt: skip
    assert found["hyper-music/hunting.ogg"].url == "http://domina.example.org"
    assert found["hyper-music/hunting.ogg"].source == "usr/share/hyper/music/hunting.ogg"


def test_an_artist_that_is_not_certain_is_not_named(archive: Archive, tmp_path: Path) -> None:
    files = {"usr/share/g/a.ogg": sound(pitch=200)}
    archive.add("game", files, f"{FORMAT}\nFiles: *\nCopyright: 2008 Ann Coder\nLicense: GPL-3+\n")
    archive.add(
        "pushed",
        {"usr/share/p/a.ogg": sound(pitch=210)},
        f"{FORMAT}\nFiles: *\nCopyright: 2008 Ann Coder (Code)\n 2008 Rob Tune (Music and sound)\nLicense: GPL-3+\n",
    )
    found = credits_by_file(collected(tmp_path, ["game", "pushed"]))
    assert [(one.artist, one.copyright) for one in found.values()] == [
        ("", "2008 Ann Coder"), ("Rob Tune", "2008 Rob Tune (Music and sound)"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Lincoln Domina", "Lincoln Domina"),
        ("Copyright (C) 2009, 2011-2013, Ann Ba <a@b.c>", "Ann Ba"),
        ("2002 The Game Team", ""),
        ("1996-2008, Alcachofa Soft S.L.", ""),
        ("Ann and Bob", ""),
        ("no-copyright", ""),
        ("", ""),
    ],
)
def test_a_line_of_copyright_names_one_person_or_nobody(line: str, name: str) -> None:
    assert holder(line) == name


def test_the_table_has_what_is_known_of_each_file(archive: Archive, tmp_path: Path) -> None:
    with collected(tmp_path).table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["file"] == "hyper-music/hunting.ogg"
    assert rows[2] == {
        "file": "hyper-music/ours.ogg", "title": "ours", "artist": "Zeno", "album": "Hyper", "genre": "Game",
        "year": "",
    }  # fmt: skip


def test_what_is_there_needs_no_apt_again(archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = collected(tmp_path)
    assert archive.calls == ["hyper-music=1:1", "max-1.16-music=1:1"]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert collected(tmp_path).credits == first.credits
    assert len(archive.calls) == 2


def test_without_network_what_is_there_stays_and_is_resumed(archive: Archive, tmp_path: Path) -> None:
    collected(tmp_path, GAMES[:1])
    (archive.folder / "down").touch()
    with pytest.raises(AdjudgeError, match=r"max-1.16-music: cannot be downloaded: Failed to fetch .*what is there"):
        collected(tmp_path)
    (archive.folder / "down").unlink()
    assert len(collected(tmp_path).packages) == 2
    assert archive.calls == [f"{name}=1:1" for name in (*GAMES, "max-1.16-music")]


def test_a_file_that_was_lost_or_half_downloaded_is_made_anew(archive: Archive, tmp_path: Path) -> None:
    music = collected(tmp_path)
    (music.music / "hyper-music" / "ours.ogg").unlink()
    deb = next((tmp_path / "demo" / "packages").glob("hyper-music_*.deb"))
    deb.write_bytes(deb.read_bytes()[:100])
    assert collected(tmp_path).credits == music.credits
    assert archive.calls.count("hyper-music=1:1") == 2


def test_a_download_that_is_not_what_the_lists_say_is_refused(archive: Archive, tmp_path: Path) -> None:
    (archive.folder / "hyper-music.package").write_bytes(b"something else")
    with pytest.raises(AdjudgeError, match="hyper-music: expected a file with the SHA-256 of apt's lists, got another"):
        collected(tmp_path)


def test_packages_that_a_release_lacks_are_said_and_left_out(archive: Archive, tmp_path: Path) -> None:
    archive.add("bad-music", {}, "", section="non-free/games")
    told: list[str] = []
    names = ["hyper-music", "max-1.14-music", "nowhere-music", "bad-music"]
    music = collect_music(tmp_path / "demo", names, least_seconds=1.0, tell=told.extend)
    assert tuple(told) == music.notes
    assert [package.name for package in music.packages] == GAMES
    assert music.notes == (
        "max-1.14-music: this release has max-1.16-music instead, which is taken",
        "nowhere-music: this release has no such package; it is left out",
        "bad-music: expected a package in main, got one in non-free; it is left out",
    )
    assert len(collected(tmp_path, ["max-1.14-music"]).packages) == 2


def test_the_newest_of_several_versions_is_taken(archive: Archive, tmp_path: Path) -> None:
    for version in ("1.9", "1.18", "1.20-big"):
        archive.add(f"max-{version}-music", {}, "GPL")
    assert [package.name for package in find_packages(["max-1.10-music"]).packages] == ["max-1.18-music"]


def test_nothing_found_points_to_apts_lists(archive: Archive, tmp_path: Path) -> None:
    with pytest.raises(AdjudgeError, match="got none of nowhere-music; where apt's lists are empty, 'apt-get update'"):
        collected(tmp_path, ["nowhere-music"])
    assert not (tmp_path / "demo").exists()


def test_a_package_without_music_is_said(archive: Archive, tmp_path: Path) -> None:
    archive.add("plain", {"usr/bin/plain": b"#!"}, "GPL")
    with pytest.raises(AdjudgeError, match="expected packages with music of 1 s or more, got none"):
        collected(tmp_path, ["plain"])
    assert collected(tmp_path).notes == ("plain: no music of 1 s or more in it",)


def test_a_package_without_a_copyright_file_is_refused(archive: Archive, tmp_path: Path) -> None:
    archive.add("secret", {"usr/share/a.ogg": sound(pitch=200)}, None)
    with pytest.raises(AdjudgeError, match="secret: expected a copyright file in the package, got none"):
        collected(tmp_path, ["secret"])


def test_a_disk_without_room_is_refused_before_anything_is_downloaded(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debian_packages, "_SPARE", 10**18)
    with pytest.raises(AdjudgeError, match="demo/packages: expected 1,000,000,000,000 MB free"):
        collected(tmp_path)
    assert archive.calls == []


def test_a_machine_without_apt_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AdjudgeError, match=r"needs apt-cache, apt-get and dpkg-deb, .* there is no apt-cache here"):
        collected(tmp_path)


def test_names_that_are_options_never_reach_a_program(archive: Archive, tmp_path: Path) -> None:
    with pytest.raises(AdjudgeError, match="Expected the name of a Debian package, got '-oDir=/'"):
        collected(tmp_path, ["hyper-music", "-oDir=/"])
    assert archive.calls == []


def test_a_folder_that_cannot_be_made_is_refused(archive: Archive, tmp_path: Path) -> None:
    (tmp_path / "demo").write_text("a file")
    with pytest.raises(AdjudgeError, match="demo: cannot be made: "):
        collected(tmp_path)


def test_a_real_package_is_unpacked(tmp_path: Path) -> None:
    if shutil.which("dpkg-deb") is None:
        pytest.skip("no dpkg-deb here")
    control = tmp_path / "root" / "DEBIAN" / "control"
    control.parent.mkdir(parents=True)
    control.write_text("Package: tiny\nVersion: 1\nArchitecture: all\nMaintainer: A <a@b.c>\nDescription: tiny\n")
    (tmp_path / "root" / "music").mkdir()
    (tmp_path / "root" / "music" / "a.txt").write_text("a tune")
    subprocess.run(["dpkg-deb", "-b", tmp_path / "root", tmp_path / "a.deb"], check=True, capture_output=True)
    unpack(tmp_path / "a.deb", tmp_path / "new")
    assert (tmp_path / "new" / "music" / "a.txt").read_text() == "a tune"
    (tmp_path / "b.deb").write_bytes(b"no package")
    with pytest.raises(AdjudgeError, match=r"b.deb: cannot be unpacked: "):
        unpack(tmp_path / "b.deb", tmp_path / "other")


def test_attribution_has_every_clip_of_the_library(archive: Archive, tmp_path: Path) -> None:
    from adjudge.audio.library.folder import Library

    pl = import_module("polars")
    music = collected(tmp_path)
    files = [one.file for one in music.credits[1:]]
    tracks = pl.DataFrame({"document": ["a", "b", "c", "d"]})
    library = Library(tmp_path, tracks, tracks.with_columns(pl.Series("file", files)))
    used = write_attribution(music, library, seconds=30, loudness=-21)
    page = (tmp_path / "demo" / "ATTRIBUTION.md").read_text()
    assert [credit.file for credit in used] == files
    assert "at most 30 seconds from music in Debian packages, levelled to -21 LUFS" in page
    assert "## hyper-music 1:1" in page
    assert "[CC-BY-SA-3.0](https://creativecommons.org/licenses/by-sa/3.0/)" in page
    assert r"| Up \| there | Domina |  | CC-BY-SA-3.0 | 2014 Lincoln Domina (http://domina.example.org) |" in page
    assert "| usr/share/games/max/tunes/win/Apex.ogg | d.mp3 |" in page
    assert "hunting" not in page


def test_credit_lines_name_titles_where_the_licence_wants_them(archive: Archive, tmp_path: Path) -> None:
    archive.add("other", {"usr/share/o/a.ogg": sound(pitch=210)}, "GPL: the GNU General Public License version 3")
    gpl2 = "[GPL-2+](https://www.gnu.org/licenses/old-licenses/gpl-2.0.html)"
    assert credit_lines(collected(tmp_path, [*GAMES, "other"]).credits) == [
        "**hyper-music** ([CC-BY-SA-3.0](https://creativecommons.org/licenses/by-sa/3.0/)): "
        r"Domina (Up \| there); Lincoln Domina (hunting)",
        f"**hyper-music** ({gpl2}): Zeno",
        f"**max-1.16-music** ({gpl2}): Max",
        f"**max-1.16-music** ([CC-BY-3.0](https://creativecommons.org/licenses/by/3.0/) or {gpl2}): Max (Apex)",
        "**other** ([GPL-3](https://www.gnu.org/licenses/gpl-3.0.html)): unknown artist",
    ]
