"""``adjudge campaign``: everything about campaigns that needs no browser, on the data of a server."""

from __future__ import annotations

from adjudge.cli.command import Entry, family

_EXAMPLES = """examples:
  adjudge campaign user add ann --admin
  adjudge campaign create songs runs/*.txt --metadata tracks.csv --audio clips --scale broad --scale fine
  adjudge campaign open songs
  adjudge campaign invite songs --count 5
  adjudge campaign export songs qrels -o judgments.txt
  adjudge campaign create lists --questions questions.csv --documents clips --recruiter prolific --code done=C1
  adjudge campaign export lists answers -o answers.csv
  adjudge campaign create incipits --candidates candidates.csv --documents incipits --judged-by 10
  adjudge campaign export incipits rankings -o rankings.csv

The commands work on the folder of the data, whether or not a server runs on it.
"""


run = family(
    "Campaigns of judgments, preferences or rankings on the data of a server (see 'adjudge serve').",
    Entry("create", "make a campaign from runs, questions or candidates, and documents", "campaign.create:create"),
    Entry("documents", "give a campaign documents, or those that were missing", "campaign.create:documents"),
    Entry("candidates", "give a ranking campaign other candidates", "campaign.create:candidates"),
    Entry("list", "all campaigns", "campaign.state:list_all"),
    Entry("show", "one campaign", "campaign.state:show"),
    Entry("open", "let people answer", "campaign.state:open_campaign"),
    Entry("pause", "hand out no more questions for now", "campaign.state:pause"),
    Entry("close", "end judging", "campaign.state:close"),
    Entry("delete", "remove a campaign for good", "campaign.state:delete"),
    Entry("user", "organisers: add, list, disable, password", "campaign.people:user"),
    Entry("token", "a token for a program", "campaign.people:token"),
    Entry("invite", "links for participants", "campaign.people:invite"),
    Entry("erase", "take a person out of a campaign", "campaign.people:erase"),
    Entry("export", "judgments, answers or rankings, log or report as a file", "campaign.files:export"),
    Entry("import", "judgments made elsewhere", "campaign.files:import_file"),
    Entry("backup", "everything in one file", "campaign.archive:backup"),
    Entry("restore", "a backup into an empty place", "campaign.archive:restore"),
    Entry("verify", "check that everything is there and adds up", "campaign.archive:verify"),
    Entry("rehearse", "forecast judgments, hours and the chance of a right ranking", "campaign.rehearse"),
    examples=_EXAMPLES,
)
