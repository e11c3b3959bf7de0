"""``adjudge serve``: campaigns on the web."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from adjudge.checks import PORT, WORKERS
from adjudge.cli.campaign.store import add_store, settings_of
from adjudge.cli.command import command
from adjudge.errors import AdjudgeError, shown
from adjudge.extras import need

if TYPE_CHECKING:
    from adjudge.web.settings import Settings

_EXAMPLES = """examples:
  adjudge serve --demo --open
  adjudge serve --data /srv/adjudge --address https://judge.example.org
  adjudge serve --database postgresql://adjudge@localhost/adjudge --workers 4
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("reaching it")
    group.add_argument(
        "--host", default="127.0.0.1", metavar="H", help="where to listen; 127.0.0.1 is for this machine only"
    )
    group.add_argument("--port", type=PORT, default=8000)
    group.add_argument("--workers", type=WORKERS, default=1, help="processes, on PostgreSQL")
    group.add_argument(
        "--proxy", action="append", default=[], metavar="IP", help="a reverse proxy in front of it; repeatable"
    )
    parser.add_argument("--demo", action="store_true", help="with the embedded demo as campaigns, sound and all")
    parser.add_argument("--open", action="store_true", help="open it in the browser")


def need_server() -> None:
    """Refuse in one line where the packages of the server are not installed."""
    need("web", "The server needs")


@command(add_store, _add_options, examples=_EXAMPLES)
def run(arguments: argparse.Namespace) -> None:
    """A server for participants and organisers. Ctrl-C stops it; everything stays in the data folder."""
    need_server()
    from adjudge.web.serving import check_port, check_workers, serve

    settings = _settings(arguments)
    check_workers(settings, arguments.workers)
    check_port(arguments.host, arguments.port)
    lines, page = _demo(settings) if arguments.demo else ([], settings.address)

    def ready() -> None:
        with suppress(OSError):  # only links that other commands print lead elsewhere then
            settings.address_file.write_text(settings.address, encoding="utf-8")
        print("\n".join([f"Adjudge is at {settings.address}", *lines]), flush=True)
        if arguments.demo:
            _in_background(lambda: _finish_demo(settings))
        if arguments.open:
            _browse(page)

    serve(settings, host=arguments.host, port=arguments.port, workers=arguments.workers, ready=ready)


def _proxy(text: str) -> str:
    """The address of a proxy, or of a network of them; one that is misspelt would not be believed, in silence."""
    from ipaddress import ip_network

    try:
        ip_network(text, strict=False)
    except ValueError:
        raise AdjudgeError(f"Expected the IP address of a proxy such as 127.0.0.1, got {shown(text)}") from None
    return text


def _settings(arguments: argparse.Namespace) -> Settings:
    """As the options and the environment say; the address follows from host and port where nobody says it."""
    from adjudge.web.serving import at_address

    settings = replace(settings_of(arguments), proxies=tuple(map(_proxy, arguments.proxy)))
    if settings.data.exists() and not settings.data.is_dir():
        raise AdjudgeError(f"{settings.data}: expected a folder for the server's data")
    if arguments.address or os.environ.get("ADJUDGE_ADDRESS"):
        return replace(settings, address=settings.address.rstrip("/"))
    return at_address(settings, host=arguments.host, port=arguments.port)


def _demo(settings: Settings) -> tuple[list[str], str]:
    """Make the demo; what to say about it, and the page to open."""
    from adjudge.cli.output import progress
    from adjudge.web.demo import STEPS, make_demo
    from adjudge.web.store.database import open_database

    database = open_database(settings)
    try:
        with progress("making the demo's music") as advance:
            told: int | None = None

            def tell(what: str, done: int, total: int) -> None:
                nonlocal told
                so_far, everything = STEPS.index(what) * total + done, len(STEPS) * total  # one bar for all
                tenths = 10 * so_far // everything
                if told is None:
                    print("Making the demo's music; this takes about 20 seconds, once.", file=sys.stderr, flush=True)
                elif not sys.stderr.isatty() and tenths > told:
                    print(f"  {10 * tenths} %", file=sys.stderr, flush=True)  # a log has no bar
                told = tenths if told is None else max(told, tenths)
                advance(so_far, everything)

            made = make_demo(database, settings, progress=tell)
    finally:
        database.close()
    links = {what: f"{settings.address}/i/{token}" for what, token in made.invitations.items()}
    organise = f"{settings.address}/campaigns/{made.campaign}  (login {made.login}, password {made.password})"
    lines = [f"  {what + ':':9} {link}" for what, link in {**links, "organise": organise}.items()]
    return lines, f"{settings.address}/i/{made.invitation}"


def _finish_demo(settings: Settings) -> None:
    """Make what is left of the demo while the server runs."""
    from adjudge.web.demo import finish_demo
    from adjudge.web.store.database import open_database

    database = open_database(settings)
    try:
        finish_demo(database, settings)
    except AdjudgeError as error:
        print(f"adjudge: note: a part of the demo is missing: {error}", file=sys.stderr)
    finally:
        database.close()


def _browse(page: str) -> None:
    """Open a page without waiting for the browser, which may wait for us."""
    import webbrowser

    def show() -> None:
        if not webbrowser.open(page):
            print(f"adjudge: note: no browser was found; open {page}", file=sys.stderr)

    _in_background(show)


def _in_background(work: Callable[[], None]) -> None:
    """Do something while the server runs."""
    import threading

    threading.Thread(target=work, daemon=True).start()
