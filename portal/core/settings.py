"""Settings, all read from the environment; the defaults suit `make run`."""

import os
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

Network = IPv4Network | IPv6Network

INSTALLED = Path(__file__).resolve().parents[1] / "resources"  # exists in an installed wheel alone
# The folder of templates/, static/ and migrations/: the repository, or their copy in the wheel.
ROOT = INSTALLED if INSTALLED.is_dir() else Path(__file__).resolve().parents[2]


class SettingsError(ValueError):
    """Settings with which nobody could be served."""


@dataclass(frozen=True)
class Oidc:
    """An OpenID provider that people may log in through."""

    issuer: str  # its address; what it offers is found below /.well-known/
    client_id: str
    client_secret: str = field(repr=False)
    claim: str = "preferred_username"  # the claim that is our user name
    name: str = "Single sign-on"  # on the button


@dataclass(frozen=True)
class Settings:
    """One value per setting; `Settings.read()` gives those of this process."""

    database_url: str = field(repr=False)
    redis_url: str = field(repr=False)
    secret_key: str = field(repr=False)
    secret_key_fallbacks: tuple[str, ...] = field(default=(), repr=False)  # keys of before
    owner_url: str = field(default="", repr=False)  # of the tables' owner; "" = the portal is it
    replicas: int = 0  # of the ledger that must have a decision before anyone is told of it
    institution: str = "Fairseat University"
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("America/New_York"))
    secure_cookies: bool = False
    proxies: int = 0  # reverse proxies in front whose X-Forwarded headers are believed
    url: str = "http://127.0.0.1:8000"  # where people find the portal, for links in mails
    hosts: tuple[str, ...] = ()  # names that it answers to; none = this machine's, and addresses
    # smtp://user:password@host:port, smtps://…, or …?starttls=1; "" = a folder
    smtp: str = field(default="", repr=False)
    mail_from: str = "registrar@fairseat.example"
    reminders: tuple[int, ...] = (24 * 60, 15)  # minutes before a window opens
    gate: bool = True  # passes, waiting room and captcha; without it every claim is let through
    room: tuple[int, int] | None = (6000, 10_000)  # let in a minute, in at once; None = no room
    metrics_token: str = field(default="", repr=False)  # "" = from this machine alone
    captcha: str = "altcha"  # or "off", or the address of an ALTCHA server
    captcha_cost: int = 500_000  # hashes that a browser works through for a proof, at most
    oidc: Oidc | None = None
    passwords: bool = True  # whether people may log in by password
    workers: str = ""  # bounds such as "record=2-10@50"; "" = what suits the machine
    # Networks of ours in which programs may be told of events, besides the public internet.
    webhook_networks: tuple[Network, ...] = ()
    reconcile: int = 300  # seconds between two parts of the standing comparison
    notice_days: int = 400  # for which notices are kept, and mails that were sent

    @classmethod
    def read(cls) -> "Settings":
        """The settings of this process; raises KeyError naming a missing one, or SettingsError."""
        env = os.environ
        found = cls(
            database_url=env["DATABASE_URL"],
            redis_url=env["REDIS_URL"],
            secret_key=env["SECRET_KEY"],
            secret_key_fallbacks=_listed(env.get("SECRET_KEY_FALLBACKS", "")),
            owner_url=env.get("DATABASE_OWNER_URL") or env["DATABASE_URL"],
            replicas=_replicas(env["REDIS_URL"]),
            institution=env.get("FAIRSEAT_INSTITUTION", cls.institution),
            zone=ZoneInfo(env.get("FAIRSEAT_ZONE", "America/New_York")),
            secure_cookies=env.get("FAIRSEAT_HTTPS", "") == "1",
            proxies=int(env.get("FAIRSEAT_PROXIES", "0")),
            url=(env.get("FAIRSEAT_URL") or _address()).rstrip("/"),
            hosts=_hosts(f"{env.get('FAIRSEAT_HOSTS', '')},{env.get('FAIRSEAT_URL', '')}"),
            smtp=env.get("FAIRSEAT_SMTP", ""),
            mail_from=env.get("FAIRSEAT_MAIL_FROM") or cls.mail_from,
            reminders=_minutes(env.get("FAIRSEAT_REMINDERS", "1440,15")),
            gate=env.get("FAIRSEAT_GATE", "1") != "0",
            room=_limits(env.get("FAIRSEAT_ROOM") or "6000/10000"),
            metrics_token=env.get("FAIRSEAT_METRICS_TOKEN", ""),
            captcha=env.get("FAIRSEAT_CAPTCHA") or cls.captcha,
            captcha_cost=int(env.get("FAIRSEAT_CAPTCHA_COST") or cls.captcha_cost),
            oidc=_oidc(),
            webhook_networks=_networks(env.get("FAIRSEAT_WEBHOOK_NETWORKS", "")),
            reconcile=int(env.get("FAIRSEAT_RECONCILE") or cls.reconcile),
            notice_days=int(env.get("FAIRSEAT_NOTICE_DAYS") or cls.notice_days),
            passwords=env.get("FAIRSEAT_PASSWORDS", "1") != "0",
            workers=_workers(env.get("FAIRSEAT_WORKERS", "")),
        )
        if not (found.passwords or found.oidc):
            raise SettingsError("FAIRSEAT_PASSWORDS=0 leaves no way to log in: set FAIRSEAT_OIDC.")
        return found

    @property
    def signing_keys(self) -> list[str]:
        """Return the keys whose signatures are accepted; the last one signs."""
        return [*self.secret_key_fallbacks, self.secret_key]


def _replicas(redis_url: str) -> int:
    """FAIRSEAT_REPLICAS, else one where sentinels may promote it; checks the URL as well."""
    # Not before gevent has patched what the clients stand on, as gunicorn reads this file first.
    from portal.core import redis_clients  # noqa: PLC0415

    try:
        redis_clients.check(redis_url)
    except ValueError as error:
        raise SettingsError(f"REDIS_URL can't be used: {error}.") from error
    usual = "1" if redis_clients.behind_sentinels(redis_url) else "0"
    given = os.environ.get("FAIRSEAT_REPLICAS") or usual
    if not given.isdecimal():
        raise SettingsError(f"FAIRSEAT_REPLICAS={given} is not a number of replicas.")
    return int(given)


def _workers(text: str) -> str:
    """The bounds as they are given; raises SettingsError where they make no sense."""
    from portal.core import scaling  # noqa: PLC0415  which stands on clients as well

    scaling.pools(text)
    return text


def _address() -> str:
    """Where `fairseat up` listens, as a browser on this machine finds it."""
    host = os.environ.get("HOST") or "127.0.0.1"
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://{_bracketed(host)}:{os.environ.get('PORT') or 8000}"


def _oidc() -> Oidc | None:
    """The provider at FAIRSEAT_OIDC, None where none is named; raises KeyError without its keys."""
    env = os.environ
    if not env.get("FAIRSEAT_OIDC"):
        return None
    return Oidc(
        issuer=env["FAIRSEAT_OIDC"],
        client_id=env["FAIRSEAT_OIDC_CLIENT_ID"],
        client_secret=env["FAIRSEAT_OIDC_CLIENT_SECRET"],
        claim=env.get("FAIRSEAT_OIDC_CLAIM") or Oidc.claim,
        name=env.get("FAIRSEAT_OIDC_NAME") or Oidc.name,
    )


def _listed(text: str) -> tuple[str, ...]:
    """The entries of a list such as `a,b`."""
    return tuple(each.strip() for each in text.split(",") if each.strip())


def _hosts(text: str) -> tuple[str, ...]:
    """The hosts in a list such as `seats.example.edu,10.0.0.7`, or of one address."""
    given = (each.strip() for each in text.split(","))
    names = (urlsplit(each if "//" in each else f"//{each}") for each in given)
    return tuple(_bracketed(name.hostname) for name in names if name.hostname)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _networks(text: str) -> tuple[Network, ...]:
    """The networks in a list such as `10.20.0.0/16,fd00::/8`; raises SettingsError."""
    try:
        return tuple(ip_network(each) for each in _listed(text))
    except ValueError as error:
        raise SettingsError(f"FAIRSEAT_WEBHOOK_NETWORKS: {error}.") from error


def _minutes(text: str) -> tuple[int, ...]:
    """The numbers in a list such as `1440,15`; none in a blank one."""
    return tuple(int(each) for each in _listed(text))


def _limits(text: str) -> tuple[int, int] | None:
    """The limits in a text such as `6000/10000`; None for `off`."""
    if text == "off":
        return None
    per_minute, at_once = (int(each) for each in text.split("/"))
    return per_minute, at_once


def var_folder() -> Path:
    """Return the data folder of embedded servers: `FAIRSEAT_VAR`, by default `var/`.

    That is in the repository, or in the current folder where Fairseat was installed from a wheel.
    """
    default = (Path.cwd() if ROOT == INSTALLED else ROOT) / "var"
    return Path(os.environ.get("FAIRSEAT_VAR") or default).resolve()
