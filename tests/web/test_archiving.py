"""Backup, restore, verify: everything in one file and back, also into the other kind of database."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, delete, insert, select, text, update
from sqlalchemy.exc import DataError
from tests.conftest import missing
from tests.web.conftest import ON_SQLITE

import adjudge as aj
from adjudge.errors import AdjudgeError, InputError
from adjudge.formats import Source
from adjudge.web.kinds.documents import take_documents
from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.kinds.judging.store import import_judgments, put_runs
from adjudge.web.kinds.lifecycle import create_campaign, set_state
from adjudge.web.kinds.verify import verify
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.answers import append_answer
from adjudge.web.store.archive import backup, check_archive, restore
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.database import Database
from adjudge.web.store.items import NewItem, put_items
from adjudge.web.store.participants import make_invitation
from adjudge.web.store.schema import metadata

RUNS = {"a": {"q1": ["d1", "d2"]}, "b": {"q1": ["d3", "d2"]}}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(40))


@pytest.fixture
def campaign(database: Database, settings: Settings, tmp_path: Path) -> Campaign:
    """An open campaign with a picture, judgments and a secret."""
    decided = JudgingSettings.parse({"title": "Lieder – 歌", "measure": "CG@2"})
    texts = [NewItem(name, kind="text", text=f"über {name}") for name in ("d1", "d2")]
    (tmp_path / "d3.png").write_bytes(PNG)
    with database.write() as connection:
        made = create_campaign(connection, name="songs", settings=decided, organiser_id=None, now=1.25)
        put_runs(connection, made, aj.read(RUNS).runs, now=1.0)
        put_items(connection, made, [*texts, NewItem("q1", "query", "text", text="q")])
    take_documents(database, settings, made, files={"d3.png": tmp_path / "d3.png"})
    source = Source("file.csv", b"query,document,grade,assessor\nq1,d1,80,ann\nq1,d2,10,ann\nq1,d1,60,bob\n")
    with database.write() as connection:
        found = set_state(connection, made, "open", who="ann", now=2.0)
        import_judgments(connection, found, source, scale="fine", now=3.1)
    assert settings.secret
    return found


def everything(database: Database) -> dict[str, list[dict[str, Any]]]:
    with database.read() as connection:
        return {
            table.name: [dict(row) for row in connection.execute(select(table).order_by(*table.primary_key)).mappings()]
            for table in metadata.sorted_tables
        }


def archive_of(database: Database, settings: Settings, tmp_path: Path) -> Path:
    backup(database, settings, tmp_path / "all.tar", now=10.0)
    return tmp_path / "all.tar"


@pytest.mark.usefixtures("campaign")
def test_a_backup_restores_into_the_other_database(
    database: Database, settings: Settings, tmp_path: Path, backend: str, request: pytest.FixtureRequest
) -> None:
    archive = archive_of(database, settings, tmp_path)
    other: str | None = None
    if backend == "sqlite":
        postgres = request.getfixturevalue("_postgres")
        if isinstance(postgres, str):
            missing(postgres)
        name, other = postgres.fresh()
        request.addfinalizer(lambda: postgres.drop(name))
    target = Settings(data=tmp_path / "new", database=other)
    restored = restore(archive, target)
    assert restored.files == 1
    opened = Database(target.url)
    try:
        assert everything(opened) == everything(database)
        assert target.secret == settings.secret
        assert verify(opened, target) == []
        with opened.write() as connection:  # numbers go on where they were
            made = create_campaign(
                connection, name="next", settings=JudgingSettings.parse({"title": "Next"}), organiser_id=None, now=1.0
            )
        assert made.id == 2
    finally:
        opened.close()


@pytest.mark.usefixtures("campaign")
def test_a_removed_number_never_comes_again(database: Database, settings: Settings, tmp_path: Path) -> None:
    with database.write() as connection:
        last = connection.execute(select(t.answer).order_by(t.answer.c.id.desc()).limit(1)).mappings().one()
        connection.execute(delete(t.answer).where(t.answer.c.id == last["id"]))
        connection.execute(update(t.pair).where(t.pair.c.id == last["pair_id"]).values(taken=1, answered=1))
    archive = archive_of(database, settings, tmp_path)
    target = Settings(data=tmp_path / "new")
    restore(archive, target)
    opened = Database(target.url)
    with opened.write() as connection:
        values = {name: value for name, value in last.items() if name not in ("id", "sha256")}
        assert append_answer(connection, values) > last["id"]
    opened.close()


@pytest.mark.usefixtures("campaign")
def test_a_backup_is_of_one_moment(
    database: Database, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from adjudge.web.store import archive as archiving

    before, dump = everything(database), archiving._dump

    def slow(connection: Connection, table: Any, path: Path) -> int:
        with database.write() as meanwhile:  # somebody judges while tables are read
            name = f"during-{table.name.replace('_', '-')}"
            create_campaign(
                meanwhile, name=name, settings=JudgingSettings.parse({"title": "x"}), organiser_id=None, now=1.0
            )
        return dump(connection, table, path)

    monkeypatch.setattr(archiving, "_dump", slow)
    archive = archive_of(database, settings, tmp_path)
    target = Settings(data=tmp_path / "new")
    restore(archive, target)
    opened = Database(target.url)
    assert everything(opened) == before
    opened.close()


def rewritten(
    archive: Path, change: Callable[[str, bytes], bytes | None], *, more: dict[str, bytes] | None = None
) -> None:
    """Change members of a tar; None leaves one out."""
    with tarfile.open(archive) as tar:
        members = {member.name: tar.extractfile(member).read() for member in tar}  # type: ignore[union-attr]
    with tarfile.open(archive, "w") as tar:
        for name, data in {**members, **(more or {})}.items():
            new = change(name, data)
            if new is not None:
                info = tarfile.TarInfo(name)
                info.size = len(new)
                tar.addfile(info, io.BytesIO(new))


@pytest.mark.usefixtures("campaign")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda name, data: data.replace(b"80", b"90") if "answer" in name else data,
            "1 members are missing or damaged",
        ),
        (lambda name, data: None if name.startswith("media/") else data, "missing or damaged, first media/originals/"),
        (lambda name, data: None if name == "manifest.json" else data, "expected a whole backup"),
        (lambda name, data: None if name == "secret" else data, "missing or damaged, first secret"),
        (lambda name, data: data[:-9] if name == "manifest.json" else data, "got something else or a part"),
    ],
)
@ON_SQLITE
def test_a_damaged_backup_puts_nothing_in_place(
    database: Database, settings: Settings, tmp_path: Path, change: Callable[[str, bytes], bytes | None], message: str
) -> None:
    archive = archive_of(database, settings, tmp_path)
    rewritten(archive, change)
    with pytest.raises(InputError, match=message):
        restore(archive, Settings(data=tmp_path / "new"))
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("campaign")
@ON_SQLITE
def test_a_hostile_backup_is_refused(database: Database, settings: Settings, tmp_path: Path) -> None:
    archive = archive_of(database, settings, tmp_path)
    rewritten(archive, lambda name, data: data, more={"../evil": b"x"})
    with pytest.raises(InputError, match=r"got one with '\.\./evil'"):
        check_archive(archive)
    with tarfile.open(archive, "w") as tar:
        link = tarfile.TarInfo("secret")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    with pytest.raises(InputError, match="expected a backup, got one with 'secret'"):
        check_archive(archive)
    with pytest.raises(InputError, match="got no file"):
        check_archive(tmp_path / "nowhere.tar")


@pytest.mark.usefixtures("campaign")
@ON_SQLITE
def test_a_place_that_is_taken_is_left_alone(database: Database, settings: Settings, tmp_path: Path) -> None:
    archive = archive_of(database, settings, tmp_path)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "letter.txt").write_text("mine")
    with pytest.raises(InputError, match="expected an empty or a new folder"):
        restore(archive, Settings(data=tmp_path / "taken"))
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["letter.txt"]
    with pytest.raises(AdjudgeError, match=r"an empty database to restore into.*got rows in"):
        restore(archive, Settings(data=tmp_path / "new", database=settings.url))


@pytest.mark.usefixtures("campaign")
def test_a_backup_is_whole_or_not_there(
    database: Database, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from adjudge.web.store import archive as archiving

    (tmp_path / "all.tar").write_bytes(b"older")

    def full(*given: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archiving, "_media", full)
    with pytest.raises(InputError, match="cannot be written: no space left on device"):
        backup(database, settings, tmp_path / "all.tar", now=1.0)
    assert (tmp_path / "all.tar").read_bytes() == b"older"
    assert not list(tmp_path.glob(".backup-*"))
    with pytest.raises(InputError, match="expected a file in an existing directory"):
        backup(database, settings, tmp_path / "no" / "all.tar", now=1.0)


@pytest.mark.usefixtures("campaign")
@ON_SQLITE
def test_the_list_of_a_backup_names_everything(database: Database, settings: Settings, tmp_path: Path) -> None:
    manifest = check_archive(archive_of(database, settings, tmp_path))
    assert manifest["rows"]["answer"] == 3
    assert set(manifest["members"]) >= {"secret", "tables/answer.jsonl", "tables/run.jsonl"}
    assert (tmp_path / "all.tar").stat().st_mode & 0o077 == 0
    with tarfile.open(tmp_path / "all.tar") as tar:
        lines = tar.extractfile("tables/answer.jsonl").read().splitlines()  # type: ignore[union-attr]
    assert [json.loads(line)["grades"] for line in lines] == [{"fine": 80.0}, {"fine": 10.0}, {"fine": 60.0}]


def wrong(database: Database, settings: Settings) -> list[str]:
    return verify(database, settings)


def first_pair(connection: Connection) -> int:
    number: int = connection.execute(select(t.pair.c.id).where(t.pair.c.document == "d1")).scalar_one()
    return number


@pytest.mark.usefixtures("campaign")
def test_what_cannot_be_read_is_told(database: Database, settings: Settings) -> None:
    broken = text("UPDATE answer SET grades = '{half' WHERE id = (SELECT min(id) FROM answer)")
    if not database.is_sqlite:
        with pytest.raises(DataError, match="invalid input syntax for type json"), database.write() as connection:
            connection.execute(broken)
        return
    with database.write() as connection:
        connection.execute(broken)
    assert wrong(database, settings)[0] == "answer: 1 rows cannot be read (grades)"


@ON_SQLITE
def test_a_skip_that_is_lost_is_told(database: Database, settings: Settings, campaign: Campaign) -> None:
    with database.write() as connection:
        who = connection.execute(select(t.participant.c.id).limit(1)).scalar_one()
        of = {"campaign_id": campaign.id, "pair_id": first_pair(connection), "participant_id": who}
        times = {"issued_at": 1.0, "expires_at": 2.0, "ended_at": 2.0, "ended_how": "skipped"}
        connection.execute(insert(t.lease).values(id="lost", kind="judgment", slot=0, number=0, **of, **times))
    assert wrong(database, settings) == ["lease lost: is marked as skipped, and there is no answer"]


@ON_SQLITE
def test_a_campaign_that_cannot_be_is_told(database: Database, settings: Settings, campaign: Campaign) -> None:
    with database.write() as connection:
        this = update(t.campaign).where(t.campaign.c.id == campaign.id)
        connection.execute(this.values(state="bogus", settings={"title": 1}))
    assert wrong(database, settings) == [
        "songs: expected a state among draft, open, paused, closed, got 'bogus'",
        "songs: its settings cannot be used: Campaign: title: input should be a valid string, got 1",
    ]


@ON_SQLITE
def test_counters_are_counted_again(database: Database, settings: Settings, campaign: Campaign) -> None:
    with database.write() as connection:
        connection.execute(update(t.pair).where(t.pair.c.document == "d1").values(taken=7, answered=0))
    assert wrong(database, settings) == [
        f"{campaign.name}: document 'd1' of query 'q1' is counted as answered 0 and taken 7 times; it is 2 and 2"
    ]


@pytest.mark.usefixtures("campaign")
@ON_SQLITE
def test_a_changed_answer_is_found(database: Database, settings: Settings) -> None:
    with database.write() as connection:
        connection.execute(update(t.answer).where(t.answer.c.id == 1).values(grades={"fine": 99.0}))
    assert wrong(database, settings) == ["answer 1: is not what was stored (its digest is another)"]


@pytest.mark.usefixtures("campaign")
@ON_SQLITE
def test_a_correction_of_something_else_is_found(database: Database, settings: Settings) -> None:
    with database.write() as connection:
        last = dict(connection.execute(select(t.answer).order_by(t.answer.c.id.desc()).limit(1)).mappings().one())
        values = {name: value for name, value in last.items() if name not in ("id", "sha256")}
        append_answer(connection, {**values, "key": "other", "kind": "correction", "corrects": 1})
    assert wrong(database, settings) == [
        "answer 4: does not correct the first answer of the same person about the same pair"
    ]


@pytest.mark.usefixtures("campaign")
@ON_SQLITE
def test_a_place_held_twice_is_found(database: Database, settings: Settings) -> None:
    with database.write() as connection:
        connection.execute(text("DROP INDEX uq_lease_in_force"))
        who, this = connection.execute(select(t.participant.c.id).limit(1)).scalar_one(), first_pair(connection)
        for name in ("one", "two"):
            values = {"id": name, "campaign_id": 1, "pair_id": this, "participant_id": who, "kind": "judgment"}
            connection.execute(insert(t.lease).values(slot=0, number=0, issued_at=1.0, expires_at=2.0, **values))
        connection.execute(update(t.pair).where(t.pair.c.id == this).values(taken=4))
    assert wrong(database, settings) == [f"pair {this}: place 0 is on lease 2 times at once"]


@pytest.mark.usefixtures("campaign")
@ON_SQLITE
def test_lost_and_damaged_files_are_found(database: Database, settings: Settings) -> None:
    with database.read() as connection:
        digest = connection.execute(select(t.item.c.original_sha256).where(t.item.c.kind == "image")).scalar_one()
    path = settings.media / "originals" / f"{digest}.png"
    path.write_bytes(PNG + b"x")
    assert wrong(database, settings) == [f"{digest}.png: is damaged; it is of document 'd3'"]
    path.unlink()
    assert wrong(database, settings) == [f"{digest}.png: is not there; it is of document 'd3'"]
    found = backup(database, settings, settings.data / "all.tar", now=1.0)
    assert (found.files, found.missing) == (0, (f"media/originals/{digest}.png",))


@ON_SQLITE
def test_a_lost_secret_and_a_changed_run_are_found(database: Database, settings: Settings, campaign: Campaign) -> None:
    with database.write() as connection:
        connection.execute(update(t.run).where(t.run.c.system == "a").values(rankings=b"PAR1"))
    (settings.data / "secret").write_text("short")
    assert wrong(database, settings) == [
        "run 'a': is not what was stored (its digest is another)",
        "secret: expected 64 hexadecimal digits; invitations that were given out will not work",
    ]
    (settings.data / "secret").unlink()
    assert len(wrong(database, settings)) == 1, "nobody was invited, so nothing is lost"
    with database.write() as connection:
        make_invitation(connection, campaign, secret=bytes(32), now=1.0)
    assert wrong(database, settings)[1].startswith("secret: is not there")


@pytest.mark.usefixtures("campaign")
@ON_SQLITE
def test_a_row_that_leads_nowhere_is_found(database: Database, settings: Settings) -> None:
    with database.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
        connection.exec_driver_sql("COMMIT")
        connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
        connection.exec_driver_sql("UPDATE queue SET pair_id = 999 WHERE place = 0")
        connection.exec_driver_sql("PRAGMA foreign_keys = ON")
    assert wrong(database, settings) == ["queue: 1 rows name a pair that is not there (pair_id)"]
