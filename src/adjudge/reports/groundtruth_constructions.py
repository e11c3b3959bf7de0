"""Constructions side by side, as sections: how consistent their lists are, and how systems rank by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjudge.arrays import Floats
from adjudge.groundtruth.comparing import ComparedConstruction, ComparedConstructions
from adjudge.groundtruth.systems import ComparedSystems
from adjudge.reports import groundtruth_figures as figures
from adjudge.reports.document import Block, Column, FigureBlock, Paragraph, Section, TableBlock
from adjudge.reports.groundtruth_names import cleaned
from adjudge.users.pairs import shown_p
from adjudge.words import counted, number

_NEAR = 0.0005  # consistencies that print alike are alike
_LEVEL = 0.05
_MOST_DRAWN = 40  # systems in a figure


def construction_sections(found: ComparedConstructions) -> list[Section]:
    """Consistency by construction and, where runs were given, the rankings of systems."""
    blocks: list[Block] = [Paragraph(" ".join(construction_sentences(found))), construction_table(found)]
    if len(found.queries) > 1:
        blocks += [_spread(found), _by_query(found)]
    sections = [Section("constructions", "Ways of making the lists", tuple(blocks))]
    if found.systems is not None:
        sections.append(_systems(found.systems))
    return sections


def construction_sentences(found: ComparedConstructions) -> list[str]:
    """What a reader should know of the constructions, most important first."""
    texts = (_best(found), _told_apart(found), _held_out(found), _sparse(found), _related(found))
    return [text for text in texts if text]


def _means(rows: Sequence[ComparedConstruction], name: str) -> Floats:
    means: Floats = np.array([row.record()[name] for row in rows], dtype=np.float64)
    return means


def _highest(found: ComparedConstructions, name: str) -> list[str]:
    """The constructions with the highest mean, several where they print alike; none where nothing is known."""
    means = _means(found.rows, name)
    if np.isnan(means).all():
        return []
    return [found.names[i] for i in np.flatnonzero(means >= np.nanmax(means) - _NEAR)]


def _best(found: ComparedConstructions) -> str:
    best = _highest(found, "adr_1")
    if not best:
        return "No list has two documents, so that nothing can be said of consistency."
    top, over = found[best[0]].record()["adr_1"], _over(found)
    if len(found.rows) == 1:
        return f"Lists by {best[0]} have an ADR-1 consistency of {top:.3f}{over}."
    if len(best) == len(found.rows):
        return f"All constructions are equally consistent: ADR-1 {top:.3f}{over}."
    base = "" if found.baseline in best else f", against {found[found.baseline].record()['adr_1']:.3f} by "
    makes = "makes" if len(best) == 1 else "make"
    return (
        f"{_and(best)} {makes} the most consistent lists: ADR-1 {top:.3f}{over}{base}{found.baseline if base else ''}."
    )


def _over(found: ComparedConstructions) -> str:
    return f" in the mean over {len(found.queries):,} queries" if len(found.queries) > 1 else ""


def _told_apart(found: ComparedConstructions) -> str:
    others = [row for row in found.rows if np.isfinite(row.p_consistency)]
    if not others:
        return ""
    better = [row.name for row in others if row.p_consistency <= _LEVEL]
    rest = [row.name for row in others if row.p_consistency > _LEVEL]
    if not better:
        return f"None is significantly more consistent than {found.baseline} at {_LEVEL:g}."
    verb = "is" if len(better) == 1 else "are"
    left = f"; {_and(rest)} {'is' if len(rest) == 1 else 'are'} not" if rest else ""
    return f"Significantly more consistent than {found.baseline} at {_LEVEL:g} {verb} {_and(better)}{left}."


def _held_out(found: ComparedConstructions) -> str:
    best, of_all = _highest(found, "held_out"), _highest(found, "adr_1")
    if not best or len(found.rows) < 2:
        return ""
    value = found[best[0]].record()["held_out"]
    same = set(best) & set(of_all)
    but = "" if same else f", not {_and(of_all)}"
    verb = "comes" if len(best) == 1 else "come"
    return f"By answers that lists were not made from, {_and(best)} {verb} first ({value:.3f}){but}."


def _sparse(found: ComparedConstructions) -> str:
    n_compared, n_pairs = found.pairs_compared
    if n_compared == n_pairs or len(found.rows) < 2:
        return ""
    return (
        f"But only {n_compared:,} of {n_pairs:,} pairs were asked about, and then consistency says little of which "
        "lists are right: with simulated people Any and Bradley-Terry find most of the true order, All the least."
    )


def _related(found: ComparedConstructions) -> str:
    known = np.array([row.correlation for row in found.rows])
    known = known[np.isfinite(known)]
    if not len(known):
        return ""
    less = int((known < 0).sum())
    span = f"r from {known.min():.2f} to {known.max():.2f}" if len(known) > 1 else f"r = {known[0]:.2f}"
    if less == len(known):
        return f"The larger the groups of a query, the less consistent its list ({span})."
    return f"Larger groups go with less consistency by {less} of {len(known)} constructions ({span})."


def construction_table(found: ComparedConstructions) -> TableBlock:
    """A row a construction: consistency, sizes, what contradicts the lists, tests against the baseline."""
    has_halves = bool(np.isfinite(_means(found.rows, "held_out")).any())
    against = f"paired one-tailed t-test over queries against {found.baseline}"
    columns = (
        Column("Construction", "left"),
        Column("ADR-1", about="mean consistency with one-tailed tests"),
        Column("p", about=f"{against}: more consistent"),
        Column("ADR-2", about="mean consistency with two-tailed tests"),
        *(
            [
                Column(
                    "Held out", about=f"ADR-1 by the half of the answers that a list was not made from, {_times(found)}"
                )
            ]
            if has_halves
            else []
        ),
        Column("Group size", about="documents a group, in the mean"),
        Column("p, smaller", about=f"{against}: smaller groups"),
        Column("r", about="Pearson's r of documents a group and ADR-1 over queries"),
        Column("Intra", about="pairs in one group that differ, of those there are"),
        Column("Inter", about="pairs in different groups that do not differ, of those there are"),
        Column("Misordered", about="pairs in the wrong order"),
    )
    rows = tuple(_cells(row, has_halves=has_halves) for row in found.rows)
    places = {"adr_1": 1, "adr_2": 3} | ({"held_out": 4} if has_halves else {})
    best = {(found.names.index(name), place) for key, place in places.items() for name in _highest(found, key)}
    caption = f"Constructions compared on {len(found.queries):,} {'query' if len(found.queries) == 1 else 'queries'}."
    emphasised = frozenset(best) if len(found.rows) > 1 else frozenset[tuple[int, int]]()
    return TableBlock("constructions-compared", caption, columns, rows, found.records(), emphasised)


def _times(found: ComparedConstructions) -> str:
    return {1: "once", 2: "twice"}.get(found.halves, f"{found.halves} times")


def _cells(row: ComparedConstruction, *, has_halves: bool) -> tuple[str, ...]:
    record = row.record()
    return (
        row.name,
        number(record["adr_1"], 3),
        _p(row.p_consistency),
        number(record["adr_2"], 3),
        *([number(record["held_out"], 3)] if has_halves else []),
        number(record["documents_a_group"], 2),
        _p(row.p_group_size),
        number(row.correlation, 2),
        f"{row.intra:,}/{row.n_within:,}",
        f"{row.inter:,}/{row.n_between:,}",
        f"{row.misordered:,}",
    )


def _p(value: float) -> str:
    return "–" if np.isnan(value) else shown_p(value)


def _spread(found: ComparedConstructions) -> FigureBlock:
    data = figures.ByConstruction(
        found.names,
        tuple(row.adr_1 for row in found.rows),
        tuple(row.group_size for row in found.rows),
        tuple(float(value) for value in _means(found.rows, "held_out")),
    )
    low, high = np.nanmin(_means(found.rows, "adr_1")), np.nanmax(_means(found.rows, "adr_1"))
    caption = "Every tick is a query; the line holds the middle half, the dot is the median, the diamond the mean."
    alt = (
        f"Consistency and group sizes of {len(found.rows)} constructions over {len(found.queries)} queries; mean "
        f"consistencies lie between {low:.3f} and {high:.3f}."
    )
    return FigureBlock("constructions-spread", caption, alt, data, figures.by_construction)


def _by_query(found: ComparedConstructions) -> TableBlock:
    columns = (Column("Query", "left"), *(Column(name) for name in found.names))
    values = np.stack([row.adr_1 for row in found.rows], axis=1)
    rows = tuple(
        (cleaned(query), *(number(float(v), 3) for v in line))
        for query, line in zip(found.queries, values, strict=True)
    )
    records: list[dict[str, Any]] = [
        {"query": query, **dict(zip(found.names, line, strict=True))}
        for query, line in zip(found.queries, values.tolist(), strict=True)
    ]
    return TableBlock("consistency-by-query", "ADR-1 consistency of each list.", columns, rows, records)


def _systems(found: ComparedSystems) -> Section:
    blocks: list[Block] = [Paragraph(" ".join(system_sentences(found))), _means_table(found)]
    if len(found.systems) > 1:
        blocks.append(_changes(found))
        if len(found.constructions) > 1:
            blocks.append(_places_figure(found))
    return Section("systems-by-construction", "How systems rank by each construction", tuple(blocks))


def system_sentences(found: ComparedSystems) -> list[str]:
    """Whether it matters for systems how lists were made."""
    base, means = found.constructions[found.baseline], found.means
    winners = dict.fromkeys(found.systems[int(i)] for i in means.argmax(axis=1))
    about = f"{len(found.systems):,} systems by {found.measure} on {len(found.queries):,} queries"
    if len(found.systems) < 2:
        return [f"{found.systems[0]} by {found.measure}: with one system there is no ranking."]
    best = (
        f"{next(iter(winners))} is the best of {about}, whatever construction makes the lists."
        if len(winners) == 1
        else f"Which of {about} is the best hangs on the construction: {_and(list(winners))}."
    )
    others = np.delete(np.arange(len(found.constructions)), found.baseline)
    if np.isnan(found.tau[others]).all():
        return [best]
    least = int(others[np.nanargmin(found.tau[others])])
    if not found.swapped.any():
        return [best, f"No pair of systems changes its order against {base}."]
    return [
        best,
        f"Against {base} the ranking changes most with {found.constructions[least]}: τ = {_tau(found, least)}, "
        f"{counted(int(found.moved[least]), 'system')} of {len(found.systems)} in another place, "
        f"{counted(int(found.swapped[least]), 'pair')} of {_pairs(found)} in the opposite order.",
    ]


def _pairs(found: ComparedSystems) -> int:
    return len(found.systems) * (len(found.systems) - 1) // 2


def _tau(found: ComparedSystems, i: int) -> str:
    ends = "" if np.isnan(found.tau_low[i]) else f" [{found.tau_low[i]:.2f}, {found.tau_high[i]:.2f}]"
    return f"{number(float(found.tau[i]), 2)}{ends}"


def _order(found: ComparedSystems) -> list[int]:
    """Systems from the best to the worst by the baseline."""
    return [int(i) for i in np.argsort(-found.means[found.baseline], kind="stable")]


def _means_table(found: ComparedSystems) -> TableBlock:
    order, means = _order(found), found.means
    columns = (Column("System", "left"), *(Column(name) for name in found.constructions))
    rows = tuple((found.systems[s], *(f"{value:.3f}" for value in means[:, s])) for s in order)
    records: list[dict[str, Any]] = [
        {"system": found.systems[s], **dict(zip(found.constructions, means[:, s].tolist(), strict=True))} for s in order
    ]
    top = means.max(axis=1)
    best = frozenset((r, 1 + c) for r, s in enumerate(order) for c in range(len(top)) if means[c, s] >= top[c] - 1e-12)
    base = found.constructions[found.baseline]
    caption = f"Mean {found.measure} of each system by the lists of each construction, best first by {base}."
    return TableBlock("systems-means", caption, columns, rows, records, best)


def _changes(found: ComparedSystems) -> TableBlock:
    base = found.constructions[found.baseline]
    columns = (
        Column("Construction", "left"),
        Column("τ", about=f"Kendall's tau-b with the ranking by {base}; 95 % intervals from resampled queries"),
        Column("Moved", about=f"systems of {len(found.systems)} that have another place than by {base}"),
        Column("Swapped", about=f"pairs of {_pairs(found)} that have the opposite order"),
    )
    rows = tuple(
        (name, "1" if i == found.baseline else _tau(found, i), str(found.moved[i]), str(found.swapped[i]))
        for i, name in enumerate(found.constructions)
    )
    records = [
        {"construction": name, **record} for name, record in zip(found.constructions, found.records(), strict=True)
    ]
    return TableBlock("systems-tau", f"How the ranking of systems differs from that by {base}.", columns, rows, records)


def _places_figure(found: ComparedSystems) -> FigureBlock:
    order = _order(found)[:_MOST_DRAWN]
    means = found.means[:, order]
    all_means = found.means
    places = (all_means[:, None, :] > means[:, :, None] + 1e-12).sum(axis=2) + 1
    data = figures.Places(
        tuple(found.systems[s] for s in order),
        found.constructions,
        places,
        found.tau,
        len(found.systems),
        found.baseline,
    )
    some = f" The {_MOST_DRAWN} best of {len(found.systems)}." if len(found.systems) > _MOST_DRAWN else ""
    caption = f"Place of each system by the lists of each construction; those that never move are grey.{some}"
    moving = int((places != places[:1]).any(axis=0).sum())
    alt = f"Places of {len(order)} systems by {len(found.constructions)} constructions; {moving} of them change places."
    return FigureBlock("systems-places", caption, alt, data, figures.places)


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
