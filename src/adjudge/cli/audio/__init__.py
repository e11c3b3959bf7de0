"""``adjudge audio``: from a folder of music to clips, features and baseline runs."""

from __future__ import annotations

from adjudge.cli.command import Entry, family

_EXAMPLES = """examples:
  adjudge audio prepare music -o lab
  adjudge audio runs lab
  adjudge audio statistics lab
then:
  adjudge estimate lab/runs --metadata lab/tracks.csv --sound lab --scale fine -m CG@5
  adjudge campaign create songs lab/runs --metadata lab/tracks.csv --audio lab/clips
"""


run = family(
    "Cut clips that are equally loud and play everywhere from a folder of recordings, compute what they sound like, "
    "and let baseline systems retrieve similar ones: all that a campaign needs.",
    Entry("prepare", "cut clips that are equally loud from a folder of recordings", "audio.prepare"),
    Entry("features", "compute what the clips sound like; without a library, list the features", "audio.features"),
    Entry("runs", "let baseline systems retrieve similar documents", "audio.runs"),
    Entry("statistics", "hubs, coverage, neighbours of the same genre: as MIREX reported them", "audio.statistics"),
    Entry("systems", "list the baseline systems", "audio.systems"),
    examples=_EXAMPLES,
)
