"""The text of mails; no name or title can add to it."""

from datetime import timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage

import pytest
from sqlalchemy import update

from portal.backend import Backend
from portal.catalog.local_time import LocalClock
from portal.catalog.models import Course, Section, Term
from portal.core.db import transaction
from portal.core.i18n import in_language
from portal.core.moments import moment
from portal.ledger.types import Candidate, Reason
from portal.notifications.mail import InvalidAddress, compose
from portal.notifications.reminders import remind
from portal.people.models import Account
from tests import cast as builders
from tests.cast import Cast
from tests.notifications.stories import Story, a_letter, outbox, set_section


def sent() -> EmailMessage:
    """The last mail as its receiver reads it."""
    return message_from_bytes(bytes(a_letter().message), policy=policy.default)


def body() -> str:
    return str(sent().get_content()).replace("\r\n", "\n")


def bodies() -> list[str]:
    """Of all mails, in order."""
    with transaction() as session:
        return [compose(session, each).message.get_content() for each in outbox()]


def name_everyone(name: str) -> None:
    with transaction() as session:
        session.execute(update(Account).values(name=name))


def test_who_got_a_seat_reads_so_first_and_where_to_go_next(story: Story, cast: Cast) -> None:
    story.hand_over(cast.ada, cast.ben)
    assert body().startswith(
        "Hello Ben,\n\n"
        f"You got a seat in CSC 1100-{story.section.number}.\n\n"
        "A seat opened and you got it. You are no longer on the waitlist.\n\n"
        "See my classes:\n"
        f"http://127.0.0.1:8000/terms/{story.term.id}/mine\n"
    )


def test_it_says_why_it_comes_and_how_to_have_no_more(story: Story, cast: Cast) -> None:
    story.hand_over(cast.ada, cast.ben)
    settings = "http://127.0.0.1:8000/inbox/settings"
    assert f"Change your email settings:\n{settings}\n" in body()
    assert "You get a seat from a waitlist" in " ".join(body().split())
    assert sent()["List-Unsubscribe"] == f"<{settings}>"
    assert sent()["Auto-Submitted"] == "auto-generated"


def test_a_skipped_student_reads_every_reason(backend: Backend, story: Story, cast: Cast) -> None:
    story.claim(cast.ada, cast.ben)
    story.drop(cast.ada)
    hold = Reason("hold", {"kind": "Bursar", "reason": "A bill is unpaid.", "office": "Bursar"})
    window = story.rush.window
    who = Candidate(student=cast.ben.id, windows=(window,), credit_limit=9900, rules=(hold,))
    backend.ledger.promote(story.term.id, story.section.id, [who], "tests")
    story.record()
    assert "opened in" in sent()["Subject"]
    assert "A bill is unpaid" in body()
    assert "You keep your waitlist position for the next seat." in body()


def test_a_canceled_section_says_what_one_had_in_it(story: Story, cast: Cast) -> None:
    story.claim(cast.ada, cast.ben)
    set_section(story.section, status="CANCELED")
    story.record()
    first, second = sorted(" ".join(text.split()) for text in bodies())  # Ada's, then Ben's
    assert "You had a seat in Data Structures." in first
    assert "You were on the waitlist for Data Structures." in second
    assert f"/terms/{story.term.id}?q=CSC+1100" in first


def test_line_breaks_in_names_and_titles_make_no_headers(story: Story, cast: Cast) -> None:
    evil = "Ben\r\nBcc: eve@evil.example\r\n\r\nBuy this"
    name_everyone(evil)
    with transaction() as session:
        session.execute(update(Section).values(number="1\r\nBcc: x@e.x"))
        session.execute(update(Course).values(title="T\r\nX-Evil: 1"))
        session.execute(update(Term).values(name="Fall\r\nX-Evil: 1"))
    story.hand_over(cast.ada, cast.ben)
    mail = sent()
    assert set(mail.keys()) == {
        "Message-ID", "Date", "From", "To", "Auto-Submitted", "List-Unsubscribe", "Subject",
        "Content-Type", "Content-Language", "Content-Transfer-Encoding", "MIME-Version",
        "X-Correlation-Id",
    }  # fmt: skip
    assert [each.addr_spec for each in mail["To"].addresses] == ["ben@u.example"]


def test_a_name_with_commas_and_accents_is_one_name(story: Story, cast: Cast) -> None:
    name_everyone('Muñoz, "Ben" <eve@evil.example>')
    story.hand_over(cast.ada, cast.ben)
    (to,) = sent()["To"].addresses
    assert (to.addr_spec, to.display_name) == ("ben@u.example", 'Muñoz, "Ben" <eve@evil.example>')
    assert "Hello Muñoz" in body()


@pytest.mark.parametrize(
    "address",
    [
        "nobody",
        "two@u.example, three@u.example",
        "ben@u.example\nBcc: eve@evil.example",
        "ben @u.example",
        "ben@",
        "@u.example",
    ],
)
def test_what_is_no_address_gets_no_mail(story: Story, cast: Cast, address: str) -> None:
    with transaction() as session:
        session.execute(update(Account).values(email=address))
    story.hand_over(cast.ada, cast.ben)
    with pytest.raises(InvalidAddress):
        a_letter()


def test_no_line_is_longer_than_mail_allows(story: Story, cast: Cast) -> None:
    name_everyone("Ben " * 39)
    story.hand_over(cast.ada, cast.ben)
    assert max(map(len, bytes(a_letter().message).split(b"\r\n"))) <= 998
    assert all(len(line) <= 72 for line in body().split("\n") if "http" not in line)


def test_it_is_in_the_language_of_who_gets_it(backend: Backend, story: Story) -> None:
    with transaction() as session:
        session.execute(update(Account).values(language="es"))
    window = builders.a_coming_window(story.term, 60)
    story.record()
    remind(story.term.id, moment(window.opens) - timedelta(minutes=10))
    with in_language("es"):
        opens = LocalClock(backend.settings.zone).full(window.opens)
    with in_language("en"):
        assert opens != LocalClock(backend.settings.zone).full(window.opens)
    assert sent()["Content-Language"] == "es"
    assert opens in sent()["Subject"]
