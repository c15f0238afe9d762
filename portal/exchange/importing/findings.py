"""What may be the matter with a row, what is done about it, and what would help."""

from dataclasses import dataclass
from enum import StrEnum

from portal.core.i18n import _k, _l


class Action(StrEnum):
    REFUSED = "refused"  # the row is not imported
    REPAIRED = "repaired"  # imported, but not as written
    LEFT_OUT = "left out"  # a field for which the portal has no place
    KEPT = "kept"  # imported as written, though it looks odd


ACTIONS = {
    Action.REFUSED: _l("refused"),
    Action.REPAIRED: _l("repaired"),
    Action.LEFT_OUT: _l("left out"),
    Action.KEPT: _l("kept"),
}


# Kinds of records.
RECORD_NAMES = {
    "department": _k("Departments"),
    "subject": _k("Subjects"),
    "course": _k("Courses"),
    "term": _k("Terms"),
    "account": _k("Accounts"),
    "student": _k("Students"),
    "teacher": _k("Teachers"),
    "pool": _k("Shared seats"),
    "section": _k("Sections"),
    "teaching": _k("Who teaches what"),
    "enrollment": _k("Students in sections"),
    "source": _k("Names of the source"),
}


@dataclass(frozen=True)
class FindingKind:
    """A thing that may be the matter."""

    action: Action
    why: str
    todo: str = ""


FINDINGS: dict[str, FindingKind] = {
    "row_shape": FindingKind(
        Action.REFUSED,
        _l("The row has more or fewer fields than the header."),
        _l("Give the row as many fields as the header has; put quotes around a text with commas."),
    ),
    "no_key": FindingKind(
        Action.REFUSED, _l("The row doesn't say what it's about."), _l("Fill the field in.")
    ),
    "duplicate": FindingKind(
        Action.REFUSED,
        _l("It repeats an earlier row, which counts."),
        _l("Take one of the rows away."),
    ),
    "own_course": FindingKind(
        Action.REFUSED,
        _l("A section is not cross-listed with its own course."),
        _l("Take the row away."),
    ),
    "orphan": FindingKind(
        Action.REFUSED,
        _l("No section has this registration number."),
        _l("Add the section to sections.csv, or take the row away."),
    ),
    "unreadable": FindingKind(
        Action.REFUSED, _l("The row makes no sense without this field."), _l("Mend the field.")
    ),
    "no_tree": FindingKind(
        Action.REFUSED,
        _l("The prerequisites make no sense: nothing is checked for the section."),
        _l("Mend the field."),
    ),
    "other_term": FindingKind(
        Action.REFUSED,
        _l("The row is of another term than most of the file."),
        _l("Import the other term by itself."),
    ),
    "no_such": FindingKind(
        Action.REFUSED,
        _l("It refers to something that neither the files nor the portal have."),
        _l("Add what it refers to, or mend the identifier."),
    ),
    "older": FindingKind(
        Action.REFUSED,
        _l("A later change of the same thing has been imported already."),
        _l("Leave it, or give it a later dateLastModified."),
    ),
    "renamed": FindingKind(
        Action.REFUSED,
        _l("What the source calls so had another user name, code or term before."),
        _l("Change it by hand here, or give it an identifier of its own."),
    ),
    "admin": FindingKind(
        Action.REFUSED,
        _l("The account is an admin’s, which no import changes."),
        _l("Change it by hand."),
    ),
    "other_student": FindingKind(
        Action.REFUSED,
        _l("The account is that of a student with another number."),
        _l("Mend the number or the user name."),
    ),
    "other_role": FindingKind(
        Action.REFUSED,
        _l("The portal has students and teachers, and no such role."),
        _l("Leave it: it is not needed here."),
    ),
    "seat": FindingKind(
        Action.REFUSED,
        _l("The student can’t be put into the section."),
        _l("Mend what stands in the way, or put students in past rules and capacity."),
    ),
    "stays": FindingKind(
        Action.REFUSED,
        _l("The student stays in this section: the change to another of the course is refused."),
        _l("Look at the row of the other section, which says why."),
    ),
    "seat_late": FindingKind(
        Action.REFUSED,
        _l("When its turn came, the seat could not be given or taken any more."),
        _l("Look at the student’s page, and do it by hand there."),
    ),
    "seat_left": FindingKind(
        Action.REFUSED,
        _l("The import was ended before this seat was dealt with."),
        _l("Look at the student’s page, and do it by hand there if it is still to be done."),
    ),
    "role_kept": FindingKind(
        Action.REFUSED,
        _l("Roles are not taken away by an import."),
        _l("Disable the user, or take the role away by hand."),
    ),
    "kept_for_others": FindingKind(
        Action.REFUSED,
        _l("Departments, terms and courses are kept: history refers to them."),
        _l("Leave it: what nobody uses is not shown."),
    ),
    "no_term": FindingKind(
        Action.LEFT_OUT, _l("Only terms and semesters have a place in the portal.")
    ),
    "file_needless": FindingKind(Action.LEFT_OUT, _l("The portal has no use for this file.")),
    "taken": FindingKind(
        Action.REFUSED,
        _l("Somebody is in this section or waits for it, so it was not taken away."),
        _l("Cancel it on its page, which tells them."),
    ),
    "file_missing": FindingKind(
        Action.LEFT_OUT, _l("The file is not there; the import does without it.")
    ),
    "encoding": FindingKind(
        Action.REPAIRED, _l("The file is not UTF-8; it was read as Windows-1252.")
    ),
    "spaces": FindingKind(Action.REPAIRED, _l("Doubled spaces were taken out.")),
    "too_long": FindingKind(Action.REPAIRED, _l("The text was cut to the length that fits.")),
    "title_missing": FindingKind(
        Action.REPAIRED, _l("The course has no title; that of a section stands in.")
    ),
    "number_missing": FindingKind(Action.REPAIRED, _l("The section has no number; it got 01.")),
    "credits_missing": FindingKind(
        Action.REPAIRED, _l("No readable credits; the course's or sections' count.")
    ),
    "count": FindingKind(
        Action.REPAIRED, _l("This is no number of seats; a cautious one stands in.")
    ),
    "course_added": FindingKind(
        Action.REPAIRED, _l("The course isn't in courses.csv; made from its section.")
    ),
    "department_added": FindingKind(
        Action.REPAIRED, _l("The department isn't in departments.csv; added.")
    ),
    "days_unreadable": FindingKind(
        Action.REPAIRED, _l("The days make no sense; the meeting is TBA.")
    ),
    "times_unreadable": FindingKind(
        Action.REPAIRED, _l("The times make no sense; the meeting is TBA.")
    ),
    "dates_unreadable": FindingKind(
        Action.REPAIRED, _l("The dates make no sense; the term's stand in.")
    ),
    "dates_missing": FindingKind(
        Action.REPAIRED, _l("The meeting has no dates; the term's stand in.")
    ),
    "dates_reversed": FindingKind(
        Action.REPAIRED, _l("The last date is before the first; they were swapped.")
    ),
    "time_without_days": FindingKind(
        Action.REPAIRED, _l("A time without days; the meeting is TBA.")
    ),
    "midnight": FindingKind(Action.REPAIRED, _l("It ends at midnight; 11:59 pm stands in.")),
    "empty_group": FindingKind(
        Action.REPAIRED, _l("An empty group of prerequisites was taken away.")
    ),
    "not_represented": FindingKind(Action.LEFT_OUT, _l("The portal has no place for this column.")),
    "over_capacity": FindingKind(Action.KEPT, _l("More students than seats already.")),
    "no_seats": FindingKind(Action.KEPT, _l("The capacity is 0: nobody can register.")),
    "counts_disagree": FindingKind(
        Action.KEPT, _l("Capacity less enrolled is not what remaining says.")
    ),
    "several_credits": FindingKind(
        Action.KEPT, _l("The sections of the course have different credits.")
    ),
    "days_without_time": FindingKind(Action.KEPT, _l("Days without a time; the time is TBA.")),
    "exam_block": FindingKind(
        Action.KEPT, _l("A common exam block: shown, but it clashes with nothing.")
    ),
    "overlaps_itself": FindingKind(Action.KEPT, _l("Two of the section's own meetings overlap.")),
    "prerequisites_unnamed": FindingKind(
        Action.KEPT, _l("It says that it has prerequisites, not which.")
    ),
    "cross_list_not_offered": FindingKind(
        Action.KEPT, _l("The cross-listed course is not offered this term.")
    ),
    "levels_disagree": FindingKind(
        Action.KEPT, _l("The section's levels aren't those of restrictions.csv.")
    ),
    "major_added": FindingKind(
        Action.KEPT, _l("Named by restrictions only; students can now have it as major.")
    ),
}
