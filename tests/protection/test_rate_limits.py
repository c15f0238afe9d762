"""A meter lets so many through at once and so many more a minute, the same in Redis and without."""

import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from threading import Thread
from typing import Any

import pytest

from portal.backend import Backend
from portal.protection.rate_limits import (
    Act,
    Charge,
    LocalRateLimiter,
    RateLimit,
    RateLimiter,
    rate_limiter,
)

Count = Callable[..., list[int]]

NUMBERS = count(1)
SLOW = RateLimit("slow", at_once=3, a_minute=1)
QUICK = RateLimit("quick", at_once=2, a_minute=600)  # one each 100 ms


@pytest.fixture(params=["shared", "own"])
def counted(request: Any, backend: Backend) -> Count:  # noqa: ARG001
    """Counts in Redis, or in this process."""
    if request.param == "own":
        own = LocalRateLimiter()
        return lambda act, *charges: own.count(act, charges)
    shared = rate_limiter()
    return lambda act, *charges: shared._count(act, charges)  # noqa: SLF001 - each act as it is


@pytest.fixture
def shared(backend: Backend) -> RateLimiter:  # noqa: ARG001
    return rate_limiter()


def someone(limit: RateLimit = SLOW, cost: int = 1) -> Charge:
    return Charge(limit, f"someone {next(NUMBERS)}", cost)


def times(counted: Count, act: Act, charge: Charge, number: int) -> list[bool]:
    """Of so many tries, which were let through."""
    return [not any(counted(act, charge)) for _ in range(number)]


def test_so_many_are_let_through_at_once(counted: Count) -> None:
    assert times(counted, "spend", someone(), 5) == [True, True, True, False, False]


def test_the_wait_is_until_the_next_one_has_been_made_good_for(counted: Count) -> None:
    charge = someone()
    times(counted, "spend", charge, 3)
    (wait,) = counted("spend", charge)
    assert 55_000 < wait <= 60_000


def test_after_that_wait_it_is_let_through(counted: Count) -> None:
    charge = someone(QUICK)
    times(counted, "spend", charge, 2)
    while not (wait := counted("spend", charge)[0]):
        continue  # it was made good for meanwhile
    time.sleep(wait / 1000 + 0.005)
    assert counted("spend", charge) == [0]


def test_a_refusal_costs_nothing(counted: Count) -> None:
    charge = someone()
    times(counted, "spend", charge, 3)
    (first,) = counted("spend", charge)
    times(counted, "spend", charge, 20)
    assert counted("spend", charge)[0] <= first


def test_what_costs_more_is_let_through_less_often(counted: Count) -> None:
    charge = someone(cost=2)
    assert times(counted, "spend", charge, 2) == [True, False]


def test_what_costs_more_than_all_is_never_let_through(counted: Count) -> None:
    assert counted("spend", someone(cost=4))[0] > 0


def test_one_does_not_pay_for_another(counted: Count) -> None:
    times(counted, "spend", someone(), 5)
    assert counted("spend", someone()) == [0]


def test_looking_spends_nothing(counted: Count) -> None:
    charge = someone()
    assert all(times(counted, "check", charge, 10))
    assert times(counted, "spend", charge, 4) == [True, True, True, False]


def test_of_several_all_are_spent_or_none(counted: Count) -> None:
    first, second = someone(), someone()
    times(counted, "spend", first, 3)
    waits = counted("spend", first, second)
    assert (waits[0] > 0, waits[1]) == (True, 0)
    assert times(counted, "spend", second, 4) == [True, True, True, False]


def test_what_is_owed_is_spent_whatever_it_stands_at(counted: Count) -> None:
    charge = someone()
    for _ in range(20):
        counted("take_rest", charge)
    (wait,) = counted("check", charge)
    assert 55_000 < wait <= 60_000  # and no longer than that: nobody is shut out for hours


def test_an_unused_limit_leaves_nothing_behind(shared: RateLimiter, backend: Backend) -> None:
    charge = someone()
    shared.spend(charge)
    assert 0 < backend.redis.pttl(charge.key) <= 60_000


def test_all_nodes_count_together(backend: Backend) -> None:
    nodes, charge = [RateLimiter(backend.redis) for _ in range(3)], someone()
    assert [node.spend(charge) > 0 for node in nodes * 2] == [False] * 3 + [True] * 3


def test_many_at_the_same_moment_are_not_let_through_too_often(shared: RateLimiter) -> None:
    charge, let = someone(RateLimit("crowd", at_once=50, a_minute=1)), []
    threads = [
        Thread(target=lambda: let.extend(not shared.spend(charge) for _ in range(40)))
        for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(let), sum(let)) == (200, 50)


def test_requests_at_the_same_moment_share_a_call(shared: RateLimiter, backend: Backend) -> None:
    """In a rush no request waits for a free connection to Redis, and each gets its own answer."""
    used_up = someone()
    assert [shared.reserve(used_up) > 0 for _ in range(4)] == [False, False, False, True]
    asked = {number: [someone() for _ in range(number % 3 + 1)] for number in range(90)}
    for number in range(0, 90, 5):
        asked[number][-1] = used_up
    waits: dict[int, int] = {}

    def reserve(number: int) -> None:
        waits[number] = shared.reserve(*asked[number])

    threads = [Thread(target=reserve, args=(number,)) for number in asked]
    before: Any = backend.redis.info("commandstats")
    backend.redis.client_pause(500)  # ms
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    after: Any = backend.redis.info("commandstats")
    assert after["cmdstat_evalsha"]["calls"] - before["cmdstat_evalsha"]["calls"] < len(asked) / 2
    assert {number for number, wait in waits.items() if wait} == set(range(0, 90, 5))
    spent = [each for number, each in asked.items() if number % 5]
    fresh = [each for number, each in asked.items() if not number % 5]
    assert all(shared.check(replace(each, cost=3)) for charges in spent for each in charges)
    assert not any(
        shared.check(replace(each, cost=3)) for charges in fresh for each in charges[:-1]
    )


def test_who_was_refused_is_refused_again_without_redis(
    shared: RateLimiter, backend: Backend
) -> None:
    charge = someone()
    waits = [shared.spend(charge) for _ in range(4)]
    backend.redis.delete(charge.key)
    assert 0 < shared.spend(charge) <= waits[-1]


def test_and_no_longer_than_redis_allows(shared: RateLimiter, backend: Backend) -> None:
    charge = someone(QUICK)
    *_, wait = [shared.spend(charge) for _ in range(3)]
    backend.redis.delete(charge.key)
    time.sleep(wait / 1000 + 0.005)
    assert shared.spend(charge) == 0


def test_what_is_refunded_can_be_spent_again(counted: Count) -> None:
    charge = someone()
    times(counted, "spend", charge, 3)
    counted("refund", charge)
    assert times(counted, "spend", charge, 2) == [True, False]


def test_a_refund_gives_no_one_more_than_the_limit(counted: Count) -> None:
    charge = someone()
    counted("refund", charge)
    assert times(counted, "spend", charge, 4) == [True, True, True, False]


def test_a_refund_is_known_at_once_where_it_was_refused_before(shared: RateLimiter) -> None:
    charge = someone()
    while not shared.reserve(charge):
        continue
    shared.refund(charge)
    assert shared.reserve(charge) == 0
