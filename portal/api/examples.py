"""Examples that several operations show."""

SECTION = {
    "section_id": 412,
    "semester_id": 7,
    "name": "CSC 1100-01",
    "section_number": "01",
    "crn": "10412",
    "title": "Data Structures",
    "course_code": "CSC-1100",
    "course_name": "Data Structures",
    "status": "OPEN",
    "credits": {"least": 4, "most": 4, "choices": [4]},
    "course": {
        "id": 31,
        "code": "CSC-1100",
        "title": "Data Structures",
        "subject": "Computing",
        "course_id": 31,
        "course_code": "CSC-1100",
        "course_name": "Data Structures",
    },
    "seats": {
        "capacity": 30,
        "taken": 28,
        "available": 2,
        "kept": 0,
        "open_to_you": 2,
        "claimable": True,
        "waiting": 0,
        "waitlist_capacity": 10,
    },
    "total_seats": 30,
    "available_seats": 2,
    "instructor": "Iris Moreau",
    "schedule": {
        "days": "Mon Thu",
        "time": "10:00–11:50 am",
        "location": "Hall 1",
        "meetings": [
            {
                "kind": "Lecture",
                "days": ["mon", "thu"],
                "starts": "10:00",
                "ends": "11:50",
                "first_day": "2030-08-26",
                "last_day": "2030-12-20",
                "location": "Hall 1",
            }
        ],
    },
}

RESULT = {
    "section_id": 412,
    "status": "enrolled",
    "message": "Selected: CSC 1100-01 is yours.",
    "registration_id": 90114,
    "waitlist_position": None,
    "instead_of": None,
    "reasons": [],
    "receipt": "7-2Q02-K",
}
