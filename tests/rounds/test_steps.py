"""The steps after the end: freezing, the public value, computing, comparing, publishing."""

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from portal.allocation import verify
from portal.allocation.proof import canonical, sha256
from portal.backend import backend
from portal.catalog.models import Term
from portal.core.db import ChangedMeanwhile, transaction
from portal.core.moments import milliseconds
from portal.notifications.kinds import text_of
from portal.notifications.models import Notification, OutboxEntry
from portal.people.models import Account, Student
from portal.registration.plan_store import change
from portal.registration.plans import move
from portal.rounds import ballots, results, steps, store
from portal.rounds.models import BallotRow, RoundFile
from portal.windows.models import Round
from portal.windows.rounds import RoundRefused
from tests.allocation.test_proof import top_of
from tests.audit_trail import entries
from tests.cast import Cast, Meets, a_course, a_section, a_term
from tests.rounds.builders import (
    DAY,
    a_round,
    again,
    an_admin,
    applied,
    choice,
    computed,
    ended,
    frozen,
    known,
    published,
    ranks,
)
from tests.statements import looked_up


@pytest.fixture
def fall(cast: Cast) -> Term:  # noqa: ARG001
    return a_term()


@pytest.fixture
def popular(fall: Term, cast: Cast) -> Round:
    """A round in which three students rank one seat first, and others after it."""
    one, two, art = (
        a_section(a_course(code), fall, capacity=seats)
        for code, seats in (("CSC-1", 1), ("MTH-1", 2), ("ART-1", 9))
    )
    found = a_round(fall)
    for student in (cast.ada, cast.ben, cast.cleo):
        ranks(found, student, one, choice(two, art))
    return found


def check(file: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = folder / "published.json"
    path.write_text(file)
    command = [sys.executable, verify.__file__, str(path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_round_is_not_closed_before_its_end(popular: Round) -> None:
    steps.close(popular.id)
    assert again(popular.id).state == "open"
    assert looked_up(steps.due_jobs, [popular.term_id]) == []


def test_end_freezes_ballots_and_settings_under_a_root(popular: Round, cast: Cast) -> None:
    over = ended(popular)
    assert [(each.term, each.job) for each in looked_up(steps.due_jobs, [over.term_id])] == [
        (over.term_id, "rounds")
    ]
    steps.work(over.term_id)
    after = again(popular.id)
    assert (after.state, after.ballots) == ("closed", 3)
    assert looked_up(steps.due_jobs, [over.term_id]) == []
    change(over.term_id, cast.ada.id, None, lambda plan: move(plan, 0, 1))
    steps.work(over.term_id)
    assert again(popular.id).root == after.root
    ballot = ballots.ballot_of(popular.id, cast.ada.id)
    assert ballot
    proof = steps.proof_of(popular.id, ballot.pseudonym)
    assert top_of(proof["ballot"], proof["proof"]) == after.root
    assert entries()[-1].action == "round.close"


def test_freezing_that_died_is_done_again_with_the_same_root(popular: Round) -> None:
    ended(popular)
    with transaction() as session:  # as if the job had died after its first step
        session.execute(update(Round).where(Round.id == popular.id).values(state="closed"))
    steps.work(popular.term_id)
    first = again(popular.id)
    assert first.root
    with transaction() as session:
        session.execute(delete(RoundFile))
        session.execute(update(Round).where(Round.id == popular.id).values(root=None))
    steps.work(popular.term_id)
    assert again(popular.id).root == first.root


def test_value_is_entered_once_and_only_after_the_freezing(popular: Round, cast: Cast) -> None:
    with pytest.raises(RoundRefused, match="state"):
        steps.enter_value(popular.id, popular.version, "4711", cast.max.id, "tests")
    after = frozen(popular)
    with pytest.raises(RoundRefused, match="early"):
        steps.enter_value(after.id, after.version, "4711", cast.max.id, "tests")
    known(after)
    with pytest.raises(ChangedMeanwhile):
        steps.enter_value(after.id, after.version - 1, "4711", cast.max.id, "tests")
    steps.enter_value(after.id, after.version, "4711", cast.max.id, "tests")
    with pytest.raises(RoundRefused, match="state"):
        steps.enter_value(after.id, after.version + 1, "4712", cast.max.id, "tests")


def test_value_has_one_spelling(popular: Round, cast: Cast) -> None:
    after = known(frozen(popular))
    steps.enter_value(after.id, after.version, " 0BADC0DE \t 12 ", cast.max.id, "tests")
    assert again(after.id).public_value == "0badc0de 12"


def test_moment_of_the_value_is_under_the_root(popular: Round) -> None:
    after = frozen(popular)
    settings = store.frozen_problem(popular.id).settings
    assert settings.public_at == after.public_at.astimezone(UTC).isoformat(timespec="seconds")


def told(student: Student) -> list[Notification]:
    query = select(Notification).where(Notification.account_id == student.account_id)
    with transaction() as session:
        return list(session.scalars(query.order_by(Notification.id)))


def test_students_with_a_ballot_are_notified_that_it_is_fixed_with_the_root(
    popular: Round, cast: Cast
) -> None:
    """By mail too, as no one can change a mail later."""
    with transaction() as session:
        ada = session.get_one(Account, cast.ada.account_id)
        ada.email = "ada@example.edu"
    steps.work(ended(popular).term_id)
    steps.work(popular.term_id)
    (found,) = told(cast.ada)
    root = again(popular.id).root
    assert (found.kind, found.data["root"]) == ("ballot", root)
    with transaction() as session:
        (mail,) = session.scalars(select(OutboxEntry).filter_by(notification_id=found.id))
    assert mail.kind == "mail"
    assert str(root) in " ".join(text_of(found).text)
    assert told(cast.dan) == []


def test_students_with_a_ballot_are_notified_of_each_new_end(popular: Round, cast: Cast) -> None:
    ends = milliseconds(popular.ends_at) + 5 * DAY
    steps.move_end(popular.id, popular.version, ends, cast.max.id, "tests")
    steps.move_end(popular.id, again(popular.id).version, ends - DAY, cast.max.id, "tests")
    assert [each.data["ends"] for each in told(cast.ada)] == [ends, ends - DAY]
    soon = milliseconds(popular.ends_at)
    with pytest.raises(RoundRefused, match="hurry"):
        steps.move_end(popular.id, again(popular.id).version, soon, cast.max.id, "tests")


def test_ballots_that_are_not_under_the_root_are_not_computed(popular: Round) -> None:
    after = known(frozen(popular))
    with transaction() as session:
        session.execute(update(Round).where(Round.id == after.id).values(root="0" * 64))
    steps.enter_value(after.id, after.version, "4711", an_admin(), "tests")
    with pytest.raises(RuntimeError):
        steps.work(after.term_id)
    assert (again(after.id).state, again(after.id).altered) == ("closed", True)
    with transaction() as session:
        session.execute(update(Round).where(Round.id == after.id).values(root=after.root))
    steps.work(after.term_id)
    assert (again(after.id).state, again(after.id).altered) == ("computed", False)


def test_ballots_are_not_fixed_once_the_value_may_be_known(
    popular: Round, fall: Term, cast: Cast
) -> None:
    known(ended(popular))
    steps.work(fall.id)
    late = again(popular.id)
    assert (late.state, late.root, late.held) == ("closed", None, False)
    assert looked_up(steps.due_jobs, [fall.id]) == []
    steps.request_trial(late.id, cast.max.id)
    steps.work(fall.id)
    assert again(popular.id).root is None
    steps.cancel(late.id, late.version, cast.max.id, "tests")
    steps.work(fall.id)
    assert not backend().redis.exists(f"{{t:{fall.id}}}:in_round")


def test_end_stays_before_the_moment_of_the_value(popular: Round, fall: Term, cast: Cast) -> None:
    public = milliseconds(popular.public_at)
    with pytest.raises(RoundRefused, match="public"):
        steps.move_end(popular.id, popular.version, public, cast.max.id, "tests")
    with pytest.raises(RoundRefused, match="public"):
        a_round(fall, name="Late", ends=public, public_at=public)


def test_round_that_waits_holds_its_seats_back_after_a_hiccup(
    popular: Round, fall: Term, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen(popular)
    three = a_section(a_course("GEO-1"), fall)
    second = a_round(fall, name="Second")
    ranks(second, cast.ada, three)
    ended(second)
    with monkeypatch.context() as patch:
        patch.setattr(steps, "hold", fails)
        with pytest.raises(RuntimeError):
            steps.work(fall.id)
    assert again(second.id).state == "closed"
    assert looked_up(steps.due_jobs, [fall.id])
    steps.work(fall.id)
    assert backend().redis.hexists(f"{{t:{fall.id}}}:in_round", str(three.id))
    assert again(second.id).root is None
    assert looked_up(steps.due_jobs, [fall.id]) == []


def fails(*_: Any) -> bool:
    raise ValueError("a hiccup")


def test_step_that_fails_leaves_those_of_other_rounds(
    popular: Round, fall: Term, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed(popular)
    second = a_round(fall, name="Second")
    steps.publish(popular.id, again(popular.id).version, cast.max.id, "tests")
    ended(second)
    monkeypatch.setattr(steps, "apply", fails)
    with pytest.raises(RuntimeError, match=str(popular.id)):
        steps.work(fall.id)
    assert again(second.id).state == "closed"


def test_computing_again_changes_nothing(popular: Round) -> None:
    after = computed(popular)
    assert after.state == "computed"
    file = store.file_of(popular.id, "published")
    steps.compute(popular.id)
    with transaction() as session:
        session.execute(update(Round).where(Round.id == popular.id).values(state="closed"))
    steps.compute(popular.id)
    assert store.file_of(popular.id, "published") == file


def test_downloaded_script_confirms_the_result(popular: Round, cast: Cast, tmp_path: Path) -> None:
    after = computed(popular)
    file, ballot = (
        store.file_of(popular.id, "published"),
        ballots.ballot_of(popular.id, cast.ada.id),
    )
    assert file
    assert ballot
    ran = check(file, tmp_path, ballot.code, str(after.root))
    assert ran.returncode == 0, ran.stdout
    assert "yes Your ballot is in the file." in ran.stdout


def drops_a_ballot(session: Any, number: int, student: int) -> None:
    session.execute(
        delete(BallotRow).where(BallotRow.round_id == number, BallotRow.student_id == student)
    )


def alters_a_ballot(session: Any, number: int, student: int) -> None:
    mine = BallotRow.round_id == number, BallotRow.student_id == student
    lines = session.scalars(select(BallotRow.lines).where(*mine)).one()
    session.execute(update(BallotRow).where(*mine).values(lines=lines[::-1]))


def picks_another_secret(session: Any, number: int, _student: int) -> None:
    session.execute(update(Round).where(Round.id == number).values(secret="f" * 64))


def changes_the_mechanism(session: Any, number: int, _student: int) -> None:
    session.execute(update(Round).where(Round.id == number).values(mechanism="serial"))


@pytest.mark.parametrize(
    "cheat", [drops_a_ballot, alters_a_ballot, picks_another_secret, changes_the_mechanism]
)
def test_server_that_freezes_again_after_the_root_was_shown_is_caught(
    popular: Round, cast: Cast, tmp_path: Path, cheat: Callable[[Any, int, int], None]
) -> None:
    """The cheat makes everything anew, so that the file fits; the noted root does not."""
    ballot, noted = ballots.ballot_of(popular.id, cast.ada.id), frozen(popular).root
    assert ballot
    with transaction() as session:
        cheat(session, popular.id, cast.ada.id)
        session.execute(delete(RoundFile))
        session.execute(update(Round).where(Round.id == popular.id).values(root=None))
    steps.work(popular.term_id)
    after = known(popular)
    steps.enter_value(after.id, after.version, "4711", cast.max.id, "tests")
    steps.work(popular.term_id)
    ran = check(store.file_of(popular.id, "published") or "", tmp_path, ballot.code, str(noted))
    assert ran.returncode == 1
    assert "NO  The root fits the file and the one you noted." in ran.stdout


def test_server_that_changes_the_result_or_the_secret_is_caught(
    popular: Round, tmp_path: Path
) -> None:
    root = str(computed(popular).root)
    honest = json.loads(store.file_of(popular.id, "published") or "")
    winner = next(each for each, seats in honest["result"].items() if seats[0][0] == 1)
    loser = next(each for each, seats in honest["result"].items() if seats[0][0] == 2)
    result = honest["result"]
    swapped = honest | {"result": result | {winner: result[loser], loser: result[winner]}}
    other = honest | {"secret": "0" * 64}
    for told, sentence in (
        (swapped, "NO  The result follows from them."),
        (other, "NO  The secret is the committed one."),
    ):
        ran = check(canonical(told), tmp_path, "", root)
        assert ran.returncode == 1
        assert sentence in ran.stdout


def test_secret_is_not_shown_before_the_result(popular: Round) -> None:
    after = frozen(popular)
    assert after.secret not in (store.file_of(popular.id, "problem") or "")
    assert sha256(after.secret) in (store.file_of(popular.id, "problem") or "")
    trail = [f"{each.before} {each.after}" for each in entries()]
    assert not any(after.secret in each for each in trail)


def test_mechanisms_are_compared_on_the_ballots_so_far(popular: Round, cast: Cast) -> None:
    steps.request_trial(popular.id, cast.max.id)
    steps.request_trial(popular.id, cast.max.id)
    assert looked_up(steps.due_jobs, [popular.term_id])
    steps.work(popular.term_id)
    (trial,) = steps.trials(popular.id)
    assert trial.measures
    assert set(trial.measures) == {"draft", "serial", "deferred"}
    assert trial.measures["draft"]["students"] == 3
    assert trial.measures["draft"]["first_choice"] == pytest.approx(1 / 3)
    assert again(popular.id).state == "open"
    assert looked_up(steps.due_jobs, [popular.term_id]) == []
    computed(popular)
    assert len(steps.trials(popular.id)) == 2


def test_result_is_published_once(popular: Round, cast: Cast) -> None:
    with pytest.raises(RoundRefused, match="state"):
        steps.publish(popular.id, popular.version, cast.max.id, "tests")
    after = published(popular)
    assert after.state == "published"
    with pytest.raises(RoundRefused, match="state"):
        steps.publish(after.id, after.version, cast.max.id, "tests")
    assert entries("round.publish")


def test_published_round_is_not_canceled(popular: Round, cast: Cast) -> None:
    after = published(popular)
    with pytest.raises(RoundRefused, match="state"):
        steps.cancel(after.id, after.version, cast.max.id, "tests")


def test_each_student_reads_why_a_joint_choice_failed(fall: Term, cast: Cast) -> None:
    morning = (Meets("MR", "10:00", "11:50"),)
    one = a_section(a_course("CSC-1"), fall, capacity=1, meetings=morning)
    clash = a_section(a_course("CSC-2"), fall, capacity=9, meetings=morning)
    barred = a_section(a_course("CSC-3"), fall, prerequisites={"course": "MAT-1"})
    found = a_round(fall)
    for student in (cast.ada, cast.ben):
        ranks(found, student, one, clash, barred)
    after = published(found)
    texts = {
        student.id: [
            " ".join(each.alternatives[0].texts) for each in results.outcomes(after, student.id)
        ]
        for student in (cast.ada, cast.ben)
    }
    winner = next(each for each, said in texts.items() if said[0] == "You got it in turn 1.")
    loser = next(each for each in texts if each != winner)
    assert texts[winner][1] == "It meets at the same time as your choice 1."
    assert texts[loser][0] == "It was full when your turn 1 came."
    assert texts[loser][1] == "You got it in turn 1."
    assert "MAT 1" in texts[winner][2]


def test_missed_first_choices_give_tickets_later(popular: Round, fall: Term, cast: Cast) -> None:
    applied(popular)
    with transaction() as session:
        missed = session.scalars(select(BallotRow.student_id).where(BallotRow.unmet_first)).all()
    assert len(missed) == 2
    hopeless = a_round(fall, name="Hopeless")
    ranks(hopeless, cast.ada, a_section(a_course("GEO-2"), fall, capacity=0))
    applied(hopeless)
    later = a_round(fall, name="Second", tickets=3)
    ranks(later, cast.ada, a_section(a_course("GEO-1"), fall))
    frozen(later)
    (ballot,) = store.frozen_problem(later.id).ballots
    assert ballot.unmet == (1 if cast.ada.id in missed else 0)
