"""Statistics of systems in sentences: who has hubs, what becomes of them, who finds the genre."""

from __future__ import annotations

from adjudge.audio.systems.statistics import FILTERED, GIVEN, ListStatistics, Statistics

AFTER_PROXIMITY = {"timbre": "timbre-mp"}
"""Systems, and the same after mutual proximity."""


def sentences(statistics: Statistics) -> list[str]:
    """What people want to know first, a sentence or two each, about the shortest lists."""
    k = statistics.cutoffs[0]
    shown = [one for one in statistics.found if one.lists == statistics.ways[0]]
    return [_about(statistics), *_hubs(statistics, shown, k), *_never(shown, k), *_genres(shown, k), *_triangle(shown)]


def _about(statistics: Statistics) -> str:
    n, asked = len(statistics.documents), statistics.n_queries
    lists = "All are queries" if asked == n else f"{asked:,} {'is a query' if asked == 1 else 'are queries'}"
    if any(one.lists == GIVEN for one in statistics.found):
        lists = f"There {'is' if asked == 1 else 'are'} {asked:,} quer{'y' if asked == 1 else 'ies'}"
    some = [f"the {name} of {count:,}" for name, count in statistics.known.items() if 0 < count < n]
    none = [name for name, count in statistics.known.items() if count == 0]
    known = f" Known are only {_listed(some)}." if some else ""
    return f"{n:,} documents. {lists}.{known}" + (f" No {_listed(none, 'or')} is known." if none else "")


def _hubs(statistics: Statistics, shown: list[ListStatistics], k: int) -> list[str]:
    found = []
    for one in shown:
        counted = one.at(k)
        if counted.n_hubs == 0:
            continue
        name, share = statistics.documents[counted.hub], counted.largest / max(1, counted.n_lists)
        others = f" (and {counted.n_hubs - 1:,} more)" if counted.n_hubs > 1 else ""
        text = f"{one.system} has a hub{others}: {name} is in {counted.largest:,} of {counted.n_lists:,} top-{k} lists"
        after = statistics.of(AFTER_PROXIMITY.get(one.system, ""), one.lists)
        if after is not None:
            now = int(after.at(k).counts[counted.hub])
            text += f"; mutual proximity {'brings it down to' if now < counted.largest else 'leaves it in'} {now:,}"
            found.append(f"{text}.")
        else:
            found.append(f"{text} ({share:.0%}).")
    without = [one for one in shown if one.at(k).n_hubs == 0]
    if without:
        most = max(one.at(k).largest for one in without)
        names = _listed([one.system for one in without])
        has, whose = ("has", "its") if len(without) == 1 else ("have", "their")
        found.append(f"{names} {has} no hub: no document is in more than {most:,} of {whose} lists.")
    return found


def _never(shown: list[ListStatistics], k: int) -> list[str]:
    parts = [f"{one.system} {one.at(k).never:.0%}" for one in sorted(shown, key=lambda one: one.at(k).never)]
    return [f"Documents in no top-{k} list: {_listed(parts)}."]


def _genres(shown: list[ListStatistics], k: int) -> list[str]:
    found = [(shared.share, one.system) for one in shown if (shared := one.sharing("genre", k)) is not None]
    if not found:
        return []
    parts = [f"{system} {share:.0%}" for share, system in sorted(found, reverse=True)]
    way = ", without the query's artist" if shown[0].lists == FILTERED else ""
    return [f"Of the query's genre among the first {k}{way}: {_listed(parts)}."]


def _triangle(shown: list[ListStatistics]) -> list[str]:
    parts = [
        f"{one.system} {one.triangle:.1%}"
        for one in shown
        if one.triangle is not None and one.triangle < 0.9995
    ]  # fmt: skip
    return [f"Triples for which the triangle inequality holds: {_listed(parts)}."] if parts else []


def _listed(parts: list[str], last: str = "and") -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}"
