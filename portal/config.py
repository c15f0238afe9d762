"""Settings, all read from the environment; the defaults suit `make run`."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from zoneinfo import ZoneInfo

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Settings:
    """One value per setting; `Settings.read()` gives those of this process."""

    database_url: str
    redis_url: str
    secret_key: str
    institution: str = "Fairseat University"
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("America/New_York"))
    secure_cookies: bool = False
    proxies: int = 0  # reverse proxies in front whose X-Forwarded headers are believed

    @classmethod
    def read(cls) -> "Settings":
        """The settings of this process; raises KeyError that names a missing one."""
        env = os.environ
        return cls(
            database_url=env["DATABASE_URL"],
            redis_url=env["REDIS_URL"],
            secret_key=env["SECRET_KEY"],
            institution=env.get("FAIRSEAT_INSTITUTION", cls.institution),
            zone=ZoneInfo(env.get("FAIRSEAT_ZONE", "America/New_York")),
            secure_cookies=env.get("FAIRSEAT_HTTPS", "") == "1",
            proxies=int(env.get("FAIRSEAT_PROXIES", "0")),
        )


def var_folder() -> Path:
    """Where embedded servers keep their data (`FAIRSEAT_VAR`, by default `var/`)."""
    return Path(os.environ.get("FAIRSEAT_VAR") or ROOT / "var").resolve()
