"""Circuit breakers and flags as the page shows them: those of parts that are in use here."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from portal.admin.operations.figures import Figures
from portal.admin.operations.words import BREAKERS, MEANINGS
from portal.backend import backend
from portal.breakers import FAILURES
from portal.core import flags
from portal.notifications.webhooks.relay import PART
from portal.ops.breaking import Said, State
from portal.ops.names import PARTS


@dataclass(frozen=True)
class Fuse:
    """A breaker: how it stands in the process in which it is worst off, and in how many others."""

    part: str
    state: State
    failures: int  # that count against the service, of FAILURES
    tries_at: int | None  # when it is asked again (ms)
    processes: int  # that leave it alone

    @property
    def name(self) -> str:
        return str(BREAKERS[self.part])

    @property
    def most(self) -> int:
        return FAILURES


@dataclass(frozen=True)
class Switch:
    """A part, whether it is on, and who switched it last, when and why."""

    name: str
    on: bool
    in_use: bool  # by the settings
    version: int = 0
    reason: str = ""
    by: str = ""
    at: datetime | None = None

    @property
    def label(self) -> str:
        return str(PARTS[self.name])

    @property
    def meaning(self) -> str:
        return str(MEANINGS[self.name])


def fuses(figures: Figures) -> list[Fuse]:
    """The breakers of services that are in use."""
    in_use = parts_in_use()
    return [
        _fuse(part, [each for each in figures.said or () if each.part == part], figures.at)
        for part in BREAKERS
        if f"{part}_breaker" in in_use
    ]


def of_webhooks(figures: Figures) -> list[Fuse]:
    """Those round receivers that have failed lately."""
    parts = {each.part for each in figures.said or () if each.part.startswith(PART)}
    return [
        _fuse(part, [each for each in figures.said or () if each.part == part], figures.at)
        for part in sorted(parts)
    ]


def switches(figures: Figures) -> list[Switch]:
    """Every flag; as this process knows it where PostgreSQL does not answer."""
    in_use = parts_in_use()
    return [_switch(name, figures, in_use=name in in_use) for name in flags.NAMES]


def parts_in_use() -> set[str]:
    """The parts that there are by the settings."""
    settings = backend().settings
    server = settings.gate and "://" in settings.captcha
    there = {
        "waiting_room": settings.gate and settings.room is not None,
        "captcha": settings.gate and settings.captcha != "off",
        "captcha_server": server,
        "captcha_breaker": server,
        "rate_limits": settings.gate,
        "live_push": True,
        "mail": True,
        "mail_breaker": bool(settings.smtp),
        "webhooks": True,
        "provider_breaker": settings.oidc is not None,
        "autoscaling": True,
        "bulkheads": True,
        "caches": True,
    }
    return {name for name, used in there.items() if used}


def _fuse(part: str, said: Sequence[Said], now: int) -> Fuse:
    open_now = [each for each in said if each.state(now) == "open"]
    half_open = [each for each in said if each.state(now) == "half-open"]
    failures = max((each.counted(now) for each in said), default=0)
    ends = min((each.rest_ends or 0 for each in open_now), default=None)
    state: State = "open" if open_now else "half-open" if half_open else "closed"
    return Fuse(part, state, failures, ends, len(open_now))


def _switch(name: str, figures: Figures, *, in_use: bool) -> Switch:
    flag, by = (figures.kept.flags if figures.kept else {}).get(name, (None, ""))
    if flag is None:
        return Switch(name, flags.on(name), in_use)
    return Switch(name, flag.is_on, in_use, flag.version, flag.reason, by, flag.changed_at)
