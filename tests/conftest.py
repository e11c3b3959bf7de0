"""What several test files share: the real data beside the repository, and small random collections."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from threadpoolctl import threadpool_limits

import adjudge as aj
from adjudge.errors import AdjudgeError
from adjudge.extras import EXTRAS, has
from adjudge.parallel import count_workers

if find_spec("hypothesis"):
    from hypothesis import HealthCheck, settings

    # How long an example takes says how busy the machine is; what CI draws must be the same when it is run again.
    settings.register_profile(
        "unhurried",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        derandomize=bool(os.environ.get("CI")),
    )
    settings.load_profile("unhurried")

# ranx and librosa compile for a minute what takes them milliseconds uncompiled on data as small as that of tests.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

# Several processes of tests share the cores: with threads, linear algebra on small matrices takes twice the work. What
# is loaded already is told, what is loaded later (SciPy's, and that of processes started by tests) reads it.
if os.environ.setdefault("OPENBLAS_NUM_THREADS", "1") == "1":
    threadpool_limits(limits=1)

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

ON_CI = os.environ.get("CI") == "true"

Runs = dict[str, dict[str, dict[str, float]]]
Qrels = dict[str, dict[str, float]]


def missing(reason: str) -> None:
    """Skip for want of a program; on CI everything has to be there."""
    if ON_CI:
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """One process more than there are cores: browsers that play sound and servers that start leave them idle."""
    if os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS"):
        return None
    return count_workers(None) + 1


class InstalledOnly:
    """Skips what needs a package that is not installed, so that the rest runs where only the core is."""

    lacking = frozenset(extra for extra in EXTRAS if not has(extra))

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        return True if "web" in self.lacking and collection_path.name == "web" else None

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        call = getattr(report, "call", None)
        if report.failed and call is not None and (package := self._missing(call.excinfo.value)):
            del report.call
            for name, module in list(sys.modules.items()):  # others that import it get the same error
                if getattr(module, "__file__", None) == str(collector.path):
                    del sys.modules[name]
            report.outcome, report.longrepr = "skipped", (report.nodeid, 0, f"Skipped: {package} is not installed")
        return report

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.failed and call.excinfo is not None and (package := self._missing(call.excinfo.value)):
            report.outcome, report.longrepr = "skipped", (item.nodeid, 0, f"Skipped: {package} is not installed")
        return report

    def _missing(self, error: BaseException | None) -> str | None:
        """The package that an error says is missing; not one whose absence a test only plays."""
        if isinstance(error, ModuleNotFoundError) and error.name is not None:
            name = error.name.partition(".")[0]
            return name if name not in sys.modules and find_spec(name) is None else None
        if isinstance(error, AdjudgeError):
            found = re.search(r"not installed: pip install '(adjudge\[(\w+)\])'$", str(error))
            return found[1] if found is not None and found[2] in self.lacking else None
        return self._missing(error.__cause__) if error is not None else None


def pytest_configure(config: pytest.Config) -> None:
    """On CI everything has to be there."""
    if os.environ.get("CI") != "true":
        config.pluginmanager.register(InstalledOnly())


@contextmanager
def one_usable_processor() -> Iterator[None]:
    """A machine of one processor, where jobs run in this process: starting others would take longer than the jobs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
        yield


@pytest.fixture
def one_processor() -> Iterator[None]:
    """See above, while a test lasts."""
    with one_usable_processor():
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_parser() -> Iterator[None]:
    """The command line is built once per process of tests: a thousand calls of ``main`` would build it again."""
    import adjudge.cli

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adjudge.cli, "build_parser", cache(adjudge.cli.build_parser))
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with real data; tests that need it are skipped only where the folder is not there at all."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"no real data at {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session")
def mirex2011(shared_data: Path) -> aj.Collection:
    """The MIREX 2011 Audio Music Similarity task: 18 systems, 100 queries, top 5, Fine grades."""
    folder = shared_data / "mirex2011"
    return aj.read(folder / "runs.tsv", folder / "judgments.tsv", folder / "metadata.tsv", scale="fine")


def random_dicts(
    seed: int,
    *,
    grades: Sequence[float] = (0, 0, 1, 2, 3),
    scores: Sequence[float] | None = None,
    n_queries: int = 12,
    n_systems: int = 3,
    longest: int = 25,
    documents: int = 30,
) -> tuple[Runs, Qrels]:
    """Runs and judgments with every awkward case in them.

    ``scores`` are what documents may get (so that they tie); without them all scores of a list differ. The first
    queries are the awkward ones: nothing relevant, one judged document, none of the judged documents retrieved.
    Lists are of any length, many retrieved documents are not judged, and the first system has no list for the last
    query and an unjudged query, 999, of its own.
    """
    rng = np.random.default_rng(seed)
    names = [f"d{i:02d}" for i in range(documents)]
    judgments: Qrels = {}
    for q in range(n_queries):
        judged = rng.choice(names, size=1 if q == 1 else int(rng.integers(2, 18)), replace=False)
        judgments[str(q)] = {str(d): 0 if q == 0 else rng.choice(list(grades)).item() for d in judged}
    runs: Runs = {f"s{s}": {} for s in range(n_systems)}
    for s, run in enumerate(runs.values()):
        for query, judged_documents in judgments.items():
            able = [d for d in names if d not in judged_documents] if query == "2" else names
            length = min(len(able), int(rng.integers(1, longest + 1)))
            retrieved = [str(d) for d in rng.choice(able, size=length, replace=False)]
            given = rng.permutation(length) + 1.0 if scores is None else rng.choice(list(scores), size=length)
            run[query] = dict(zip(retrieved, given.tolist(), strict=True))
        if s == 0:
            run["999"] = run.pop(str(n_queries - 1))
    return runs, judgments


def for_subtopics(judgments: Mapping[str, Mapping[str, float]]) -> pl.DataFrame:
    """Judgments of two sub-topics of each query, with the same grades for both."""
    rows = [(q, s, d, float(grade)) for q, judged in judgments.items() for d, grade in judged.items() for s in "12"]
    return pl.DataFrame(rows, schema=["query", "subtopic", "document", "grade"], orient="row")


@pytest.fixture(scope="session")
def make_dicts() -> Callable[..., tuple[Runs, Qrels]]:
    """Random runs and judgments as dictionaries, by seed."""
    return random_dicts


@pytest.fixture(scope="session")
def make_collection() -> Callable[..., aj.Collection]:
    """A random collection, by seed; ``scale`` as in ``read``."""

    def make(seed: int, *, scale: str | None = None, subtopics: bool = False, **options: Any) -> aj.Collection:
        runs, judgments = random_dicts(seed, **options)
        return aj.read(runs, for_subtopics(judgments) if subtopics else judgments, scale=scale)

    return make


@pytest.fixture(scope="session")
def evaluate_quietly() -> Callable[..., aj.Effectiveness]:
    """``aj.evaluate`` for collections that lack lists on purpose: what it says aloud about them is not heard."""

    def evaluate(collection: aj.Collection, measures: Any, **options: Any) -> aj.Effectiveness:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", aj.AdjudgeWarning)
            return aj.evaluate(collection, measures, **options)

    return evaluate


@pytest.fixture(scope="session")
def ranx() -> Any:
    """The package ranx, imported when a test wants it, not compiled (see above)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ranx

        return ranx
