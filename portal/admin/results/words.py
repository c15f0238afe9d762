"""What is said of changing a student's selections by hand."""

from portal.core.i18n import _l

# What stands in the way, in the registrar's words; the student's own are shown beside them.
OBSTACLES = {
    "window_unscheduled": _l("No window is scheduled for the student"),
    "window_before": _l("The student’s window has not opened yet"),
    "window_ended": _l("The student’s window has ended"),
    "section_confirmed": _l("The roster is closed"),
    "full": _l(
        "There is no free seat for this student: it goes over the capacity, past those who wait,"
        " or into seats that are kept for others"
    ),
    "hold": _l("There is a hold on the student’s record"),
    "prerequisite": _l("A prerequisite is missing"),
    "corequisite": _l("A corequisite is missing"),
    "corequisite_not_offered": _l("A corequisite is not offered this term"),
    "restriction": _l("The section is for others"),
    "not_for_you": _l("The course is not shown to this student"),
    "same_course": _l("The student has another section of this course"),
    "time_conflict": _l("The times clash"),
    "credit_limit": _l("It goes over the limit of credits"),
    "credit_range": _l("The section can’t be taken for so many credits"),
    "needed_by": _l("Another selection needs the one that goes"),
    "drop_limit": _l("The cancellations of today are used up"),
}
OTHER = _l("A rule stands in the way")
