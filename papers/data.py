"""The folder of public data that the papers' numbers are computed from; each part is read when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.errors import AdjudgeError, kept_warnings
from adjudge.model.effectiveness import AssessedEffectiveness

if TYPE_CHECKING:
    from adjudge.formats.schema import Records
    from adjudge.groundtruth.answers import Preferences
    from adjudge.model.collection import Collection
    from adjudge.model.effectiveness import Effectiveness
    from adjudge.preferences.study import Study as Answers


@dataclass(frozen=True)
class Part:
    """A part of the data: its files below the folder, what it is, whose, and how much there is of what in it."""

    files: tuple[str, ...]
    about: str
    origin: str
    sizes: dict[str, int]


PARTS = {
    "mirex2011": Part(
        ("mirex2011/runs.tsv", "mirex2011/judgments.tsv", "mirex2011/metadata.tsv"),
        "MIREX 2011 Audio Music Similarity: 18 systems, 100 queries, top 5, Fine judgments, artists and genres",
        "J. Urbano's repository Allcea (LGPL-3)",
        {"systems": 18, "queries": 100, "judgments": 6322, "documents": 7000},
    ),
    "user-study-2012": Part(
        ("user-study-2012/answers.csv", "user-study-2012/workers.csv"),
        "2,200 answers of listeners who compared two lists",
        "J. Urbano's repository ismir2012-significance (CC BY-SA 4.0)",
        {"answers": 2200, "records of people": 1411},
    ),
    "preferences-2010": Part(
        ("preferences-2010/judgments.csv",),
        "2,810 preferences between melodic incipits for 11 queries",
        "J. Urbano's repository sigir2010-crowdsourcing (CC BY-SA 4.0)",
        {"queries": 11, "preferences": 2810},
    ),
    "trec": Part(
        ("trec/adhoc8_ap.csv",),
        "average precision of the 129 runs of the TREC-8 ad hoc track",
        "J. Urbano's repository sigir2019-statistical (CC BY-SA 4.0)",
        {"topics": 50, "runs": 129},
    ),
}


class Data:
    """What is there of the public data below a folder."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise AdjudgeError(f"{folder}: expected the folder with the public data, got no such directory")
        self.folder = folder

    def missing(self, parts: Sequence[str]) -> list[str]:
        """Files of these parts that are not there."""
        return [file for part in parts for file in PARTS[part].files if not (self.folder / file).is_file()]

    def check(self, parts: Iterable[str]) -> None:
        """Read these parts, so that what cannot be read, or is not the papers' data, is refused before any work."""
        for part in parts:
            wanted, found = PARTS[part].sizes, self.sizes(part)
            if found != wanted:
                expected, came = (", ".join(f"{what}: {n:,}" for what, n in sizes.items()) for sizes in (wanted, found))
                raise AdjudgeError(f"{self.folder / part}: expected the public data ({expected}), got others ({came})")

    def sizes(self, part: str) -> dict[str, int]:
        """How much there is of what in a part, to tell the public data from others."""
        if part == "mirex2011":
            collection, judgments = self.mirex2011, self.mirex2011.need_judgments()
            counts = [len(collection.systems), judgments.n_queries, len(judgments), len(collection.metadata or ())]
        elif part == "user-study-2012":
            counts = [len(self.answers), self.people.table.height]
        elif part == "preferences-2010":
            counts = [len(self.preferences.queries), self.preferences.n_answers + self.preferences.n_blank]
        else:
            counts = list(self.adhoc8.matrix().shape)
        return dict(zip(PARTS[part].sizes, counts, strict=True))

    def digests(self, parts: Sequence[str]) -> list[tuple[str, str]]:
        """Files of these parts with their SHA-256, for provenance."""
        from adjudge.formats import Source

        return [(file, Source.open(self.folder / file).sha256) for part in parts for file in PARTS[part].files]

    @cached_property
    def mirex2011(self) -> Collection:
        """The collection of MIREX 2011, on the Fine scale."""
        from adjudge.formats.reading import read

        runs, judgments, metadata = (self.folder / file for file in PARTS["mirex2011"].files)
        return read(runs, judgments, metadata, scale="fine")

    def effectiveness(self, measures: Sequence[str], scale: str = "fine") -> Effectiveness:
        """Effectiveness of the systems of MIREX 2011, on Fine or a scale cut from it."""
        from adjudge.measures.evaluation import evaluate

        collection = self.mirex2011 if scale == "fine" else self.mirex2011.rescaled(scale)
        with kept_warnings():
            return evaluate(collection, list(measures))

    @cached_property
    def answers(self) -> Answers:
        """The answers of the user study of 2012."""
        from adjudge.preferences.files import read_answers

        return read_answers(self.folder / "user-study-2012/answers.csv")

    @cached_property
    def people(self) -> Records:
        """Records of the people who answered in 2012: a row for each of them in each batch."""
        from adjudge.formats.schema import Field, Schema

        names = (Field(name, needed=True, holds=None) for name in ("worker_id", "channel", "batch"))
        count = Field("judgments_count", "number", needed=True, holds=None)
        return Schema((*names, count)).read(self.folder / "user-study-2012/workers.csv")

    @cached_property
    def preferences(self) -> Preferences:
        """The preferences between melodies of 2010."""
        from adjudge.groundtruth.files import read_preferences

        with kept_warnings():
            return read_preferences(self.folder / "preferences-2010/judgments.csv")

    @cached_property
    def adhoc8(self) -> Effectiveness:
        """Average precision of the runs of TREC-8."""
        from adjudge.formats.effectiveness import read_effectiveness

        path = self.folder / "trec/adhoc8_ap.csv"
        with kept_warnings():
            eff = read_effectiveness(path)
        if isinstance(eff, AssessedEffectiveness):
            raise AdjudgeError(f"{path}: expected one row a query and one column a run, got a column of assessors")
        return eff
