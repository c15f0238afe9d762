"""Other local users reach neither servers nor data; the portal's role can't rewrite the past."""

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import psutil
import psycopg2
import pytest
from psycopg2.errors import InsufficientPrivilege
from redis import Redis

from portal.backend import Backend
from portal.core import schema
from portal.core.settings import Settings
from portal.runtime import embedded_postgres, service_account
from portal.runtime.data_folder import DataFolder, StartupError
from portal.runtime.embedded_servers import Servers

STRANGER = 65_533  # a user that nothing here belongs to
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
CAPABILITIES = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")


def server(servers: Servers, name: str) -> psutil.Process:
    child = next(each for each in servers.children if each.name == name)
    assert child.process
    return psutil.Process(child.process.pid)


def as_stranger(act: Callable[[], object], number: int = STRANGER) -> str:
    """What another local user gets by doing that: its value, or the name of its error."""
    read, write = os.pipe()
    child = os.fork()  # not a new program, whose files could be closed to others
    if child == 0:
        with suppress(BaseException):
            os.setgroups([])
            os.setgid(number)
            os.setuid(number)
            os.write(write, _told(act).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        told = answer.read()
    os.waitpid(child, 0)
    return told


def _told(act: Callable[[], object]) -> str:
    try:
        return str(act())
    except Exception as error:  # noqa: BLE001  whatever it is, the test is told of it
        return f"{type(error).__name__}: {error}"


def connected(path: Path) -> None:
    socket.socket(socket.AF_UNIX).connect(str(path))


@as_root
def test_another_user_reaches_no_socket(servers: Servers) -> None:
    assert servers.sockets
    place = embedded_postgres.socket_folder(servers.sockets)
    for path in (place / ".s.PGSQL.5432", servers.sockets / "valkey.sock"):
        assert path.is_socket()
        assert as_stranger(partial(connected, path)).startswith("PermissionError")
    assert as_stranger(partial(os.listdir, servers.sockets)).startswith("PermissionError")


def test_the_servers_listen_at_no_port(servers: Servers) -> None:
    for name in ("postgres", "valkey"):
        process = server(servers, name)
        assert process.net_connections("tcp") == []  # it lives as long as the tests
        for each in process.children(recursive=True):
            open_to_others = []
            with suppress(psutil.NoSuchProcess):  # it may end while it is looked at
                open_to_others = each.net_connections("tcp")
            assert open_to_others == []


def test_postgresql_inherits_no_secret_from_the_portals_environment(servers: Servers) -> None:
    assert os.environ.keys() - {"PATH", "LC_ALL", "TZ", "HOME"}
    assert server(servers, "postgres").environ().keys() <= {"PATH", "LC_ALL", "TZ", "HOME"}


@as_root
def test_another_user_reads_nothing_of_the_data_folder(servers: Servers) -> None:
    var = servers.folder.path
    assert as_stranger(partial(os.listdir, var)).startswith("PermissionError")
    for name in ("database-password", "database-owner-password", "postgres/PG_VERSION", "log"):
        assert (var / name).exists()
        assert as_stranger(partial(os.stat, var / name)).startswith("PermissionError")


@as_root
def test_postgresql_runs_without_any_capability_as_an_account_of_its_own(servers: Servers) -> None:
    postmaster = server(servers, "postgres")
    numbers = set(postmaster.uids())
    assert numbers == set(postmaster.gids())
    assert len(numbers) == 1
    assert numbers.issubset(service_account.NUMBERS)
    with closing(psycopg2.connect(servers.database_url)):
        family = [postmaster, *postmaster.children()]
        assert len(family) > 3
        for each in family:
            told = dict(line.split(":\t") for line in status(each) if ":\t" in line)
            assert {name: int(told[name], 16) for name in CAPABILITIES} == dict.fromkeys(
                CAPABILITIES, 0
            )
            assert told["NoNewPrivs"] == "1"
            assert told["Groups"].strip() == ""


def status(process: psutil.Process) -> list[str]:
    return Path(f"/proc/{process.pid}/status").read_text().splitlines()


@as_root
def test_no_two_data_folders_share_an_account_that_runs(servers: Servers) -> None:
    (number,) = set(server(servers, "postgres").uids())
    assert service_account.unused() != number


def test_no_one_enters_without_a_password(servers: Servers) -> None:
    rules = (servers.folder.path / "postgres" / "pg_hba.conf").read_text()
    assert rules == "local all all scram-sha-256\n"
    assert servers.sockets
    for user in (embedded_postgres.USER, embedded_postgres.OWNER):
        with pytest.raises(psycopg2.OperationalError, match="no password supplied"):
            psycopg2.connect(
                host=str(embedded_postgres.socket_folder(servers.sockets)),
                user=user,
                dbname="fairseat",
            )


def test_no_password_is_seen_by_whoever_lists_processes(servers: Servers) -> None:
    secrets = [
        servers.folder.secret(name) for name in ("database-password", "database-owner-password")
    ]
    for child in servers.children:
        assert not [each for each in child.command for secret in secrets if secret in each]


@pytest.mark.parametrize(
    "change",
    [
        "COPY (SELECT 1) TO PROGRAM 'id'",
        "CREATE TEMP TABLE t (x text); COPY t FROM PROGRAM 'id'",
        "CREATE TEMP TABLE t (x text); COPY t FROM '/etc/passwd'",
        "SELECT pg_read_file('/etc/passwd')",
        "SET session_replication_role = replica",
        "CREATE TABLE mine (x text)",
        "CREATE ROLE another SUPERUSER",
        "ALTER ROLE fairseat SUPERUSER",
        "SET ROLE fairseat_owner",
        *(
            statement.format(table)
            for table in ("events", "audit_entries")
            for statement in (
                "DELETE FROM {0}",
                "TRUNCATE {0}",
                "ALTER TABLE {0} DISABLE TRIGGER ALL",
                "ALTER TABLE {0} OWNER TO fairseat",
                "DROP TABLE {0}",
                "DROP TRIGGER only_added ON {0}",
                "CREATE TRIGGER mine BEFORE INSERT ON {0} EXECUTE FUNCTION refuse_change()",
                "CREATE RULE mine AS ON INSERT TO {0} DO INSTEAD NOTHING",
            )
        ),
        "UPDATE events SET name = 'x'",
        "UPDATE audit_entries SET reason = 'x'",
        "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE sql AS ''",
        "UPDATE alembic_version SET version_num = '0001'",
    ],
)
def test_the_portals_role_can_not(backend: Backend, change: str) -> None:
    url = backend.settings.database_url
    with closing(psycopg2.connect(url)) as one, pytest.raises(InsufficientPrivilege):
        one.cursor().execute(change)


def test_the_portals_role_owns_nothing_and_is_no_superuser(backend: Backend) -> None:
    with closing(psycopg2.connect(backend.settings.database_url)) as connection:
        cursor = connection.cursor()
        cursor.execute(
            "SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls,"
            " (SELECT count(*) FROM pg_class WHERE relowner = r.oid),"
            " (SELECT count(*) FROM pg_auth_members WHERE member = r.oid)"
            " FROM pg_roles r WHERE rolname = current_user"
        )
        assert cursor.fetchone() == (False, 0, 0)


def test_the_portals_role_may_do_what_imports_do(backend: Backend) -> None:
    with closing(psycopg2.connect(backend.settings.database_url)) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TEMP TABLE these (id integer)")
        cursor.execute("ANALYZE courses, sections, sourced_ids")
        cursor.execute("LOCK TABLE sections IN ACCESS EXCLUSIVE MODE")
        assert connection.notices == []


def test_one_role_for_all_works_as_well(servers: Servers, settings: Settings) -> None:
    assert settings.owner_url == servers.owner_url
    schema.upgrade(servers.owner_url, portal=servers.owner_url)
    with closing(psycopg2.connect(servers.owner_url)) as connection:
        connection.cursor().execute("SELECT count(*) FROM events")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[DataFolder]:
    owned = DataFolder(tmp_path / "var")
    assert owned.own() is None
    yield owned
    owned.release()


def test_data_of_a_version_without_passwords_is_refused(folder: DataFolder) -> None:
    (folder.path / "postgres").mkdir()
    (folder.path / "postgres" / "PG_VERSION").write_text("18\n")
    servers = Servers(folder, redis_url="redis://elsewhere", durable=False)
    with pytest.raises(StartupError, match=r"before 1.0.0.* move .*var away"):
        servers.start()
    assert not (folder.path / "database-password").exists()


@as_root
def test_an_ordinary_user_runs_the_servers_as_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    user = service_account.with_name()  # which initdb asks for
    with tempfile.TemporaryDirectory() as home:
        os.chown(home, user, user)
        monkeypatch.setattr("tempfile.tempdir", home)
        assert as_stranger(partial(_accounts_of_servers, Path(home)), user) == str({user})


def _accounts_of_servers(home: Path) -> set[int]:
    folder = DataFolder(home / "var")
    folder.own()
    servers = Servers(folder, durable=False)
    servers.start()
    with closing(psycopg2.connect(servers.database_url)) as connection:
        connection.cursor().execute("SELECT 1")
    found = {number for child in servers.children for number in server(servers, child.name).uids()}
    servers.stop()
    folder.release()
    return found


@as_root
def test_data_that_belongs_to_root_is_refused_with_what_to_do(folder: DataFolder) -> None:
    servers = Servers(folder, redis_url="redis://elsewhere", durable=False)
    servers.start()
    servers.stop()
    service_account.give(folder.path / "postgres", 0, 0)
    again = Servers(folder, redis_url="redis://elsewhere", durable=False)
    with pytest.raises(StartupError, match="chown -R"):
        again.start()
    service_account.give(
        folder.path / "postgres", service_account.NUMBERS[7], service_account.NUMBERS[7]
    )
    again.start()
    assert set(server(again, "postgres").uids()) == {service_account.NUMBERS[7]}
    again.stop()


@as_root
def test_programs_in_a_closed_folder_are_copied_to_where_the_account_reaches_them(
    folder: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    package = Path(embedded_postgres.binary("postgres")).parents[2]
    shutil.copytree(package / "pginstall18", closed / package.name / "pginstall18")
    shutil.copytree(f"{package}.libs", closed / f"{package.name}.libs")
    (closed / package.name / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(closed))
    assert embedded_postgres.binary("postgres").startswith(str(closed))
    servers = Servers(folder, redis_url="redis://elsewhere", durable=False)
    servers.start()
    assert servers.sockets
    assert server(servers, "postgres").exe().startswith(str(servers.sockets))
    with closing(psycopg2.connect(servers.database_url)) as connection:
        connection.cursor().execute("SELECT 1")
    servers.stop()


def test_valkey_serves_its_own_user_alone(servers: Servers) -> None:
    assert servers.sockets
    socket_file = servers.sockets / "valkey.sock"
    assert socket_file.stat().st_mode & 0o077 == 0
    with Redis.from_url(servers.redis_url) as redis:
        assert redis.config_get("port") == {"port": "0"}
