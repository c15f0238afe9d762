"""The demo's departments, rooms and dates."""

from datetime import date, timedelta

from portal.catalog.models import Department, Room, Subject

# Code, name, school, name of its major, degree.
DEPARTMENTS = (
    ("CSC", "Computer Science", "School of Engineering", "BS"),
    ("MAT", "Mathematics", "School of Science", "BS"),
    ("PHY", "Physics", "School of Science", "BS"),
    ("CHE", "Chemistry", "School of Science", "BS"),
    ("BIO", "Biology", "School of Science", "BS"),
    ("ECO", "Economics", "School of Social Sciences", "BA"),
    ("PSY", "Psychology", "School of Social Sciences", "BA"),
    ("HIS", "History", "School of Arts and Letters", "BA"),
    ("ENG", "English", "School of Arts and Letters", "BA"),
    ("ART", "Art and Design", "School of Arts and Letters", "BFA"),
)
BUILDINGS = ("Alder Hall", "Birch Hall", "Cedar Hall", "Willow House")
ROOM_SEATS = (12, 16, 20, 24, 32, 48, 64, 96, 120)


def departments() -> list[tuple[Department, Subject]]:
    """Every department with the subject that it teaches."""
    made = [
        Department(code=code, name=name, school=school) for code, name, school, _ in DEPARTMENTS
    ]
    return [(each, Subject(code=each.code, name=each.name)) for each in made]


def rooms() -> list[Room]:
    """Rooms of every size in every building."""
    return [
        Room(name=f"{building} {100 * (1 + index // 3) + index % 3 + 1}", seats=seats)
        for building in BUILDINGS
        for index, seats in enumerate(ROOM_SEATS)
    ]


def coming_term(today: date) -> tuple[str, date, date]:
    """Name, first and last day of the term for which students would select now."""
    if today.month >= 7:
        name, first, weeks = f"Spring {today.year + 1}", date(today.year + 1, 1, 11), 16
    else:
        name, first, weeks = f"Fall {today.year}", date(today.year, 8, 24), 16
    monday = first + timedelta(days=-first.weekday() % 7)
    return name, monday, monday + timedelta(days=7 * weeks - 3)
