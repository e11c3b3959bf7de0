"""What people hear, read or see: documents and queries of a campaign, from the moment something is known of them.

An item can be asked about once it is complete: audio has a clip, notation a clip and a drawing, an image its original,
a text its words and a url its address.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.engine import RowMapping

from adjudge.errors import shown
from adjudge.web.campaign_rows import Campaign, locked
from adjudge.web.errors import Conflict, Refused
from adjudge.web.schema import item

KINDS = ("audio", "notation", "text", "image", "url")
ROLES = ("document", "query")
_CHUNK = 5_000  # rows sent to the database at a time


@dataclass(frozen=True)
class NewItem:
    """A document or query as it comes: what is known of it, and what of it people hear, read or see, if anything yet.

    Audio has a clip, notation a drawing as well, an image its original, a text its words and a url its address in
    ``text``. ``facts`` are artist, genre and any other column of a table.
    """

    identifier: str
    role: str = "document"
    kind: str = "audio"
    text: str | None = None
    original_sha256: str | None = None
    original_name: str | None = None
    clip_sha256: str | None = None
    media_type: str | None = None
    seconds: float | None = None
    loudness: float | None = None
    gain_db: float | None = None
    drawing_sha256: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def content(self) -> dict[str, Any]:
        """The columns that say what people get."""
        names = ("kind", "text", "original_sha256", "original_name", "clip_sha256", "media_type", "seconds", "loudness",
                 "gain_db", "drawing_sha256")  # fmt: skip
        return {name: getattr(self, name) for name in names}

    @property
    def is_complete(self) -> bool:
        """Whether there is something to hear, read or see."""
        return is_complete(self.content)


def check_text(what: str, value: str, longest: int) -> str:
    """A name that a column can hold."""
    if not value or len(value) > longest or any(ord(sign) < 32 for sign in value):
        raise Refused(f"Expected {what} in at most {longest} characters without control characters, got {shown(value)}")
    return value


def put_items(connection: Connection, found: Campaign, items: Iterable[NewItem]) -> int:
    """Add documents and queries, or to what is known of them; the number of rows that are new or changed.

    What people hear, read or see is replaced where something comes, and gets a new address, as browsers keep what they
    had. Facts are added to those that were known.
    """
    if locked(connection, found).state == "closed":
        raise Conflict("The campaign is closed; reopen it to change its documents.")
    rows = connection.execute(select(item).where(item.c.campaign_id == found.id)).mappings()
    known = {(row["role"], row["identifier"]): row for row in rows}
    new, changed = [], []
    for given in {(one.role, one.identifier): one for one in items}.values():
        _check_item(given)
        before = known.get((given.role, given.identifier))
        if before is None:
            new.append({"campaign_id": found.id, "role": given.role, "identifier": given.identifier,
                        "address": secrets.token_urlsafe(16), "facts": dict(given.facts), **given.content})  # fmt: skip
        elif (after := _merged(before, given)) is not None:
            changed.append(after)
    for part in chunks(new):
        connection.execute(insert(item), part)
    if changed:
        columns = {name: bindparam(f"new_{name}", type_=item.c[name].type) for name in changed[0] if name != "id"}
        named = [{f"new_{name}": value for name, value in row.items()} for row in changed]
        connection.execute(update(item).where(item.c.id == bindparam("new_id")).values(columns), named)
    return len(new) + len(changed)


def _check_item(given: NewItem) -> None:
    if given.role not in ROLES or given.kind not in KINDS:
        raise Refused(f"Expected a {' or '.join(ROLES)} that is {', '.join(KINDS)}, got {given.role} of {given.kind}")
    check_text(f"the {given.role}", given.identifier, 400)


def _merged(before: RowMapping, given: NewItem) -> dict[str, Any] | None:
    """The row after something new came; None where it stays as it is."""
    content = {name: before[name] for name in given.content}
    after = dict(given.content) if given.is_complete else content
    if not given.is_complete and not is_complete(content):
        after["kind"] = given.kind
    facts = {**before["facts"], **given.facts}
    if after == content and facts == before["facts"]:
        return None
    address = before["address"] if after == content else secrets.token_urlsafe(16)
    return {"id": before["id"], "address": address, "facts": facts, **after}


def is_complete(content: Mapping[str, Any] | RowMapping) -> bool:
    """Whether a row has something to hear, read or see."""
    needed = {"audio": ("clip_sha256",), "notation": ("clip_sha256", "drawing_sha256"), "image": ("original_sha256",)}
    return all(content[column] for column in needed.get(content["kind"], ("text",)))


def items_by_identifier(connection: Connection, campaign_id: int) -> dict[tuple[str, str], RowMapping]:
    """All rows of a campaign by role and identifier."""
    rows = connection.execute(select(item).where(item.c.campaign_id == campaign_id)).mappings()
    return {(row["role"], row["identifier"]): row for row in rows}


def query_item(rows: Mapping[tuple[str, str], RowMapping], query: str) -> RowMapping | None:
    """What stands for a query: an item of its own, else the document of the same name."""
    own, document = rows.get(("query", query)), rows.get(("document", query))
    return document if own is None or (document is not None and not is_complete(own)) else own


def chunks(rows: list[dict[str, Any]]) -> Iterable[list[dict[str, Any]]]:
    """Rows in parts that a database takes at once."""
    return (rows[start : start + _CHUNK] for start in range(0, len(rows), _CHUNK))
