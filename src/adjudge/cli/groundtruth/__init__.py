"""``adjudge groundtruth``: partially ordered lists from experts' rankings or preferences, and how good they are."""

from __future__ import annotations

from adjudge.cli.command import Entry, family

_EXAMPLES = """examples:
  adjudge groundtruth simulate -o rankings.csv
  adjudge groundtruth compare rankings.csv
  adjudge groundtruth build rankings.csv --construction Any-1 -o lists.groups --report lists.html
  adjudge groundtruth show rankings.csv --query q01
  adjudge groundtruth check lists.groups rankings.csv
then:
  adjudge score lists.groups runs/*.txt -m ADR
"""


run = family(
    "Where documents have no natural grades, experts rank them or say which of two is more similar to the query, and "
    "the ground truth is a list of groups: documents that experts tell apart are in different ones. Build such lists, "
    "see how consistent they are with the answers, and compare ways of making them.",
    Entry("build", "make lists from answers", "groundtruth.build"),
    Entry("check", "how consistent lists from elsewhere are with answers", "groundtruth.build:check"),
    Entry("compare", "compare ways of making lists", "groundtruth.compare"),
    Entry("show", "a list with what experts said of each document", "groundtruth.show"),
    Entry("constructions", "explain the ways of making lists", "groundtruth.show:list_constructions"),
    Entry("simulate", "rankings or preferences by simulated experts", "groundtruth.simulate"),
    examples=_EXAMPLES,
)
