"""The tunes of the demo: every one can be drawn, no two are the same, and the campaign opens once they are there."""

from __future__ import annotations

import pytest

from adjudge.audio.notation.engraving import engrave
from adjudge.web.kinds.ranking import demo as demo_rankings
from adjudge.web.kinds.ranking.demo import TUNES, VARIANTS, candidates, incipits
from adjudge.web.settings import Settings
from adjudge.web.store.database import Database
from adjudge.web.store.people import add_organiser


def test_every_tune_can_be_drawn_and_none_is_another() -> None:
    made = incipits()
    assert len(set(made.values())) == len(made) == len(TUNES) * (len(VARIANTS) + 1)
    for name, text in made.items():
        drawn = engrave(text, source=name)
        assert 4 <= drawn.seconds <= 15, name
    tune, transposed = (
        [note.pitches[0] for note in engrave(made[name]).notes] for name in ("march", "march-transposed")
    )
    assert {two - one for one, two in zip(tune, transposed, strict=True)} == {5}  # a fourth higher
    assert all(len(documents) == len(VARIANTS) and query in made for query, documents in candidates().items())


def test_the_campaign_opens_once_its_tunes_are_there(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = ["jig", "jig-dotted", "jig-inverted"]
    monkeypatch.setattr(demo_rankings, "candidates", lambda: {"jig": few[1:]})
    monkeypatch.setattr(demo_rankings, "incipits", lambda: {name: incipits()[name] for name in few})
    with database.write() as connection:
        organiser = add_organiser(connection, login="demo", password="long enough", is_admin=False, now=1.0)
        draft = demo_rankings.make_ranking_demo(connection, organiser, now=2.0)
        again = demo_rankings.make_ranking_demo(connection, organiser, now=3.0)
    assert (draft.state, again.id) == ("draft", draft.id)
    opened = demo_rankings.open_ranking_demo(database, settings, who="demo")
    assert opened.state == "open"
    assert demo_rankings.open_ranking_demo(database, settings, who="demo") == opened  # nothing is made twice
