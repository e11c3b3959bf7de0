"""The MEI that a tune of ABC becomes: its bars, with their tuplets and beams, in a score of one staff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass
class Event:
    """Something of a bar as MEI, with what grouping needs to know."""

    xml: str
    beams: bool
    joined: bool  # to what stands before it, without a space between them
    tuplet: int  # 0 outside


@dataclass
class Measure:
    """A bar as it fills."""

    before: str = ""
    left: str = ""
    events: list[Event] = field(default_factory=list)
    ties: list[str] = field(default_factory=list)


def grouped(events: Sequence[Event], ratios: Mapping[int, tuple[int, int]]) -> str:
    """The events of a bar, in their tuplets and beams; ``ratios`` are those of the tuplets: so many in the time of."""
    out, at = "", 0
    while at < len(events):
        end = at
        while end < len(events) and events[end].tuplet == events[at].tuplet:
            end += 1
        inside = _beamed(events[at:end])
        if events[at].tuplet:
            number, time = ratios[events[at].tuplet]
            inside = f'<tuplet num="{number}" numbase="{time}">{inside}</tuplet>'
        out, at = out + inside, end
    return out


def _beamed(events: Sequence[Event]) -> str:
    """Short notes that stand together, under one beam."""
    out, at = "", 0
    while at < len(events):
        end = at + 1
        while end < len(events) and events[at].beams and events[end].beams and events[end].joined:
            end += 1
        inside = "".join(event.xml for event in events[at:end])
        out, at = out + (f"<beam>{inside}</beam>" if end - at > 1 else inside), end
    return out


def mei_of(measures: Sequence[str], head: Mapping[str, str], clef: tuple[str, int]) -> str:
    """A score of bars; ``head`` has its first key and meter."""
    about = " ".join(f'{name}="{value}"' for name, value in head.items())
    shape, line = clef
    staff = f'<staffGrp><staffDef n="1" lines="5" clef.shape="{shape}" clef.line="{line}"/></staffGrp>'
    return (
        '<mei xmlns="http://www.music-encoding.org/ns/mei" meiversion="5.0"><meiHead><fileDesc><titleStmt><title/>'
        "</titleStmt><pubStmt/></fileDesc></meiHead><music><body><mdiv><score>"
        f"<scoreDef {about}>{staff}</scoreDef><section>{''.join(measures)}</section>"
        "</score></mdiv></body></music></mei>"
    )
