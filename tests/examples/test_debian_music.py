"""Music from Debian packages, from an archive in a folder to an open campaign; nothing is downloaded."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("debian", reason="the group 'examples' is not installed")
from examples.debian_music import __main__ as example
from examples.debian_music.attribution import attribution, credit_lines
from examples.debian_music.credits import Credit, credits_of
from examples.debian_music.packages import Package, collect_packages
from tests.examples.debian_archive import FORMAT, Archive, sound, two_games

from adjudge.cli import main
from adjudge.errors import AdjudgeError

GAMES = ["hyper-music", "max-1.16-music"]
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    """An archive with two games, apt that knows it, and clips as short as their music."""
    for name in ("ADJUDGE_DATA", "ADJUDGE_DATABASE", "ADJUDGE_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(example, "SECONDS", 1.2)
    made = Archive(tmp_path, monkeypatch)
    two_games(made)
    return made


@pytest.fixture
def notes() -> list[str]:
    return []


def collected(notes: list[str], names: list[str] | None = None) -> list[Package]:
    return collect_packages(Path("lab"), names or GAMES, least_seconds=1.0, tell=notes.append)


def credited(notes: list[str], names: list[str] | None = None) -> dict[str, Credit]:
    """Credits by document."""
    found = [credit for package in collected(notes, names) for credit in credits_of(package, Path("lab"))]
    return {credit.document: credit for credit in found}


def test_packages_become_an_open_campaign_with_credits(archive: Archive, capsys: Captured) -> None:
    command = ["lab", "--package", "hyper-music", "--package", "max-1.16-music", "--workers", "1"]
    assert example.main(command) == 0
    said = capsys.readouterr().out
    assert "5 pieces of music from 2 packages, in lab/music\n" in said
    assert "  adjudge campaign invite music --count 5 --data lab/adjudge-data  # " in said
    page = Path("lab/ATTRIBUTION.md").read_text()
    assert "| usr/share/games/max/tunes/win/Apex.ogg | max-1.16-music-Apex.mp3 |" in page
    assert main(["campaign", "show", "music", "--json", "--data", "lab/adjudge-data"]) == 0
    shown = capsys.readouterr().out
    assert '"open"' in shown
    assert "Lincoln Domina (hunting)" in shown
    assert example.main(command) == 0
    assert "campaign create" not in capsys.readouterr().out
    assert len(archive.calls) == 2


def test_what_fails_or_is_interrupted_is_one_line(
    archive: Archive, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (archive.folder / "down").touch()
    assert example.main(["lab", "--package", "hyper-music"]) == 2
    assert capfd.readouterr().err.endswith("hyper-music: cannot be downloaded; what is there stays\n")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("examples.debian_music.packages._download", stop)
    assert example.main(["lab", "--package", "hyper-music"]) == 130
    assert "the same command goes on in lab" in capfd.readouterr().err


def test_the_old_option_says_where_it_went(capsys: Captured) -> None:
    assert main(["demo", "--debian", "lab"]) == 2
    assert "python -m examples.debian_music" in capsys.readouterr().err


def test_music_is_kept_and_sounds_are_not(archive: Archive, notes: list[str]) -> None:
    kept = {f"{package.name}/{file}" for package in collected(notes) for file in package.files}
    assert kept == {
        "hyper-music/usr/share/hyper/music/hunting.ogg",
        "hyper-music/usr/share/hyper/music/mountain.ogg",
        "hyper-music/usr/share/hyper/music/ours.ogg",
        "max-1.16-music/usr/share/games/max/tunes/02 - Max - City Blues.ogg",
        "max-1.16-music/usr/share/games/max/tunes/win/Apex.ogg",
    }
    music = Path("lab/music")
    assert {path.relative_to(music).as_posix() for path in music.rglob("*") if path.is_file()} == kept
    assert Path("lab/copyright/max-1.16-music.txt").read_text().startswith("This package")
    assert notes == []
    assert not list(Path("lab").rglob(".*"))


def test_credits_come_from_tags_and_copyright_files(archive: Archive, notes: list[str]) -> None:
    found = credited(notes)
    facts = {name: (credit.title, credit.artist, credit.licence, credit.copyright) for name, credit in found.items()}
    domina = "2014 Lincoln Domina (http://domina.example.org)"
    assert facts == {
        # Without an artist: whom the stanza about this file, and no other, names.
        "hyper-music-hunting": ("hunting", "Lincoln Domina", "CC-BY-SA-3.0", domina),
        "hyper-music-mountain": ("Up | there", "Domina", "CC-BY-SA-3.0", domina),
        "hyper-music-ours": ("ours", "Zeno", "GPL-2+", "2011 Zeno Rogue <zeno@example.org>"),
        # By the name of the file; the licence from free text, the copyright from the tags.
        "max-1.16-music-02-Max-City-Blues": ("City Blues", "Max", "GPL-2+", "Max (C) 2007"),
        "max-1.16-music-Apex": (
            "Apex", "Max", "CC-BY-3.0 (tags), GPL-2+ (package)", "Copyright (C) 2007 Max McCracken",
        ),
    }  # fmt: skip
    assert found["hyper-music-hunting"].url == "http://domina.example.org"
    assert found["hyper-music-hunting"].source == "usr/share/hyper/music/hunting.ogg"


def test_an_artist_that_is_not_certain_is_not_named(archive: Archive, notes: list[str]) -> None:
    files = {"usr/share/g/a.ogg": sound(pitch=200), "usr/share/g/b/a.ogg": sound(pitch=201)}
    archive.add("game", files, f"{FORMAT}\nFiles: *\nCopyright: 2008 Ann Coder\nLicense: GPL-3+\n")
    archive.add(
        "pushed",
        {"usr/share/p/a.ogg": sound(pitch=210)},
        f"{FORMAT}\nFiles: *\nCopyright: 2008 Ann Coder (Code)\n 2008 Rob Tune (Music and sound)\nLicense: GPL-3+\n",
    )
    found = credited(notes, ["game", "pushed"])
    assert {name: (credit.artist, credit.copyright) for name, credit in found.items()} == {
        "game-a": ("", "2008 Ann Coder"),
        "game-a-2": ("", "2008 Ann Coder"),
        "pushed-a": ("Rob Tune", "2008 Rob Tune (Music and sound)"),
    }


def test_what_is_there_is_not_downloaded_again(archive: Archive, notes: list[str]) -> None:
    collected(notes, GAMES[:1])
    (archive.folder / "down").touch()
    with pytest.raises(AdjudgeError, match=r"max-1.16-music: cannot be downloaded; what is there stays"):
        collected(notes)
    (archive.folder / "down").unlink()
    assert len(collected(notes)) == len(collected(notes)) == 2
    assert archive.calls == ["hyper-music", "max-1.16-music", "max-1.16-music"]


def test_packages_that_a_release_lacks_are_said_and_left_out(archive: Archive, notes: list[str]) -> None:
    archive.add("bad-music", {}, "", component="non-free")
    packages = collected(notes, ["hyper-music", "max-1.14-music", "nowhere-music", "bad-music"])
    assert [package.name for package in packages] == GAMES
    assert notes == [
        "max-1.14-music: this release has max-1.16-music instead, which is taken",
        "nowhere-music: this release has no such package; it is left out",
        "bad-music: expected a package in main, got one in non-free; it is left out",
    ]
    assert len(collected([], ["max-1.14-music"])) == 2
    assert archive.calls == GAMES


def test_the_newest_of_several_versions_is_taken(archive: Archive, notes: list[str]) -> None:
    for version in ("1.9", "1.18", "1.20-big"):
        archive.add(f"max-{version}-music", {}, "GPL")
    assert [package.name for package in collected(notes, ["max-1.10-music"])] == ["max-1.18-music"]
    assert notes[1:] == ["max-1.18-music: no music of 1 s or more in it"]


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["nowhere-music"], "got none of nowhere-music; where apt's lists are empty, 'apt-get update'"),
        (["hyper-music", "-oDir=/"], "Expected the name of a Debian package, got '-oDir=/'"),
    ],
)
def test_names_that_cannot_be_had_are_refused(
    archive: Archive, notes: list[str], names: list[str], reason: str
) -> None:
    with pytest.raises(AdjudgeError, match=reason):
        collected(notes, names)
    assert not Path("lab").exists()


def test_a_package_without_a_copyright_file_is_refused(archive: Archive, notes: list[str]) -> None:
    archive.add("secret", {"usr/share/a.ogg": sound(pitch=200)}, None)
    with pytest.raises(AdjudgeError, match="secret: expected a copyright file in the package, got none"):
        collected(notes, ["secret"])
    assert not Path("lab/music/secret").exists()


def test_a_machine_without_apt_is_told_in_one_line(
    tmp_path: Path, notes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AdjudgeError, match=r"needs apt-cache, apt-get, dpkg-deb; there is no apt-cache here"):
        collected(notes)


def test_the_page_credits_every_clip(archive: Archive, notes: list[str]) -> None:
    page = attribution(list(credited(notes).values())[1:], seconds=30)
    assert "at most 30 seconds from music in Debian packages" in page
    assert "## hyper-music 1:1" in page
    assert "[CC-BY-SA-3.0](https://creativecommons.org/licenses/by-sa/3.0/)" in page
    assert r"| Up \| there | Domina |  | CC-BY-SA-3.0 | 2014 Lincoln Domina (http://domina.example.org) |" in page
    assert "hunting" not in page


def test_credit_lines_name_titles_where_the_licence_wants_them(archive: Archive, notes: list[str]) -> None:
    archive.add("other", {"usr/share/o/a.ogg": sound(pitch=210)}, "GPL: the GNU General Public License version 3")
    gpl2 = "[GPL-2+](https://www.gnu.org/licenses/old-licenses/gpl-2.0.html)"
    assert credit_lines(credited(notes, [*GAMES, "other"]).values()) == [
        "**hyper-music** ([CC-BY-SA-3.0](https://creativecommons.org/licenses/by-sa/3.0/)): "
        r"Domina (Up \| there); Lincoln Domina (hunting)",
        f"**hyper-music** ({gpl2}): Zeno",
        f"**max-1.16-music** ({gpl2}): Max",
        f"**max-1.16-music** ([CC-BY-3.0](https://creativecommons.org/licenses/by/3.0/) or {gpl2}): Max (Apex)",
        "**other** ([GPL-3](https://www.gnu.org/licenses/gpl-3.0.html)): unknown artist",
    ]
