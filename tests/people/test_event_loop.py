"""Verifying a password does not hold up the event loop."""

import subprocess
import sys

STORY = """
from gevent import monkey; monkey.patch_all()
import time, gevent
from portal.people import passwords
kept = passwords.hash_password("x")
longest, last, done = 0.0, time.monotonic(), False

def beat():
    global longest, last
    while not done:
        gevent.sleep(0.001)
        now = time.monotonic()
        longest, last = max(longest, now - last), now

heart = gevent.spawn(beat)
logins = [gevent.spawn(passwords.verify, kept, "x") for _ in range(20)]
gevent.joinall(logins)
assert all(login.value for login in logins)
done = True
heart.join()
print(longest)
"""


def test_others_are_served_while_passwords_are_verified() -> None:
    ran = subprocess.run([sys.executable, "-c", STORY], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert float(ran.stdout) < 0.25
