"""What experiments draw queries from: effectiveness of systems, by one measure or by several.

Strata of queries that are documents themselves, as in music similarity: what the metadata say of the query.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.arrays import Floats, Ints, Mask
from adjudge.errors import AdjudgeError, shown, warn
from adjudge.model.collection import Collection, Metadata
from adjudge.model.effectiveness import Effectiveness
from adjudge.model.provenance import Provenance
from adjudge.text import listed

if TYPE_CHECKING:
    import polars as pl


_FEWEST_QUERIES = 4  # two for each of two halves
_LARGEST = 1e70  # up to a sign: fourth powers, and sums of many, are numbers still
_KEYS = ("collection", "measure", "scale")


@dataclass(frozen=True, eq=False)
class Sample:
    """Effectiveness by one measure, ``values[q, s]`` of ``queries[q]`` and ``systems[s]``, without gaps.

    ``strata`` has a name for every query, such as its genre, or is empty.
    """

    values: Floats
    queries: tuple[str, ...]
    systems: tuple[str, ...]
    measure: str
    scale: str = ""
    collection: str = ""
    strata: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Measure, scale and collection, as far as they are known: ``AP on binary40 (2011)``."""
        scale = f" on {self.scale}" if self.scale else ""
        return f"{self.measure}{scale}" + (f" ({self.collection})" if self.collection else "")

    @cached_property
    def stratum(self) -> Ints:
        """The stratum of each query as a number from 0; all 0 where there are none."""
        if not self.strata:
            return np.zeros(len(self.queries), dtype=np.int64)
        codes: Ints = np.unique(np.array(self.strata, dtype=object).astype(str), return_inverse=True)[1].astype(
            np.int64
        )
        return codes

    @property
    def n_pairs(self) -> int:
        """Pairs of systems."""
        return len(self.systems) * (len(self.systems) - 1) // 2

    def __repr__(self) -> str:
        return f"<Sample: {self.name}, {len(self.queries)} queries x {len(self.systems)} systems>"


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of one experiment; those with the same queries are always drawn together.

    ``notes`` say what is worth knowing about them, such as queries that were left out; numbers do not depend on them.
    """

    members: tuple[Sample, ...]
    provenance: Provenance = field(default_factory=Provenance)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.members:
            raise AdjudgeError("an experiment needs effectiveness by at least one measure, got none")
        names = self.names
        if len(set(names)) < len(names):
            raise AdjudgeError(
                f"expected each measure, scale and collection once, got {max(names, key=names.count)!r} twice"
            )

    def __iter__(self) -> Iterator[Sample]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, place: int) -> Sample:
        return self.members[place]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the samples."""
        return tuple(sample.name for sample in self.members)

    @property
    def systems(self) -> tuple[str, ...]:
        """Systems of any sample, each once."""
        return tuple(dict.fromkeys(name for sample in self.members for name in sample.systems))

    @property
    def fewest_queries(self) -> int:
        """Queries of the smallest sample."""
        return min(len(sample.queries) for sample in self.members)

    @cached_property
    def largest(self) -> float:
        """The effectiveness that is furthest from 0."""
        return max(float(np.abs(sample.values).max()) for sample in self.members)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that results can depend on."""
        content = hashlib.sha256()
        for sample in self.members:
            for words in ((sample.name,), sample.queries, sample.systems, sample.strata):
                content.update("\x1f".join(words).encode() + b"\x1e")
            content.update(np.ascontiguousarray(sample.values, dtype="<f8").tobytes())
        return content.hexdigest()

    def to_polars(self) -> pl.DataFrame:
        """A row for every value: ``collection, measure, scale, stratum, query_id, run, value``."""
        import polars as pl

        return pl.concat([_long(sample) for sample in self.members], rechunk=True)

    @classmethod
    def from_polars(
        cls, frame: pl.DataFrame, provenance: Provenance | None = None, notes: Sequence[str] = ()
    ) -> Samples:
        """The samples that :meth:`to_polars` wrote, value by value."""
        parts = frame.partition_by(_KEYS, maintain_order=True)
        return cls(tuple(_sample(part) for part in parts), provenance or Provenance(), tuple(notes))


def _long(sample: Sample) -> pl.DataFrame:
    import polars as pl

    n_queries = len(sample.queries)
    columns: dict[str, Any] = {name: [getattr(sample, name)] * sample.values.size for name in _KEYS}
    strata = sample.strata or ("",) * n_queries
    columns["stratum"] = [name for name in strata for _ in sample.systems]
    columns["query_id"] = [name for name in sample.queries for _ in sample.systems]
    columns["run"] = list(sample.systems) * n_queries
    columns["value"] = np.ascontiguousarray(sample.values).reshape(-1)
    return pl.DataFrame(columns, schema_overrides={name: pl.String for name in columns if name != "value"})


def _sample(part: pl.DataFrame) -> Sample:
    systems = tuple(part["run"].unique(maintain_order=True))
    first = part[:: len(systems)]
    values = part["value"].to_numpy().reshape(first.height, len(systems)).copy()
    strata = tuple(first["stratum"]) if any(first["stratum"]) else ()
    measure, scale, collection = (part[name][0] for name in ("measure", "scale", "collection"))
    return Sample(values, tuple(first["query_id"]), systems, measure, scale, collection, strata)


def samples_of(
    values: Effectiveness | Samples | Mapping[str, Effectiveness] | Sequence[Effectiveness],
    *,
    strata: Mapping[str, str] | None = None,
    scale: str = "",
) -> Samples:
    """Every measure of some effectiveness as a sample; a mapping names the collections.

    ``strata`` maps queries to a name, such as their genre. Queries that any system lacks are left out, and said so.

    >>> from adjudge.model.effectiveness import Effectiveness
    >>> eff = Effectiveness.from_matrix([[0.1, 0.2], [0.3, 0.5], [0.4, 0.4], [0.1, 0.3]], measure="AP")
    >>> samples_of(eff).members
    (<Sample: AP, 4 queries x 2 systems>,)
    """
    if isinstance(values, Samples):
        return replace(values, members=tuple(_stratified(one, strata) for one in values)) if strata else values
    several = _named(values)
    notes = dict.fromkeys(note for _, eff in several for note in eff.notes)
    members = []
    for collection, eff in several:
        for m in range(len(eff.measures)):
            notes |= dict.fromkeys(_gaps(eff, m))
            members.append(_stratified(_complete(eff, m, scale, collection), strata))
    inputs = dict(pair for _, eff in several for pair in eff.provenance.inputs)
    settings = dict(several[0][1].provenance.settings) if several else {}
    return Samples(tuple(members), Provenance(tuple(inputs.items()), settings), tuple(notes))


def _named(
    values: Effectiveness | Mapping[str, Effectiveness] | Sequence[Effectiveness],
) -> list[tuple[str, Effectiveness]]:
    if isinstance(values, Effectiveness):
        return [("", values)]
    several = list(values) if isinstance(values, list | tuple) else []
    named = list(values.items()) if isinstance(values, Mapping) else [("", one) for one in several]
    if not named or not all(isinstance(one, Effectiveness) for _, one in named):
        raise AdjudgeError(
            "expected effectiveness, as aj.evaluate makes and aj.formats.read_effectiveness reads it, or several in a "
            f"list or by collection, got {shown(values)}"
        )
    return named


def _whole(eff: Effectiveness, m: int) -> Mask:
    """Queries for which every system has a value."""
    whole: Mask = np.isnan(eff.values[:, :, m]).sum(axis=1) == 0
    return whole


def _gaps(eff: Effectiveness, m: int) -> list[str]:
    """What is left out, if anything is."""
    n_gaps = int(np.count_nonzero(~_whole(eff, m)))
    left_out = f"{n_gaps} of {len(eff.queries)} queries lack a value of some system and are left out."
    return [f"{eff.measures[m]}: {left_out}"] if n_gaps else []


def _complete(eff: Effectiveness, m: int, scale: str, collection: str) -> Sample:
    values, measure, whole = eff.values[:, :, m], eff.measures[m], _whole(eff, m)
    for note in _gaps(eff, m):
        warn(note)
    queries = tuple(name for name, kept in zip(eff.queries, whole.tolist(), strict=True) if kept)
    needed = f"{measure}: an experiment needs at least"
    if len(queries) < _FEWEST_QUERIES:
        raise AdjudgeError(f"{needed} {_FEWEST_QUERIES} queries that all systems have, got {len(queries)}")
    if len(eff.systems) < 2:
        raise AdjudgeError(f"{needed} 2 systems, got {len(eff.systems)}")
    largest = float(np.abs(values[whole]).max())
    if largest > _LARGEST:
        raise AdjudgeError(
            f"{measure}: expected effectiveness of at most {_LARGEST:g}, whose squares can be added up, got {largest:g}"
        )
    return Sample(np.ascontiguousarray(values[whole]), queries, eff.systems, measure, scale, collection)


def _stratified(sample: Sample, strata: Mapping[str, str] | None) -> Sample:
    if strata is None:
        return sample
    unknown = [query for query in sample.queries if query not in strata]
    if unknown:
        which = listed([shown(query) for query in unknown], most=1)
        raise AdjudgeError(f"expected a stratum for every query, got none for {which}")
    return replace(sample, strata=tuple(strata[query] for query in sample.queries))


def strata_of(known: Collection | Metadata, column: str, queries: Sequence[str] | None = None) -> dict[str, str]:
    """The value of a column, such as the genre, for every query that is a document: query to stratum.

    Without ``queries`` they are the judged ones of the collection, or every document of the metadata. A query without
    a value is refused, since strata of some queries only would not balance anything.

    >>> from adjudge.embedded import demo
    >>> genres = strata_of(demo(queries=10), "genre")
    >>> len(genres), len(set(genres.values()))
    (10, 10)
    """
    metadata = known.metadata if isinstance(known, Collection) else known
    if metadata is None:
        raise AdjudgeError(f"strata by {shown(column)} need metadata of the documents that queries are, got none")
    codes, names = metadata.values(column)
    if queries is None:
        judgments = known.need_judgments() if isinstance(known, Collection) else None
        queries = tuple(metadata.documents if judgments is None else judgments.queries)
        queries = queries if judgments is None else queries[: judgments.n_queries]
    places = metadata.documents.find(list(queries))
    stratum = [-1 if place < 0 else int(codes[place]) for place in places.tolist()]
    missing = [query for query, code in zip(queries, stratum, strict=True) if code < 0]
    if missing:
        which = listed([shown(query) for query in missing], most=1)
        raise AdjudgeError(f"expected {shown(column)} in the metadata for every query, got none for {which}")
    return {query: names[code] for query, code in zip(queries, stratum, strict=True)}
