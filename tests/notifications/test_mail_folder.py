"""Without a mail server, mails are files in a folder."""

import stat
from email import message_from_bytes, policy
from pathlib import Path

import pytest

from portal.notifications.mail_sender import MailSender
from portal.notifications.mail_transport import MailFolder, Unreachable
from tests.cast import Cast
from tests.notifications.stories import Story, a_letter


@pytest.fixture
def story(story: Story, cast: Cast) -> Story:
    story.hand_over(cast.ada, cast.ben)
    return story


def test_a_mail_is_a_file_that_any_mail_program_reads(story: Story, tmp_path: Path) -> None:
    assert story
    MailSender(lambda: MailFolder(tmp_path / "mail")).send_due()
    (file,) = (tmp_path / "mail").iterdir()
    assert file.suffix == ".eml"
    mail = message_from_bytes(file.read_bytes(), policy=policy.default)
    assert mail["To"] == "Ben <ben@u.example>"
    assert "A seat opened" in mail.get_content()


def test_what_is_sent_again_is_one_file(story: Story, tmp_path: Path) -> None:
    assert story
    for _ in range(2):
        MailFolder(tmp_path).send(a_letter())
    assert len(list(tmp_path.iterdir())) == 1


def test_no_one_else_may_read_them(story: Story, tmp_path: Path) -> None:
    assert story
    MailFolder(tmp_path / "mail").send(a_letter())
    assert stat.S_IMODE((tmp_path / "mail").stat().st_mode) == 0o700


def test_a_folder_that_can_not_be_written_to_is_no_fault_of_the_mail(
    story: Story, tmp_path: Path
) -> None:
    assert story
    (tmp_path / "mail").write_text("in the way")
    with pytest.raises(Unreachable, match="mail"):
        MailFolder(tmp_path / "mail").send(a_letter())
