"""People who compare lists through the interface, and files for campaigns that ask them to.

Documents are texts that name their grade, so that whoever plays a participant can prefer the better list.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from adjudge.preferences.files import write_questions
from adjudge.preferences.questions import Question, Questions

DEPTH = 3
_keys = itertools.count()


def graded_questions(n: int, traps: int, *, queries: int = 6, seed: int = 0) -> Questions:
    """Questions about lists whose difference is anything from none to all, and traps whose list a is far better."""
    rng = np.random.default_rng(seed)
    made: list[Question] = []
    graded: dict[tuple[str, str], float] = {}
    for number in range(n + traps):
        is_trap, query = number >= n, f"query {number % queries + 1}"
        middle, apart = (0.5, 0.9) if is_trap else (rng.uniform(0.2, 0.8), rng.uniform(0, 1))
        lists: list[tuple[str, ...]] = []
        better = 1 if is_trap or rng.random() < 0.5 else -1
        for side, away in (("a", better), ("b", -better)):
            wanted = min(1.0, max(0.0, middle + away * apart / 2))
            names = tuple(f"{'trap' if is_trap else 'song'} {number + 1}{side}{rank}" for rank in range(1, DEPTH + 1))
            for name in names:
                graded[query, name] = float(round(100 * min(1.0, max(0.0, wanted + rng.normal(0, 0.05)))))
            lists.append(names)
        name = f"trap-{number - n + 1}" if is_trap else f"question-{number + 1}"
        made.append(Question(name, query, lists[0], lists[1], frozenset("a") if is_trap else frozenset()))
    return Questions(tuple(made)).with_grades("fine", graded)


def write_files(folder: Path, questions: Questions) -> dict[str, Path]:
    """Questions, traps and a table of texts, as an organiser brings them."""
    folder.mkdir(exist_ok=True)
    files = {name: folder / f"{name}.csv" for name in ("questions", "traps", "texts")}
    places = range(len(questions))
    for name, wanted in (("questions", False), ("traps", True)):
        chosen = [place for place in places if questions.questions[place].is_trap == wanted]
        write_questions(questions.select(chosen), files[name])
    files["texts"].write_text("".join(["document,text\n", *(f"{name},{text}\n" for name, text in texts(questions))]))
    return files


def texts(questions: Questions) -> list[tuple[str, str]]:
    """What people read of each document and query."""
    grades, found = questions.grades["fine"], dict.fromkeys(questions.queries, "")
    found = {query: f"What is like {query}?" for query in found}
    for place, one in enumerate(questions.questions):
        for side, documents in enumerate(one.lists):
            for rank, document in enumerate(documents):
                found[document] = f"grade {grades[place, side, rank]:g}: {document}"
    return list(found.items())


class Listener:
    """Somebody who compares lists through the interface, as the page does."""

    def __init__(self, link: str, *, seed: int = 0, attentive: bool = True, **told: Any) -> None:
        base, _, token = link.partition("/i/")
        self.http = httpx.Client(base_url=base, timeout=300)
        body = {"invitation": token.partition("?")[0], "consent": True, **told}
        joined = self.http.post("/api/join", json=body)
        assert joined.status_code == 201, joined.text
        self.code: str = joined.json()["participant"]["code"]
        self.http.cookies.clear()
        self.http.headers["Authorization"] = f"Bearer {joined.json()['token']}"
        self.rng, self.attentive = np.random.default_rng(seed), attentive
        self.desk: dict[str, Any] = self.http.get("/api/preference").json()

    def answer(self, number: int = 1, **more: Any) -> int:
        """Answer so many questions, or as many as there are; how many that were."""
        for done in range(number):
            question = self.desk["question"]
            if question is None:
                return done
            heard = {"query_ms": 60_000, **{f"{s}_ms": [60_000] * len(question[s]) for s in ("first", "second")}}
            took = int(self.rng.normal(45_000, 12_000)) if self.attentive else 2_000
            self._send("answers", choice=self._choice(question), heard=heard, took_ms=max(1_000, took), **more)
        return number

    def skip(self, comment: str) -> None:
        """Say that a clip does not play."""
        self._send("skips", reason="broken", comment=comment)

    def _send(self, what: str, **values: Any) -> None:
        body = {"key": f"{self.code}-{next(_keys):08}", "lease": self.desk["question"]["lease"], **values}
        taken = self.http.post(f"/api/preference/{what}", json=body)
        assert taken.status_code == 200, taken.text
        self.desk = taken.json()["desk"]

    def _choice(self, question: dict[str, Any]) -> str:
        """The better list the more surely the farther apart they are; without ears, the first one always."""
        if not self.attentive:
            return "first"
        first, second = (float(np.mean([grade_of(one) for one in question[side]])) for side in ("first", "second"))
        apart = (first - second) / 100
        if self.rng.random() < 0.15 + 0.85 * min(1.0, 1.6 * abs(apart)):
            return "first" if apart > 0 else "second"
        return "good" if self.rng.random() < (first + second) / 200 else "bad"

    def close(self) -> None:
        """Leave nothing open."""
        self.http.close()


def grade_of(heard: dict[str, Any]) -> float:
    """The grade that a text names."""
    found = re.match(r"grade (\d+)", heard["text"])
    assert found is not None
    return float(found[1])
