"""Writes the demo's people: teachers one by one, students by the thousand."""

from collections.abc import Iterable
from decimal import Decimal
from random import Random
from typing import Any

from sqlalchemy import insert
from sqlalchemy.orm import Session

from portal.exchange.demo import names, university
from portal.exchange.demo.offer import Departments
from portal.exchange.demo.people import BY_CODE, TEACHERS, TITLES, Person
from portal.people.models import Account, CompletedCourse, Hold, Instructor, Student, StudentSubject

DOMAIN = "fairseat.example"
DEGREES = {code: degree for code, _, _, degree in university.DEPARTMENTS}


def teachers(
    session: Session, chance: Random, hashed: str, departments: Departments
) -> dict[str, list[Instructor]]:
    """The teachers of every department, instructor01 the first of the first."""
    made: dict[str, list[Instructor]] = {}
    for code, count in TEACHERS.items():
        for _ in range(count):
            username = f"instructor{sum(map(len, made.values())) + 1:02}"
            who, email = names.name(chance), f"{username}@{DOMAIN}"
            account = Account(username=username, name=who, email=email, password_hash=hashed)
            teacher = Instructor(
                account=account, name=who, email=email, title=chance.choice(TITLES)
            )
            teacher.department = departments[code][0]
            made.setdefault(code, []).append(teacher)
    session.add_all(teacher for group in made.values() for teacher in group)
    return made


def students(
    session: Session, everyone: Iterable[Person], hashed: str, departments: Departments
) -> None:
    """All students with accounts, subjects, records and holds."""
    by_name = {person.username: person for person in everyone}
    accounts = [account(person, hashed) for person in by_name.values()]
    put = insert(Account).returning(Account.username, Account.id)
    ids = dict(session.execute(put, accounts).all())
    rows = [student(person, ids[username], departments) for username, person in by_name.items()]
    found = session.execute(insert(Student).returning(Student.number, Student.id), rows)
    numbers = dict(found.all())
    each = [(numbers[person.number], person) for person in by_name.values()]
    session.execute(insert(StudentSubject), subjects(each, departments))
    session.execute(insert(CompletedCourse), completed(each))
    session.execute(insert(Hold), holds(each))


def account(person: Person, hashed: str) -> dict[str, Any]:
    return {
        "username": person.username,
        "name": person.name,
        "email": f"{person.username}@{DOMAIN}",
        "password_hash": hashed,
    }


def student(person: Person, account_id: int, departments: Departments) -> dict[str, Any]:
    department, _ = departments[person.major]
    return {
        "account_id": account_id,
        "number": person.number,
        "department_id": department.id,
        "level": person.level,
        "year": person.year,
        "degree": DEGREES[person.major] if person.level == "Undergraduate" else "MS",
        "campus": "Main",
        "college": department.school,
    }


def subjects(each: list[tuple[int, Person]], departments: Departments) -> list[dict[str, Any]]:
    """Majors and minors."""
    return [
        {"student_id": key, "subject_id": departments[code][1].id, "kind": kind}
        for key, person in each
        for kind, code in (("major", person.major), ("minor", person.minor))
        if code
    ]


def completed(each: list[tuple[int, Person]]) -> list[dict[str, Any]]:
    """Courses that were passed."""
    return [
        {
            "student_id": key,
            "course_code": code,
            "grade": grade,
            "credits": Decimal(BY_CODE[code].credits),
        }
        for key, person in each
        for code, grade in person.completed
    ]


def holds(each: list[tuple[int, Person]]) -> list[dict[str, Any]]:
    """Reasons for which a few may not register yet."""
    return [
        {"student_id": key, "kind": kind, "reason": reason, "office": office}
        for key, person in each
        if person.hold
        for kind, reason, office in [person.hold]
    ]
