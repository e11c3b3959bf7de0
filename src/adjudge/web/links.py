"""Links that people come by."""

from __future__ import annotations

from adjudge.web.campaign_rows import Campaign
from adjudge.web.preference_settings import PreferenceSettings


def invitation_link(address: str, token: str, campaign: Campaign) -> str:
    """The link of an invitation; where people come from a recruiter, in the form to paste there.

    Prolific puts its own values in place of ``{{%NAME%}}``. Other recruiters have placeholders of their own:
    ``{NAME}`` stands where theirs belong.
    """
    link = f"{address.rstrip('/')}/i/{token}"
    settings = campaign.settings
    if not isinstance(settings, PreferenceSettings) or settings.recruiter.kind == "none":
        return link
    form = "{name}={{{{%{name}%}}}}" if settings.recruiter.kind == "prolific" else "{name}={{{name}}}"
    return f"{link}?{'&'.join(form.format(name=name) for name in settings.recruiter.expected)}"
