"""Copyright files of Debian packages, as packagers write them."""

from __future__ import annotations

import pytest

pytest.importorskip("debian", reason="the group 'examples' is not installed")
from examples.debian_music.credits import CopyrightFile, Stanza, holder, named_licence
from tests.examples.debian_archive import FORMAT, FREE_TEXT, HYPER


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
    assert CopyrightFile(stanzas(*pairs)).covering(path).licence == licence


def test_a_file_that_no_stanza_is_about_has_no_licence() -> None:
    assert CopyrightFile(stanzas(("src/*", "A"))).covering("usr/share/a/music/x.ogg") == Stanza((), "", True)


def test_a_stanza_has_its_holders_and_the_short_name_of_its_licence() -> None:
    said = CopyrightFile(HYPER)
    domina = ("2014 Lincoln Domina (http://domina.example.org)",)
    assert said.covering("usr/share/hyper/music/mountain.ogg") == Stanza(domina, "CC-BY-SA-3.0", is_general=False)
    assert not said.has_one_stanza


@pytest.mark.parametrize(
    ("text", "holders"),
    [
        (FREE_TEXT, ("Copyright (C) 2007 Max McCracken",)),
        ("Copyright (C) 2003 Ann\nCopyright (C) 2004 Bob\n", ()),
        ("", ()),
    ],
)
def test_free_text_names_its_holder_where_there_is_one(text: str, holders: tuple[str, ...]) -> None:
    assert CopyrightFile(text).covering("a.ogg").holders == holders


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


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        (FREE_TEXT, "GPL-2+"),
        ("the GNU General Public\nLicense as published; version 3 of the License.", "GPL-3"),
        ("GNU Lesser General Public License, version 2.1, or any later version", "LGPL-2.1+"),
        ("https://creativecommons.org/licenses/by-sa/2.0/de/", "CC-BY-SA-2.0-DE"),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "CC0-1.0"),
        ("Redistribution and use in source and binary forms", ""),
        ("All rights reserved.", ""),
        ("", ""),
    ],
)
def test_the_licence_that_a_free_text_names(text: str, licence: str) -> None:
    assert named_licence(text) == licence
