"""Documents in: sound, pictures, texts, addresses. What is wrong with them is listed, and harms nothing."""

from __future__ import annotations

import hashlib
import io
import os
import struct
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select
from tests.web.conftest import ON_BOTH

import adjudge as aj
from adjudge.errors import AdjudgeError
from adjudge.web.errors import Conflict, NotFound, Refused, TooLarge
from adjudge.web.kinds.documents import IntakeSummary, take_documents
from adjudge.web.kinds.judging.settings import JudgingSettings
from adjudge.web.kinds.judging.store import missing_items, put_runs
from adjudge.web.kinds.lifecycle import create_campaign, set_state
from adjudge.web.settings import Settings
from adjudge.web.store import schema as t
from adjudge.web.store.campaigns import Campaign
from adjudge.web.store.database import Database
from adjudge.web.store.media import (
    digest_of,
    find_item,
    folder_files,
    picture_type,
    safe_name,
    served_file,
    unpacked,
    working_folder,
)

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"


def tone(path: Path, hertz: float = 440.0, seconds: float = 1.0) -> Path:
    """A sound, written by hand as a WAV of 16 bits."""
    rate = 22050
    wave = (np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate) * 9000).astype("<i2").tobytes()
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(wave), b"WAVE", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16,
                       b"data", len(wave))  # fmt: skip
    path.write_bytes(head + wave)
    return path


@pytest.fixture
def campaign(database: Database) -> Campaign:
    return draft_of_three(database)


def draft_of_three(database: Database) -> Campaign:
    """A draft of a query and three candidates."""
    settings = JudgingSettings.parse({"title": "Songs", "measure": "CG@3"})
    with database.write() as connection:
        made = create_campaign(connection, name="songs", settings=settings, organiser_id=None, now=1.0)
        put_runs(connection, made, aj.read({"a": {"q": ["d1", "d2", "d3"]}}).runs, now=1.0)
    return made


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    """Sound for everything, and for something that nobody asks about."""
    folder = tmp_path / "clips"
    folder.mkdir()
    for place, name in enumerate(("q", "d1", "d2", "d3", "other")):
        tone(folder / f"{name}.wav", 300.0 + 50 * place)
    return folder


def take(database: Database, settings: Settings, campaign: Campaign, **given: Any) -> IntakeSummary:
    return take_documents(database, settings, campaign, workers=1, **given)


def rows(database: Database) -> dict[str, Any]:
    with database.read() as connection:
        return {row["identifier"]: dict(row) for row in connection.execute(select(t.item)).mappings()}


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file()) if folder.exists() else []


@ON_BOTH
def test_sound_is_taken_levelled_and_served(
    database: Database, settings: Settings, campaign: Campaign, clips: Path
) -> None:
    taken = take(database, settings, campaign, files=folder_files(clips))
    assert (taken.taken, taken.already, taken.skipped, taken.problems) == (4, 0, 1, ())
    row = rows(database)["d1"]
    assert row["original_sha256"] == hashlib.sha256((clips / "d1.wav").read_bytes()).hexdigest()
    assert row["seconds"] == pytest.approx(1.0, abs=0.05)
    path, media_type, digest = served_file(settings, row)
    assert media_type == "audio/mpeg"
    assert digest_of(path) == digest
    assert (settings.media / "originals" / f"{row['original_sha256']}.wav").exists()
    with database.write() as connection:
        assert missing_items(connection, campaign) == []
        assert set_state(connection, campaign, "open", who="ann", now=2.0).state == "open"


def test_addresses_tell_nothing(database: Database, settings: Settings, campaign: Campaign, clips: Path) -> None:
    """They are drawn: were they made from names or sound, the same clips would be at the same addresses elsewhere."""
    with database.write() as connection:
        other = create_campaign(connection, name="other", settings=campaign.settings, organiser_id=None, now=1.0)
        put_runs(connection, other, aj.read({"a": {"q": ["d1", "d2", "d3"]}}).runs, now=1.0)
    for one in (campaign, other):
        take(database, settings, one, files=folder_files(clips))
    with database.read() as connection:
        addresses = [address for (address,) in connection.execute(select(t.item.c.address))]
    assert len(set(addresses)) == 8
    assert all(len(address) >= 20 for address in addresses)
    with database.read() as connection:
        assert find_item(connection, addresses[0])["address"] == addresses[0]
        with pytest.raises(NotFound, match="nothing at this address"):
            find_item(connection, "../../secret")


@ON_BOTH
def test_taking_the_same_again_changes_nothing(
    database: Database, settings: Settings, campaign: Campaign, clips: Path
) -> None:
    take(database, settings, campaign, files=folder_files(clips))
    before, files = rows(database), files_in(settings.media)
    taken = take(database, settings, campaign, files=folder_files(clips))
    assert (taken.taken, taken.already) == (0, 4)
    assert (rows(database), files_in(settings.media)) == (before, files)


def test_broken_files_are_listed_and_the_rest_is_taken(
    database: Database, settings: Settings, campaign: Campaign, clips: Path
) -> None:
    (clips / "d2.wav").write_bytes(b"RIFF but no sound")
    (clips / "d3.wav").write_bytes((clips / "d3.wav").read_bytes()[:2000])
    (clips / "d1.wav").unlink()
    (clips / "d1.m4a").write_bytes(b"\0\0\0\x20ftypM4A " + bytes(2000))
    taken = take(database, settings, campaign, files=folder_files(clips))
    assert taken.taken == 1
    assert [problem.document for problem in taken.problems] == ["d1", "d2", "d3"]
    assert all(problem.problem.startswith(problem.document + ".") for problem in taken.problems)
    assert all("\n" not in problem.problem and str(clips) not in problem.problem for problem in taken.problems)
    with database.read() as connection:
        assert missing_items(connection, campaign) == ["d1", "d2", "d3"]
    assert len(files_in(settings.media)) == 2  # the query's original and clip
    tone(clips / "d2.wav", 500.0)
    again = take(database, settings, campaign, files=folder_files(clips))
    assert (again.taken, again.already, len(again.problems)) == (1, 1, 2)


def test_a_table_names_files_and_says_what_is_known(
    database: Database, settings: Settings, campaign: Campaign, clips: Path, tmp_path: Path
) -> None:
    (clips / "deep").mkdir()
    (clips / "d1.wav").rename(clips / "deep" / "first song.wav")
    table = tmp_path / "tracks.csv"
    table.write_text("track,Artist,audio\nd1,Ann,deep/first song.wav\nd2,Bob,gone.wav\nd3,,../d3.wav\nd9,Cid,\n")
    taken = take(database, settings, campaign, files=folder_files(clips), table=table)
    assert {problem.document: problem.problem for problem in taken.problems} == {
        "d2": "gone.wav: expected a file, got none",
        "d3": "expected a name inside the folder, got '../d3.wav'",
    }
    found = rows(database)
    assert found["d1"]["facts"] == {"artist": "Ann"}
    assert found["d1"]["original_name"] == "first song.wav"
    assert found["d9"]["facts"] == {"artist": "Cid"}
    assert found["d3"]["facts"] == {}
    assert taken.described == 4


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../x.wav", "a/../../x.wav", "..\\x.wav", "C:\\x.wav", "", "a\x00.wav"]
)
def test_names_that_lead_elsewhere_are_refused(name: str) -> None:
    with pytest.raises(AdjudgeError, match="expected a name inside the folder"):
        safe_name(name)


def test_links_that_leave_the_folder_are_refused(tmp_path: Path, clips: Path) -> None:
    outside = tone(tmp_path / "outside.wav")
    (clips / "link.wav").symlink_to(outside)
    with pytest.raises(AdjudgeError, match="a link that leaves it"):
        folder_files(clips)
    (clips / "link.wav").unlink()
    (clips / "inner.wav").symlink_to(clips / "d1.wav")
    assert "inner.wav" in folder_files(clips)


def test_texts_addresses_and_pictures_are_documents_too(
    database: Database, settings: Settings, campaign: Campaign, tmp_path: Path
) -> None:
    table = tmp_path / "documents.csv"
    table.write_text(
        'document,text,url\nd1,"Some words, = and\n# more\n\n#last",\nd2,,https://example.org/a?b=1\nd3,,\n'
    )
    (tmp_path / "d3.png").write_bytes(PNG)
    (tmp_path / "q.txt").write_text("a question\r\n# with a heading\n")
    files = {name: tmp_path / name for name in ("d3.png", "q.txt")}
    taken = take(database, settings, campaign, files=files, table=table)
    assert (taken.taken, taken.problems) == (4, ())
    found = rows(database)
    kinds = {name: (row["kind"], row["text"]) for name, row in found.items()}
    assert kinds == {
        "d1": ("text", "Some words, = and\n# more\n\n#last"),
        "d2": ("url", "https://example.org/a?b=1"),
        "d3": ("image", None),
        "q": ("text", "a question\n# with a heading"),
    }
    assert served_file(settings, found["d3"])[1] == "image/png"
    with database.write() as connection:
        assert set_state(connection, campaign, "open", who="ann", now=2.0).state == "open"


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "file:///etc/passwd", "ftp://a/b", "http://", "https://a b", "//a.org", "data:,x"],
)
def test_only_addresses_of_the_web_are_taken(
    database: Database, settings: Settings, campaign: Campaign, tmp_path: Path, address: str
) -> None:
    table = tmp_path / "documents.csv"
    table.write_text(f'document,url\nd1,"{address}"\n')
    taken = take(database, settings, campaign, table=table)
    assert [problem.problem for problem in taken.problems] == [
        f"expected an address that begins with http:// or https://, got {address!r}"
    ]
    assert rows(database)["d1"]["text"] is None


def test_a_file_of_another_kind_is_told_of_where_its_document_has_no_other(
    database: Database, settings: Settings, campaign: Campaign, tmp_path: Path
) -> None:
    for name in ("d1.svg", "d2.svg", "d2.png", "cover.svg"):
        (tmp_path / name).write_bytes(PNG if name.endswith("png") else SVG)
    taken = take(database, settings, campaign, files=folder_files(tmp_path))
    assert taken.taken == 1
    assert [(one.document, one.problem) for one in taken.problems] == [
        ("d1", "d1.svg: expected sound, notation, a picture or a text, got a file of another kind")
    ]


def test_a_picture_is_what_its_bytes_say(
    database: Database, settings: Settings, campaign: Campaign, tmp_path: Path
) -> None:
    (tmp_path / "d1.png").write_bytes(SVG)
    taken = take(database, settings, campaign, files={"d1.png": tmp_path / "d1.png"})
    assert taken.problems[0].problem == "d1.png: expected a picture in PNG, JPEG, WebP or GIF, got something else"
    assert files_in(settings.media) == []
    assert picture_type(b"RIFF\0\0\0\0WEBPVP8 ") == "image/webp"
    assert picture_type(b"\xff\xd8\xff\xe0") == "image/jpeg"
    assert picture_type(b"GIF89a") == "image/gif"
    assert picture_type(SVG) is None


def test_two_files_for_one_document_are_a_problem(
    database: Database, settings: Settings, campaign: Campaign, clips: Path
) -> None:
    (clips / "more").mkdir()
    tone(clips / "more" / "d1.wav", 900.0)
    taken = take(database, settings, campaign, files=folder_files(clips))
    assert [problem.problem for problem in taken.problems] == ["expected one file, got d1.wav and more/d1.wav"]


def zipped(path: Path, members: dict[str, bytes], *, links: tuple[str, ...] = ()) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o120777 if name in links else 0o100644) << 16
            archive.writestr(info, data)
    return path


def test_a_zip_is_unpacked_under_names_of_our_own(settings: Settings, tmp_path: Path) -> None:
    files = {"sub/recording.wav": b"1", "d2.wav": b"2"}
    given = zipped(tmp_path / "a.zip", {**files, "__MACOSX/d2.wav": b"x", ".hidden": b"x"})
    with working_folder(settings) as folder:
        found = unpacked({"a.zip": given}, folder, settings)
        assert {name: path.read_bytes() for name, path in found.items()} == files
        assert all(path.parent == folder and "recording" not in path.name for path in found.values())
    assert not folder.exists()


@pytest.mark.parametrize("name", ["../../evil.wav", "/etc/evil.wav", "a/../../evil.wav", "..\\evil.wav"])
def test_a_zip_that_would_land_elsewhere_is_refused(settings: Settings, tmp_path: Path, name: str) -> None:
    given = zipped(tmp_path / "a.zip", {"good.wav": b"1", name: b"2"})
    with working_folder(settings) as folder, pytest.raises(Refused, match="Expected a name inside the folder"):
        unpacked({"a.zip": given}, folder, settings)
    assert files_in(settings.data / "tmp") == []


def test_links_in_a_zip_are_refused(settings: Settings, tmp_path: Path) -> None:
    given = zipped(tmp_path / "a.zip", {"d1.wav": b"/etc/passwd"}, links=("d1.wav",))
    with working_folder(settings) as folder, pytest.raises(Refused, match=r"got the link 'd1\.wav'"):
        unpacked({"a.zip": given}, folder, settings)


def test_a_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    small = Settings(data=tmp_path / "small", max_upload=1 << 20, max_file=1 << 19)
    bomb = zipped(tmp_path / "bomb.zip", {f"d{n}.wav": bytes(400_000) for n in range(3)})
    with working_folder(small) as folder:
        with pytest.raises(TooLarge, match="unpacks to 1 MB; at most 1 MB are taken"):
            unpacked({"bomb.zip": bomb}, folder, small)
        assert list(folder.iterdir()) == []
        single = zipped(tmp_path / "single.zip", {"d.wav": bytes(600_000)})
        with pytest.raises(TooLarge, match="a file may have at most"):
            unpacked({"single.zip": single}, folder, small)


def test_what_is_no_zip_is_refused(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 no zip")
    with working_folder(settings) as folder, pytest.raises(Refused, match="expected a zip that can be unpacked"):
        unpacked({"a.zip": tmp_path / "a.zip"}, folder, settings)


def test_a_zip_that_lies_about_its_content_is_refused(settings: Settings, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("d1.wav", b"honest words")
    (tmp_path / "a.zip").write_bytes(buffer.getvalue().replace(b"honest words", b"crooked word"))
    assert zlib.crc32(b"honest words") != zlib.crc32(b"crooked word")
    with working_folder(settings) as folder, pytest.raises(Refused, match="Bad CRC-32"):
        unpacked({"a.zip": tmp_path / "a.zip"}, folder, settings)


def test_queries_have_sound_of_their_own(
    database: Database, settings: Settings, campaign: Campaign, clips: Path
) -> None:
    taken = take(database, settings, campaign, files=folder_files(clips), role="query")
    assert (taken.taken, taken.skipped) == (1, 4)
    with pytest.raises(Refused, match="Expected documents or queries as role"):
        take(database, settings, campaign, role="system")


@pytest.mark.parametrize("header", ["query,text", "text;Query-ID", "qid\ttext", "document,text", '"topic","text"'])
def test_a_table_of_queries_may_call_them_queries(
    database: Database, settings: Settings, campaign: Campaign, tmp_path: Path, header: str
) -> None:
    sign = next(sign for sign in ",;\t" if sign in header)
    row = sign.join(("q", "the words") if not header.startswith("text") else ("the words", "q"))
    (tmp_path / "queries.csv").write_text(f"{header}\n{row}\n")
    assert take(database, settings, campaign, table=tmp_path / "queries.csv", role="query").taken == 1
    assert {name: (one["role"], one["text"]) for name, one in rows(database).items()} == {"q": ("query", "the words")}


def test_documents_of_a_closed_campaign_are_refused_at_once(
    database: Database, settings: Settings, campaign: Campaign, clips: Path
) -> None:
    with pytest.raises(Conflict, match="reopen it to change its documents"):
        take(database, settings, replace(campaign, state="closed"), files=folder_files(clips))
    assert files_in(settings.media) == []


def test_what_a_killed_server_left_is_cleared_away(settings: Settings) -> None:
    for name in ("old", "new"):
        (settings.data / "tmp" / name).mkdir(parents=True)
        (settings.data / "tmp" / name / "upload").write_bytes(b"x")
    os.utime(settings.data / "tmp" / "old", (1.0, 1.0))
    with working_folder(settings) as folder:
        assert sorted(path.name for path in folder.parent.iterdir()) == sorted(["new", folder.name])
