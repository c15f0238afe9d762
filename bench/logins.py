"""Logins a second over bare password verifications, which are most of the cost of a login.

Students log in with the form of the login page, each once, over 64 connections. Then
`bench/baselines/argon2_alone.py` verifies as many passwords with the same parameters and nothing
else, on one thread per core. In odd runs the verifications come first.
"""

from bench import load, portal_on_trial
from bench.baselines import argon2_alone
from bench.portal_on_trial import post
from bench.site import CONNECTIONS, Site, by_turns, site
from tests import cast

FIGURES = {
    "login_vs_argon2": ("ratio", "logins a second over bare password verifications a second"),
    "logins_per_s": ("1/s", "logins a second"),
    "argon2_per_s": ("1/s", "bare password verifications a second"),
}


def figures(run: int = 0, *, quick: bool = False) -> dict[str, float]:
    """Measure logins and verifications, one after the other."""
    here, students = site(quick=quick), 10 if quick else 800
    portal_on_trial.enroll(students)
    logins, alone = by_turns(
        run, lambda: log_in(here, students), lambda: argon2_alone.rate(students)
    )
    return {"login_vs_argon2": logins / alone, "logins_per_s": logins, "argon2_per_s": alone}


def log_in(here: Site, students: int) -> float:
    """Return logins a second."""
    with here.web() as port:
        logins = load.run(port, forms(here, students), CONNECTIONS)
    if set(logins.statuses) != {302}:
        raise SystemExit(f"Some logins failed: {dict(logins.statuses)}")
    return logins.rate


def forms(here: Site, students: int) -> list[bytes]:
    """Return the filled login forms of `students` students, as requests."""
    cookies, token = portal_on_trial.stranger(here.app)
    who = {"password": cast.PASSWORD, "csrf_token": token}
    return [post("/login", cookies, username=f"bench{each}", **who) for each in range(students)]
