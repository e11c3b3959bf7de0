"""Every language says everything that English says, about the same things; a kind of campaign has words of its own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from adjudge.web import languages
from adjudge.web.languages import LANGUAGES, NAMES, preferred, words

WEB = Path(languages.__file__).parents[1]
FOLDERS = {folder.parent: folder for folder in [WEB / "languages", *sorted(WEB.glob("kinds/*/languages"))]}
SCRIPTS = sorted([*WEB.glob("static/shared/*.js"), *WEB.glob("kinds/*/static/*.js")])
TEMPLATES = sorted([*(WEB / "templates").glob("*.html"), *WEB.glob("kinds/*/templates/*.html")])


def _known(folder: Path, language: str) -> list[tuple[str, str]]:
    return json.loads((folder / f"{language}.json").read_text(encoding="utf-8"), object_pairs_hook=list)  # type: ignore[no-any-return]


ENGLISH = {key: text for folder in FOLDERS.values() for key, text in _known(folder, "en")}


@pytest.fixture(autouse=True, scope="module")
def _words_of_kinds() -> None:
    """The words of all kinds, as an application has them."""
    for folder in FOLDERS.values():
        languages.add_folder(folder)


def _sayable(file: Path) -> set[str]:
    """What a script or template may say: the words of all pages, and those of its kind."""
    homes = {WEB, *(home for home in FOLDERS if home in file.parents)}
    return {key for home in homes for key, _ in _known(FOLDERS[home], "en")}


def _placeholders(text: str) -> list[str]:
    return sorted(re.findall(r"\{(\w+)\}", text))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_keys(language: str) -> None:
    assert sorted(words(language)) == sorted(ENGLISH)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_fills_in_the_same_things(language: str) -> None:
    for key, text in words(language).items():
        assert _placeholders(text) == _placeholders(ENGLISH[key]), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_left_unsaid(language: str) -> None:
    assert all(text.strip() for text in words(language).values())


@pytest.mark.parametrize("language", [language for language in LANGUAGES if language != "en"])
def test_sentences_are_translated(language: str) -> None:
    same = [key for key, text in words(language).items() if text == ENGLISH[key] and len(text.split()) > 2]
    assert not same


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_key_is_written_twice(language: str) -> None:
    names = [name for folder in FOLDERS.values() for name, _ in _known(folder, language)]
    assert len(names) == len(set(names))


def test_what_counts_has_both_forms() -> None:
    ones = {key.removesuffix(".one") for key in ENGLISH if key.endswith(".one")}
    assert ones
    assert all(f"{key}.other" in ENGLISH for key in ones)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_say_only_what_there_are_words_for(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    said = re.findall(r'\bsay\("([^"]+)"', text)
    counted = re.findall(r'\bcount\("([^"]+)"', text)
    known = _sayable(script)
    assert not [key for key in said if key not in known]
    assert not [key for key in counted if f"{key}.one" not in known]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_templates_say_only_what_there_are_words_for(template: Path) -> None:
    said = re.findall(r"""\bt\[["']([^"']+)["']\]""", template.read_text(encoding="utf-8"))
    known = _sayable(template)
    assert not [key for key in said if key not in known]


def test_the_ranking_page_says_just_what_there_are_words_for() -> None:
    files = [
        *(WEB / "kinds" / "ranking" / "static").glob("*.js"),
        WEB / "kinds" / "ranking" / "templates" / "ask.html",
        WEB / "kinds" / "ranking" / "templates" / "_dialogs.html",
    ]
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    said = set(re.findall(r"""["'](rank\.[\w.]+)["']""", text)) - {"rank.rest"}
    known = {re.sub(r"\.(one|other)$", "", key) for key in ENGLISH if re.match(r"rank\.(?!rest\.)", key)}
    assert said == known


OUTCOMES = ("done", "screened_out", "failed")
RESTS = ("closed", "paused", "draft", "nothing_left", "wait", "offline")


def test_there_are_words_for_every_way_a_part_ends_or_rests() -> None:
    assert not [
        f"ended.{outcome}{end}"
        for outcome in OUTCOMES
        for end in ("", ".title")
        if f"ended.{outcome}{end}" not in ENGLISH
    ]
    assert not [f"rest.{why}{end}" for why in RESTS for end in ("", ".title") if f"rest.{why}{end}" not in ENGLISH]


@pytest.mark.parametrize("language", LANGUAGES)
def test_nobody_is_told_which_questions_are_traps(language: str) -> None:
    told = [text for key, text in words(language).items() if key.startswith(("prefer.", "ended."))]
    assert not re.search(r"\b(trap|quiz|trampa|falle|piège)", " ".join(told), re.IGNORECASE)


def test_languages_call_themselves_something() -> None:
    assert tuple(NAMES) == LANGUAGES


def test_an_unknown_language_is_read_in_english() -> None:
    assert dict(words("tlh")) == ENGLISH


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("es-MX,es;q=0.9,en;q=0.8", "es"),
        ("tlh, fr;q=0.2", "fr"),
        ("de;q=0, fr;q=0.1", "fr"),
        ("", "en"),
        ("nonsense;q=x, ,;;", "en"),
        ("ja", "en"),
    ],
)
def test_the_browser_s_wish_is_heard(accepted: str, expected: str) -> None:
    assert preferred(accepted, LANGUAGES) == expected
