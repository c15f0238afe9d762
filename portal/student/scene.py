"""Where a student stands in a term right now: what every page and fragment is drawn from."""

from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

from portal.backend import backend
from portal.catalog.board import Board, Card, TermView, board
from portal.people.profile import Profile, profile
from portal.seats import desk
from portal.seats.answers import Held, Standing, Waiting
from portal.seats.case import Case
from portal.windows.localtime import Clockface
from portal.windows.phases import Phase, phase


@dataclass(frozen=True)
class Scene:
    """One student, one term, one moment of the ledger's clock."""

    profile: Profile
    board: Board
    standing: Standing
    phase: Phase
    times: Clockface

    @property
    def term(self) -> TermView:
        return self.board.term

    @cached_property
    def held(self) -> dict[int, Held]:
        """Seats by section."""
        return {each.section: each for each in self.standing.enrolled}

    @cached_property
    def places(self) -> dict[int, Waiting]:
        """Places on waitlists by section."""
        return {each.section: each for each in self.standing.waiting}

    @property
    def mark(self) -> str:
        """Tells one standing from another, so that a page which shows it is not sent it again."""
        return f"{crc32(repr(self.standing).encode()):08x}"

    def title(self, card: Card) -> str:
        """What a section is called."""
        return titled(self.board, card)

    @property
    def credits(self) -> int:
        """Hundredths held."""
        return sum(each.credits for each in self.standing.enrolled)

    @property
    def limit(self) -> int:
        """The most hundredths that may be held."""
        return desk.hundredths(desk.limit(self.profile, self.board))

    @property
    def opening(self) -> str:
        """What stands in place of a button until picking begins; blank once it has begun."""
        if self.phase.kind == "before" and self.phase.window:
            return f"Opens {self.soon(self.phase.window.opens)}"
        return "Not open yet" if self.phase.kind == "unscheduled" else ""

    @property
    def stage(self) -> str:
        """The phase and what it shows in the list, to tell whether a page is still right."""
        return f"{self.phase.kind} {self.opening}"

    def state(self, section: int) -> str:
        """`selected`, `waiting`, or blank."""
        return "selected" if section in self.held else "waiting" if section in self.places else ""

    def case(self, card: Card | None) -> Case:
        """What a refusal about the section needs to be told in words."""
        return Case(self.board, card, self.times.zone)

    def soon(self, ms: int) -> str:
        """A moment as briefly as it is clear: the clock if it is today, else the day."""
        return self.times.clock(ms) if self._is_today(ms) else f"{self.times.at(ms):%b %-d}"

    def moment(self, ms: int) -> str:
        """A moment in words: `9:00 am`, or `Mon 23 Nov, 9:00 am` on another day."""
        if self._is_today(ms):
            return self.times.clock(ms)
        return f"{self.times.at(ms):%a %-d %b}, {self.times.clock(ms)}"

    def when(self, ms: int) -> str:
        """The same with the word that a sentence needs: `at 9:00 am`, `on Mon 23 Nov, 9:00 am`."""
        return f"{'at' if self._is_today(ms) else 'on'} {self.moment(ms)}"

    def _is_today(self, ms: int) -> bool:
        return self.times.at(ms).date() == self.times.at(self.phase.now).date()


def titled(offered: Board, card: Card) -> str:
    """What a section is called: its course, and its own title where sections have several."""
    own, course = card.title, card.course_title
    if not own or not course or own.casefold() == course.casefold():
        return course or own
    titles = {each.title.casefold() for each in offered.sections_of(card.course_id)}
    return f"{course}: {own}" if len(titles) > 1 else course


def scene(term_id: int, student: int, at: int | None = None) -> Scene:
    """The student's scene, `at` if the ledger's time is known; raises LookupError for no such."""
    ledger, who, offered = backend().ledger, profile(student), board(term_id)
    return Scene(
        profile=who,
        board=offered,
        standing=ledger.standing(term_id, student),
        phase=phase(desk.windows_of(who, term_id), ledger.now() if at is None else at),
        times=Clockface(backend().settings.zone),
    )
