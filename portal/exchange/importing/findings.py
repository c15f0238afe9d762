"""Kinds of findings about rows: what the import does with the row, why, and what to do."""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from portal.core.i18n import _k, _l


class Action(StrEnum):
    REFUSED = "refused"  # the row is not imported
    REPAIRED = "repaired"  # imported as it is meant, although not as written
    GUESSED = "guessed"  # a value is missing or unreadable, and another is used
    LEFT_OUT = "left out"  # a row or field that the portal does not store
    UNSTORED = "not stored"  # a column
    EDITED = "edited here"  # not imported, because an admin changed it since the last import
    OVERWRITTEN = "overwritten"  # imported, although an admin changed it since then
    UNCHANGED = "not changed"  # a cell of an edited export that the import does not apply
    KEPT = "kept"  # imported as written, although it looks wrong


ACTIONS = {
    Action.REFUSED: _l("refused"),
    Action.REPAIRED: _l("repaired"),
    Action.GUESSED: _l("guessed"),
    Action.LEFT_OUT: _l("skipped"),
    Action.UNSTORED: _l("not stored"),
    Action.EDITED: _l("edited here"),
    Action.OVERWRITTEN: _l("overwritten"),
    Action.UNCHANGED: _l("not changed"),
    Action.KEPT: _l("imported as written"),
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
    "status": _k("Section statuses"),
    "teaching": _k("Instructors of sections"),
    "enrollment": _k("Enrollments"),
    "source": _k("IDs of the source"),
}


@dataclass(frozen=True)
class FindingKind:
    action: Action
    why: str
    todo: str = ""


refused = partial(FindingKind, Action.REFUSED)
repaired = partial(FindingKind, Action.REPAIRED)
guessed = partial(FindingKind, Action.GUESSED)
left_out = partial(FindingKind, Action.LEFT_OUT)
unstored = partial(FindingKind, Action.UNSTORED)
unchanged = partial(FindingKind, Action.UNCHANGED)
kept = partial(FindingKind, Action.KEPT)

UNREAD_WHEN = _l(
    "Correct this value and upload the files again, or enter it on the section’s page. Then publish"
    " the section."
)
FINDINGS: dict[str, FindingKind] = {
    "term_named": guessed(
        _l("The files name another term than the one that you chose."),
        _l("If that is not meant, discard this import and upload the files under the right name."),
    ),
    "term_code": kept(
        _l(
            "The files have this code for the term. Files of this term with another code, and those"
            " of other terms with this one, will be refused."
        ),
        _l("If it is the code of another term, discard this import."),
    ),
    "row_shape": refused(
        _l("The row has more or fewer fields than the header."),
        _l("Give the row as many fields as the header has; put quotes around a text with commas."),
    ),
    "no_key": refused(_l("A required field is blank."), _l("Fill in this field.")),
    "duplicate": refused(
        _l("This row repeats an earlier one. The earlier row is used."),
        _l("Remove one of the rows."),
    ),
    "rows_disagree": guessed(
        _l("Rows of this section differ. The first row with a value is used."),
        _l("If that value is wrong, correct it and upload the files again."),
    ),
    "rows_joined": guessed(
        _l("Rows of this section have different rules. All of them apply."),
        _l("If that is wrong, correct the rows and upload the files again."),
    ),
    "count_unread": refused(
        _l("This is not a whole number, so the portal’s value stays."), _l("Correct this value.")
    ),
    "own_course": refused(
        _l("A section can’t be cross-listed with its own course."), _l("Remove the row.")
    ),
    "orphan": refused(
        _l("No section has this registration number."),
        _l("Add the section to sections.csv, or remove the row."),
    ),
    "section_unknown": refused(
        _l("The term has no section with this registration number."),
        _l(
            "Correct the number. To add the section, its row needs the course, the credits and the"
            " capacity."
        ),
    ),
    "crn_taken": refused(
        _l("An earlier row has this registration number, so this section is not imported."),
        _l("Give one of the two another number."),
    ),
    "rows_conflict": refused(
        _l("Rows of this section differ, so it keeps the portal’s value."),
        _l("Correct the rows."),
    ),
    "section_refused": refused(
        _l("The section of this row is refused, so this row is too."),
        _l("Correct the row of the section."),
    ),
    "unreadable": refused(
        _l("This value can’t be read, and the row needs it."), _l("Correct this value.")
    ),
    "meeting_unreadable": refused(
        _l("The days, times or dates can’t be read or don’t fit. The meeting stays as it is."),
        _l("Correct this value."),
    ),
    "meeting_unclear": refused(
        _l(
            "The row doesn’t tell which meeting of the section it is about. The meetings stay as"
            " they are."
        ),
        _l("Send the days and times of all meetings of this section."),
    ),
    "restriction_unclear": refused(
        _l(
            "This restriction is not understood. A new section has the others, and is a draft;"
            " another one keeps the restrictions that it has."
        ),
        _l("Enter it on the section’s page, or write it as restrictions.csv does."),
    ),
    "edited": FindingKind(
        Action.EDITED,
        _l("Someone entered another value in the portal. It stays."),
        _l("Choose “Use the files’ values” to replace such values."),
    ),
    "removed_here": FindingKind(
        Action.EDITED,
        _l("This instructor was removed since the last import, and is not added again."),
        _l("Choose “Use the files’ values” to undo such edits."),
    ),
    "deleted_here": FindingKind(
        Action.EDITED,
        _l("This was deleted in the portal, so it is not imported."),
        _l("Choose “Use the files’ values” to restore it."),
    ),
    "overwritten": FindingKind(
        Action.OVERWRITTEN,
        _l("Someone entered another value in the portal. The file’s value replaces it."),
    ),
    "canceled": left_out(
        _l("The section is canceled in the file, so it is not imported."),
        _l(
            "If the portal offers it, cancel it on its page, or in an export of the term: the"
            " students are notified."
        ),
    ),
    "status": guessed(
        _l("This status is not known. A new section is a draft; another one keeps its status."),
        _l(
            "If students may register for it, publish the section on its page. If it is canceled,"
            " write Canceled."
        ),
    ),
    "status_closed": guessed(
        _l("This is taken for full: the new section is open, and takes students if it has seats."),
        _l("If no student may register, make the section a draft or cancel it on its page."),
    ),
    "draft_here": unchanged(
        _l("The section is a draft in the portal, and stays one."),
        _l("Publish it on its page. “Change several” publishes many drafts at once."),
    ),
    "canceled_here": unchanged(
        _l("The section is canceled in the portal, and stays canceled."),
        _l("To offer it after all, press “Offer again” on its page, then publish it."),
    ),
    "not_removed": unchanged(
        _l(
            "The files don’t name this section. It is not removed, because an admin made it or"
            " copied it from another term."
        ),
        _l("If it is not offered, cancel it on its page. Delete a draft there."),
    ),
    "instructors_new": kept(
        _l("The portal doesn’t have these instructors yet, so they are added."),
        _l("If a name is misspelled, correct it and upload the files again."),
    ),
    "instructor_removed": kept(
        _l("The files don’t name this instructor of the section, who is removed from it."),
        _l("If that is wrong, add the name to the file, and upload it again."),
    ),
    "status_unchanged": unchanged(
        _l("The file doesn’t say which status the section had, so the status stays."),
        _l("Export the semester again, or use the buttons on the section’s page."),
    ),
    "status_refused": refused(
        _l("The section can’t get this status, so it keeps its own."),
        _l("Correct the status, or use the buttons on the section’s page."),
    ),
    "enrolled_unchanged": unchanged(
        _l("Imports don’t change how many students are enrolled."),
        _l("Add or drop students on their pages."),
    ),
    "blank_unchanged": unchanged(
        _l("The cell is blank, so the portal’s value stays."),
        _l(
            "If blank means none, upload the files again and choose “Delete existing values where"
            " these files have blank cells or missing rows”."
        ),
    ),
    "rows_unchanged": unchanged(
        _l("The file has no row of this section, so those of the portal stay."),
        _l(
            "If it should have none, upload the files again and choose “Delete existing values"
            " where these files have blank cells or missing rows”."
        ),
    ),
    "never_blank": unchanged(
        _l("This can’t be blank, so the portal’s value stays."),
        _l("Write the new value. Write 0 for no seats."),
    ),
    "instructors_unclear": guessed(
        _l("The names in this cell can be read in two ways. This reading is used."),
        _l("Put a semicolon between two people."),
    ),
    "restriction_commas": guessed(
        _l(
            "This restriction may be one value, several, or a sentence. A new section has it as one"
            " value, and is a draft; another one keeps the restrictions that it has."
        ),
        _l(
            "If it is several, put a semicolon between them. If it is one, write its code after it,"
            " such as “Physics, Applied (PHA)”."
        ),
    ),
    "no_tree": refused(
        _l(
            "The prerequisites can’t be read. A new section has none, and is a draft; another one"
            " keeps those that it has."
        ),
        _l("Correct this value."),
    ),
    "other_term": refused(
        _l("The row belongs to a different term than most of the file."),
        _l("Import the other term separately."),
    ),
    "no_such": refused(
        _l("It refers to a record that is not in the files or the portal."),
        _l("Add what it refers to, or correct the identifier."),
    ),
    "older": refused(
        _l("A later change of this record was already imported."),
        _l("Ignore this, or set a later dateLastModified."),
    ),
    "renamed": refused(
        _l("This ID already belongs to another record."),
        _l("Change the record in the portal, or use a new ID."),
    ),
    "admin": refused(
        _l(
            "This account has a role for staff. Imports don’t change, remove or restore accounts of"
            " admins, and don’t remove accounts of staff that the files don’t name."
        ),
        _l("Change the account in the portal."),
    ),
    "staff_name": left_out(
        _l(
            "This account has a role for staff. Imports don’t change its name or email. The rest of"
            " the row is imported."
        ),
        _l("Change the account in the portal."),
    ),
    "late_deadline": refused(
        _l("The term would end before one of its deadlines, so it stays as it is."),
        _l("Change the deadline under Rules of the term first."),
    ),
    "no_adviser": left_out(
        _l(
            "The named account is not an adviser’s, or it is the student’s own. The student’s"
            " adviser stays as it is."
        ),
        _l("Give the account the role of an adviser on the Staff page, then import again."),
    ),
    "other_student": refused(
        _l("This account belongs to a student with another number."),
        _l("Correct the number or the username."),
    ),
    "other_role": refused(
        _l("The portal only knows the roles student and teacher."),
        _l("You can ignore this: it is not needed here."),
    ),
    "seat": refused(
        _l("The student can’t be enrolled in the section."),
        _l("Resolve the reasons, or choose “Enroll them anyway”."),
    ),
    "stays": refused(
        _l(
            "The student stays in this section. The move to another section of the course"
            " was refused."
        ),
        _l("See the row of the other section for the reason."),
    ),
    "seat_late": refused(
        _l("This enrollment was no longer possible when the import was applied."),
        _l("Check the student’s page and adjust it there."),
    ),
    "seat_left": refused(
        _l("The import was ended before this enrollment was applied."),
        _l("Check the student’s page and adjust it there if needed."),
    ),
    "role_kept": refused(
        _l("Imports don’t remove roles."), _l("Disable the user, or remove the role in the portal.")
    ),
    "kept_for_others": refused(
        _l("Departments, terms and courses are not removed, because history refers to them."),
        _l("You can ignore this: unused records are not shown."),
    ),
    "no_term": left_out(_l("The portal only stores terms and semesters.")),
    "no_rows": left_out(
        _l("The file has no sections, so none is imported."),
        _l("Sections that the portal has stay as they are."),
    ),
    "file_needless": left_out(_l("The portal doesn’t use this file.")),
    "taken": refused(
        _l("Students are enrolled in this section or on its waitlist, so it was not removed."),
        _l("Cancel the section on its page. The students are notified."),
    ),
    "file_missing": left_out(_l("The file is missing. The import continues without it.")),
    "encoding": repaired(_l("The file is not UTF-8; it was read as Windows-1252.")),
    "spaces": repaired(_l("Double spaces or line breaks were replaced by one space.")),
    "too_long": repaired(_l("The text was too long and was shortened.")),
    "title_missing": guessed(
        _l("The course has no title. The title of a section is used, or else its code.")
    ),
    "title_guessed": guessed(
        _l(
            "Sections of this course have different titles, so its own is guessed. Each section"
            " keeps its title."
        ),
        _l("If that is wrong, change the title on the course’s page."),
    ),
    "number_missing": guessed(_l("The section has no number. It gets a free one.")),
    "credits_missing": guessed(
        _l("The credits can’t be read. Those of the course or its sections are used.")
    ),
    "credits_unreadable": refused(
        _l("The credits can’t be read, so the section keeps those that it has."),
        _l("Correct this value."),
    ),
    "capacity_missing": guessed(
        _l("The capacity is blank. The seats taken plus the seats left are used.")
    ),
    "credits_unread": guessed(
        _l("The credits can’t be read. The new section has those of its course, and is a draft."),
        UNREAD_WHEN,
    ),
    "taken_unread": guessed(
        _l(
            "The number of taken seats can’t be read. The new section counts as full, and is a"
            " draft."
        ),
        _l(
            "Correct this value before you apply the import: later files don’t change how many"
            " seats are taken."
        ),
    ),
    "waitlist_unread": guessed(
        _l(
            "The length of the waitlist can’t be read. The new section has the usual one, and is a"
            " draft."
        ),
        UNREAD_WHEN,
    ),
    "count": guessed(_l("This is not a number of seats, so the other numbers are used.")),
    "course_added": guessed(_l("The course isn’t in courses.csv. It is created from its section.")),
    "department_added": guessed(
        _l("The files don’t list this department. It is added, named after its code.")
    ),
    "days_unreadable": guessed(
        _l("The days can’t be read. The meeting is TBA, and a new section is a draft."),
        UNREAD_WHEN,
    ),
    "times_unreadable": guessed(
        _l("The times can’t be read. The meeting is TBA, and a new section is a draft."),
        UNREAD_WHEN,
    ),
    "dates_unreadable": guessed(
        _l(
            "These dates can’t be used. The meeting has the dates of the term, and a new section is"
            " a draft."
        ),
        UNREAD_WHEN,
    ),
    "dates_outside": kept(
        _l("The dates of these meetings are outside the term."),
        _l("If the files are of another term, discard this import."),
    ),
    "dates_missing": guessed(_l("The meeting has no dates. The dates of the term are used.")),
    "dates_reversed": repaired(_l("The last date is before the first. They were swapped.")),
    "time_without_days": guessed(
        _l("The meeting is TBA, and a new section is a draft."), UNREAD_WHEN
    ),
    "flag_unreadable": guessed(
        _l("Write Y or N. A new section gets Y; another one stays as it is.")
    ),
    "conflicts_unreadable": guessed(
        _l(
            "Write Y or N. A new meeting gets the usual rule: only common exams never conflict."
            " Another one stays as it is."
        )
    ),
    "stale": FindingKind(
        Action.EDITED,
        _l("This was changed in the portal after the export. The portal’s value stays."),
        _l("Choose “Use the files’ values” to replace it, or export the semester again."),
    ),
    "midnight": repaired(_l("It ends at midnight. 11:59 pm is used.")),
    "empty_group": repaired(_l("An empty group of prerequisites was removed.")),
    "not_represented": unstored(
        _l("The portal doesn’t store this column. Here is its first value.")
    ),
    "link": left_out(
        _l("The portal doesn’t store links between lectures and labs."),
        _l(
            "If a lecture and its lab are different courses, enter each as a corequisite of the"
            " other: students then take both together. Otherwise the note of a section can tell"
            " them which belong together."
        ),
    ),
    "primary_instructor": left_out(
        _l("The portal lists a section’s instructors by name. It doesn’t store who is primary.")
    ),
    "column_left_out": unstored(
        _l("“What the columns mean” leaves this column out. Here is its first value."),
        _l("If you need it, choose its meaning there."),
    ),
    "column_unknown": unstored(
        _l("This column is not known, so none of its values is imported. Here is its first value."),
        _l("If you need it, choose its meaning under “What the columns mean”."),
    ),
    "over_capacity": kept(_l("There are already more students than seats.")),
    "no_seats": kept(_l("The capacity is 0, so students can’t register.")),
    "counts_disagree": kept(_l("Capacity minus enrolled does not equal remaining.")),
    "several_credits": kept(_l("Sections of this course have different credits.")),
    "days_without_time": kept(_l("There are days but no time. The time is TBA.")),
    "exam_block": kept(_l("This is a common exam block. It is shown, but never conflicts.")),
    "overlaps_itself": kept(_l("Two of the section’s own meetings overlap.")),
    "prerequisites_unnamed": kept(
        _l("The section has prerequisites, but the files don’t name them.")
    ),
    "cross_list_not_offered": kept(_l("The cross-listed course is not offered this term.")),
    "levels_disagree": kept(_l("The section’s levels differ from restrictions.csv.")),
    "value_unknown": kept(
        _l("No student record has this value of the restriction."),
        _l("If it is misspelled, correct it and upload the files again."),
    ),
    "course_unknown": kept(
        _l("Sections require a course that neither the files nor the portal have."),
        _l("If the code is misspelled, correct it and upload the files again."),
    ),
    "number_taken": kept(
        _l("The course has another section with this number."),
        _l("Give one of the two another number."),
    ),
    "other_course": refused(
        _l(
            "The portal has this registration number for another course. Its section stays as it"
            " is, and this row is not imported."
        ),
        _l(
            "Give the row another registration number. If the section really moves to this course,"
            " cancel it and offer a new one."
        ),
    ),
    "course_shared": kept(
        _l("Other terms offer this course too, so the import doesn’t change it."),
        _l("Edit the course on its page if every term should have the new title."),
    ),
    "namesake": kept(
        _l(
            "This instructor has the name of someone with an account, who doesn’t see these classes"
            " until you link the account."
        ),
        _l("Under Instructors, check whether it is the same person, and link the account."),
    ),
    "major_added": kept(
        _l("This major appears only in restrictions. It was added to the list of majors.")
    ),
}
