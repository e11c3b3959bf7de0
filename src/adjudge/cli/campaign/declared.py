"""Settings of campaigns as options: read from source, as importing the classes that declare them would take seconds."""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from adjudge.cli.defaults import class_in, home_of, literal, syntax_of
from adjudge.cli.options import shown_default
from adjudge.errors import AdjudgeError, InputError, reason, shown
from adjudge.web import kinds
from adjudge.web.kinds import INPUTS
from adjudge.web.store.settings import Setting, typed

_STORE = "adjudge.web.store.campaigns"
_METAVARS = {"whole": "N", "number": "X", "s": "S", "h": "H"}
_FROM_FILES = "[LANGUAGE=]FILE"


def common_settings() -> tuple[Setting, ...]:
    """What every kind of campaign has."""
    return tuple(_declared(_STORE, "CampaignSettings"))


def kind_settings() -> dict[str, tuple[Setting, ...]]:
    """All settings of each kind of campaign."""
    homes = [f"{kinds.__name__}.{folder.name}.settings" for folder in iter_modules(kinds.__path__) if folder.ispkg]
    found = {kind: (home, name) for home in homes for kind, name in _registered(home)}
    if _STORE in sys.modules:  # a program may have added kinds
        models = sys.modules[_STORE].SETTINGS.items()
        found |= {kind: (model.__module__, model.__name__) for kind, model in models if kind not in found}
    return {kind: tuple(_declared(*place)) for kind, place in found.items()}


def known_exports() -> list[str]:
    """What campaigns of any kind export, by name."""
    found: dict[str, None] = {}
    for folder in iter_modules(kinds.__path__):
        for node in ast.walk(syntax_of(f"{kinds.__name__}.{folder.name}.kind")) if folder.ispkg else ():
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "exports" and node.value:
                found |= dict.fromkeys(ast.literal_eval(node.value))
    return list(found)


def _registered(module: str) -> Iterator[tuple[str, str]]:
    """Kinds that a module registers settings for, with the names of their classes."""
    for node in syntax_of(module).body:
        for decorator in getattr(node, "decorator_list", ()):
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "SETTINGS.register":
                yield ast.literal_eval(decorator.args[0]), node.name  # type: ignore[attr-defined]


def _declared(module: str, owner: str) -> Iterator[Setting]:
    """The settings of a class, as ``settings_in`` has them."""
    seen: set[str] = set()
    for home, node in _lineage(module, owner):
        for field in node.body:
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            name, annotation = field.target.id, ast.unparse(field.annotation)
            if name in seen or annotation.startswith("ClassVar"):
                continue
            seen.add(name)
            if isinstance(field.value, ast.Call) and ast.unparse(field.value.func) == "setting":
                yield typed(_setting(field.value, home), name, annotation)
            elif isinstance(field.annotation, ast.Name):
                inner_home, inner = home_of(annotation, home) or (home, annotation)
                for setting in _declared(inner_home, inner):
                    yield replace(setting, path=(name, *setting.path))


def _lineage(module: str, owner: str) -> Iterator[tuple[str, ast.ClassDef]]:
    """A class and those of Adjudge that it is made from, with their modules."""
    node = class_in(module, owner)
    if node is not None:
        yield module, node
        for base in node.bases:
            home = home_of(ast.unparse(base), module)
            if home is not None:
                yield from _lineage(*home)


def _setting(call: ast.Call, module: str) -> Setting:
    known = {field.name for field in fields(Setting)}
    given = {word.arg: word.value for word in call.keywords if word.arg in known}
    given |= {"default": call.args[0]} if call.args else {}
    return Setting(**{name: value for name, node in given.items() if (value := literal(node, module)) is not None})


def options_of(setting: Setting) -> list[str]:
    """How a setting is written on the command line."""
    if setting.option:
        return setting.option.split()
    name = setting.path[-1].replace("_", "-")
    return [f"--no-{name}" if setting.type == "flag" and setting.default else f"--{name}"]


def option_of(setting: Setting) -> str:
    """The first long way to write it."""
    return next(option for option in options_of(setting) if option.startswith("--"))


def dest_of(setting: Setting) -> str:
    """Where the value of its option is found."""
    return option_of(setting)[2:].replace("-", "_")


def add_setting(group: argparse._ActionsContainer, setting: Setting, usual: str) -> None:
    """Declare the option of a setting; nothing is its value where it is not given."""
    title = setting.title[:1].lower() + setting.title[1:] + (", as a share" if setting.unit == "%" else "")
    about = setting.help.partition(". ")[0].rstrip(".")
    words = ": ".join(part for part in (title, about[:1].lower() + about[1:]) if part)
    if setting.type == "flag" and setting.default:
        words = f"without it, {words}"
    elif setting.choices and setting.type in ("line", "keyed"):
        known = _keys(setting) if setting.type == "keyed" else setting.choices
        words += f"; for {', '.join(known)}"
    said = "; ".join(part for part in (setting.limits, f"default: {usual}" if usual else "") if part)
    how: dict[str, Any] = {"dest": dest_of(setting)}
    if setting.type == "flag":
        how |= {"action": "store_false" if setting.default else "store_true", "default": None}
    elif setting.type in ("words", "lines", "keyed"):
        how |= {"action": "append", "metavar": setting.metavar}
        words += "; repeatable"
    elif setting.type == "choice":
        how |= {"choices": list(setting.choices)}
    else:
        metavar = setting.metavar or _METAVARS.get(setting.unit) or _METAVARS.get(setting.type)
        how |= {"type": {"whole": int, "number": float}.get(setting.type, str), "metavar": metavar}
    help_text = f"{words} ({said})" if said else words
    group.add_argument(*options_of(setting), help=help_text.replace("%", "%%"), **how)


def usual_of(setting: Setting, by_kind: Mapping[str, Sequence[Setting]]) -> str:
    """The default in words, with those of kinds that have another."""
    if setting.type == "flag":
        return ""
    parts = [setting.usual or ("" if setting.default == {} else shown_default(setting.default))]
    for kind, settings in by_kind.items():
        own = next((each for each in settings if each.path == setting.path), setting)
        if (own.default, own.usual) != (setting.default, setting.usual) and kind in INPUTS:
            parts.append(f"{own.usual or shown_default(own.default)} with --{INPUTS[kind].first}")
    return "; ".join(part for part in parts if part)


def values_of(arguments: argparse.Namespace, settings: Sequence[Setting]) -> dict[str, Any]:
    """The values of settings that the options give."""
    values: dict[str, Any] = {"title": arguments.name}
    language = (arguments.language or ["en"])[0]
    for setting in settings:
        value = getattr(arguments, dest_of(setting), None)
        if value is None:
            continue
        if setting.type == "keyed":
            from_files = setting.metavar == _FROM_FILES
            value = _texts(value, language) if from_files else _by_key(setting, value)
        place = values
        for name in setting.path[:-1]:
            place = place.setdefault(name, {})
        place[setting.path[-1]] = value
    return values


def _texts(given: Sequence[str], usual: str) -> dict[str, str]:
    """Texts by language, from files."""
    texts: dict[str, str] = {}
    for text in given:
        head, equals, tail = text.partition("=")
        is_named = bool(equals) and len(head) == 2 and head.isalpha()
        language, file = (head.lower(), tail) if is_named else (usual, text)
        if language in texts:
            raise AdjudgeError(f"Expected one text per language, got another in {language}: {file}")
        try:
            texts[language] = Path(file).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise InputError("expected text in UTF-8", source=file) from None
        except OSError as error:
            raise InputError(f"cannot be read: {reason(error)}", source=file) from None
    return texts


def _keys(setting: Setting) -> dict[str, str]:
    """The keys of a setting as they are written on the command line."""
    return {key.replace("_", "-"): key for key in setting.choices}


def _by_key(setting: Setting, given: Sequence[str]) -> dict[str, str]:
    """Values by key, each key once."""
    values: dict[str, str] = {}
    option, what = option_of(setting), setting.metavar.partition("=")[0]
    keys = _keys(setting)
    for text in given:
        word, equals, value = text.partition("=")
        key = keys.get(word.strip().lower().replace("_", "-"))
        if key is None or not equals or not value.strip():
            raise AdjudgeError(f"{option}: expected {what}=… with one of {', '.join(keys)}, got {shown(text)}")
        if key in values:
            raise AdjudgeError(f"{option}: expected each {what.lower()} once, got {word.strip()} again")
        values[key] = value.strip()
    return values
