"""Kinds of campaign: what they share and, in one folder per kind, what is their own.

Here is what a campaign of each kind is made from on the command line, besides documents and settings. The package of a
kind declares it, and imports nothing else, so that help is quick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.registry import Registry

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from adjudge.web.store.campaigns import Campaign


Put = Callable[["Connection", "Campaign", float], None]


@dataclass(frozen=True)
class Input:
    """Something that is given: an option, or the arguments of the command; a file, several, or a whole number."""

    name: str
    help: str
    metavar: str = "FILE"
    is_argument: bool = False
    is_several: bool = False
    is_number: bool = False


@dataclass(frozen=True)
class Inputs:
    """What a kind is given first, and what else; what people are ``doing``, and what is ``done`` in such a campaign.

    With ``are_runs`` there are options that say how to read runs.
    """

    doing: str
    done: str
    given: tuple[Input, ...]
    are_runs: bool = False

    @property
    def first(self) -> str:
        """The name of what is given first; that it is given tells the kind."""
        return self.given[0].name

    @property
    def wanted(self) -> str:
        """What is given first, in words."""
        return f"files with {self.first}" if self.given[0].is_argument else f"--{self.first} FILE"


@dataclass(frozen=True)
class Filling:
    """What was read for a new campaign: its settings' ``values``, completed; what it is, in words; how it is put in."""

    values: Mapping[str, Any]
    words: str = ""
    notes: Sequence[str] = ()
    put: Put = lambda connection, campaign, now: None


INPUTS: Registry[Inputs] = Registry("kind of campaign", "adjudge.web.kinds.*.")
"""What campaigns are made from, by kind; a kind that needs nothing but documents has none."""


def inputs_of(kind: str) -> Inputs | None:
    """What a campaign of a kind is made from; None for documents alone."""
    return dict(INPUTS).get(kind)
