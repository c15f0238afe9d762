"""The topics of live updates, except counts."""

# kind, term, and the id of the section, student or window (0: the whole term)
Topic = tuple[str, int, int]


def student(term: int, student_id: int) -> Topic:
    """Return the topic of a student's events, for the student and for admins on the record."""
    return ("student", term, student_id)


def queue(term: int, section: int) -> Topic:
    """Return the topic of a waitlist's order, for students on it."""
    return ("queue", term, section)


def roster(term: int, section: int) -> Topic:
    """Return the topic of a section's roster, for its instructors."""
    return ("roster", term, section)


def room(term: int, window: int) -> Topic:
    """Return the topic of a window's waiting room, for those in it."""
    return ("room", term, window)


def account(account_id: int) -> Topic:
    """Return the topic of an account's messages outside any term."""
    return ("account", 0, account_id)


def operations() -> Topic:
    """Return the topic of the operations figures, for admins."""
    return ("operations", 0, 0)


def windows(term: int) -> Topic:
    """Return the topic of a term's windows."""
    return ("windows", term, 0)
