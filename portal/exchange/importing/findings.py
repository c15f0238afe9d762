"""Kinds of findings about rows: what the import does with the row, why, and what to do."""

from dataclasses import dataclass
from enum import StrEnum

from portal.core.i18n import _k, _l


class Action(StrEnum):
    REFUSED = "refused"  # the row is not imported
    REPAIRED = "repaired"  # imported, but not as written
    LEFT_OUT = "left out"  # a field that the portal does not store
    KEPT = "kept"  # imported as written, although it looks wrong


ACTIONS = {
    Action.REFUSED: _l("refused"),
    Action.REPAIRED: _l("repaired"),
    Action.LEFT_OUT: _l("skipped"),
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
    "teacher": _k("Instructors"),
    "pool": _k("Shared seats"),
    "section": _k("Sections"),
    "teaching": _k("Instructors of sections"),
    "enrollment": _k("Enrollments"),
    "source": _k("IDs of the source"),
}


@dataclass(frozen=True)
class FindingKind:
    """A kind of finding."""

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
        Action.REFUSED, _l("A required field is blank."), _l("Fill the field in.")
    ),
    "duplicate": FindingKind(
        Action.REFUSED,
        _l("This row repeats an earlier one. The earlier row is used."),
        _l("Remove one of the rows."),
    ),
    "own_course": FindingKind(
        Action.REFUSED,
        _l("A section can’t be cross-listed with its own course."),
        _l("Remove the row."),
    ),
    "orphan": FindingKind(
        Action.REFUSED,
        _l("No section has this registration number."),
        _l("Add the section to sections.csv, or remove the row."),
    ),
    "unreadable": FindingKind(
        Action.REFUSED,
        _l("This value can’t be read, and the row needs it."),
        _l("Correct this value."),
    ),
    "no_tree": FindingKind(
        Action.REFUSED,
        _l("The prerequisites can’t be read. The section has none until they are corrected."),
        _l("Correct this value."),
    ),
    "other_term": FindingKind(
        Action.REFUSED,
        _l("The row belongs to a different term than most of the file."),
        _l("Import the other term separately."),
    ),
    "no_such": FindingKind(
        Action.REFUSED,
        _l("It refers to a record that is not in the files or the portal."),
        _l("Add what it refers to, or correct the identifier."),
    ),
    "older": FindingKind(
        Action.REFUSED,
        _l("A later change of this record was already imported."),
        _l("Ignore this, or set a later dateLastModified."),
    ),
    "renamed": FindingKind(
        Action.REFUSED,
        _l("This ID already belongs to another record."),
        _l("Change the record in the portal, or use a new ID."),
    ),
    "admin": FindingKind(
        Action.REFUSED,
        _l("This account belongs to an admin. Imports don’t change admins."),
        _l("Change the account in the portal."),
    ),
    "other_student": FindingKind(
        Action.REFUSED,
        _l("This account belongs to a student with another number."),
        _l("Correct the number or the username."),
    ),
    "other_role": FindingKind(
        Action.REFUSED,
        _l("The portal only knows the roles student and teacher."),
        _l("You can ignore this: it is not needed here."),
    ),
    "seat": FindingKind(
        Action.REFUSED,
        _l("The student can’t be enrolled in the section."),
        _l("Resolve the reasons, or choose “Enroll them anyway”."),
    ),
    "stays": FindingKind(
        Action.REFUSED,
        _l(
            "The student stays in this section. The move to another section of the course"
            " was refused."
        ),
        _l("See the row of the other section for the reason."),
    ),
    "seat_late": FindingKind(
        Action.REFUSED,
        _l("This enrollment was no longer possible when the import was applied."),
        _l("Check the student’s page and adjust it there."),
    ),
    "seat_left": FindingKind(
        Action.REFUSED,
        _l("The import was ended before this enrollment was applied."),
        _l("Check the student’s page and adjust it there if needed."),
    ),
    "role_kept": FindingKind(
        Action.REFUSED,
        _l("Imports don’t remove roles."),
        _l("Disable the user, or remove the role in the portal."),
    ),
    "kept_for_others": FindingKind(
        Action.REFUSED,
        _l("Departments, terms and courses are not removed, because history refers to them."),
        _l("You can ignore this: unused records are not shown."),
    ),
    "no_term": FindingKind(Action.LEFT_OUT, _l("The portal only stores terms and semesters.")),
    "file_needless": FindingKind(Action.LEFT_OUT, _l("The portal doesn’t use this file.")),
    "taken": FindingKind(
        Action.REFUSED,
        _l("Students are enrolled in this section or on its waitlist, so it was not removed."),
        _l("Cancel the section on its page. The students are notified."),
    ),
    "file_missing": FindingKind(
        Action.LEFT_OUT, _l("The file is missing. The import continues without it.")
    ),
    "encoding": FindingKind(
        Action.REPAIRED, _l("The file is not UTF-8; it was read as Windows-1252.")
    ),
    "spaces": FindingKind(Action.REPAIRED, _l("Double spaces were removed.")),
    "too_long": FindingKind(Action.REPAIRED, _l("The text was too long and was shortened.")),
    "title_missing": FindingKind(
        Action.REPAIRED, _l("The course has no title. The title of a section is used.")
    ),
    "number_missing": FindingKind(Action.REPAIRED, _l("The section has no number. It gets 01.")),
    "credits_missing": FindingKind(
        Action.REPAIRED,
        _l("The credits can’t be read. Those of the course or its sections are used."),
    ),
    "count": FindingKind(
        Action.REPAIRED, _l("This is not a number of seats. A safe number is used.")
    ),
    "course_added": FindingKind(
        Action.REPAIRED, _l("The course isn’t in courses.csv. It is created from its section.")
    ),
    "department_added": FindingKind(
        Action.REPAIRED, _l("The department isn’t in departments.csv. It is added.")
    ),
    "days_unreadable": FindingKind(
        Action.REPAIRED, _l("The days can’t be read. The meeting is TBA.")
    ),
    "times_unreadable": FindingKind(
        Action.REPAIRED, _l("The times can’t be read. The meeting is TBA.")
    ),
    "dates_unreadable": FindingKind(
        Action.REPAIRED, _l("The dates can’t be read. The dates of the term are used.")
    ),
    "dates_missing": FindingKind(
        Action.REPAIRED, _l("The meeting has no dates. The dates of the term are used.")
    ),
    "dates_reversed": FindingKind(
        Action.REPAIRED, _l("The last date is before the first. They were swapped.")
    ),
    "time_without_days": FindingKind(
        Action.REPAIRED, _l("There is a time but no days. The meeting is TBA.")
    ),
    "midnight": FindingKind(Action.REPAIRED, _l("It ends at midnight. 11:59 pm is used.")),
    "empty_group": FindingKind(Action.REPAIRED, _l("An empty group of prerequisites was removed.")),
    "not_represented": FindingKind(Action.LEFT_OUT, _l("The portal doesn’t store this column.")),
    "over_capacity": FindingKind(Action.KEPT, _l("There are already more students than seats.")),
    "no_seats": FindingKind(Action.KEPT, _l("The capacity is 0, so students can’t register.")),
    "counts_disagree": FindingKind(
        Action.KEPT, _l("Capacity minus enrolled does not equal remaining.")
    ),
    "several_credits": FindingKind(
        Action.KEPT, _l("Sections of this course have different credits.")
    ),
    "days_without_time": FindingKind(
        Action.KEPT, _l("There are days but no time. The time is TBA.")
    ),
    "exam_block": FindingKind(
        Action.KEPT, _l("This is a common exam block. It is shown, but never conflicts.")
    ),
    "overlaps_itself": FindingKind(Action.KEPT, _l("Two of the section's own meetings overlap.")),
    "prerequisites_unnamed": FindingKind(
        Action.KEPT, _l("The section has prerequisites, but the files don’t name them.")
    ),
    "cross_list_not_offered": FindingKind(
        Action.KEPT, _l("The cross-listed course is not offered this term.")
    ),
    "levels_disagree": FindingKind(
        Action.KEPT, _l("The section’s levels differ from restrictions.csv.")
    ),
    "major_added": FindingKind(
        Action.KEPT,
        _l("This major appears only in restrictions. It was added to the list of majors."),
    ),
}
