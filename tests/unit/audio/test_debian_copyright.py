"""Copyright files of Debian packages, as packagers write them."""

from __future__ import annotations

import pytest
from tests.unit.audio.debian_archive import FORMAT, FREE_TEXT, HYPER

from adjudge.audio.debian_copyright import named_licence, only_holder, paragraphs, read_copyright


def stanzas(*pairs: tuple[str, str]) -> str:
    """A machine-readable file: patterns, and the licence of what they are about."""
    return FORMAT + "".join(f"\nFiles: {files}\nCopyright: somebody\nLicense: {licence}\n" for files, licence in pairs)


@pytest.mark.parametrize(
    ("pairs", "path", "licence"),
    [
        # The last stanza that fits counts, wherever the program got installed.
        ([("*", "A"), ("music/*", "B"), ("music/x.ogg", "C")], "usr/share/hyper/music/x.ogg", "C"),
        ([("*", "A"), ("music/x.ogg", "C"), ("music/*", "B")], "usr/share/hyper/music/x.ogg", "B"),
        ([("music/x.ogg", "C"), ("*", "A")], "usr/share/hyper/music/x.ogg", "A"),
        # Stars cross folders, a question mark is one sign, a backslash takes their meaning away.
        ([("*", "A"), ("data/*", "B")], "usr/share/games/w/1.16/data/core/music/x.ogg", "B"),
        ([("*", "A"), ("*.ogg", "B")], "usr/share/w/data/x.ogg", "B"),
        ([("*", "A"), ("music/hr?.ogg", "B")], "usr/share/w/music/hr3.ogg", "B"),
        ([("*", "A"), ("music/hr?.ogg", "B")], "usr/share/w/music/hr33.ogg", "A"),
        ([("*", "A"), (r"music/x\*.ogg", "B")], "usr/share/w/music/xy.ogg", "A"),
        # The source package has other folders: the end of a pattern fits where it says enough.
        ([("*", "A"), ("data/mus*.ogg", "B")], "usr/share/games/zaz/mus1.ogg", "B"),
        ([("*", "A"), ("base/music/David01.ogg", "B")], "usr/share/games/ufo/music/David01.ogg", "B"),
        ([("*", "A"), ("src/*.ogg", "B")], "usr/share/games/ufo/David01.ogg", "A"),
        ([("*", "A"), ("debian/*", "B")], "usr/share/games/ufo/David01.ogg", "A"),
        # The program's own folder is no folder of its source.
        ([("*", "A"), ("hedgewars/*", "B")], "usr/share/games/hedgewars/Data/Music/Art.ogg", "A"),
    ],
)
def test_the_stanza_about_a_file(pairs: list[tuple[str, str]], path: str, licence: str) -> None:
    covering = read_copyright(stanzas(*pairs)).covering(path)
    assert covering is not None
    assert covering.licence == licence


def test_a_file_that_no_stanza_is_about_is_covered_by_none() -> None:
    assert read_copyright(stanzas(("src/*", "A"))).covering("usr/share/a/music/x.ogg") is None


def test_a_stanza_has_its_holders_and_the_short_name_of_its_licence() -> None:
    said = read_copyright(HYPER)
    assert [stanza.licence for stanza in said.stanzas] == ["GPL-2+", "CC-BY-SA-3.0", "GPL-2+"]
    assert said.stanzas[1].files == ("music/hunting.ogg", "music/mount*.ogg")
    assert said.stanzas[1].copyright == ("2014 Lincoln Domina (http://domina.example.org)",)
    assert not said.is_of_one_kind


def test_a_file_without_a_format_is_free_text() -> None:
    assert read_copyright(FREE_TEXT).stanzas == ()
    assert read_copyright("").stanzas == ()
    assert read_copyright(FREE_TEXT).covering("a.ogg") is None


def test_paragraphs_survive_comments_other_line_ends_and_odd_lines() -> None:
    text = "# first\r\nPackage: a\r\nFiles:\r\n x\r\n\ty\r\n \r\n\r\n gone\r\nno field\r\nPackage : b\r\n"
    assert list(paragraphs(text)) == [{"package": "a", "files": "\nx\ny"}, {"package": "b"}]


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        (FREE_TEXT, "GPL-2+"),
        ("the GNU General Public\nLicense as published; version 3 of the License.", "GPL-3"),
        ("GNU Lesser General Public License, version 2.1, or any later version", "LGPL-2.1+"),
        ("License Elements … title of\n this License: Attribution, ShareAlike.", "CC-BY-SA"),
        ("Creative Commons Attribution-ShareAlike 4.0", "CC-BY-SA-4.0"),
        ("https://creativecommons.org/licenses/by-sa/2.0/de/", "CC-BY-SA-2.0-DE"),
        ("Redistribution and use in source and binary forms", "BSD"),
        ("All rights reserved.", ""),
        ("", ""),
    ],
)
def test_the_licence_that_a_free_text_names(text: str, licence: str) -> None:
    assert named_licence(text) == licence


def test_the_only_holder_of_a_free_text() -> None:
    assert only_holder(FREE_TEXT) == "Copyright (C) 2007 Max McCracken"
    assert only_holder("Copyright (C) 2003 Ann\nCopyright (C) 2004 Bob\n") == ""
