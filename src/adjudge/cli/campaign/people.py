"""``adjudge campaign user``, ``token``, ``invite`` and ``erase``: who runs campaigns, and who judges."""

from __future__ import annotations

import argparse
import os
import sys

from adjudge.checks import LINKS
from adjudge.cli.campaign.store import WHO, add_campaign, add_store, moment, opened, say_address
from adjudge.cli.command import Entry, command, family
from adjudge.errors import AdjudgeError

PASSWORD = "ADJUDGE_PASSWORD"


def _add_login(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("login", metavar="LOGIN", help="how they log in")


def _add_admin(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--admin", action="store_true", help="sees the campaigns of everybody")


def _add_expiry(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--expires", metavar="WHEN", help="7d, 12h or 2030-05-31 (default: never)")


def _add_token(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("login", metavar="LOGIN", help="whom the program acts for")
    parser.add_argument("--name", default=WHO, help="what the token is for")


def _add_links(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--label", default="", help="for whom, as you will see it among the invitations")
    parser.add_argument("--cap", type=int, metavar="N", help="most people who may come by a link")
    parser.add_argument("--count", type=LINKS, help="number of links, each for one person (default: one for all)")


def _add_erasing(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="name of the campaign")
    parser.add_argument("code", metavar="CODE", help="the participant, as exports call them")
    parser.add_argument(
        "--how",
        choices=("anonymise", "remove"),
        required=True,
        help="keep the grades without the person, or remove them",
    )


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


@command(_add_login, _add_admin, add_store)
def add_user(arguments: argparse.Namespace) -> None:
    """Somebody new; the password is asked for at the terminal, or taken from ADJUDGE_PASSWORD."""
    with opened(arguments, new=True) as store:
        from adjudge.web.store.people import add_organiser

        password = asked_password(arguments.login)
        with store.database.write() as connection:
            made = add_organiser(
                connection, login=arguments.login, password=password, is_admin=arguments.admin, now=store.now
            )
    print(f"Added {made.login}{', who sees all campaigns' if made.is_admin else ''}.")


@command(add_store)
def list_users(arguments: argparse.Namespace) -> None:
    """Everybody who may log in."""
    with opened(arguments) as store, store.database.read() as connection:
        from adjudge.web.store.people import list_organisers

        for found in list_organisers(connection):
            print(f"{found.login}{'  admin' if found.is_admin else ''}")


@command(_add_login, add_store)
def disable_user(arguments: argparse.Namespace) -> None:
    """Shut somebody out; their campaigns stay."""
    with opened(arguments) as store:
        from adjudge.web.store.people import disable_organiser, find_organiser

        with store.database.write() as connection:
            found = find_organiser(connection, arguments.login)
            disable_organiser(connection, found, now=store.now)
    print(f"Disabled {found.login}; logins ended and tokens were revoked.")


@command(_add_login, add_store)
def change_password(arguments: argparse.Namespace) -> None:
    """A new password, asked for at the terminal, or taken from ADJUDGE_PASSWORD."""
    with opened(arguments) as store:
        from adjudge.web.store import people

        with store.database.read() as connection:
            found = people.find_organiser(connection, arguments.login)
        password = asked_password(found.login)
        with store.database.write() as connection:
            people.change_password(connection, found, password=password)
    print(f"Changed the password of {found.login}; they are logged out everywhere.")


user = family(
    "Who runs campaigns.",
    Entry("add", "somebody new", add_user),
    Entry("list", "everybody who may log in", list_users),
    Entry("disable", "shut somebody out", disable_user),
    Entry("password", "a new password, asked for at the terminal, or taken from ADJUDGE_PASSWORD", change_password),
)


@command(_add_token, _add_expiry, add_store)
def token(arguments: argparse.Namespace) -> None:
    """A token for a program of an organiser; it is shown this once."""
    with opened(arguments) as store:
        from adjudge.web.store import people

        with store.database.write() as connection:
            found = people.find_organiser(connection, arguments.login)
            expires = moment(arguments.expires, now=store.now)
            _, plain = people.make_token(connection, found, name=arguments.name, expires_at=expires, now=store.now)
    print(plain)


@command(_add_links, _add_expiry, add_campaign)
def invite(arguments: argparse.Namespace) -> None:
    """Links to a campaign, one per line.

    With --count, each is for one person; otherwise there is one for all who have it, or for the first --cap people.
    Where people come from a recruiter, it is the link to paste there.
    """
    count = arguments.count if arguments.count is not None else 1
    cap = arguments.cap if arguments.cap is not None or arguments.count is None else 1
    with opened(arguments) as store:
        from adjudge.web.store.campaigns import find_campaign
        from adjudge.web.store.participants import invitation_link, make_invitation

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


@command(_add_erasing, add_store)
def erase(arguments: argparse.Namespace) -> None:
    """Erase a participant who asks for it, and print the receipt for them."""
    with opened(arguments) as store:
        from dataclasses import asdict

        from adjudge.tables import as_json
        from adjudge.web.store.campaigns import find_campaign
        from adjudge.web.store.erase import erase_participant
        from adjudge.web.store.participants import find_participant

        with store.database.write() as connection:
            found = find_campaign(connection, arguments.name)
            person = find_participant(connection, found, arguments.code)
            receipt = erase_participant(connection, person, how=arguments.how, who=WHO, now=store.now)
    sys.stdout.write(as_json(asdict(receipt)))
