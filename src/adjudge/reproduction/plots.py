"""Figures of the papers as numbers, before they have a look; the reports draw them."""

from __future__ import annotations

from dataclasses import dataclass

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Series:
    """One curve, perhaps with a band from ``low`` to ``high``; points that are not ``joined`` have no line."""

    label: str
    x: Numbers
    y: Numbers
    low: Numbers = ()
    high: Numbers = ()
    joined: bool = True


@dataclass(frozen=True)
class Panel:
    """Curves on the same axes; ``levels`` are horizontal lines to compare with, ``diagonal`` is the line y = x."""

    title: str
    series: tuple[Series, ...]
    levels: Numbers = ()
    diagonal: bool = False


@dataclass(frozen=True)
class Plot:
    """A figure of a paper, made anew: a name for its file, which figure it is, and words for who cannot see it."""

    name: str
    source: str
    caption: str
    alt: str
    x_label: str
    y_label: str
    panels: tuple[Panel, ...]
    columns: int = 2
    log_x: bool = False
    log_y: bool = False
