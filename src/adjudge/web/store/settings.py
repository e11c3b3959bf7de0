"""What is declared of a setting, once: its title, help, unit, group and limits, beside its type and default.

Forms, their messages, the summary on the set-up page, the options of ``adjudge campaign create``, the schema of the
API and the reference are made from it. Importing this module is cheap: the command line reads declarations from source
(``adjudge.cli.campaign.declared``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel

_LIMITS = ("ge", "gt", "le", "lt", "max_length")
_TYPES = {
    "int": "whole",
    "float": "number",
    "FiniteFloat": "number",
    "bool": "flag",
    "tuple[Line, ...]": "lines",
}


@dataclass(frozen=True)
class Setting:
    """A setting that people choose.

    ``group`` is the section of the form; without one the form does not show it, and with ``finer`` it is folded away.
    ``unit`` is ``%`` for a share, which forms show in percent. ``field`` and ``option`` are its names in forms and on
    the command line where these differ from its own; ``usual`` says what holds without it. ``choices`` have a title and
    a help each; of a flag, no comes first. ``when`` names a field and the values of it with which this one counts.
    ``path`` and ``type`` (flag, whole, number, line, choice, words, lines, keyed) are read from the class.
    """

    default: Any = None
    title: str = ""
    help: str = ""
    unit: str = ""
    group: str = ""
    choices: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    field: str = ""
    option: str = ""
    metavar: str = ""
    usual: str = ""
    when: tuple[str, ...] = ()
    finer: bool = False
    examples: tuple[str, ...] = ()
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    max_length: int | None = None
    path: tuple[str, ...] = ()
    type: str = ""
    is_optional: bool = False

    def __call__(self, schema: dict[str, Any]) -> None:
        """Complete the JSON schema of the field."""
        if self.unit:
            schema["unit"] = "share" if self.unit == "%" else self.unit

    @property
    def name(self) -> str:
        """Its name among all settings: ``pay.per_answer``."""
        return ".".join(self.path)

    @property
    def input(self) -> str:
        """Its name in forms."""
        return self.field or self.path[-1]

    @property
    def label(self) -> str:
        """Its title in forms, with the unit of shares."""
        return f"{self.title}, in %" if self.unit == "%" else self.title

    @property
    def is_wide(self) -> bool:
        """Whether its field needs the width of a form."""
        return self.type == "lines" or (self.type != "keyed" and bool(self.choices))

    @property
    def factor(self) -> int:
        """What it is multiplied by in forms."""
        return 100 if self.unit == "%" else 1

    @property
    def ends(self) -> tuple[str, str]:
        """The least and the greatest number in a form, empty where there is none."""
        low, high = (self.gt if self.ge is None else self.ge), (self.lt if self.le is None else self.le)
        return tuple("" if end is None else f"{end * self.factor:.15g}" for end in (low, high))  # type: ignore[return-value]

    @property
    def limits(self) -> str:
        """The limits in words.

        >>> Setting(ge=1, le=10_000).limits, Setting(ge=0, lt=1).limits, Setting(gt=0, le=1).limits
        ('1 to 10,000', '0 to below 1', 'above 0, up to 1')
        """
        low = _words(self.ge) or _words(self.gt, "above ")
        high = _words(self.le) or _words(self.lt, "below ")
        if not low or not high:
            return f"at least {low}" if self.ge is not None else low
        return f"{low} to {high}" if self.ge is not None else f"{low}, up to {high}"

    def in_words(self, value: Any) -> str:
        """A value as a summary shows it.

        >>> Setting(unit="s").in_words(3.0), Setting(unit="%").in_words(0.05), Setting(usual="all").in_words(None)
        ('3 s', '5 %', 'all')
        >>> Setting(choices={"none": ("I invite them", "")}).in_words("none"), Setting().in_words(False)
        ('I invite them', 'no')
        """
        if isinstance(value, bool):
            return [title for title, _ in self.choices.values()][value] if self.choices else ("no", "yes")[value]
        if isinstance(value, int | float):
            return f"{round(value * self.factor, 6):,.15g} {self.unit}".rstrip()
        if isinstance(value, Mapping):
            value = [f"{self.choices[key][0]}: {value[key]}" for key in self.choices if key in value]
        elif isinstance(value, str):
            value = [self.choices[value][0] if value in self.choices else value] if value else []
        return ", ".join(map(str, value or ())) or self.usual or "none"


_MOST = 2**53  # beyond, a limit is one of the machine and says nothing


def _words(end: float | None, before: str = "") -> str:
    if end is None or end > _MOST:
        return ""
    return before + (f"{int(end):,}" if end == int(end) else f"{end:g}")


def setting(default: Any = ..., **declared: Any) -> Any:
    """A field of a pydantic model with what :class:`Setting` declares; other keywords are those of pydantic's fields.

    >>> from pydantic import BaseModel
    >>> class Quiz(BaseModel):
    ...     length: int = setting(5, title="Questions in the quiz", ge=0, le=50)
    >>> Quiz.model_json_schema()["properties"]["length"]["title"], [s.title for s in settings_in(Quiz)]
    ('Questions in the quiz', ['Questions in the quiz'])
    """
    from pydantic import Field

    known = {attribute.name for attribute in fields(Setting)}
    about = Setting(None if default is ... else default, **{name: declared[name] for name in declared if name in known})
    theirs = {name: value for name, value in declared.items() if name not in known or name in _LIMITS}
    if about.examples:
        theirs["examples"] = list(about.examples)
    return Field(default, title=about.title or None, description=about.help or None, json_schema_extra=about, **theirs)


def settings_in(model: type[BaseModel]) -> tuple[Setting, ...]:
    """The settings that a class declares, those of the class itself before those that it inherits."""
    from pydantic import BaseModel

    names: dict[str, str] = {}
    for home in model.__mro__:
        if issubclass(home, BaseModel):
            names |= {name: text for name, text in vars(home).get("__annotations__", {}).items() if name not in names}
    return tuple(_walk(model, {name: text for name, text in names.items() if name in model.model_fields}))


def _walk(model: type[BaseModel], names: Mapping[str, str]) -> Iterator[Setting]:
    from pydantic import BaseModel

    for name, text in names.items():
        declared = model.model_fields[name]
        if isinstance(declared.annotation, type) and issubclass(declared.annotation, BaseModel):
            for inner in settings_in(declared.annotation):
                yield replace(inner, path=(name, *inner.path))
        elif isinstance(declared.json_schema_extra, Setting):
            yield typed(declared.json_schema_extra, name, text)


def typed(setting: Setting, name: str, annotation: str) -> Setting:
    """A setting with its name and the type that its annotation says.

    >>> typed(Setting(), "batch_size", "int | None").type, typed(Setting(), "codes", "dict[Outcome, Line]").type
    ('whole', 'keyed')
    """
    plain = annotation.removesuffix(" | None")
    head = plain.partition("[")[0]
    kind = _TYPES.get(plain) or {"tuple": "words", "dict": "keyed", "Literal": "choice"}.get(head, "line")
    return replace(setting, path=(name,), type=kind, is_optional=plain != annotation)
