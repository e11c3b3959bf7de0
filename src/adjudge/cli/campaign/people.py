"""``adjudge campaign user``, ``token``, ``invite`` and ``erase``: who runs campaigns, and who judges."""

from __future__ import annotations

import argparse
import os
import sys

from adjudge.checks import LINKS
from adjudge.cli.campaign.store import WHO, add_store, moment, opened, say_address
from adjudge.cli.options import Subparsers
from adjudge.errors import AdjudgeError

PASSWORD = "ADJUDGE_PASSWORD"


def add(commands: Subparsers) -> None:  # type: ignore[type-arg]
    """Declare the commands."""
    user = commands.add_parser(
        "user", help="organisers: add, list, disable, password", description="Who runs campaigns."
    )
    below = user.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=type(user))
    where = f"asked for at the terminal, or taken from {PASSWORD}"
    for name, about, run in (
        ("add", f"somebody new; the password is {where}", add_user),
        ("list", "everybody who may log in", list_users),
        ("disable", "shut somebody out; their campaigns stay", disable_user),
        ("password", f"a new password, {where}", change_password),
    ):
        parser = below.add_parser(name, help=about.partition(";")[0], description=f"{about[:1].upper()}{about[1:]}.")
        if name != "list":
            parser.add_argument("login", metavar="LOGIN", help="how they log in")
        if name == "add":
            parser.add_argument("--admin", action="store_true", help="sees the campaigns of everybody")
        add_store(parser)
        parser.set_defaults(run=run)
    _add_token(commands)
    _add_invite(commands)
    _add_erase(commands)


def _add_token(commands: Subparsers) -> None:  # type: ignore[type-arg]
    parser = commands.add_parser(
        "token",
        help="a token for a program",
        description="A token for a program of an organiser; it is shown this once.",
    )
    parser.add_argument("login", metavar="LOGIN", help="whom the program acts for")
    parser.add_argument("--name", default=WHO, help="what the token is for")
    parser.add_argument("--expires", metavar="WHEN", help="7d, 12h or 2030-05-31 (default: never)")
    add_store(parser)
    parser.set_defaults(run=make_token)


def _add_invite(commands: Subparsers) -> None:  # type: ignore[type-arg]
    parser = commands.add_parser(
        "invite",
        help="links for participants",
        description="Links to a campaign, one a line: with --count, each for one person; otherwise one for all who "
        "have it, or for the first --cap people. Where people come from a recruiter, it is the link to paste there.",
    )
    parser.add_argument("name", metavar="NAME", help="name of the campaign")
    parser.add_argument("--label", default="", help="for whom, as you will see it among the invitations")
    parser.add_argument("--cap", type=int, metavar="N", help="most people who may come by a link")
    parser.add_argument("--expires", metavar="WHEN", help="7d, 12h or 2030-05-31 (default: never)")
    parser.add_argument("--count", type=LINKS, help="so many links, each for one person (default: one for all)")
    add_store(parser)
    parser.set_defaults(run=invite)


def _add_erase(commands: Subparsers) -> None:  # type: ignore[type-arg]
    parser = commands.add_parser(
        "erase",
        help="take a person out of a campaign",
        description="Erase a participant who asks for it, and print the receipt for them.",
    )
    parser.add_argument("name", metavar="NAME", help="name of the campaign")
    parser.add_argument("code", metavar="CODE", help="the participant, as exports call them")
    parser.add_argument(
        "--how",
        choices=("anonymise", "remove"),
        required=True,
        help="keep the grades without the person, or remove them",
    )
    add_store(parser)
    parser.set_defaults(run=erase)


def asked_password(login: str) -> str:
    """A password from the environment, or typed twice; never from the command line, which others can read."""
    import getpass

    given = os.environ.get(PASSWORD)
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise AdjudgeError(f"Expected a password in {PASSWORD}, or a terminal to ask at.")
    first = getpass.getpass(f"Password for {login}: ")
    if getpass.getpass("Again: ") != first:
        raise AdjudgeError("The two passwords differ; nothing was changed.")
    return first


def add_user(arguments: argparse.Namespace) -> None:
    """Somebody new."""
    with opened(arguments, new=True) as store:
        from adjudge.web.people import add_organiser

        password = asked_password(arguments.login)
        with store.database.write() as connection:
            made = add_organiser(
                connection, login=arguments.login, password=password, is_admin=arguments.admin, now=store.now
            )
    print(f"Added {made.login}{', who sees all campaigns' if made.is_admin else ''}.")


def list_users(arguments: argparse.Namespace) -> None:
    """Everybody."""
    with opened(arguments) as store, store.database.read() as connection:
        from adjudge.web.people import list_organisers

        for found in list_organisers(connection):
            print(f"{found.login}{'  admin' if found.is_admin else ''}")


def disable_user(arguments: argparse.Namespace) -> None:
    """Shut somebody out."""
    with opened(arguments) as store:
        from adjudge.web.people import disable_organiser, find_organiser

        with store.database.write() as connection:
            found = find_organiser(connection, arguments.login)
            disable_organiser(connection, found, now=store.now)
    print(f"Disabled {found.login}; logins ended and tokens were revoked.")


def change_password(arguments: argparse.Namespace) -> None:
    """Another password."""
    with opened(arguments) as store:
        from adjudge.web import people

        with store.database.read() as connection:
            found = people.find_organiser(connection, arguments.login)
        password = asked_password(found.login)
        with store.database.write() as connection:
            people.change_password(connection, found, password=password)
    print(f"Changed the password of {found.login}; they are logged out everywhere.")


def make_token(arguments: argparse.Namespace) -> None:
    """Print the token and nothing else."""
    with opened(arguments) as store:
        from adjudge.web import people

        with store.database.write() as connection:
            found = people.find_organiser(connection, arguments.login)
            expires = moment(arguments.expires, now=store.now)
            _, plain = people.make_token(connection, found, name=arguments.name, expires_at=expires, now=store.now)
    print(plain)


def invite(arguments: argparse.Namespace) -> None:
    """Print links, one a line."""
    count = arguments.count if arguments.count is not None else 1
    cap = arguments.cap if arguments.cap is not None or arguments.count is None else 1
    with opened(arguments) as store:
        from adjudge.web.campaign_rows import find_campaign
        from adjudge.web.invitations import make_invitation
        from adjudge.web.links import invitation_link

        with store.database.write() as connection:
            found = find_campaign(connection, arguments.name)
            expires, links = moment(arguments.expires, now=store.now), []
            for number in range(1, count + 1):
                made = make_invitation(
                    connection,
                    found,
                    label=f"{arguments.label} {number}".strip() if count > 1 else arguments.label,
                    cap=cap,
                    expires_at=expires,
                    secret=store.settings.secret,
                    now=store.now,
                )
                links.append(invitation_link(store.settings.address, made.token, found))
    if arguments.address is None:
        say_address(store.settings)
    print("\n".join(links))


def erase(arguments: argparse.Namespace) -> None:
    """Erase, and print the receipt."""
    with opened(arguments) as store:
        from dataclasses import asdict

        from adjudge.tables import as_json
        from adjudge.web.campaign_rows import find_campaign
        from adjudge.web.erasing import erase_participant
        from adjudge.web.invitations import find_participant

        with store.database.write() as connection:
            found = find_campaign(connection, arguments.name)
            person = find_participant(connection, found, arguments.code)
            receipt = erase_participant(connection, person, how=arguments.how, who=WHO, now=store.now)
    sys.stdout.write(as_json(asdict(receipt)))
