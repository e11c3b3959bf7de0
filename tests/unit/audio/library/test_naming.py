"""Identifiers of recordings are fit for every file and file system."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.audio.library.scan import identifier, identifiers, is_identifier


@given(st.text(alphabet=st.characters(codec=None), max_size=200))
def test_every_name_has_an_identifier_that_every_system_can_use(name: str) -> None:
    made = identifier(f"{name}.mp3")
    assert is_identifier(made)
    assert 1 <= len(made.encode()) <= 100
    assert made[0] not in "-."
    assert not any(sign.isspace() or sign in "/\\:*?\"<>|,;'" or not sign.isprintable() for sign in made)


@given(st.lists(st.text(alphabet="aAß.- /2", min_size=1, max_size=6), unique=True, max_size=12))
def test_identifiers_differ_even_without_case(names: list[str]) -> None:
    made = identifiers(names)
    assert list(made) == names
    assert len({document.casefold() for document in made.values()}) == len(names)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Artist/Album/01 - Song.mp3", "Artist-Album-01-Song"),
        ("a.b.c.mp3", "a.b.c"),
        (".../-x-.mp3", "x"),
        ("Дельфин/Весна.ogg", "Дельфин-Весна"),
        ("हिन्दी.mp3", "हिन्दी"),
        ("CON.mp3", "CON_"),
        ("a\u00a0b\u3000c.wav", "a-b-c"),
        ("R&B/50% (live).wav", "R-B-50-live"),
    ],
)
def test_identifiers_are_made_from_paths(name: str, wanted: str) -> None:
    assert identifier(name) == wanted


def test_long_paths_keep_head_and_tail_and_stay_apart() -> None:
    one, other = (identifier(f"Artist/{middle * 60}/The Song.mp3") for middle in ("ab", "ac"))
    assert one != other
    assert one.startswith("Artist-ab")
    assert "The-Song-" in one


def test_files_that_come_and_go_change_no_other_identifier() -> None:
    names = ["b/x.mp3", "b/x.flac", "b/x-2.mp3", "c.mp3"]
    assert identifiers(names) == {"b/x.mp3": "b-x-3", "b/x.flac": "b-x", "b/x-2.mp3": "b-x-2", "c.mp3": "c"}
    assert identifiers(["a.mp3", "b/x.flac", "c.mp3", "d.mp3"]) == {
        "a.mp3": "a", "b/x.flac": "b-x", "c.mp3": "c", "d.mp3": "d",
    }  # fmt: skip
