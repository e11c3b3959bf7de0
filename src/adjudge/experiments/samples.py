"""What experiments draw queries from: effectiveness of systems by one or several measures, and strata of queries."""

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
_LARGEST = 1e70  # in magnitude: sums of many fourth powers do not overflow
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
        return np.unique(np.array(self.strata, dtype=str), return_inverse=True)[1].astype(np.int64)

    @property
    def n_pairs(self) -> int:
        """Pairs of systems."""
        return len(self.systems) * (len(self.systems) - 1) // 2

    def __repr__(self) -> str:
        return f"<Sample: {self.name}, {len(self.queries)} queries x {len(self.systems)} systems>"


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples of one experiment; those with the same queries are always drawn together.

    ``notes`` say, for example, which queries were left out; numbers do not depend on them.
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

    @cached_property
    def codes(self) -> tuple[Ints, ...]:
        """The systems of each sample as places among all."""
        place = {name: i for i, name in enumerate(self.systems)}
        return tuple(np.array([place[name] for name in sample.systems]) for sample in self.members)

    @property
    def fewest_queries(self) -> int:
        """Queries of the smallest sample."""
        return min(len(sample.queries) for sample in self.members)

    @cached_property
    def largest(self) -> float:
        """The largest magnitude of effectiveness."""
        return max(float(np.abs(sample.values).max()) for sample in self.members)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that results depend on."""
        content = hashlib.sha256()
        for sample in self.members:
            for words in ((sample.name,), sample.queries, sample.systems, sample.strata):
                content.update("\x1f".join(words).encode() + b"\x1e")
            content.update(np.ascontiguousarray(sample.values, dtype="<f8").tobytes())
        return content.hexdigest()

    def to_polars(self) -> pl.DataFrame:
        """One row per value: ``collection, measure, scale, stratum, query_id, run, value``."""
        import polars as pl

        parts = []
        for sample in self.members:
            n_queries = len(sample.queries)
            texts = {name: [getattr(sample, name)] * sample.values.size for name in _KEYS} | {
                "stratum": [name for name in sample.strata or ("",) * n_queries for _ in sample.systems],
                "query_id": [name for name in sample.queries for _ in sample.systems],
                "run": list(sample.systems) * n_queries,
            }
            frame = pl.DataFrame(texts, schema=dict.fromkeys(texts, pl.String))
            parts.append(frame.with_columns(value=np.ascontiguousarray(sample.values).reshape(-1)))
        return pl.concat(parts, rechunk=True)

    @classmethod
    def from_polars(
        cls, frame: pl.DataFrame, provenance: Provenance | None = None, notes: Sequence[str] = ()
    ) -> Samples:
        """The samples that :meth:`to_polars` wrote, value by value."""
        members = []
        for part in frame.partition_by(_KEYS, maintain_order=True):
            systems = tuple(part["run"].unique(maintain_order=True))
            first = part[:: len(systems)]
            values = part["value"].to_numpy().reshape(first.height, len(systems)).copy()
            strata = tuple(first["stratum"]) if any(first["stratum"]) else ()
            names = {name: part[name][0] for name in _KEYS}
            members.append(Sample(values, tuple(first["query_id"]), systems, **names, strata=strata))
        return cls(tuple(members), provenance or Provenance(), tuple(notes))


def samples_of(
    values: Effectiveness | Samples | Mapping[str, Effectiveness] | Sequence[Effectiveness],
    *,
    strata: Mapping[str, str] | None = None,
    scale: str = "",
) -> Samples:
    """Make a sample of every measure of some effectiveness; a mapping names the collections.

    ``strata`` maps queries to a name, such as their genre. Queries without a value of some system are left out, with a
    warning and a note.

    >>> from adjudge.model.effectiveness import Effectiveness
    >>> eff = Effectiveness.from_matrix([[0.1, 0.2], [0.3, 0.5], [0.4, 0.4], [0.1, 0.3]], measure="AP")
    >>> samples_of(eff).members
    (<Sample: AP, 4 queries x 2 systems>,)
    """
    if isinstance(values, Samples):
        return replace(values, members=tuple(_stratified(sample, strata) for sample in values)) if strata else values
    several = _by_collection(values)
    members, notes = [], [note for _, eff in several for note in eff.notes]
    for collection, eff in several:
        for m, measure in enumerate(eff.measures):
            complete: Mask = np.isnan(eff.values[:, :, m]).sum(axis=1) == 0
            if n_gaps := np.count_nonzero(~complete):
                missing = f"{n_gaps} of {len(eff.queries)} queries lack a value of some system and are left out."
                notes.append(f"{measure}: {missing}")
                warn(notes[-1])
            queries = tuple(query for query, kept in zip(eff.queries, complete.tolist(), strict=True) if kept)
            matrix = np.ascontiguousarray(eff.values[complete, :, m])
            members.append(_stratified(Sample(matrix, queries, eff.systems, measure, scale, collection), strata))
            _check_size(members[-1])
    inputs = dict(pair for _, eff in several for pair in eff.provenance.inputs)
    settings = dict(several[0][1].provenance.settings)
    return Samples(tuple(members), Provenance(tuple(inputs.items()), settings), tuple(dict.fromkeys(notes)))


def _by_collection(
    values: Effectiveness | Mapping[str, Effectiveness] | Sequence[Effectiveness],
) -> list[tuple[str, Effectiveness]]:
    several = list(values) if isinstance(values, list | tuple) else [values]
    named: list[Any] = list(values.items()) if isinstance(values, Mapping) else [("", eff) for eff in several]
    if not named or not all(isinstance(eff, Effectiveness) for _, eff in named):
        raise AdjudgeError(
            "expected effectiveness, as aj.evaluate makes and aj.formats.read_effectiveness reads it, or several in a "
            f"list or by collection, got {shown(values)}"
        )
    return named


def _check_size(sample: Sample) -> None:
    needed = f"{sample.measure}: an experiment needs at least"
    if len(sample.queries) < _FEWEST_QUERIES:
        raise AdjudgeError(f"{needed} {_FEWEST_QUERIES} queries that all systems have, got {len(sample.queries)}")
    if len(sample.systems) < 2:
        raise AdjudgeError(f"{needed} 2 systems, got {len(sample.systems)}")
    largest = float(np.abs(sample.values).max())
    if largest > _LARGEST:
        raise AdjudgeError(
            f"{sample.measure}: expected effectiveness of at most {_LARGEST:g}, whose squares can be added up, "
            f"got {largest:g}"
        )


def _stratified(sample: Sample, strata: Mapping[str, str] | None) -> Sample:
    if strata is None:
        return sample
    _refuse_missing([query for query in sample.queries if query not in strata], "a stratum for every query")
    return replace(sample, strata=tuple(strata[query] for query in sample.queries))


def _refuse_missing(queries: Sequence[str], wanted: str) -> None:
    if queries:
        raise AdjudgeError(f"expected {wanted}, got none for {listed([shown(query) for query in queries], most=1)}")


def strata_of(known: Collection | Metadata, column: str, queries: Sequence[str] | None = None) -> dict[str, str]:
    """Map every query that is a document, as in music similarity, to its value of a column, such as the genre.

    Without ``queries``, those judged in the collection, or every document of the metadata. A query without a value is
    refused, because strata of only some queries would not balance anything.

    >>> from adjudge.embedded import demo
    >>> genres = strata_of(demo(queries=10), "genre")
    >>> len(genres), len(set(genres.values()))
    (10, 10)
    """
    metadata = known.metadata if isinstance(known, Collection) else known
    if metadata is None:
        raise AdjudgeError(f"strata by {shown(column)} need metadata of the documents that queries are, got none")
    codes, names = metadata.values(column)
    if queries is None and isinstance(known, Collection):
        judgments = known.need_judgments()
        queries = tuple(judgments.queries)[: judgments.n_queries]
    wanted = tuple(metadata.documents) if queries is None else queries
    places = metadata.documents.find(list(wanted)).tolist()
    stratum = {query: -1 if place < 0 else int(codes[place]) for query, place in zip(wanted, places, strict=True)}
    missing = [query for query, code in stratum.items() if code < 0]
    _refuse_missing(missing, f"{shown(column)} in the metadata for every query")
    return {query: names[code] for query, code in stratum.items()}
