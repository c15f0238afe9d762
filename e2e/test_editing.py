"""The registrar edits courses and accounts, and sees what a student sees."""

import re
import time
from email import message_from_bytes, policy

from playwright.sync_api import expect

from e2e.person import Meet
from e2e.portal import Running
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.cast import Cast

WHY = "The senate has decided it."
PHONE = {"viewport": {"width": 390, "height": 800}, "java_script_enabled": False}


def test_a_course_is_edited_on_a_phone_without_javascript_and_students_see_it(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada, boss = meet("ada"), meet("max", **PHONE)
    boss.go(f"/admin/courses/{section.course_id}")
    boss.page.get_by_role("link", name="Edit", exact=True).click()
    main = boss.page.locator("main")
    main.get_by_label("Title").fill("Touching sounds")
    main.get_by_label("Prerequisites").fill("MAT-1010 and")
    main.get_by_label(term.name, exact=True).check()
    main.get_by_role("button", name="Review").click()
    expect(main.locator(".errors")).to_contain_text("A course is missing here")
    main.get_by_label("Prerequisites").fill("")
    main.get_by_role("button", name="Review").click()
    expect(main.locator("h1")).to_contain_text("Change")
    expect(main).to_contain_text("Touching sounds")
    main.get_by_label("Reason").fill(WHY)
    main.get_by_role("button", name="Save changes").click()
    expect(main.locator("h1")).to_have_text("Touching sounds")
    expect(main).to_contain_text(WHY)
    ada.go(f"/terms/{term.id}")
    ada.asks_until(ada.row(section).get_by_text("Touching sounds").first)


def test_a_student_and_an_instructor_are_created_and_edited_and_their_pages_follow(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    name = f"pia{term.id}"
    boss = meet("max")
    main = boss.page.locator("main")

    def fill(button: str, **fields: str) -> None:
        for label, text in fields.items():
            main.get_by_label(label.replace("_", " "), exact=True).fill(text)
        main.get_by_role("button", name="Review").click()
        main.get_by_label("Reason").fill(WHY)
        main.get_by_role("button", name=button).click()

    boss.go("/admin/students")
    boss.page.get_by_role("link", name="New student").click()
    number = f"P{term.id}"
    fill("Create student", Username=name, Name="Pia Park", Student_number=number, Level="Graduate")
    expect(main.locator(".row-code").first).to_have_text(number)
    boss.page.get_by_role("link", name="Edit", exact=True).click()
    fill("Save changes", Name="Pia Parker", Class_year="Senior")
    expect(main.locator("h1")).to_have_text("Pia Parker")
    expect(main).to_contain_text("Senior")
    expect(main).to_contain_text("Graduate")  # as it was

    boss.go("/admin/instructors")
    boss.page.get_by_role("link", name="New instructor").click()
    fill("Create instructor", Name=f"Rui {term.id}")
    expect(main.locator("h1")).to_have_text(f"Rui {term.id}")
    boss.go(f"/admin/terms/{term.id}/sections/{section.id}/edit")
    main.get_by_label("Instructor 1").fill(f"Rui {term.id}")
    main.get_by_role("button", name="Review").click()
    main.get_by_label("Reason").fill(WHY)
    main.get_by_role("button", name="Save changes").click()
    boss.go(f"/admin/instructors?q=Rui {term.id}")
    boss.page.get_by_role("link", name=f"Rui {term.id}").click()
    expect(main).to_contain_text(section.title)
    boss.page.get_by_role("link", name="Edit", exact=True).click()
    fill("Save changes", Name=f"Rui Reis {term.id}")
    expect(main.locator("h1")).to_have_text(f"Rui Reis {term.id}")
    ada = meet("ada")
    ada.go(f"/terms/{term.id}")
    ada.asks_until(ada.row(section).get_by_text(f"Rui Reis {term.id}").first)


def test_a_deactivated_student_is_out_at_once_and_can_come_back(meet: Meet, term: Term) -> None:
    name = f"nora{term.id}"
    student = builders.a_student(name)
    boss, nora = meet("max"), meet(name)
    boss.go(f"/admin/accounts/{student.account_id}")
    boss.page.get_by_role("link", name="Deactivate").click()
    boss.dialog.get_by_label("Reason").fill(WHY)
    boss.dialog.get_by_role("button", name="Deactivate the account").click()
    expect(boss.page.locator("main .badge")).to_have_text("Deactivated")
    nora.go("/account")
    nora.page.get_by_role("link", name="Forgot your password?").click()
    nora.page.get_by_label("Email address").fill(f"{name}@example.org")
    nora.page.get_by_role("button", name="Send the link").click()
    expect(nora.page.locator("main")).to_contain_text("Check your email")
    boss.page.get_by_role("link", name="Activate").click()
    boss.dialog.get_by_label("Reason").fill(WHY)
    boss.dialog.get_by_role("button", name="Activate the account").click()
    expect(boss.page.locator("main .badge")).to_have_count(0)
    nora.log_in(name)


def mailed_link(portal: Running, address: str, number: int) -> str:
    """The link for a password in the mail of that number to the address, once it is sent."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        files = sorted((portal.folder / "mail").glob("link-*.eml"))
        mails = [message_from_bytes(each.read_bytes(), policy=policy.default) for each in files]
        found = [each.get_content() for each in mails if address in each["To"]]
        if len(found) >= number:
            return str(re.findall(r"https?://[^/\s]+(/recovery/\S+)", found[number - 1])[0])
        time.sleep(0.1)
    raise AssertionError(f"no mail to {address}")


def test_a_colleague_chooses_a_password_by_mail_and_another_one_after_forgetting_it(
    meet: Meet, portal: Running, term: Term
) -> None:
    name = f"olga{term.id}"
    address = f"{name}@u.example"
    boss, olga = meet("max", **PHONE), meet()
    boss.go("/admin/accounts")
    boss.page.get_by_role("link", name="New account").click()
    main = boss.page.locator("main")
    main.get_by_label("Username").fill(name)
    main.get_by_label("Email").fill(address)
    main.get_by_label("Name", exact=True).fill("Olga Orlova")
    main.get_by_role("button", name="Review").click()
    expect(main).to_contain_text(f"A link to choose a password goes to {address}.")
    main.get_by_label("Reason").fill(WHY)
    main.get_by_role("button", name="Create account").click()
    expect(main.locator("h1")).to_have_text("Olga Orlova")
    page = olga.page
    for number, password in ((1, "four unrelated words of mine"), (2, "five other words of mine")):
        if number == 2:
            page.goto("/login")
            page.get_by_role("link", name="Forgot your password?").click()
            page.get_by_label("Email address").fill(address)
            page.get_by_role("button", name="Send the link").click()
            expect(page.locator("main")).to_contain_text("Check your email")
        page.goto(mailed_link(portal, address, number))
        page.get_by_label("New password").fill(password)
        page.get_by_role("button", name=re.compile("^(Set|Change) password")).click()
        page.get_by_role("button", name="Log out").click()
        olga.log_in(name, password)
        page.get_by_role("button", name="Log out").click()


def test_the_registrar_views_as_a_student_and_can_change_nothing(
    meet: Meet, term: Term, section: Section, cast: Cast
) -> None:
    builders.an_open_window(term)
    ada, boss = meet("ada").enter(term), meet("max")
    boss.expected = re.compile(r"status of (403|422)|Status Error Code 403|WebSocket|object Event")
    boss.go(f"/admin/students/{cast.ada.id}")
    boss.page.get_by_role("link", name="View as student").click()
    boss.dialog.get_by_label("Reason").fill(WHY)
    boss.dialog.get_by_role("button", name="View").click()
    banner = boss.page.locator(".viewing")
    expect(banner).to_contain_text("You are viewing as Ada.")
    boss.go(f"/terms/{term.id}")
    boss.ask(section)
    boss.dialog.locator("button[type=submit]").click()
    expect(boss.page.locator("body")).to_contain_text("You are viewing a student’s pages")
    ada.has(section, "")
    boss.go(f"/terms/{term.id}/mine")
    banner.get_by_role("button", name="Stop viewing").click()
    expect(boss.page.locator("main .row-code").first).to_have_text(cast.ada.number)
    expect(banner).to_have_count(0)
