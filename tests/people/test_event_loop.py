"""Verifying passwords holds up neither the event loop nor those who come when it is too much."""

import subprocess
import sys

# A hash that ends once somebody else has been served: never, if it is made on the event loop.
STORY = """
from gevent import monkey; monkey.patch_all()
import gevent
from argon2 import PasswordHasher
from portal.people import passwords
kept = passwords.hash_password("x")
verify, served = PasswordHasher.verify, monkey.get_original("_thread", "allocate_lock")()
served.acquire()

def patient(*given):
    return served.acquire(timeout=60) and verify(*given)

PasswordHasher.verify = patient
login = gevent.spawn(passwords.verify, kept, "x")
gevent.sleep(0.01)
served.release()
print(login.get())
"""

CROWD = """
from gevent import monkey; monkey.patch_all()
import gevent
from portal.people import passwords
passwords.MAX_HASHES = 5
kept = passwords.hash_password("x")

def log_in():
    try:
        return passwords.verify(kept, "x")
    except passwords.TooManyError:
        return None

answers = [each.get() for each in gevent.joinall([gevent.spawn(log_in) for _ in range(20)])]
print(answers.count(True), answers.count(None), log_in())
"""


def test_beyond_a_bound_no_one_is_made_to_wait() -> None:
    ran = subprocess.run([sys.executable, "-c", CROWD], capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["5", "15", "True"], ran.stderr


def test_others_are_served_while_passwords_are_verified() -> None:
    ran = subprocess.run([sys.executable, "-c", STORY], capture_output=True, text=True, check=False)
    assert ran.stdout == "True\n", ran.stderr
