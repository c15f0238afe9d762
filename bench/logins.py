"""Logins a second over bare verifications of passwords, which cost the most of a login.

Students log in by the form of the login page, each once, over 64 connections; and as many
passwords are verified by `bench/baselines/argon2_alone.py` with the same parameters and nothing
else, on a thread a core: after the logins, in odd runs before them.
"""

from bench import load, portal_on_trial
from bench.baselines import argon2_alone
from bench.portal_on_trial import post
from bench.site import CONNECTIONS, Site, by_turns, site
from tests import cast

FIGURES = {
    "login_vs_argon2": ("ratio", "logins a second over bare verifications"),
    "logins_per_s": ("1/s", "logins a second"),
    "argon2_per_s": ("1/s", "bare verifications a second"),
}


def figures(run: int = 0, *, quick: bool = False) -> dict[str, float]:
    """Logins and verifications, by turns."""
    here, students = site(quick=quick), 40 if quick else 800
    portal_on_trial.enroll(students)
    logins, alone = by_turns(
        run, lambda: log_in(here, students), lambda: argon2_alone.rate(students)
    )
    return {"login_vs_argon2": logins / alone, "logins_per_s": logins, "argon2_per_s": alone}


def log_in(here: Site, students: int) -> float:
    """Logins a second."""
    with here.web() as port:
        logins = load.run(port, forms(here, students), CONNECTIONS)
    if set(logins.statuses) != {302}:
        raise SystemExit(f"Not everyone was let in: {dict(logins.statuses)}")
    return logins.rate


def forms(here: Site, students: int) -> list[bytes]:
    """The forms of so many students, filled in."""
    cookies, token = portal_on_trial.stranger(here.app)
    who = {"password": cast.PASSWORD, "csrf_token": token}
    return [post("/login", cookies, username=f"bench{each}", **who) for each in range(students)]
