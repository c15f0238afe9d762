"""Passwords."""

from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher

from portal.people import passwords


def test_a_password_fits_its_hash_and_no_other_does() -> None:
    kept = passwords.hash_password("a seat for everyone")
    assert passwords.verify(kept, "a seat for everyone")
    assert not passwords.verify(kept, "A seat for everyone")


def test_the_parameters_are_those_for_a_login_rush() -> None:
    assert passwords.hash_password("x").startswith("$argon2id$v=19$m=19456,t=2,p=1$")


def test_each_hash_has_a_salt_of_its_own() -> None:
    salts = {passwords.hash_password("x").split("$")[4] for _ in range(3)}
    assert len(salts) == 3
    assert {len(salt) for salt in salts} == {22}  # 16 bytes in base64


def test_no_password_fits_where_none_was_kept() -> None:
    assert not passwords.verify("", "")
    assert not passwords.verify("not a hash", "")


def test_a_hash_of_other_parameters_is_outdated() -> None:
    assert passwords.outdated(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash("x"))
    assert not passwords.outdated(passwords.hash_password("x"))


def test_many_can_be_verified_at_once() -> None:
    kept = passwords.hash_password("x")
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda _: passwords.verify(kept, "x"), range(16)))
