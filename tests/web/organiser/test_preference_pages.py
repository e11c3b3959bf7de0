"""The pages of a preference campaign in process: set-up, people, answers; without scripts, and who may see what."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from tests.web.browser.comparing import graded_questions, texts, write_files
from tests.web.conftest import ON_BOTH
from tests.web.organiser.visiting import PASSWORD, Visitor, new_preference_campaign
from tests.web.preference_rows import PROLIFIC, Stage, pid, preference_campaign, some_questions

from adjudge.web.live import Estimating
from adjudge.web.settings import Settings
from adjudge.web.store import schema
from adjudge.web.store.campaigns import find_campaign
from adjudge.web.store.database import Database
from adjudge.web.store.people import add_organiser

PAGES = ("", "/set-up", "/settings", "/people", "/answers")


def send_questions(visitor: Visitor, files: dict[str, Path]) -> None:
    parts = [("file", ("questions.csv", files["questions"].read_bytes(), "text/csv"))]
    parts += [("traps", ("traps.csv", files["traps"].read_bytes(), "text/csv"))] if "traps" in files else []
    visitor.send("/campaigns/pairs/set-up/questions", files=parts)


@ON_BOTH
def test_a_campaign_is_set_up_and_opened_without_scripts(carla: Visitor, database: Database, tmp_path: Path) -> None:
    carla.get("/campaigns/new?kind=preference")
    carla.send("/campaigns/new", **new_preference_campaign(combinations=""))
    carla.send("/campaigns/pairs/state", state="open")
    assert carla.status == 422
    assert "needs a file with questions" in carla.words
    files = write_files(tmp_path / "files", graded_questions(9, 3, queries=3))
    send_questions(carla, {"questions": files["questions"]})
    assert (carla.status, "The quiz wants 2 attention checks" in carla.words) == (422, True)
    send_questions(carla, files)
    assert "9 questions about 3 queries and 3 attention checks; grades on fine." in carla.words
    assert "75 of 75 documents and queries still need something" in carla.words
    assert "CG@3 on fine" in carla.words
    assert "Answers in all 18, in 3 batches" in carla.words
    assert "Pause after each batch yes" in carla.words
    assert "per counted answer" in carla.words
    table = [("table", ("texts.csv", files["texts"].read_bytes(), "text/csv"))]
    carla.send("/campaigns/pairs/set-up/documents", role="document", files=table)
    assert "75 taken" in carla.words
    assert "All 75 documents and queries can be heard" in carla.words
    carla.send("/campaigns/pairs/state", state="open")
    assert (carla.status, "completion code however their part ends; there is none for failed" in carla.words) == (
        422,
        True,
    )
    carla.send("/campaigns/pairs/settings", **new_preference_campaign(combinations="", code_failed="FAILED1"))
    carla.send("/campaigns/pairs/state", state="open")
    with database.read() as connection:
        assert find_campaign(connection, "pairs").state == "open"


def test_questions_that_cannot_be_read_are_refused_with_their_line(carla: Visitor) -> None:
    carla.get("/campaigns/new?kind=preference")
    carla.send("/campaigns/new", **new_preference_campaign())
    broken = [("file", ("mine.csv", b"question,query,a1,b1,expected\n1,q,x,y,\n2,q,x,y,left\n", "text/csv"))]
    carla.send("/campaigns/pairs/set-up/questions", files=broken)
    assert carla.status == 422
    assert "mine.csv:3" in carla.words


def test_a_question_can_be_listened_to_as_people_get_it(chief: Visitor, stage: Stage) -> None:
    stage.begin()
    chief.get("/campaigns/lists/set-up?question=n2")
    pairs = stage.pairs()
    assert "q2-" in chief.words
    assert "<option selected>n2</option>" in chief.page
    clips = chief.client.get(f"/campaigns/lists/pairs/{pairs['n2']['id']}/clips").json()
    questions = some_questions(6, 4).questions
    assert [one["text"].split()[-1] for one in clips["a"]] == list(questions[1].a)
    assert [one["text"].split()[-1] for one in clips["b"]] == list(questions[1].b)
    assert clips["query"]["text"].endswith("q2")
    assert chief.client.get("/campaigns/lists/pairs/999999/clips").status_code == 404


def test_a_trap_that_listeners_miss_is_called_a_bad_trap(chief: Visitor, stage: Stage) -> None:
    stage.begin(n=6, traps=5, quiz=5, quiz_bar=0.4, trust_bar=0.1)
    for _ in range(5):
        who = stage.come()
        for _ in range(5):
            lease = stage.hold(who)[0]
            names = {row["id"]: name for name, row in stage.pairs().items()}
            right = names[lease.pair_id] != "t3"
            stage.choose(who, lease, stage.side(lease, "a" if right else "b"))
    chief.get("/campaigns/lists/set-up")
    assert re.search(r"t3\s+bad check\?\s+0 of 5 who listen got it", chief.words)
    assert chief.words.count("bad check?") == 1
    assert "5 list b" in chief.words


def test_the_recruiters_link_has_what_prolific_fills_in(chief: Visitor, stage: Stage) -> None:
    stage.begin(recruiter=PROLIFIC)
    link = f"http://127.0.0.1:8000/i/{stage.link}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&STUDY_ID={{{{%STUDY_ID%}}}}"
    for page in ("set-up", "people"):
        chief.get(f"/campaigns/lists/{page}")
        assert f'value="{html.escape(link)}' in chief.page
    assert re.search(r'name="cap"[^>]* value=""', chief.page)  # the recruiter has a number of places itself


@ON_BOTH
def test_somebody_is_set_aside_and_counted_again(chief: Visitor, stage: Stage) -> None:
    stage.begin()
    ann = stage.come()
    stage.work(ann)
    assert sum(row["answered"] for row in stage.pairs().values()) == 6
    chief.get("/campaigns/lists/people")
    assert "4 of 4" in chief.words or "2 of 2" in chief.words
    chief.send("/campaigns/lists/people/set-aside", code=ann.code, count="no")
    assert "Excluded: their answers do not count" in chief.words
    assert "by an organiser" in chief.words
    assert sum(row["answered"] for row in stage.pairs().values()) == 0
    assert "Count again" in chief.words
    chief.send("/campaigns/lists/people/set-aside", code=ann.code, count="yes")
    assert "Their answers count again." in chief.words
    assert sum(row["answered"] for row in stage.pairs().values()) == 6
    assert stage.faults() == []
    chief.send("/campaigns/lists/people/set-aside", code="A99", count="no")
    assert (chief.status, "no participant" in chief.words) == (404, True)


def test_what_the_recruiter_told_is_on_the_people_page_alone(
    chief: Visitor, stage: Stage, database: Database, settings: Settings
) -> None:
    stage.begin(recruiter=PROLIFIC)
    stage.work(stage.come(pid("secret-person")), most=3)
    Estimating(settings, database).refresh(stage.campaign.id)
    for page in PAGES:
        chief.get(f"/campaigns/lists{page}")
        assert chief.status == 200
        assert ("secret-person" in chief.page) == (page == "/people"), page
    exports = {what: chief.client.get(f"/api/campaigns/lists/export/{what}") for what in ("answers", "log", "people")}
    assert {what: "secret-person" in file.text for what, file in exports.items()} == {
        "answers": False,
        "log": False,
        "people": True,
    }


@ON_BOTH
def test_answers_are_shown_newest_first_and_by_kind(chief: Visitor, stage: Stage) -> None:
    stage.begin(repeat_share=0.0)
    ann, bob = stage.come(), stage.come()
    stage.work(ann, most=4)
    lease = stage.hold(bob)[0]
    stage.choose(bob, lease, "good", comment="loud & <clear>")
    chief.get("/campaigns/lists/answers")
    assert re.findall(r"<td>(A\d)</td>", chief.page) == ["A2", "A1", "A1", "A1", "A1"]
    assert "loud &amp; &lt;clear&gt;" in chief.page
    assert "check: right" in chief.words
    assert "check: wrong" in chief.words  # Bob said that both are good
    chief.get("/campaigns/lists/answers?kind=judgment")
    assert len(re.findall(r"<td>A\d</td>", chief.page)) == 2
    chief.get("/campaigns/lists/answers?person=A2&kind=comment")
    assert len(re.findall(r"<td>A\d</td>", chief.page)) == 1
    chief.get("/campaigns/lists/answers?person=A1&question=no-such")
    assert "No such answer." in chief.words


def test_a_question_that_does_not_play_is_kept_back_and_put_back(chief: Visitor, stage: Stage) -> None:
    stage.begin(quiz=0)
    ann = stage.come()
    lease = stage.hold(ann)[0]
    stage.skip(ann, lease)
    chief.get("/campaigns/lists/answers")
    assert "1 skip: something does not play or show" in chief.words
    chief.send("/campaigns/lists/answers/held", pair=str(lease.pair_id), held="yes")
    assert "kept back" in chief.words
    held = [row["id"] for row in stage.pairs().values() if row["held"]]
    assert held == [lease.pair_id]
    chief.send("/campaigns/lists/answers/held", pair=str(lease.pair_id), held="no")
    assert not any(row["held"] for row in stage.pairs().values())
    chief.send("/campaigns/lists/answers/held", pair="x", held="no")
    assert chief.status == 422


def test_what_was_said_twice_is_compared(chief: Visitor, stage: Stage) -> None:
    stage.begin(n=12, quiz=0, traps=0, repeat_share=0.5, per_participant=12)
    stage.work(stage.come())
    said: dict[int, dict[str, str]] = {}
    for row in stage.all_of(schema.answer):
        said.setdefault(row["pair_id"], {})[row["kind"]] = row["grades"]["choice"]
    twice = [both for both in said.values() if "repeat" in both]
    same = sum(both["repeat"] == both["judgment"] for both in twice)
    assert twice
    chief.get("/campaigns/lists/answers")
    assert f"{same} of {len(twice)} times somebody said the same again" in chief.words


def test_every_download_on_the_page_is_there_or_says_why_not(chief: Visitor, stage: Stage) -> None:
    stage.begin()
    stage.work(stage.come())
    chief.get("/campaigns/lists/answers")
    addresses = re.findall(r'<a href="((?:/api)?/campaigns/lists/(?:export|report)[^"]*)"', chief.page)
    assert len(addresses) >= 11
    for address in addresses:
        response = chief.client.get(html.unescape(address))
        if "/mapping" in address and response.status_code == 422:
            assert "answers" in response.text
            continue
        assert response.status_code == 200, f"{address}: {response.text[:200]}"
        assert response.content


def test_each_kind_of_campaign_has_its_own_page_of_answers(chief: Visitor, stage: Stage, owner: Visitor) -> None:
    stage.begin()
    chief.log_in("chief")
    chief.get("/campaigns/lists/judgments")
    assert chief.address.endswith("/campaigns/lists/answers")
    chief.get("/campaigns/small/answers")
    assert chief.address.endswith("/campaigns/small/judgments")
    chief.get("/")
    assert "0 of 6 answers" in chief.words


def test_nobody_learns_of_the_preferences_of_others(carla: Visitor, stage: Stage) -> None:
    stage.begin()
    stage.work(stage.come(), most=1)
    for page in PAGES:
        carla.get(f"/campaigns/lists{page}")
        assert carla.status == 404
    for address, fields in (
        ("people/set-aside", {"code": "A1", "count": "no"}),
        ("answers/held", {"pair": "1", "held": "yes"}),
    ):
        carla.get("/account")
        carla.send(f"/campaigns/lists/{address}", **fields)
        assert carla.status == 404
    for what in ("set-aside", "take-back"):
        sent = carla.client.post(f"/api/campaigns/lists/participants/A1/{what}", json={})
        assert sent.status_code in (403, 404)


def test_a_form_that_is_not_ours_sets_nobody_aside(chief: Visitor, stage: Stage) -> None:
    stage.begin()
    ann = stage.come()
    stage.work(ann, most=1)
    chief.send("/campaigns/lists/people/set-aside", csrf="made-up", code=ann.code, count="no")
    assert chief.status == 403
    assert stage.person(ann).set_aside_at is None


def test_no_page_brings_scripts_or_styles_of_its_own(chief: Visitor, stage: Stage) -> None:
    stage.begin(recruiter=PROLIFIC, title="</script><script>alert(1)</script>")
    stage.work(stage.come(pid("p")), most=3)
    pages = [f"/campaigns/lists{page}" for page in PAGES]
    for address in [*pages, "/campaigns/new", "/campaigns/new?kind=preference"]:
        page = chief.get(address)
        assert chief.status == 200, address
        assert "<style" not in page
        assert "<script>alert" not in page
        assert not re.search(r"<[^>]+\s(style|on[a-z]+)=", page), address
        scripts = re.findall(r"<script([^>]*)>", page)
        assert all("src=" in script or "application/json" in script for script in scripts), address


def test_people_come_page_by_page(chief: Visitor, database: Database) -> None:
    from tests.web.preference_rows import store_people

    campaign = preference_campaign(database)
    store_people(database, campaign, [f"p{number}" for number in range(60)])
    chief.get("/campaigns/lists/people")
    assert len(re.findall(r'aria-label="Exclude p\d+"', chief.page)) == 50
    assert "/campaigns/lists/people?page=2" in chief.page
    chief.get("/campaigns/lists/people?page=2")
    assert len(re.findall(r'aria-label="Exclude p\d+"', chief.page)) == 10
    chief.get("/campaigns/lists/people?page=-3x")
    assert chief.status == 200


def test_setting_aside_over_the_interface(chief: Visitor, stage: Stage, settings: Settings, database: Database) -> None:
    from adjudge.web.store.people import make_token

    stage.begin()
    ann = stage.come()
    stage.work(ann)
    with database.write() as connection:
        bob = add_organiser(connection, login="bob", password=PASSWORD, is_admin=True, now=settings.clock())
        _, plain = make_token(connection, bob, name="program", now=settings.clock())
    chief.client.cookies.clear()
    chief.client.headers["Authorization"] = f"Bearer {plain}"
    base = f"/api/campaigns/lists/participants/{ann.code}"
    aside = chief.client.post(f"{base}/set-aside", json={"why": "organiser"})
    assert (aside.status_code, aside.json()["set_aside_why"]) == (200, "organiser")
    refused = chief.client.post(f"{base}/set-aside", json={"why": "a whim"})
    assert (refused.status_code, "Expected a reason" in json.dumps(refused.json())) == (422, True)
    back = chief.client.post(f"{base}/take-back")
    assert (back.status_code, back.json()["set_aside_at"]) == (200, None)
    assert chief.client.post("/api/campaigns/lists/participants/A99/take-back").status_code == 404


def test_texts_name_every_document_once() -> None:
    questions = graded_questions(4, 1, queries=2)
    names = [name for name, _ in texts(questions)]
    assert len(names) == len(set(names)) == 2 + 5 * 6
