"""Settings, read from the environment; the defaults suit `make run`. `docs/settings.md` has all."""

import os
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from portal.core.errors import CommandError

Network = IPv4Network | IPv6Network

INSTALLED = Path(__file__).resolve().parents[1] / "resources"  # exists only in an installed wheel
# The folder of templates/, static/ and migrations/: the repository, or their copy in the wheel.
ROOT = INSTALLED if INSTALLED.is_dir() else Path(__file__).resolve().parents[2]


# P, a pass without a letter, meets no minimum grade but P itself.
GRADES = "A+,A,A-,B+,B,B-,C+,C,C-,D+,D,D-,P"
LONGEST_GRADE = 8  # characters, as student records have it
NOT_IN_GRADES = " ()\"'“”,;:="  # characters around grades in a prerequisite


class SettingsError(CommandError):
    """Settings that the portal cannot run with."""


@dataclass(frozen=True)
class Oidc:
    """An OpenID provider for logins."""

    issuer: str  # its address; the configuration is found below /.well-known/
    client_id: str
    client_secret: str = field(repr=False)
    claim: str = "preferred_username"  # the claim with our username
    name: str = "Single sign-on"  # on the button


@dataclass(frozen=True)
class Bucket:
    """A bucket of an S3 service for documents; a blank `url` is Amazon's."""

    name: str
    prefix: str = ""
    url: str = ""


@dataclass(frozen=True)
class Stripe:
    """The account at Stripe that fees go to; `checkout` is where its payment pages are."""

    key: str = field(repr=False)
    webhook_secret: str = field(repr=False)
    url: str = "https://api.stripe.com"
    checkout: str = "https://checkout.stripe.com"


@dataclass(frozen=True)
class Settings:
    """One value per setting; `Settings.read()` returns those of this process."""

    database_url: str = field(repr=False)
    redis_url: str = field(repr=False)
    secret_key: str = field(repr=False)
    queue_redis_url: str = field(default="", repr=False)  # beside a cluster; see `queue_url`
    secret_key_fallbacks: tuple[str, ...] = field(default=(), repr=False)  # former keys
    owner_url: str = field(default="", repr=False)  # of the tables' owner; "" = the portal itself
    replicas: int = 0  # replicas of the ledger that must have a decision before anyone sees it
    institution: str = "Fairseat University"
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("America/New_York"))
    secure_cookies: bool = False
    proxies: int = 0  # trusted reverse proxies: their X-Forwarded headers are used
    url: str = "http://127.0.0.1:8000"  # the portal's public address, for links in mail
    hosts: tuple[str, ...] = ()  # accepted host names; none = this machine's, and addresses
    # smtp://user:password@host:port, smtps://…, or …?starttls=1; "" = a folder
    smtp: str = field(default="", repr=False)
    mail_from: str = "registrar@fairseat.example"
    reminders: tuple[int, ...] = (24 * 60, 15)  # minutes before a window opens
    gate: bool = True  # access tokens, waiting room and captcha; without it every claim is admitted
    # admitted per minute, inside at once; None = no waiting room
    room: tuple[int, int] | None = (6000, 10_000)
    metrics_token: str = field(default="", repr=False)  # "" = from this machine only
    captcha: str = "altcha"  # or "off", or the address of an ALTCHA server
    captcha_cost: int = 500_000  # the most hashes that a browser computes for a proof
    oidc: Oidc | None = None
    passwords: bool = True  # whether password logins are allowed
    workers: str = ""  # limits such as "record=2-10@50"; "" = what suits the machine
    # Our own networks that may have webhook receivers, besides the public internet.
    webhook_networks: tuple[Network, ...] = ()
    reconcile: int = 300  # seconds between parts of the continuous audit
    documents: Path = field(default_factory=lambda: var_folder() / "documents")
    bucket: Bucket | None = None  # for documents, in place of the folder
    clamd: str = ""  # unix:/path or tcp://host:port of a virus scanner; "" = none
    visiting: bool = True  # whether people may sign up and apply as visiting students
    payments: str = ""  # "stripe", "test" or "" = fees are not charged
    stripe: Stripe | None = None
    currency: str = "USD"  # ISO 4217, of all fees
    attachment_kb: int = 5000  # size of the largest file that a mail carries
    notice_days: int = 400  # for which notifications and sent mail are kept
    ballot_days: int = 400  # after the end of a round, for which its ballots are kept
    drand: str = ""  # address of a chain's HTTP API, for public values; "" = none are fetched
    # Best first; those of one rank together.
    grades: tuple[tuple[str, ...], ...] = field(default_factory=lambda: _grades(GRADES))

    @classmethod
    def read(cls) -> "Settings":
        """Return the settings of this process.

        Raises KeyError with the name of a missing one, or SettingsError.
        """
        env = os.environ
        found = cls(
            database_url=env["DATABASE_URL"],
            redis_url=env["REDIS_URL"],
            queue_redis_url=_queue_redis_url(env["REDIS_URL"]),
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
            attachment_kb=int(env.get("FAIRSEAT_ATTACHMENT_KB") or cls.attachment_kb),
            notice_days=int(env.get("FAIRSEAT_NOTICE_DAYS") or cls.notice_days),
            ballot_days=int(env.get("FAIRSEAT_BALLOT_DAYS") or cls.ballot_days),
            drand=env.get("FAIRSEAT_DRAND", "").rstrip("/"),
            grades=_grades(env.get("FAIRSEAT_GRADES") or GRADES),
            documents=_folder(env.get("FAIRSEAT_DOCUMENTS", "")),
            bucket=_bucket(env.get("FAIRSEAT_DOCUMENTS", "")),
            clamd=_scanner(env.get("FAIRSEAT_CLAMD", "")),
            visiting=env.get("FAIRSEAT_VISITING", "1") != "0",
            payments=_payments(env.get("FAIRSEAT_PAYMENTS") or _payments_of_demo()),
            stripe=_stripe(),
            currency=env.get("FAIRSEAT_CURRENCY") or cls.currency,
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

    @property
    def queue_url(self) -> str:
        """Return the URL of the server for jobs, limits and reports, beside the ledger."""
        return self.queue_redis_url or self.redis_url


def _replicas(redis_url: str) -> int:
    """Return FAIRSEAT_REPLICAS, else 1 if a replica may be promoted; check the URL."""
    # Import only after gevent has patched the clients' modules: gunicorn reads this file first.
    from portal.core import redis_clients  # noqa: PLC0415

    try:
        redis_clients.check(redis_url)
    except ValueError as error:
        raise SettingsError(f"REDIS_URL can't be used: {error}.") from error
    can_fail_over = redis_clients.behind_sentinels(redis_url) or redis_clients.in_cluster(redis_url)
    usual = "1" if can_fail_over else "0"
    given = os.environ.get("FAIRSEAT_REPLICAS") or usual
    if not given.isdecimal():
        raise SettingsError(f"FAIRSEAT_REPLICAS={given} is not a number of replicas.")
    return int(given)


def _queue_redis_url(redis_url: str) -> str:
    """Return QUEUE_REDIS_URL, which a cluster needs and nothing else has; raise SettingsError."""
    from portal.core import redis_clients  # noqa: PLC0415  as above

    given = os.environ.get("QUEUE_REDIS_URL", "")
    if not redis_clients.in_cluster(redis_url):
        if given:
            raise SettingsError("QUEUE_REDIS_URL is only for a REDIS_URL with redis+cluster://.")
        return ""
    if not given or redis_clients.in_cluster(given):
        raise SettingsError(
            "With redis+cluster:// the cluster has only the ledger. Set QUEUE_REDIS_URL to a server"
            " of its own for jobs and limits, also behind sentinels."
        )
    try:
        redis_clients.check(given)
    except ValueError as error:
        raise SettingsError(f"QUEUE_REDIS_URL can't be used: {error}.") from error
    return given


def _workers(text: str) -> str:
    """Return the limits as given; raise SettingsError if they are invalid."""
    from portal.core import scaling  # noqa: PLC0415  which imports this module

    scaling.pools(text)
    return text


def _address() -> str:
    """Return the address of `fairseat up` for a browser on this machine."""
    host = os.environ.get("HOST") or "127.0.0.1"
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://{_bracketed(host)}:{os.environ.get('PORT') or 8000}"


def _oidc() -> Oidc | None:
    """Return the provider at FAIRSEAT_OIDC, None if unset; raise KeyError without its keys."""
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


def _payments(text: str) -> str:
    """Return the payment provider; raise SettingsError if it is unknown."""
    if text not in {"", "off", "test", "stripe"}:
        raise SettingsError("FAIRSEAT_PAYMENTS: write stripe, test or off.")
    return "" if text == "off" else text


def _payments_of_demo() -> str:
    """Return the test provider if this machine runs the demo, else none."""
    return "test" if (var_folder() / "demo-password").exists() else ""


def _stripe() -> Stripe | None:
    """Return the account if Stripe is the provider; raise KeyError without its keys."""
    env = os.environ
    if env.get("FAIRSEAT_PAYMENTS") != "stripe":
        return None
    url = env.get("FAIRSEAT_STRIPE_URL") or Stripe.url
    checkout = env.get("FAIRSEAT_STRIPE_CHECKOUT") or Stripe.checkout
    return Stripe(env["FAIRSEAT_STRIPE_KEY"], env["FAIRSEAT_STRIPE_WEBHOOK_SECRET"], url, checkout)


def _listed(text: str) -> tuple[str, ...]:
    """Return the entries of a list such as `a,b`."""
    return tuple(each.strip() for each in text.split(",") if each.strip())


def _grades(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the grades in a list such as `A,B,C=P`; raise SettingsError if it can't be one."""
    ranks = tuple(
        tuple(each.strip() for each in rank.split("=") if each.strip()) for rank in _listed(text)
    )
    every = [grade for rank in ranks for grade in rank]
    if not all(ranks) or len({each.casefold() for each in every}) < len(every):
        raise SettingsError("FAIRSEAT_GRADES: write each grade once, best first: A,B,C=P,D.")
    for grade in every:
        joins = grade.casefold() in {"and", "or", "y", "o"}  # courses in a prerequisite
        if (
            len(grade) > LONGEST_GRADE
            or set(grade) & set(NOT_IN_GRADES)
            or joins
            or grade[-1] == "."
        ):
            raise SettingsError(
                f"FAIRSEAT_GRADES: {grade} can’t be a grade. A grade has at most {LONGEST_GRADE}"
                " characters, no spaces, quotes, parentheses or colons, and no period at its end."
            )
    return ranks


def _hosts(text: str) -> tuple[str, ...]:
    """Return the hosts in a list such as `seats.example.edu,10.0.0.7`, or of one address."""
    given = (each.strip() for each in text.split(","))
    names = (urlsplit(each if "//" in each else f"//{each}") for each in given)
    return tuple(_bracketed(name.hostname) for name in names if name.hostname)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _networks(text: str) -> tuple[Network, ...]:
    """Return the networks in a list such as `10.20.0.0/16,fd00::/8`; raise SettingsError."""
    try:
        return tuple(ip_network(each) for each in _listed(text))
    except ValueError as error:
        raise SettingsError(f"FAIRSEAT_WEBHOOK_NETWORKS: {error}.") from error


def _folder(text: str) -> Path:
    usual = not text or text.startswith("s3:")
    return var_folder() / "documents" if usual else Path(text).resolve()


def _bucket(text: str) -> Bucket | None:
    """Return the bucket of `s3://name/prefix`, None for a folder; raise SettingsError."""
    if not text.startswith("s3:"):
        return None
    found = urlsplit(text)
    if not found.netloc:
        raise SettingsError("FAIRSEAT_DOCUMENTS: write a directory, or s3://bucket/prefix.")
    prefix = found.path.strip("/")
    url = os.environ.get("FAIRSEAT_S3_URL", "")
    return Bucket(found.netloc, f"{prefix}/" if prefix else "", url)


def _scanner(text: str) -> str:
    """Return the address of clamd as given; raise SettingsError if it is none."""
    found = urlsplit(text)
    if text and not (text.startswith("unix:/") or (found.scheme == "tcp" and found.hostname)):
        raise SettingsError("FAIRSEAT_CLAMD: write unix:/run/clamav/clamd.ctl or tcp://host:3310.")
    return text


def _minutes(text: str) -> tuple[int, ...]:
    """Return the numbers in a list such as `1440,15`; none for a blank one."""
    return tuple(int(each) for each in _listed(text))


def _limits(text: str) -> tuple[int, int] | None:
    """Return the limits in a text such as `6000/10000`; None for `off`."""
    if text == "off":
        return None
    per_minute, at_once = (int(each) for each in text.split("/"))
    return per_minute, at_once


def var_folder() -> Path:
    """Return the data folder of embedded servers: `FAIRSEAT_VAR`, by default `var/`.

    The default is in the repository, or in the current folder if Fairseat was installed from a
    wheel.
    """
    default = (Path.cwd() if ROOT == INSTALLED else ROOT) / "var"
    return Path(os.environ.get("FAIRSEAT_VAR") or default).resolve()
