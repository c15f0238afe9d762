"""The address of a ledger behind sentinels, and what is said of one that is wrong."""

import pytest

from portal.core.redis_clients import Sentinels, parsed
from portal.core.settings import Settings, SettingsError

GIVEN = {"DATABASE_URL": "postgresql://x", "SECRET_KEY": "x"}


def settings(monkeypatch: pytest.MonkeyPatch, url: str, **more: str) -> Settings:
    for name, value in (GIVEN | more | {"REDIS_URL": url}).items():
        monkeypatch.setenv(name, value)
    return Settings.read()


def test_it_names_sentinels_primary_login_and_database() -> None:
    url = "redis+sentinel://ann:p%40ss@s1:1001,s2,[::1]:1003/seats?db=2"
    hosts = (("s1", 1001), ("s2", 26379), ("::1", 1003))
    assert parsed(url) == Sentinels(hosts, "seats", "ann", "p@ss", 2)


def test_sentinels_have_a_password_of_their_own() -> None:
    found = parsed("redis+sentinel://:p@s1/seats?sentinel_password=p%40ss")
    assert (found.password, found.sentinel_password) == ("p", "p@ss")


def test_a_password_alone_is_enough() -> None:
    assert parsed("redis+sentinel://:p@s1/seats") == Sentinels(
        (("s1", 26379),), "seats", None, "p", 0
    )


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("redis+sentinel://s1,s2", "the primary's name is missing"),
        ("redis+sentinel://s1,s2/a/b", "the primary's name is missing"),
        ("redis+sentinel://s1,,s3/seats", "a sentinel's host is missing"),
        ("redis+sentinel:///seats", "a sentinel's host is missing"),
        ("redis+sentinel://s1:many/seats", "'s1:many' is not a host and a port"),
        ("redis+sentinel://s1/seats?db=two", "db=two is not the number of a database"),
        (
            "redis+sentinel://s1/seats?size=9",
            "it says size=, but only db= and sentinel_password= are known",
        ),
        ("sentinel://s1/seats", "must specify one of the following schemes"),
    ],
)
def test_what_is_wrong_is_named_at_the_start(
    monkeypatch: pytest.MonkeyPatch, url: str, said: str
) -> None:
    with pytest.raises(SettingsError, match="REDIS_URL can't be used") as wrong:
        settings(monkeypatch, url)
    assert said in str(wrong.value)


def test_a_decision_needs_one_replica_where_there_are_sentinels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("FAIRSEAT_REPLICAS", raising=False)
    assert settings(monkeypatch, "redis+sentinel://s1/seats").replicas == 1
    assert settings(monkeypatch, "redis://s1").replicas == 0


def test_as_many_replicas_are_needed_as_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings(monkeypatch, "redis://s1", FAIRSEAT_REPLICAS="2").replicas == 2
    with pytest.raises(SettingsError, match="FAIRSEAT_REPLICAS=few is not a number"):
        settings(monkeypatch, "redis://s1", FAIRSEAT_REPLICAS="few")
