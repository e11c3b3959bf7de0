"""What tests of the organisers' pages share: somebody at a browser without scripts, forms, assessors."""

from __future__ import annotations

import html
import re
from typing import Any

from starlette.testclient import TestClient

PASSWORD = "correct horse battery"
RUNS = "".join(
    f"{query} Q0 {query}-{document} {rank} {10 - rank} {system}\n"
    for system, order in (("up", "abc"), ("down", "cba"))
    for query in ("q1", "q2")
    for rank, document in enumerate(order, start=1)
)


class Visitor:
    """Somebody at a browser without scripts: follows links, sends forms with the token of the page they are on."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.page = ""
        self.status = 0
        self.address = ""

    def get(self, address: str) -> str:
        return self._keep(self.client.get(address))

    def send(self, address: str, *, csrf: str | None = None, files: Any = None, **fields: Any) -> str:
        if csrf is None:
            found = re.search(r'name="csrf" value="([^"]*)"', self.page)
            csrf = found[1] if found else ""
        data = {"csrf": csrf, **fields}
        return self._keep(self.client.post(address, data=data, files=files))

    def log_in(self, login: str, password: str = PASSWORD, after: str = "/") -> str:
        self.get(f"/login?next={after}")
        return self.send("/login", login=login, password=password, next=after)

    def _keep(self, response: Any) -> str:
        self.page = response.text
        self.status = response.status_code
        self.address = str(response.url)
        return self.page

    @property
    def words(self) -> str:
        """The page as it is read."""
        text = re.sub(r"<script.*?</script>|<[^>]+>", " ", self.page, flags=re.DOTALL)
        return " ".join(html.unescape(text).split())


def new_campaign(**changed: Any) -> dict[str, Any]:
    """What a browser sends for a new campaign."""
    return {
        "name": "spring",
        "title": "Spring",
        "contact": "",
        "scales": "fine",
        "own_minimum": "0",
        "own_maximum": "4",
        "own_step": "1",
        "measure": "CG@3",
        "listen_seconds": "0",
        "goal": "tau",
        "level_confidence": "95",
        "level_pairs": "95",
        "level_tau": "0.8",
        "level_error": "0.05",
        "zone": "0.02",
        "stop_when_reached": "yes",
        "judged_by": "3",
        "agreement_share": "25",
        "repeat_share": "10",
        "languages": ["en", "de"],
        "instructions_en": "Listen **well**.",
        "consent_en": "",
        **changed,
    }


def invitation_of(visitor: Visitor) -> str:
    found = re.search(r"/i/([\w.-]+)", visitor.page)
    assert found is not None
    return found[1]


def join(client: TestClient, invitation: str, **told: object) -> TestClient:
    """Another browser, in which somebody joined."""
    other = TestClient(client.app, base_url="http://127.0.0.1:8000")
    joined = other.post("/api/join", json={"invitation": invitation, "consent": True, **told})
    assert joined.status_code == 201, joined.text
    other.cookies.clear()
    other.headers["Authorization"] = f"Bearer {joined.json()['token']}"
    return other


def answer(assessor: TestClient, number: int, *, fine: float = 50.0, **more: object) -> None:
    """Answer so many questions."""
    for n in range(number):
        desk = assessor.get("/api/judging").json()
        grades = {"broad": 1.0, "fine": fine}
        body = {"lease": desk["question"]["lease"], "key": f"key-{n:04}-{id(assessor)}", "grades": grades, **more}
        assert assessor.post("/api/judging/answers", json=body).status_code == 200


def new_preference_campaign(**changed: Any) -> dict[str, Any]:
    """What a browser sends for a new preference campaign."""
    return {
        "kind": "preference",
        "name": "pairs",
        "title": "Pairs",
        "contact": "",
        "per_participant": "15",
        "judged_by": "2",
        "listen_seconds": "0",
        "repeat_share": "10",
        "quiz": "2",
        "quiz_bar": "50",
        "trap_share": "20",
        "trust_bar": "60",
        "least_traps": "3",
        "attention_bar": "2",
        "batch_size": "4",
        "pause_after_batch": "yes",
        "combinations": "CG@2 on Fine\n\nCG@2 on broad",
        "recruiter": "prolific",
        "parameters": "",
        "code_done": "DONE1",
        "code_screened_out": "OUT1",
        "code_failed": "",
        "per_answer": "0.1",
        "pay_participant": "1",
        "per_screened_out": "0.5",
        "fee_share": "30",
        "currency": "gbp",
        "languages": ["en"],
        "instructions_en": "Compare **both**.",
        "consent_en": "",
        **changed,
    }


def new_ranking_campaign(**changed: Any) -> dict[str, Any]:
    """What a browser sends for a new ranking campaign."""
    return {
        "kind": "ranking",
        "name": "incipits",
        "title": "Incipits",
        "contact": "",
        "judged_by": "7",
        "ties": "yes",
        "ranked": "some",
        "least_ranked": "2",
        "kept_hours": "48",
        "listen_seconds": "1.5",
        "languages": ["en"],
        "instructions_en": "The most **similar** first.",
        "consent_en": "",
        **changed,
    }
