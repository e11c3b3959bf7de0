"""Notation as documents: drawn and played once, kept as files are, served to whoever may hear it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.web.conftest import ON_BOTH
from tests.web.test_campaign_api import RUN_A, bearer, created
from tests.web.test_media import draft_of_three, files_in, rows, take

from adjudge.web.api.body import heard_from
from adjudge.web.kinds.judging.store import missing_items
from adjudge.web.kinds.lifecycle import set_state
from adjudge.web.kinds.verify import verify
from adjudge.web.settings import Settings
from adjudge.web.store.archive import backup, restore
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.database import Database
from adjudge.web.store.media import digest_of, folder_files, kept_files

HEAD = "@clef:G-2\n@keysig:\n@timesig:4/4\n@data:"


@pytest.fixture
def campaign(database: Database) -> Campaign:
    return draft_of_three(database)


def written(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def test_files_of_notation_are_drawn_played_kept_and_verified(
    database: Database, settings: Settings, campaign: Campaign, tmp_path: Path
) -> None:
    folder = written(tmp_path / "in", q__pae=HEAD + "'4C", d1__pae=HEAD + "'4CE", other__pae=HEAD + "'4G")
    (folder / "rest.pae").write_text(f"@start:d2\n{HEAD}'4D\n@end:d2\n@start:d3\n{HEAD}'4E\n@end:d3\n")
    taken = take(database, settings, campaign, files=folder_files(folder))
    assert (taken.taken, taken.already, taken.skipped, taken.problems) == (4, 0, 1, ())
    row = rows(database)["d2"]
    assert (row["kind"], row["original_name"], row["seconds"]) == ("notation", "rest.pae", pytest.approx(1.3, abs=0.05))
    kept = kept_files(settings, row)
    assert sorted(path.parent.name for path, _ in kept) == ["clips", "drawings", "originals"]
    assert all(digest_of(path) == digest for path, digest in kept)
    with database.write() as connection:
        assert missing_items(connection, campaign) == []
        assert set_state(connection, campaign, "open", who="ann", now=2.0).state == "open"
    before, files = rows(database), files_in(settings.media)
    again = take(database, settings, campaign, files=folder_files(folder))
    assert (again.taken, again.already) == (0, 4)
    assert (rows(database), files_in(settings.media)) == (before, files)


def test_bad_incipits_are_listed_and_leave_nothing_behind(
    database: Database, settings: Settings, campaign: Campaign, tmp_path: Path
) -> None:
    folder = written(tmp_path / "in", q__pae=HEAD + "'4C", d1__abc="X:1\nK:C\nC", d2__pae=HEAD + "2-", d3__mxl="no zip")
    taken = take(database, settings, campaign, files=folder_files(folder))
    assert taken.taken == 1
    assert {one.document: one.problem for one in taken.problems} == {
        "d1": "d1.abc:1: expected Plaine & Easie, MusicXML or MEI, got ABC (save the tune as MusicXML)",
        "d2": "d2.pae:1: expected notes to hear, got only rests",
        "d3": "d3.mxl: expected compressed MusicXML, got a file that cannot be unpacked ('File is not a zip file')",
    }
    assert set(rows(database)) == {"q"}
    assert len(files_in(settings.media)) == 3


def test_a_column_has_notation_or_the_name_of_its_file(
    database: Database, settings: Settings, campaign: Campaign, tmp_path: Path
) -> None:
    folder = written(tmp_path / "in", some__pae=HEAD + "'4C")
    table = tmp_path / "t.csv"
    table.write_text(
        "document,PAE,clef,keysig,timesig,title\n"
        "q,%G-2@c '4C,,,,Query\nd1,'4FG,G-2,xF,3/4,Fields\nd2,some.pae,,,,File\nd3,'4CX,G-2,,,Bad\n"
    )
    taken = take(database, settings, campaign, files=folder_files(folder), table=table)
    assert (taken.taken, taken.described) == (3, 4)
    (problem,) = taken.problems
    assert (problem.document, problem.problem) == (
        "d3", "expected characters of Plaine & Easie, got 'X' at character 4 of the notes",
    )  # fmt: skip
    found = rows(database)
    assert found["d1"]["facts"]["title"] == "Fields"
    assert found["d3"]["kind"] == "notation"
    assert found["d3"]["clip_sha256"] is None
    assert found["q"]["drawing_sha256"] is not None
    table.write_text("document,notation,text\nd1,%G-2@c '4C,hm\nd2,none.pae,\n")
    problems = {one.document: one.problem for one in take(database, settings, campaign, table=table).problems}
    assert "expected one of" in problems["d1"]
    assert problems["d2"] == "none.pae: expected a file, got none"


def test_other_notation_replaces_what_was_there_and_gets_a_new_address(
    database: Database, settings: Settings, campaign: Campaign, tmp_path: Path
) -> None:
    first = written(tmp_path / "a", d1__pae=HEAD + "'4C")
    take(database, settings, campaign, files=folder_files(first))
    before = rows(database)["d1"]
    (first / "d1.pae").write_text(HEAD + "'4D")
    assert take(database, settings, campaign, files=folder_files(first)).taken == 1
    after = rows(database)["d1"]
    assert before["address"] != after["address"]
    assert before["drawing_sha256"] != after["drawing_sha256"]


def test_an_item_says_where_its_drawing_is() -> None:
    heard = heard_from("notation", "x", None, 1.5)
    assert (heard.url, heard.drawing_url, heard.seconds) == ("/media/x", "/media/x/drawing", 1.5)
    assert heard_from("audio", "x", None, 1.0).drawing_url is None


def test_a_drawing_is_for_whoever_may_hear_the_clip(client: TestClient, database: Database) -> None:
    client.headers.update(bearer(database, "ann"))
    place = created(client)
    client.put(f"{place}/runs", files={"files": ("a.txt", RUN_A)})
    sent = [("files", ("d1.pae", f"{HEAD}'4CD".encode())), ("files", ("d2.mei", b"<mei>"))]
    taken = client.post(f"{place}/documents", files=sent).json()  # in a process of its own, as always on a server
    assert (taken["taken"], [one["problem"] for one in taken["problems"]]) == (
        1, ["d2.mei:1: expected well-formed XML, got no element found"],
    )  # fmt: skip
    row = rows(database)["d1"]
    path = f"/media/{row['address']}/drawing"
    answer = client.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.headers["etag"] == f'"{row["drawing_sha256"]}"'
    assert answer.headers["cache-control"] == client.get(f"/media/{row['address']}").headers["cache-control"]
    assert answer.json()["svg"].startswith("<svg ")
    assert [ids for _, _, ids in answer.json()["notes"]] == [["n1"], ["n2"]]
    assert client.get(path, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    assert client.get("/media/x/drawing").status_code == 404
    assert client.get(path, headers=bearer(database, "bob")).status_code == 404
    del client.headers["Authorization"]
    assert client.get(path).status_code == 401


@ON_BOTH
def test_backups_hold_drawings_and_damage_is_found(
    database: Database, settings: Settings, campaign: Campaign, tmp_path: Path
) -> None:
    take(database, settings, campaign, files=folder_files(written(tmp_path / "in", d1__pae=HEAD + "'4CD")))
    drawing = settings.media / "drawings" / f"{rows(database)['d1']['drawing_sha256']}.json"
    assert set(json.loads(drawing.read_text())) == {"svg", "notes"}
    assert backup(database, settings, tmp_path / "all.tar", now=10.0).files == 3
    target = Settings(data=tmp_path / "new")
    assert restore(tmp_path / "all.tar", target).files == 3
    assert files_in(target.media) == files_in(settings.media)
    assert verify(database, settings) == []
    drawing.write_text("{}")
    assert verify(database, settings) == [f"{drawing.name}: is damaged; it is of document 'd1'"]
    drawing.unlink()
    assert verify(database, settings) == [f"{drawing.name}: is not there; it is of document 'd1'"]
    assert take(database, settings, campaign, files=folder_files(tmp_path / "in")).taken == 0  # the rows are as before
    assert drawing.is_file()
