"""Labels of the audit trail's actions, things and fields; a new one shows its code."""

from collections.abc import Mapping

from portal.applications.models import STATES
from portal.catalog.courses import CourseDetails
from portal.catalog.section_fields import SectionDetails
from portal.catalog.term_fields import TERM_RULES
from portal.core.audit_trail import AUDIT_ACTIONS
from portal.core.i18n import _l
from portal.exchange.importing.values import STATUSES
from portal.people.student_fields import StudentDetails

SUBJECTS = {
    "account": _l("Account"),
    "application": _l("Application"),
    "course": _l("Course"),
    "department": _l("Department"),
    "flag": _l("Switch"),
    "export": _l("Export"),
    "hold": _l("Hold"),
    "columns": _l("Column mapping"),
    "import": _l("Import"),
    "job": _l("Job"),
    "mail": _l("Email"),
    "mail_text": _l("Email text"),
    "override": _l("Permission"),
    "request": _l("Request"),
    "room": _l("Room"),
    "round": _l("Allocation round"),
    "run": _l("Audit"),
    "section": _l("Section"),
    "student": _l("Student"),
    "subject": _l("Subject"),
    "teacher": _l("Instructor"),
    "term": _l("Term"),
    "token": _l("Access token"),
    "webhook": _l("Webhook"),
    "window": _l("Window"),
}
# Fields of courses, sections and terms have the labels of their tables.
FIELDS = {
    **CourseDetails.labels(),
    **StudentDetails.labels(),
    **SectionDetails.labels(),
    **{name: each.label for name, each in TERM_RULES.items()},
    "account": _l("Account"),
    "active": _l("Active"),
    "admin": _l("Registrar’s office"),
    "adviser": _l("Adviser"),
    "adviser_lifts": _l("The adviser can lift it"),
    "all": _l("Students"),
    "asked": _l("Students who tried to register"),
    "at": _l("Time"),
    "at_once": _l("Maximum admitted at once"),
    "closes": _l("Ends"),
    "begins": _l("Begins"),
    "cohort": _l("For"),
    "columns": _l("Columns"),
    "copied": _l("Copied from"),
    "counts": _l("Changes"),
    "crn": "CRN",
    "course": _l("Course"),
    "days": _l("How often"),
    "deleted": _l("Deleted"),
    "departments": _l("Departments"),
    "deliveries": _l("Deliveries"),
    "dropped": _l("Seats dropped"),
    "ends_at": _l("Ends"),
    "ends": _l("Last day"),
    "enrolled": _l("Enrollments"),
    "error": _l("Error"),
    "event": _l("Event"),
    "file": _l("File"),
    "commitment": _l("Commitment"),
    "fingerprint": _l("Commitment"),
    "grade": _l("Grade"),
    "left": _l("Students who left a waitlist"),
    "lifted_at": _l("Lifted"),
    "machine": _l("Machine"),
    "mails": _l("Emails"),
    "mechanism": _l("Mechanism"),
    "most_courses": _l("Maximum number of courses"),
    "most_credits": _l("Maximum number of credits"),
    "names": _l("Events"),
    "number": _l("Number"),
    "off": _l("Switched off"),
    "office": _l("Office"),
    "on": _l("On"),
    "opens": _l("Begins"),
    "options": _l("Settings"),
    "overrides": _l("Rules lifted"),
    "permitted": _l("Permissions used"),
    "ready": _l("Waits for"),
    "bands": _l("Waitlist groups"),
    "per_minute": _l("Admissions per minute"),
    "priorities": _l("Priorities"),
    "private": _l("Privacy"),
    "promoted": _l("Enrolled from waitlists"),
    "public_source": _l("Source of the public value"),
    "public_at": _l("Public value known from"),
    "public_value": _l("Public value"),
    "queue": _l("Queue"),
    "reason": _l("Reason"),
    "refused": _l("Refusals"),
    "report": _l("Report"),
    "request": _l("Request"),
    "revoked": _l("Revoked"),
    "roles": _l("Roles"),
    "root": _l("Root"),
    "scopes": _l("Scopes"),
    "searched": _l("Only what a search found"),
    "seated": _l("Students with a seat"),
    "seats": _l("Seats"),
    "section": _l("Section"),
    "sections": _l("Sections"),
    "seq": _l("Event"),
    "sha256": _l("Checksum of the file"),
    "body": _l("Text"),
    "subject": _l("Subject"),
    "stage": _l("Decided by"),
    "stopped": _l("Stopped because"),
    "starts": _l("First day"),
    "starts_at": _l("Begins"),
    "shares": _l("Shares seats"),
    "state": _l("State"),
    "status": _l("Status"),
    "student": _l("Student"),
    "term": _l("Term"),
    "term_name": _l("Term"),
    "term_state": _l("State"),
    "tickets": _l("Maximum draw tickets"),
    "until": _l("Valid until"),
    "url": _l("Address"),
    "username": _l("Username"),
    "version": _l("Version"),
    "waitlisted": _l("Students who joined a waitlist"),
    "waives": _l("Rules"),
    "given": _l("Given"),
    "wanted": _l("Seats requested"),
}

# How many records of a kind an import changed, and how.
CHANGED = {
    "added": _l("%(count)s added"),
    "restored": _l("%(count)s restored"),
    "changed": _l("%(count)s changed"),
    "removed": _l("%(count)s removed"),
}
LAYOUTS = {"semester": _l("Semester files"), "oneroster": "OneRoster"}
OPTIONS = {
    "cancels": _l("Cancel sections"),
    "columns": _l("Columns"),
    "credit_limit": _l("Credit limit"),
    "ends": _l("Last day"),
    "erase": _l("Delete existing values where these files have blank cells or missing rows"),
    "layout": _l("Files"),
    "leave_out": _l("Apply without refused enrollments"),
    "mapping": _l("Column mapping"),
    "overwrite": _l("Use the files’ values"),
    "past": _l("Enroll even if refused"),
    "remove": _l("Remove missing records"),
    "starts": _l("First day"),
    "term": _l("Term"),
    "update": _l("Update an existing term"),
    "waitlist": _l("Waitlist capacity"),
}

VALUES = {
    **STATES,
    **STATUSES,
    "canceled": _l("Canceled"),
    "closed": _l("Closed"),
    "open": _l("Open"),
    "scheduled": _l("Scheduled"),
}


def action(code: str) -> str:
    """Return the label of an action."""
    return str(AUDIT_ACTIONS.get(code) or code.replace(".", ": ").replace("_", " "))


def subject(kind: str) -> str:
    """Return the label of a kind of thing."""
    return label(SUBJECTS, kind)


def label(labels: Mapping[str, str], name: str) -> str:
    """Return a label; a name without one is made readable."""
    return str(labels.get(name) or name.replace("_", " ").capitalize())
