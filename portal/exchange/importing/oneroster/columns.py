"""The columns of OneRoster's files, in their order; those of the 1.2 users differ from 1.1."""

BASE = "sourcedId status dateLastModified "
COLUMNS = {
    "orgs": BASE + "name type identifier parentSourcedId",
    "academicSessions": BASE + "title type startDate endDate parentSourcedId schoolYear",
    "courses": BASE + "schoolYearSourcedId title courseCode grades orgSourcedId subjects "
    "subjectCodes",
    "classes": BASE + "title grades courseSourcedId classCode classType location "
    "schoolSourcedId termSourcedIds subjects subjectCodes periods",
    "users": BASE + "enabledUser username userIds givenName familyName middleName identifier "
    "email sms phone agentSourcedIds grades password userMasterIdentifier preferredGivenName "
    "preferredMiddleName preferredFamilyName primaryOrgSourcedId pronouns",
    "roles": BASE + "userSourcedId roleType role beginDate endDate orgSourcedId "
    "userProfileSourcedId",
    "enrollments": BASE + "classSourcedId schoolSourcedId userSourcedId role primary beginDate "
    "endDate",
}
# What must be there for a file to be of use; 1.1 gives a user's role here, 1.2 in roles.csv.
NEEDED = {
    "orgs": ("sourcedId", "name", "type"),
    "academicSessions": ("sourcedId", "title", "type", "startDate", "endDate"),
    "courses": ("sourcedId", "title", "orgSourcedId"),
    "classes": ("sourcedId", "title", "courseSourcedId", "termSourcedIds"),
    "users": ("sourcedId", "enabledUser", "username", "givenName", "familyName"),
    "roles": ("sourcedId", "userSourcedId", "role"),
    "enrollments": ("sourcedId", "classSourcedId", "userSourcedId", "role"),
}
MORE = "metadata.fairseat"  # what OneRoster has no column for, as JSON
OTHERS = ("propertyName", "value", "role", "orgSourcedIds", MORE)
# As real files misspell them.
MISSPELT = {"prefferedgivenname": "preferredGivenName", "datalastmodified": "dateLastModified"}

_known = {name.lower(): name for each in (*COLUMNS.values(), *OTHERS) for name in each.split()}


def spelt(column: str) -> str:
    """A column of a header as the standard spells it."""
    found = column.strip()
    return _known.get(found.lower()) or MISSPELT.get(found.lower(), found)
