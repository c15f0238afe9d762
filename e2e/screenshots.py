"""Makes the pictures of the docs on the demo semester: `python -m e2e.screenshots`.

With a folder it makes all pictures there: each page in light and dark, on a desktop and a phone.
"""

import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from playwright.sync_api import Browser, Page, StorageState, sync_playwright
from sqlalchemy import select

from e2e.browser import ARGUMENTS, find
from e2e.contrast import DESKTOP, PHONE
from e2e.person import Person
from e2e.portal import Running, running
from portal.catalog.models import Instructor, Term
from portal.catalog.term_catalog import SectionView, catalog_of, live_terms
from portal.core.db import transaction
from portal.core.settings import ROOT
from portal.ledger.types import Outcome, WindowView
from portal.people.models import Account, Student
from portal.recorder import receipts
from portal.registration import plan_store, plans
from portal.registration.requests import Choice, SectionRequest
from portal.reports.models import WindowReport
from portal.rounds import steps
from portal.rounds.models import BallotRow
from portal.waiting_room import room
from portal.windows import rounds
from tests import register
from tests.rounds.builders import a_round

FOLDER = ROOT / "docs" / "screenshots"
DOCS = {
    "lobby-desktop-light",
    "picker-desktop-light",
    "picker-phone-light",
    "dialog-phone-dark",
    "plan-phone-light",
    "schedule-desktop-light",
    "roster-desktop-light",
    "admin-desktop-light",
    "operations-desktop-dark",
    "round-desktop-light",
}
SCREENS = {"desktop": DESKTOP, "phone": PHONE}
SCHEMES = ("light", "dark")
RUSH, RANKED = 1200, 8
ADA, BEN = "student0001", "student0002"
# Other students in the queue.
EARLY, LATE = range(1_000_000, 1_000_300), range(2_000_000, 2_000_900)


def main() -> None:
    """Make the pictures of the docs, or all of them in the folder that is named."""
    folder, wanted = (Path(sys.argv[1]), None) if len(sys.argv) > 1 else (FOLDER, DOCS)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
        with running(Path(temporary) / "var", demo=True) as portal:
            Photographer(portal, browser, folder, wanted).run()
        browser.close()


class Photographer:
    """Walks through the portal, and shoots the wanted pictures of each page; None = all."""

    def __init__(
        self, portal: Running, browser: Browser, folder: Path, wanted: set[str] | None
    ) -> None:
        self.portal = portal
        self.browser = browser
        self.folder = folder
        self.wanted = wanted
        self.password = (portal.folder / "demo-password").read_text()
        self.term = live_terms()[0]
        self.ledger = portal.backend.ledger
        self.views = [view for view in catalog_of(self.term.id).sections if view.status == "OPEN"]
        self.sessions: dict[str, StorageState] = {}

    def run(self) -> None:
        """The lobby and a plan first; then the window opens and half the university rushes in."""
        here = f"/terms/{self.term.id}"
        self._plan()
        self._shoot("login", "", "/login")
        self._shoot("lobby", ADA, here)
        self._shoot("plan", ADA, f"{here}/plan")
        self._come(EARLY)
        self._open()
        self._line()
        self._shoot("order", "", f"{here}/windows/{self._window().id}/order")
        self._rush()
        self._shoot("picker", ADA, here)
        self._shoot("dialog", ADA, here, ask=True)
        self._shoot("mine", ADA, f"{here}/mine")
        for page in ("schedule", "history"):
            self._shoot(page, ADA, f"{here}/{page}")
        self._shoot("feed", ADA, f"{here}/schedule/feed")
        self._shoot("swap", ADA, f"{here}/sections/{self._held()}/swaps")
        self._shoot("receipt", ADA, f"/receipts/{self._receipt()}")
        self._shoot("inbox", ADA, "/inbox")
        self._shoot("settings", ADA, "/inbox/settings")
        self._shoot("account", ADA, "/account")
        self._shoot("tokens", ADA, "/account/tokens")
        self._shoot("api", "", "/api/docs")
        self._shoot("search", "admin", f"/admin/receipts?q={self._receipt()}")
        self._shoot("roster", "instructor01", f"/teaching/sections/{self._taught().id}")
        self.registrar()

    def registrar(self) -> None:
        """The pages from which the semester is run; the reports need the window closed."""
        here, window = f"/admin/terms/{self.term.id}", self._window().id
        self._shoot("admin", "admin", "/admin")
        self._shoot("operations", "admin", "/admin/operations")
        self._shoot("window", "admin", f"{here}/windows/new")
        self._shoot("sections", "admin", f"{here}/sections")
        self._shoot("section", "admin", f"{here}/sections/{self._taught().id}")
        self._shoot("results", "admin", f"{here}/sections/{self._taught().id}/results")
        self._shoot("few", "admin", f"{here}/underfilled")
        self._shoot("student", "admin", f"/admin/students/{self._ada()}")
        self._shoot("imports", "admin", "/admin/imports")
        self._close()
        self._shoot("report", "admin", f"{here}/windows/{window}/report")
        self._shoot("fairness", "admin", f"{here}/windows/{window}/fairness")
        self._shoot("round", "admin", f"{here}/rounds/{self._round()}/compare")
        self._shoot("audit", "admin", "/admin/audit")

    def _shoot(self, name: str, who: str, address: str, *, ask: bool = False) -> None:
        for screen, scheme in product(SCREENS, SCHEMES):
            picture = f"{name}-{screen}-{scheme}"
            if self.wanted is not None and picture not in self.wanted:
                continue
            with self._visit(who, viewport=SCREENS[screen], color_scheme=scheme) as page:
                page.goto(address)
                page.wait_for_load_state("networkidle")
                if ask:
                    self._ask(page)
                page.wait_for_timeout(400)
                page.screenshot(path=self.folder / f"{picture}.png")

    def _ask(self, page: Page) -> None:
        """Open the first dialog that shows no obstacle."""
        for link in page.locator(".act-pick", has=page.locator(".on-seat:visible")).all():
            link.click()
            page.locator("#dialog[open]").wait_for()
            if page.locator("#dialog button[type=submit]").count():
                return
            page.keyboard.press("Escape")

    @contextmanager
    def _visit(self, who: str, **options: Any) -> Iterator[Page]:
        session = self.sessions.get(who)
        context = self.browser.new_context(
            base_url=self.portal.address, storage_state=session, reduced_motion="reduce", **options
        )
        person = Person(context.new_page())
        if who and session is None:
            person.log_in(who, self.password)
            self.sessions[who] = context.storage_state()
        yield person.page
        context.close()

    def _plan(self) -> None:
        """Three wishes of Ada's, the first with a fallback."""
        first, second, *others = [
            (SectionRequest(view.id),) for view in Random(2).sample(self.views, 4)
        ]
        made = plans.add_alternative(plans.add(plans.Plan(), first), 0, second)
        for option in others:
            made = plans.add(made, option)
        plan_store.change(self.term.id, self._ada(), 0, lambda _: made)

    def _come(self, students: Iterable[int]) -> None:
        """To the gate."""
        for student in students:
            room.enter(self.term.id, self._window().id, student)

    def _line(self) -> None:
        """Many come after the opening, and one of them sees how long it takes."""
        term, window, here = self.term.id, self._window().id, f"/terms/{self.term.id}"
        room.set_limits(term, window, 400, 3000, off=False)
        self._come(LATE)
        self._shoot("line", BEN, here)
        self._shoot("room", BEN, f"{here}/room")
        self._shoot("limits", "admin", f"/admin{here}/windows/{window}/room")
        room.set_limits(term, window, 400, 3000, off=True)

    def _window(self) -> WindowView:
        [window] = self.ledger.windows(self.term.id)
        return window

    def _open(self) -> None:
        window = self._window()
        opens = self.ledger.now() + 1000
        self.ledger.move_window(self.term.id, window.id, opens, window.closes, "screenshots")
        while self.ledger.now() < opens + 1200:
            pass

    def _close(self) -> None:
        """Close the window, and wait until its report is made."""
        self.ledger.close_window(self.term.id, self._window().id, "screenshots")
        made = select(WindowReport.window_id)
        while True:
            with transaction() as session:
                if session.scalars(made).first():
                    return
            time.sleep(0.5)

    def _rush(self) -> None:
        """Many students pick what they may; Ada then gets three seats, and waits for a fourth."""
        chance = Random(1)
        with transaction() as session:
            students = list(session.scalars(select(Student.id)))
        ada = self._ada()
        students.remove(ada)
        popular = [self._taught(), *chance.sample(self.views, 25)]
        for _ in range(RUSH):
            section = chance.choice(popular if chance.random() < 0.4 else self.views)
            self._claim(chance.choice(students), section)
        seats = self.ledger.seats(self.term.id)
        free = [view for view in self.views if seats[view.id].claimable]
        full = [view for view in self.views if not seats[view.id].claimable]
        self._claim_some(ada, free, Outcome.ENROLLED, 3)
        self._claim_some(ada, full, Outcome.WAITLISTED, 1)

    def _round(self) -> int:
        """A round with a trial: many students rank eight sections each, popular ones more often."""
        chance, now = Random(3), rounds.database_now()
        with transaction() as session:
            term = session.get_one(Term, self.term.id)
            students = list(session.scalars(select(Student.id).order_by(Student.id)))
            admin = session.scalars(select(Account.id).where(Account.is_admin).limit(1)).one()
        weights = [1 / (9 + rank) ** 0.6 for rank in range(len(self.views))]
        found = a_round(term, admin, begins=now - 1000, ends=now + 3_600_000)
        rows = []
        for student in students:
            chosen: dict[int, None] = {}
            while len(chosen) < RANKED:
                chosen[chance.choices(self.views, weights)[0].id] = None
            lines = tuple(Choice(((SectionRequest(each),),), wait=True) for each in chosen)
            rows.append(
                BallotRow(
                    round_id=found.id,
                    student_id=student,
                    code=f"{student}-",
                    lines=plans.pack(plans.Plan(lines)),
                    most_courses=5,
                    most_credits=2000,
                    changes=1,
                    changed_at=found.begins_at,
                )
            )
        with transaction() as session:
            session.add_all(rows)
        steps.request_trial(found.id, admin)
        steps.make_trial(steps.trials(found.id)[0].id)
        return found.id

    def _claim_some(
        self, student: int, views: list[SectionView], wanted: Outcome, number: int
    ) -> None:
        outcomes = (self._claim(student, view) for view in views)
        for _ in zip(range(number), (each for each in outcomes if each == wanted), strict=False):
            pass

    def _claim(self, student: int, view: SectionView) -> Outcome:
        return register.claim(student, self.term.id, view.id, wait=True).outcome

    def _ada(self) -> int:
        with transaction() as session:
            return session.scalars(
                select(Student.id).join(Student.account).filter_by(username=ADA)
            ).one()

    def _receipt(self) -> str:
        [seat, *_] = self.ledger.registrations(self.term.id, self._ada()).enrolled
        return receipts.code(self.term.id, seat.registration)

    def _held(self) -> int:
        """One of Ada's sections, whose course has others."""
        held = [
            each.section for each in self.ledger.registrations(self.term.id, self._ada()).enrolled
        ]
        offered = catalog_of(self.term.id)
        courses = {each.id: each.course_id for each in offered.some(held)}
        return max(held, key=lambda section: len(offered.sections_of(courses[section])))

    def _taught(self) -> SectionView:
        """A section of instructor01."""
        with transaction() as session:
            instructor = select(Instructor.id).join(Account).filter_by(username="instructor01")
            return catalog_of(self.term.id).taught_by(frozenset(session.scalars(instructor)))[0]


if __name__ == "__main__":
    main()
