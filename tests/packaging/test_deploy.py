"""What can be known of the image, the services and the proxies without running them."""

from __future__ import annotations

import argparse
import ipaddress
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.packaging.project import ROOT, pyproject

from adjudge import __version__
from adjudge.cli.parser import build_parser
from adjudge.web.pages.organiser import health_router as health
from adjudge.web.settings import Settings

DEPLOY = ROOT / "deploy"
PORT = 8000
KNOWN = {"ADJUDGE_DATA", "ADJUDGE_DATABASE", "ADJUDGE_ADDRESS"}
UNITS = ("adjudge.service", "adjudge-backup.service", "adjudge-backup.timer")


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def parsed(command: str | list[str]) -> argparse.Namespace:
    """A command as the real parser understands it; it exits where it does not."""
    words = shlex.split(command, comments=True) if isinstance(command, str) else command
    return build_parser().parse_args(words[1:] if words[0] == "adjudge" else words)


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions with their arguments, continued lines joined."""
    lines = [line for line in read("Dockerfile").splitlines() if not line.startswith("#")]
    whole = "\n".join(lines).replace("\\\n", " ")
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in whole.splitlines()) if word]


def of(instruction: str) -> list[str]:
    return [rest for word, rest in instructions() if word == instruction]


def unit(name: str) -> list[tuple[str, str]]:
    """Settings of a unit, of which some are repeated."""
    lines = [line for line in read(f"deploy/{name}").splitlines() if "=" in line and not line.startswith("#")]
    return [(key, value) for key, _, value in (line.partition("=") for line in lines)]


def settings_of(name: str, key: str) -> list[str]:
    return [value for found, value in unit(name) if found == key]


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(read("deploy/compose.yaml"))
    return found


class TestImage:
    def test_it_is_made_from_files_that_are_there_and_let_in(self) -> None:
        sources = [name for rest in of("COPY") if not rest.startswith("--from") for name in rest.split()[:-1]]
        assert {"pyproject.toml", "README.md", "LICENSE", "src"} == set(sources)
        assert all((ROOT / name).exists() for name in sources)
        assert {f"!{name}" for name in sources} <= set(read(".dockerignore").splitlines())

    def test_its_python_is_one_that_the_package_runs_on(self) -> None:
        (argument,) = of("ARG")
        least = pyproject()["project"]["requires-python"].removeprefix(">=")
        version = argument.removeprefix("PYTHON=")
        assert tuple(map(int, version.split("."))) >= tuple(map(int, least.split(".")))
        assert [rest.split()[0] for rest in of("FROM")] == ["python:${PYTHON}-slim"] * 2

    def test_it_does_not_run_as_root(self) -> None:
        (user,) = of("USER")
        number, _, group = user.partition(":")
        assert int(number) > 0
        assert int(group) > 0
        assert any(f"useradd --uid {number} " in rest for rest in of("RUN"))

    def test_it_serves_to_others_from_its_volume(self) -> None:
        (entry,), (command,), (volume,) = of("ENTRYPOINT"), of("CMD"), of("VOLUME")
        arguments = parsed([*json.loads(entry), *json.loads(command)])
        assert (arguments.host, arguments.port) == ("0.0.0.0", PORT)
        assert of("EXPOSE") == [str(PORT)]
        assert f"ADJUDGE_DATA={volume}" in of("ENV")[0]

    def test_its_health_is_asked_where_the_server_tells_it(self) -> None:
        (check,) = of("HEALTHCHECK")
        (route,) = health.routes
        assert f"http://127.0.0.1:{PORT}{route.path}'" in check  # type: ignore[attr-defined]

    def test_it_installs_the_server(self) -> None:
        assert any("pip install" in rest and "'.[web]'" in rest for rest in of("RUN"))


class TestCompose:
    def test_the_server_is_started_with_options_that_it_has(self) -> None:
        arguments = parsed(compose()["services"]["adjudge"]["command"])
        assert arguments.workers > 1
        assert arguments.port == PORT

    def test_the_proxy_that_is_believed_is_the_gateway_of_the_network(self) -> None:
        (network,) = compose()["networks"]["default"]["ipam"]["config"]
        (proxy,) = parsed(compose()["services"]["adjudge"]["command"]).proxy
        assert proxy == network["gateway"]
        assert ipaddress.ip_address(proxy) in ipaddress.ip_network(network["subnet"])

    def test_the_environment_is_what_the_server_reads(self) -> None:
        environment = compose()["services"]["adjudge"]["environment"]
        assert set(environment) <= KNOWN
        url = re.sub(r"\$\{.*?\}", "0a1b", environment["ADJUDGE_DATABASE"])
        assert Settings(data=Path("data"), database=url).url == "postgresql+psycopg://adjudge:0a1b@postgres/adjudge"

    def test_the_database_is_the_one_that_is_made(self) -> None:
        made = compose()["services"]["postgres"]["environment"]
        assert (made["POSTGRES_USER"], made["POSTGRES_DB"]) == ("adjudge", "adjudge")
        assert made["POSTGRES_PASSWORD"] in compose()["services"]["adjudge"]["environment"]["ADJUDGE_DATABASE"]

    def test_nothing_is_open_to_the_network(self) -> None:
        services = compose()["services"]
        assert services["adjudge"]["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
        assert "ports" not in services["postgres"]

    def test_the_image_is_of_this_version_and_keeps_its_data(self) -> None:
        service = compose()["services"]["adjudge"]
        assert service["image"] == f"adjudge:{__version__}"
        assert service["volumes"] == ["data:/data"]
        assert (DEPLOY / service["build"]).resolve() == ROOT


class TestUnits:
    @pytest.mark.parametrize("name", UNITS[:2])
    def test_they_do_not_run_as_root_and_may_do_little(self, name: str) -> None:
        assert settings_of(name, "User") == ["adjudge"]
        assert settings_of(name, "NoNewPrivileges") == ["yes"]
        assert settings_of(name, "ProtectSystem") == ["strict"]
        assert settings_of(name, "CapabilityBoundingSet") == [""]

    def test_the_server_is_started_with_options_that_it_has(self) -> None:
        (start,) = settings_of("adjudge.service", "ExecStart")
        arguments = parsed(start.removeprefix("/opt/adjudge/bin/").removesuffix("$ADJUDGE_OPTIONS"))
        assert (arguments.host, arguments.port, arguments.proxy) == ("127.0.0.1", PORT, ["127.0.0.1"])

    def test_the_backup_is_made_by_commands_that_there_are(self) -> None:
        shell, verify, _ = settings_of("adjudge-backup.service", "ExecStart")
        made = re.search(r"/opt/adjudge/bin/(adjudge .*)'$", shell)
        assert made is not None
        assert parsed(made[1]).file.startswith("/var/lib/adjudge-backups/adjudge-")
        assert parsed(verify.removeprefix("/opt/adjudge/bin/")).json is False

    @pytest.mark.parametrize("name", UNITS[:2])
    def test_they_keep_things_where_they_may_write(self, name: str) -> None:
        allowed = {f"/var/lib/{folder}" for value in settings_of(name, "StateDirectory") for folder in value.split()}
        used = set(re.findall(r"/var/lib/[\w-]+", " ".join(value for _, value in unit(name))))
        assert used <= allowed

    @pytest.mark.parametrize("name", UNITS[:2])
    def test_the_environment_is_what_the_server_reads(self, name: str) -> None:
        named = re.findall(r"ADJUDGE_\w+(?==)", " ".join(settings_of(name, "Environment")))
        assert set(named) <= KNOWN

    def test_the_timer_starts_the_backup(self) -> None:
        assert Path(UNITS[2]).stem == Path(UNITS[1]).stem
        assert settings_of(UNITS[2], "Persistent") == ["yes"]


class TestProxies:
    @pytest.mark.parametrize(
        ("name", "limit"), [("nginx.conf", r"client_max_body_size (\d+)m"), ("Caddyfile", r"max_size (\d+)MB")]
    )
    def test_they_let_through_what_the_server_takes(self, name: str, limit: str) -> None:
        found = re.search(limit, read(f"deploy/{name}"))
        assert found is not None
        assert int(found[1]) * 1_000_000 > Settings(data=Path("data")).max_upload

    @pytest.mark.parametrize("name", ["nginx.conf", "Caddyfile"])
    def test_they_ask_the_server_where_it_listens(self, name: str) -> None:
        assert f"127.0.0.1:{PORT}" in read(f"deploy/{name}")

    def test_nginx_passes_streams_on_at_once(self) -> None:
        text = read("deploy/nginx.conf")
        place = re.search(r"location ~ (\S+) \{(.*?)\}", text, re.DOTALL)
        assert place is not None
        assert re.match(place[1], "/api/campaigns/songs/events")
        assert "proxy_buffering off;" in place[2]

    def test_nginx_says_who_asks_and_how(self) -> None:
        text = read("deploy/nginx.conf")
        assert "proxy_set_header X-Forwarded-For $remote_addr;" in text
        assert "proxy_set_header X-Forwarded-Proto $scheme;" in text

    def test_nginx_lets_go_of_connections_before_the_server_does(self) -> None:
        found = re.search(r"keepalive_timeout (\d+)s", read("deploy/nginx.conf"))
        assert found is not None
        assert int(found[1]) < 65


def shown_commands() -> list[str]:
    """Commands of ours that comments tell people to run."""
    lines = [line for path in (ROOT / "Dockerfile", *sorted(DEPLOY.iterdir())) for line in read(str(path)).splitlines()]
    found = (re.match(r"#   (?:.*[ /])?(adjudge (?:campaign|serve) .*)", line) for line in lines)
    return [one[1] for one in found if one is not None]


def test_commands_in_comments_are_commands() -> None:
    commands = shown_commands()
    assert len(commands) >= 6
    for command in commands:
        parsed(command)
