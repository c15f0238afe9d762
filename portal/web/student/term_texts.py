"""What pages say of a student's term: its times, deadlines and waitlists in words."""

from dataclasses import dataclass
from functools import cached_property

from portal.catalog.local_time import LocalClock
from portal.catalog.term_catalog import TermView
from portal.catalog.views import SectionView
from portal.core.i18n import _
from portal.people.student_profile import StudentProfile
from portal.web.http.device_zone import zone_name, zone_note
from portal.windows import bands, deadlines
from portal.windows.phases import Phase


@dataclass(frozen=True)
class TermTexts:
    """The texts about a student's term at the moment of its phase."""

    term: TermView
    profile: StudentProfile
    phase: Phase
    times: LocalClock
    add_deadline: int | None  # the first moment (ms) after the last day to add
    late_to_add: bool  # that moment has come

    @cached_property
    def opening(self) -> str:
        """Return the text in place of a button before registration begins; blank afterwards."""
        if self.phase.kind == "before" and self.phase.window:
            opens = self.phase.window.opens
            time = self.times.soon(opens, self.phase.now)
            zone = zone_name(self.times, opens)
            return _("Opens %(time)s", time=f"{time} {zone}".strip())
        return _("Not open yet") if self.phase.kind == "unscheduled" else ""

    @property
    def last_days(self) -> list[tuple[str, str]]:
        """Return the deadlines of the term."""
        return deadlines.in_words(self.term)

    @property
    def waitlist_order(self) -> str:
        """Return a sentence about the order of waitlists; blank if it is first come only."""
        return bands.rule(self.term.bands)

    def band(self, view: SectionView) -> str:
        """Return the student's band on the section's waitlist; blank without bands."""
        known = self.term.bands
        return bands.own(bands.band_of(self.profile, view, known), known) if known else ""

    @property
    def waitlist_note(self) -> str:
        """Return a sentence about when waitlists give seats."""
        phase, window = self.phase, self.phase.window
        last_add = self.add_deadline
        if self.late_to_add:
            return _("The last day to add classes has passed. The waitlists no longer move.")
        if phase.kind == "open" and window:
            until = self.moment_and_zone(min(window.closes, last_add or window.closes))
            return _("Free seats go to the waitlist automatically until %(when)s.", when=until)
        if phase.kind == "before" and window and last_add and window.opens >= last_add:
            return _(
                "The last day to add classes is before your next window. The waitlists no longer"
                " move."
            )
        if phase.kind == "before" and window:
            when = self.when_and_zone(window.opens)
            return _("The waitlists start moving again %(when)s.", when=when)
        if phase.kind == "ended":
            return _("Registration is over. The waitlists no longer move.")
        return _("The waitlists move once a selection window is scheduled.")

    def moment(self, ms: int) -> str:
        """Return a moment: `9:00 am`, or `Mon, Nov 23, 9:00 am` on another day."""
        return self.times.moment_at(ms, self.phase.now)

    def when(self, ms: int) -> str:
        """Return a moment with its preposition: `at 9:00 am`, `on Mon, Nov 23, 9:00 am`."""
        return self.times.when(ms, self.phase.now)

    def moment_and_zone(self, ms: int) -> str:
        """Return `moment`, with the zone if the device has another one."""
        return f"{self.moment(ms)} {zone_note(self.times, ms)}".strip()

    def when_and_zone(self, ms: int) -> str:
        """Return `when`, with the zone if the device has another one."""
        return f"{self.when(ms)} {zone_note(self.times, ms)}".strip()
