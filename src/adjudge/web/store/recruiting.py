"""People whom a recruiter sends: known by what stands in their link, and the same person however often they come.

A recruiter (Prolific, or any other panel) puts an identity into the link; whoever comes with it again, in another
window or on another device, is who they were. What the link says is personal: it is kept apart from answers, exports
leave it out, and erasing forgets it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Literal, get_args
from urllib.parse import quote

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from adjudge.errors import shown
from adjudge.web.errors import Refused
from adjudge.web.store.settings import setting
from adjudge.web.store.wording import Line

Outcome = Literal["done", "screened_out", "failed"]
"""How somebody's part can end: all answered, the quiz not passed, too many attention checks missed later."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
_PROLIFIC = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
_PROLIFIC_ADDRESS = "https://app.prolific.com/submissions/complete?cc={code}"
_MOST_PARAMETERS = 10
LONGEST = 200
"""Characters that the value of a parameter has at most."""


def _address(text: str) -> str:
    if text and not text.startswith(("https://", "http://")):
        raise ValueError(f"expected an address that begins with https://, got {shown(text)}")
    if not text.isprintable() or " " in text:
        raise ValueError(f"expected an address without spaces and control characters, got {shown(text)}")
    host = re.split(r"[/?#\\]", text.partition("://")[2], maxsplit=1)[0]
    if text and (not host or set(host) & set("{}@")):  # whoever writes the link would choose where people go
        raise ValueError(f"expected an address whose server is written out, got {shown(text)}")
    return text


def _parameter(text: str) -> str:
    if not text or len(text) > 60 or not text.replace("_", "").replace("-", "").isalnum() or not text.isascii():
        raise ValueError(f"expected names of URL parameters in letters, digits, - and _, got {shown(text)}")
    if text == "code":
        raise ValueError("expected another name than 'code', which stands for the completion code in addresses")
    return text


Address = Annotated[str, Field(max_length=1000), AfterValidator(_address)]
Parameter = Annotated[str, AfterValidator(_parameter)]


class Recruiter(BaseModel):
    """Where participants come from, how they are known again, and where they go when their part ends.

    ``prolific`` knows its own parameters and address; ``other`` is any panel that puts an identity into the link and
    takes people back at an address. The first of ``parameters`` identifies a person. ``codes`` and ``addresses`` are by
    outcome; in an address ``{code}`` stands for the code of the outcome, and ``{NAME}`` for what came as parameter
    NAME, for nothing where it did not come.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["none", "prolific", "other"] = setting(
        "none",
        title="Recruiter",
        group="recruiter",
        field="recruiter",
        option="--recruiter",
        help="Where participants come from.",
        choices={
            "none": ("I invite them", "By links that you send. Nobody gets a completion code."),
            "prolific": ("Prolific", "People come with PROLIFIC_PID and go back with a completion code."),
            "other": ("Another panel", "Any site that puts an identity into the link and takes people back."),
        },
    )
    parameters: tuple[Parameter, ...] = setting(
        (),
        title="Names of the parameters",
        help="As they come in the link, the one that identifies a person first.",
        group="recruiter",
        option="--parameter",
        metavar="NAME",
        examples=("worker session",),
        when=("recruiter", "other"),
        max_length=_MOST_PARAMETERS,
    )
    codes: dict[Outcome, Line] = setting(
        {},
        title="Code",
        group="recruiter",
        help="Completion codes, which the recruiter pays by.",
        field="code",
        option="--code",
        metavar="OUTCOME=CODE",
        choices={
            "done": ("finished", "Shown when all is answered."),
            "screened_out": ("quiz not passed", "Shown when the quiz was not passed."),
            "failed": ("stopped later", "Shown when somebody missed too many attention checks later."),
        },
        when=("recruiter", "prolific", "other"),
    )
    addresses: dict[Outcome, Address] = setting(
        {},
        title="Address",
        help="Where people go back to; {code} stands for the code, {NAME} for what came as the parameter NAME.",
        group="recruiter",
        field="address",
        option="--way-back",
        metavar="OUTCOME=URL",
        examples=("https://panel.example/back?code={code}",),
        choices={"done": ("finished", ""), "screened_out": ("quiz not passed", ""), "failed": ("stopped later", "")},
        when=("recruiter", "other"),
    )

    @model_validator(mode="after")
    def _whole(self) -> Recruiter:
        if self.kind == "other" and not self.parameters:
            raise ValueError("expected the name of the URL parameter that identifies a person")
        if self.kind == "prolific" and (self.parameters or self.addresses):
            raise ValueError("Prolific has parameters and addresses of its own; expected its codes only")
        if self.kind == "none" and (self.parameters or self.codes or self.addresses):
            raise ValueError("expected parameters, codes and addresses with a recruiter only; say prolific or other")
        given = [code for code in self.codes.values() if code]
        if len(set(given)) < len(given):
            raise ValueError("expected a code of its own for each outcome, or who did not finish is paid for it")
        return self

    @property
    def expected(self) -> tuple[str, ...]:
        """The parameters of a link, the one that identifies a person first."""
        return _PROLIFIC if self.kind == "prolific" else self.parameters

    def way_back(self, outcome: Outcome, came_with: dict[str, str]) -> tuple[str | None, str | None]:
        """The code to show for an outcome, and the address to go to; None if there is no code.

        >>> Recruiter(kind="prolific", codes={"done": "C1"}).way_back("done", {})
        ('C1', 'https://app.prolific.com/submissions/complete?cc=C1')
        """
        code = self.codes.get(outcome) or None
        address = self.addresses.get(outcome) or None
        if self.kind == "prolific" and code is not None:
            address = _PROLIFIC_ADDRESS
        if address is not None:
            for name, value in {"code": code or "", **dict.fromkeys(self.expected, ""), **came_with}.items():
                address = address.replace("{" + name + "}", quote(value, safe=""))
        return code, address

    def person_in(self, parameters: Mapping[str, str]) -> dict[str, str]:
        """What a link of this recruiter says about a person; refused where it does not say who comes.

        Parameters that the recruiter does not send are left out.
        """
        found = {name: parameters[name].strip() for name in self.expected if parameters.get(name, "").strip()}
        for name, value in found.items():
            if len(value) > LONGEST or not value.isprintable():
                raise Refused(
                    f"Expected at most {LONGEST} printable characters as {name} in the link, got {shown(value[:50])}."
                )
        if self.expected[0] not in found:
            site = "Prolific" if self.kind == "prolific" else "the site that sent you here"
            raise Refused(
                f"Please open this study from {site}: the link does not say who you are ({self.expected[0]} is "
                f"missing), so your answers could not be credited to you."
            )
        return found

    def digest(self, person: Mapping[str, str]) -> str:
        """Who somebody is to the recruiter, as a digest."""
        return hashlib.sha256(f"{self.kind}\n{person[self.expected[0]]}".encode()).hexdigest()
