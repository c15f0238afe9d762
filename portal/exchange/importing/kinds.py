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
RECORDS = {
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
class Kind:
    """A thing that may be the matter."""

    action: Action
    why: str
    todo: str = ""


KINDS: dict[str, Kind] = {
    "row_shape": Kind(
        Action.REFUSED,
        _l("The row has more or fewer fields than the header."),
        _l("Give the row as many fields as the header has; put quotes around a text with commas."),
    ),
    "no_key": Kind(
        Action.REFUSED, _l("The row doesn't say what it's about."), _l("Fill the field in.")
    ),
    "duplicate": Kind(
        Action.REFUSED,
        _l("It repeats an earlier row, which counts."),
        _l("Take one of the rows away."),
    ),
    "own_course": Kind(
        Action.REFUSED,
        _l("A section is not cross-listed with its own course."),
        _l("Take the row away."),
    ),
    "orphan": Kind(
        Action.REFUSED,
        _l("No section has this registration number."),
        _l("Add the section to sections.csv, or take the row away."),
    ),
    "unreadable": Kind(
        Action.REFUSED, _l("The row makes no sense without this field."), _l("Mend the field.")
    ),
    "no_tree": Kind(
        Action.REFUSED,
        _l("The prerequisites make no sense: nothing is checked for the section."),
        _l("Mend the field."),
    ),
    "other_term": Kind(
        Action.REFUSED,
        _l("The row is of another term than most of the file."),
        _l("Import the other term by itself."),
    ),
    "no_such": Kind(
        Action.REFUSED,
        _l("It refers to something that neither the files nor the portal have."),
        _l("Add what it refers to, or mend the identifier."),
    ),
    "older": Kind(
        Action.REFUSED,
        _l("A later change of the same thing has been imported already."),
        _l("Leave it, or give it a later dateLastModified."),
    ),
    "renamed": Kind(
        Action.REFUSED,
        _l("What the source calls so had another user name, code or term before."),
        _l("Change it by hand here, or give it an identifier of its own."),
    ),
    "admin": Kind(
        Action.REFUSED,
        _l("The account is an admin’s, which no import changes."),
        _l("Change it by hand."),
    ),
    "other_student": Kind(
        Action.REFUSED,
        _l("The account is that of a student with another number."),
        _l("Mend the number or the user name."),
    ),
    "other_role": Kind(
        Action.REFUSED,
        _l("The portal has students and teachers, and no such role."),
        _l("Leave it: it is not needed here."),
    ),
    "seat": Kind(
        Action.REFUSED,
        _l("The student can’t be put into the section."),
        _l("Mend what stands in the way, or put students in past rules and capacity."),
    ),
    "stays": Kind(
        Action.REFUSED,
        _l("The student stays in this section: the change to another of the course is refused."),
        _l("Look at the row of the other section, which says why."),
    ),
    "seat_late": Kind(
        Action.REFUSED,
        _l("When its turn came, the seat could not be given or taken any more."),
        _l("Look at the student’s page, and do it by hand there."),
    ),
    "seat_left": Kind(
        Action.REFUSED,
        _l("The import was ended before this seat was dealt with."),
        _l("Look at the student’s page, and do it by hand there if it is still to be done."),
    ),
    "role_kept": Kind(
        Action.REFUSED,
        _l("Roles are not taken away by an import."),
        _l("Disable the user, or take the role away by hand."),
    ),
    "kept_for_others": Kind(
        Action.REFUSED,
        _l("Departments, terms and courses are kept: history refers to them."),
        _l("Leave it: what nobody uses is not shown."),
    ),
    "no_term": Kind(Action.LEFT_OUT, _l("Only terms and semesters have a place in the portal.")),
    "file_needless": Kind(Action.LEFT_OUT, _l("The portal has no use for this file.")),
    "taken": Kind(
        Action.REFUSED,
        _l("Somebody is in this section or waits for it, so it was not taken away."),
        _l("Cancel it on its page, which tells them."),
    ),
    "file_missing": Kind(Action.LEFT_OUT, _l("The file is not there; the import does without it.")),
    "encoding": Kind(Action.REPAIRED, _l("The file is not UTF-8; it was read as Windows-1252.")),
    "spaces": Kind(Action.REPAIRED, _l("Doubled spaces were taken out.")),
    "too_long": Kind(Action.REPAIRED, _l("The text was cut to the length that fits.")),
    "title_missing": Kind(
        Action.REPAIRED, _l("The course has no title; that of a section stands in.")
    ),
    "number_missing": Kind(Action.REPAIRED, _l("The section has no number; it got 01.")),
    "credits_missing": Kind(
        Action.REPAIRED, _l("No readable credits; the course's or sections' count.")
    ),
    "count": Kind(Action.REPAIRED, _l("This is no number of seats; a cautious one stands in.")),
    "course_added": Kind(
        Action.REPAIRED, _l("The course isn't in courses.csv; made from its section.")
    ),
    "department_added": Kind(
        Action.REPAIRED, _l("The department isn't in departments.csv; added.")
    ),
    "days_unreadable": Kind(Action.REPAIRED, _l("The days make no sense; the meeting is TBA.")),
    "times_unreadable": Kind(Action.REPAIRED, _l("The times make no sense; the meeting is TBA.")),
    "dates_unreadable": Kind(Action.REPAIRED, _l("The dates make no sense; the term's stand in.")),
    "dates_missing": Kind(Action.REPAIRED, _l("The meeting has no dates; the term's stand in.")),
    "dates_reversed": Kind(
        Action.REPAIRED, _l("The last date is before the first; they were swapped.")
    ),
    "time_without_days": Kind(Action.REPAIRED, _l("A time without days; the meeting is TBA.")),
    "midnight": Kind(Action.REPAIRED, _l("It ends at midnight; 11:59 pm stands in.")),
    "empty_group": Kind(Action.REPAIRED, _l("An empty group of prerequisites was taken away.")),
    "not_represented": Kind(Action.LEFT_OUT, _l("The portal has no place for this column.")),
    "over_capacity": Kind(Action.KEPT, _l("More students than seats already.")),
    "no_seats": Kind(Action.KEPT, _l("The capacity is 0: nobody can register.")),
    "counts_disagree": Kind(Action.KEPT, _l("Capacity less enrolled is not what remaining says.")),
    "several_credits": Kind(Action.KEPT, _l("The sections of the course have different credits.")),
    "days_without_time": Kind(Action.KEPT, _l("Days without a time; the time is TBA.")),
    "exam_block": Kind(Action.KEPT, _l("A common exam block: shown, but it clashes with nothing.")),
    "overlaps_itself": Kind(Action.KEPT, _l("Two of the section's own meetings overlap.")),
    "prerequisites_unnamed": Kind(Action.KEPT, _l("It says that it has prerequisites, not which.")),
    "cross_list_not_offered": Kind(
        Action.KEPT, _l("The cross-listed course is not offered this term.")
    ),
    "levels_disagree": Kind(
        Action.KEPT, _l("The section's levels aren't those of restrictions.csv.")
    ),
    "major_added": Kind(
        Action.KEPT, _l("Named by restrictions only; students can now have it as major.")
    ),
}
