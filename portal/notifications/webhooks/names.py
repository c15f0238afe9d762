"""What a receiver can be told of: events of the ledger, by their names in the event log."""

from portal.core.i18n import _l

TEST = "test"  # what a receiver is sent to see whether it listens
NAMES = {
    "enrolled": _l("A seat was given"),
    "dropped": _l("A seat was given up or taken back"),
    "waitlisted": _l("A place on a waitlist was taken"),
    "left": _l("A place on a waitlist was given up"),
    "promoted": _l("A seat was given from a waitlist"),
    "passed_over": _l("A seat could not go to the student whose turn it was"),
    "section_set": _l("A section was published or changed"),
    "window_set": _l("A window was scheduled or changed"),
    "window_opened": _l("A window opened"),
    "window_closed": _l("A window ended"),
}
