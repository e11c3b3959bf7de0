"""The pages of a ranking campaign in process: set-up, people, answers; without scripts, and who may see what."""

from __future__ import annotations

import html
import json
import re

from tests.web.conftest import ON_BOTH
from tests.web.organiser.visiting import Visitor, new_ranking_campaign
from tests.web.ranking_rows import Ranking

from adjudge.web.store import schema
from adjudge.web.store.campaigns import find_campaign
from adjudge.web.store.database import Database
from adjudge.web.store.items import NewItem, put_items

PAGES = ("", "/set-up", "/settings", "/people", "/answers")


def send_candidates(visitor: Visitor, text: str, name: str = "candidates.csv") -> None:
    files = [("files", (name, text.encode(), "text/csv"))]
    visitor.send("/campaigns/incipits/set-up/candidates", files=files)


def test_a_campaign_is_set_up_and_opened_without_scripts(carla: Visitor, database: Database) -> None:
    carla.get("/campaigns/new?kind=ranking")
    carla.send("/campaigns/new", **new_ranking_campaign())
    carla.send("/campaigns/incipits/state", state="open")
    assert (carla.status, "needs a file with the candidates" in carla.words) == (422, True)
    send_candidates(carla, "query,document\nq,a\nq,b\nq,a\n")
    assert (carla.status, "candidates.csv:4" in carla.words) == (422, True)
    send_candidates(carla, "query,document\nq,a\nq,b\nq,c\nr,a\nr,b\n")
    assert "2 queries with 2 to 3 documents each." in carla.words
    assert "Rankings in all 14" in carla.words
    assert "5 of 5 documents and queries still need something" in carla.words
    table = "document,text\n" + "".join(f"{name},words of {name}\n" for name in "qrabc")
    files = [("table", ("texts.csv", table.encode(), "text/csv"))]
    carla.send("/campaigns/incipits/set-up/documents", role="document", files=files)
    assert "5 taken" in carla.words
    carla.send("/campaigns/incipits/state", state="open")
    with database.read() as connection:
        assert find_campaign(connection, "incipits").state == "open"


def test_a_query_can_be_looked_at_with_its_candidates(chief: Visitor, ranking: Ranking) -> None:
    ranking.begin(queries=2, documents=3)
    chief.get("/campaigns/incipits/set-up?query=q2")
    assert "<option selected>q2</option>" in chief.page
    assert [f"words about q2-{one}" in chief.words for one in "abc"] == [True, True, True]
    drawn = NewItem("q2-b", kind="notation", clip_sha256="1" * 64, drawing_sha256="2" * 64, seconds=2.0)
    with ranking.database.write() as connection:
        put_items(connection, ranking.campaign, [drawn])
    chief.get("/campaigns/incipits/set-up?query=q2")
    assert re.findall(r'data-drawing="/media/[^"]+/drawing" data-name="([^"]+)"', chief.page) == ["q2-b"]
    pair = ranking.pairs()["q2"]["id"]
    clips = chief.client.get(f"/campaigns/incipits/pairs/{pair}/clips").json()
    assert clips["query"]["text"] == "words about q2"
    assert [one["document"] for one in clips["candidates"]] == ["q2-a", "q2-b", "q2-c"]


@ON_BOTH
def test_somebody_is_set_aside_and_counted_again(chief: Visitor, ranking: Ranking) -> None:
    ranking.begin(judged_by=1)
    ann, bob = ranking.come(), ranking.come()
    ranking.work(ann, most=1)
    held = ranking.held(ann)
    assert (ranking.hold(bob), sum(row["answered"] for row in ranking.pairs().values())) == (None, 1)
    chief.get("/campaigns/incipits/people")
    assert "1 of 2" in chief.words
    chief.send("/campaigns/incipits/people/set-aside", code=ann.code, count="no")
    assert "Set aside: their answers do not count" in chief.words
    assert [(row["taken"], row["answered"]) for row in ranking.pairs().values()] == [(0, 0), (0, 0)]
    assert ranking.hold(ann) is None
    assert ranking.hold(bob) is not None  # what Ann had is asked again
    assert ranking.faults() == []
    chief.send("/campaigns/incipits/people/set-aside", code=ann.code, count="yes")
    assert "Their answers count again." in chief.words
    assert sum(row["answered"] for row in ranking.pairs().values()) == 1
    assert ranking.faults() == []
    told = chief.client.post(
        f"/api/campaigns/incipits/participants/{ann.code}/set-aside",
        json={},
        headers={"X-CSRF-Token": re.findall(r'name="csrf" value="([^"]*)"', chief.page)[0]},
    )
    assert (told.status_code, told.json()["set_aside_why"]) == (200, "organiser")
    assert held.participant_id == ann.id


def test_rankings_are_shown_newest_first_with_their_groups(chief: Visitor, ranking: Ranking) -> None:
    ranking.begin(queries=1, documents=4)
    ann, bob = ranking.come(), ranking.come()
    first = ranking.send(ann, ranking.held(ann), [["q1-b", "q1-a"], ["q1-c"]], comment="hard & <fair>")
    lease = ranking.reopen(ann, first.answer_id)
    ranking.send(ann, lease, [["q1-b"]])
    ranking.skip(bob, ranking.held(bob), "broken")
    chief.get("/campaigns/incipits/answers")
    assert re.findall(r"<td>(A\d)</td>", chief.page) == ["A2", "A1", "A1"]
    assert "hard &amp; &lt;fair&gt;" in chief.page
    groups = [re.findall(r'order-document">([^<]+)<', group) for group in re.findall(r"<li>(.*?)</li>", chief.page)]
    assert [group for group in groups if group] == [["q1-b"], ["q1-b", "q1-a"], ["q1-c"]]
    assert "3 of 4 ranked; without q1-d replaced later" in chief.words
    assert "sent again" in chief.words
    assert "1 skip: something does not play or show" in chief.words
    for address, n in (("?person=A1", 2), ("?kind=skip", 1), ("?question=q1&kind=correction", 1), ("?kind=comment", 1)):
        chief.get(f"/campaigns/incipits/answers{address}")
        assert len(re.findall(r"<td>A\d</td>", chief.page)) == n, address
    chief.get("/campaigns/incipits/answers?question=no-such")
    assert "No such ranking." in chief.words


def test_a_query_that_does_not_show_is_kept_back_and_put_back(chief: Visitor, ranking: Ranking) -> None:
    ranking.begin(queries=1)
    ann = ranking.come()
    lease = ranking.held(ann)
    ranking.skip(ann, lease, "broken")
    chief.get("/campaigns/incipits/answers")
    chief.send("/campaigns/incipits/answers/held", pair=str(lease.pair_id), held="yes")
    assert "kept back" in chief.words
    chief.send("/campaigns/incipits/answers/held", pair=str(lease.pair_id), held="no")
    assert not ranking.pairs()["q1"]["held"]
    chief.send("/campaigns/incipits/answers/held", pair="x", held="no")
    assert chief.status == 422


def test_every_download_on_the_page_is_there(chief: Visitor, ranking: Ranking) -> None:
    ranking.begin(queries=3, judged_by=3)
    chief.get("/campaigns/incipits/report")
    assert (chief.status, "yet" in chief.words) == (422, True)
    for _ in range(3):
        ranking.work(ranking.come())
    chief.get("/campaigns/incipits/answers")
    addresses = re.findall(r'<a href="((?:/api)?/campaigns/incipits/(?:export|report)[^"]*)"', chief.page)
    assert len(addresses) == 12
    for address in addresses:
        if "report?format=" in address and "json" not in address:
            continue  # other forms of what the page has are made by the same renderer
        response = chief.client.get(html.unescape(address))
        assert response.status_code == 200, f"{address}: {response.text[:200]}"
        assert response.content
    assert "q3" in chief.client.get("/api/campaigns/incipits/export/lists?format=groups").text
    report = chief.client.get("/api/campaigns/incipits/export/report?format=json").json()
    assert list(report["sections"])[:3] == ["lists", "so-far", "experts"]
    experts = json.dumps(report["sections"]["experts"])
    assert [code in experts for code in ("A1", "A2", "A3")] == [True, True, True]


def test_a_ranking_campaign_has_a_card_and_its_own_page_of_answers(chief: Visitor, ranking: Ranking) -> None:
    ranking.begin(judged_by=2)
    ranking.work(ranking.come(), most=1)
    chief.get("/campaigns/incipits/judgments")
    assert chief.address.endswith("/campaigns/incipits/answers")
    chief.get("/")
    assert "Rank documents: 2 experts for every query" in chief.words
    assert "of 4 rankings" in chief.words


def test_nobody_learns_of_the_rankings_of_others(carla: Visitor, ranking: Ranking) -> None:
    ranking.begin()
    for address in (*(f"/campaigns/incipits{page}" for page in PAGES), "/api/campaigns/incipits/lists"):
        assert carla.client.get(address, follow_redirects=False).status_code == 404, address


def test_an_expert_who_is_erased_leaves_nothing_on_the_pages(chief: Visitor, ranking: Ranking) -> None:
    ranking.begin()
    ann = ranking.come()
    ranking.work(ann, most=1)
    chief.get(f"/campaigns/incipits/people/erase?code={ann.code}")
    chief.send("/campaigns/incipits/people/erase", code=ann.code, how="remove")
    assert "1 answer was removed" in chief.words
    chief.get("/campaigns/incipits/answers")
    assert "No ranking yet." in chief.words
    assert ranking.all_of(schema.arrangement) == []
