"""The files of docker/, as their own tools and the portal's code see them."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click import Context

from portal.core.settings import ROOT
from portal.runtime.cli import main

DOCKER = ROOT / "docker"
BIN = Path(sys.executable).parent
PORTALS = ("compose.yml", "compose.cluster.yml")
WATCH = "compose.watch.yml"  # which both include
WORKERS = "compose.workers.yml"  # on a host of their own
PRIVATE = "compose.private.yml"  # what they reach there
COMPOSE = (*PORTALS, WATCH, WORKERS)


@pytest.fixture(params=COMPOSE)
def compose(request: pytest.FixtureRequest) -> dict[str, Any]:
    return _read(request.param)


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DOCKER / name).read_text())
    return found


def run(*command: str) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_dockerfile_has_nothing_that_hadolint_minds() -> None:
    run(f"{BIN}/hadolint", "docker/Dockerfile")


@pytest.mark.parametrize("name", [*COMPOSE, PRIVATE])
def test_compose_files_are_as_their_schema_says(name: str) -> None:
    run(f"{BIN}/check-jsonschema", "--builtin-schema", "vendor.compose-spec", f"docker/{name}")


def test_whatever_the_image_copies_is_there_and_let_in() -> None:
    let_in = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", _dockerfile(), re.MULTILINE)
    wanted = {name for line in copied for name in line.split()} - {"."}
    assert wanted <= set(let_in)
    assert [name for name in let_in if not (ROOT / name).exists()] == []


def test_the_image_stops_by_a_signal_that_arrives_and_is_not_root() -> None:
    text = _dockerfile()
    assert re.search(r"^STOPSIGNAL SIGTERM$", text, re.MULTILINE)
    assert re.search(r'^CMD \["gunicorn"', text, re.MULTILINE)
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", text, re.MULTILINE)
    assert "HEALTHCHECK" in text
    assert "--require-hashes" in text


def test_every_service_comes_back_is_checked_and_is_not_root(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert service["restart"], name
        assert not str(service["user"]).startswith(("0", "root")), name
        # The image's own is that of the web.
        assert "healthcheck" in service or name.startswith("web"), name


def test_no_service_has_capabilities_or_can_get_them(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert service["cap_drop"] == ["ALL"], name
        assert not service.get("cap_add"), name
        assert service["security_opt"] == ["no-new-privileges:true"], name


def test_services_write_to_their_volumes_and_to_memory_alone(compose: dict[str, Any]) -> None:
    # No secret could be put into Prometheus; Grafana unpacks what it finds to install.
    writing = {"prometheus", "grafana"}
    for name, service in compose["services"].items():
        if name not in writing:
            assert service["read_only"], name
            assert any(each.startswith("/tmp") for each in service["tmpfs"]), name  # noqa: S108
    postgres = compose["services"].get("postgres")
    assert not postgres or "/run/postgresql" in postgres["tmpfs"]  # its socket


def test_packages_of_scripts_are_fetched_by_the_rules_of_the_repository() -> None:
    copied, fetched = _dockerfile().index("COPY .npmrc "), _dockerfile().index("RUN sh .ci/scripts")
    assert copied < fetched
    assert "ignore-scripts=true" in (ROOT / ".npmrc").read_text()


@pytest.mark.parametrize("name", PORTALS)
def test_only_nginx_is_reached_from_outside(name: str) -> None:
    assert _open_to_all(name) == {"nginx"}


def test_those_who_watch_are_reached_from_this_machine_alone() -> None:
    assert _open_to_all(WATCH) == set()


@pytest.mark.parametrize("name", [WORKERS, PRIVATE])
def test_what_other_hosts_reach_is_on_a_private_network_alone(name: str) -> None:
    services = _read(name)["services"]
    assert set(services) <= {*_read("compose.yml")["services"], "workers"}
    for service in services.values():
        assert all(port.startswith("${FAIRSEAT_PRIVATE:?") for port in service.get("ports", ()))


def test_workers_of_other_hosts_are_set_as_those_beside_the_portal_are() -> None:
    here, there = (
        _read("compose.yml")["services"]["workers-1"],
        _read(WORKERS)["services"]["workers"],
    )
    apart = {"DATABASE_URL", "REDIS_URL", "FAIRSEAT_METRICS_TOKEN", "FAIRSEAT_WORKERS"}  # differ
    of_the_web = {"FAIRSEAT_HTTPS", "FAIRSEAT_PROXIES", "GUNICORN_CMD_ARGS", "WEB_CONCURRENCY"}
    told, given = here["environment"], there["environment"]
    assert set(given) == set(told) - of_the_web
    assert {name.partition(":")[0] for name in given} >= apart
    for name in set(given) - apart - {"SECRET_KEY"}:
        assert given[name] == told[name]
    for what in ("image", "build", "command", "user", "read_only", "cap_drop", "healthcheck"):
        assert here[what] == there[what]


def _open_to_all(name: str) -> set[str]:
    services = _read(name)["services"].items()
    return {
        name
        for name, service in services
        for port in service.get("ports", ())
        if not port.startswith("127.0.0.1:")
    }


def test_no_secret_has_a_default(compose: dict[str, Any]) -> None:
    secret = r"(?:PASSWORD|SECRET_KEY(?!_FALLBACKS))"
    used = re.findall(rf"\$\{{\w*{secret}\w*([^}}]*)\}}", yaml.dump(compose, width=10_000))
    assert used
    assert all(given.startswith(":?") for given in used)


def test_what_is_mounted_is_there(compose: dict[str, Any]) -> None:
    volumes = compose.get("volumes", {})
    for name, service in compose["services"].items():
        for mounted in service.get("volumes", ()):
            source = mounted.split(":")[0]
            if source.startswith("."):
                assert (DOCKER / source).exists(), name
            elif not source.startswith("$"):
                assert source in volumes, name


def test_backups_and_documents_go_where_their_user_may_write() -> None:
    text, made = _dockerfile(), r"^RUN install -d -o (\d+) -g (\d+) -m 700 (\S+) (\S+)$"
    (user,) = re.findall(r"^USER (\d+:\d+)$", text, re.MULTILINE)
    ((owner, group, folder, documents),) = re.findall(made, text, re.MULTILINE)
    assert f"useradd -u {owner} " in text  # PostgreSQL refuses users without a name
    for name in PORTALS:
        services = _read(name)["services"]
        for each in ("web-1", "web-2", "workers-1", "workers-2"):
            assert services[each]["volumes"] == [f"documents:{documents}"]
            assert services[each]["environment"]["FAIRSEAT_DOCUMENTS"] == documents
        service = services["backup"]
        (mounted,) = service["volumes"]
        assert service["user"] == user == f"{owner}:{group}"
        assert mounted.endswith(f":{folder}")
        assert service["command"][2] == folder


def test_the_portal_knows_what_each_container_is_to_do(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        program, *arguments = service.get("command", ["none"])
        if program == "fairseat":
            command = main.get_command(Context(main), arguments[0])
            assert command
            command.make_context(arguments[0], arguments[1:]).close()


def test_each_web_node_is_known_to_nginx(compose: dict[str, Any]) -> None:
    text = (DOCKER / "nginx" / "nodes.conf").read_text()
    for name, service in compose["services"].items():
        if name.startswith("web"):
            address = service["networks"]["default"]["ipv4_address"]
            assert text.count(f"server {address}:8000") == 2


def test_each_server_of_the_ledger_has_a_sentinel_and_there_is_no_other() -> None:
    services = _read("compose.cluster.yml")["services"]
    sentinels = {name for name in services if name.startswith("sentinel")}
    servers = {name for name in services if name.startswith("ledger")}
    assert sentinels == {name.replace("ledger", "sentinel") for name in servers}
    asked = set(re.findall(r"([\d.]+):26379", services["web-1"]["environment"]["REDIS_URL"]))
    assert asked == {services[name]["networks"]["default"]["ipv4_address"] for name in sentinels}
    enough = {services[name]["environment"]["LEDGER_REPLICAS"] for name in servers}
    assert enough == {str(len(servers) // 2)}


def test_secrets_are_made_once_and_for_one_user_alone(tmp_path: Path) -> None:
    script = tmp_path / "secrets.sh"
    script.write_text((DOCKER / "secrets.sh").read_text())
    run("sh", str(script))
    made = tmp_path / ".env"
    assert made.stat().st_mode & 0o077 == 0
    keys = dict(re.findall(r"^(\w+)=([0-9a-f]{64})$", made.read_text(), re.MULTILINE))
    assert len(keys) == len(set(keys.values())) == 6
    before = made.read_text()
    run("sh", str(script))
    assert made.read_text() == before


def test_the_secrets_that_an_older_version_did_not_make_are_added(tmp_path: Path) -> None:
    script, made = tmp_path / "secrets.sh", tmp_path / ".env"
    script.write_text((DOCKER / "secrets.sh").read_text())
    kept = "SECRET_KEY=mine\nPOSTGRES_PASSWORD=chosen\nLEDGER_PASSWORD=so\nFAIRSEAT_URL=https://a.example"
    made.write_text(kept)  # without an end of its last line
    run("sh", str(script))
    assert made.read_text().startswith(f"{kept}\n")
    added = made.read_text().removeprefix(f"{kept}\n")
    names = re.findall(r"^(\w+)=[0-9a-f]{64}$", added, re.MULTILINE)
    assert names == ["POSTGRES_OWNER_PASSWORD", "FAIRSEAT_METRICS_TOKEN", "GRAFANA_PASSWORD"]
    assert len(added.splitlines()) == len(names)


@pytest.mark.parametrize("name", PORTALS)
def test_only_what_changes_the_tables_themselves_has_the_password_of_their_owner(name: str) -> None:
    services = _read(name)["services"].items()
    secret = "POSTGRES_OWNER_PASSWORD"
    given = {each for each, service in services if secret in str(service.get("environment"))}
    assert given == {"postgres", "prepare", "owner"}


@pytest.mark.parametrize("name", [*PORTALS, WATCH])
def test_every_setting_that_must_be_given_is_asked_for(name: str) -> None:
    wanted = set(re.findall(r"\$\{(\w+):\?", yaml.dump(_read(name), width=10_000)))
    asked = set(re.findall(r"^(\w+)=", (DOCKER / "secrets.sh").read_text(), re.MULTILINE))
    assert wanted <= asked


def _dockerfile() -> str:
    return (DOCKER / "Dockerfile").read_text()
