"""What pages can listen to, counts apart."""

# kind, term, and the section, student or window that it is about (0: the whole term)
Topic = tuple[str, int, int]


def student(term: int, student_id: int) -> Topic:
    """What happens to one student, for the student and for admins who look at the record."""
    return ("student", term, student_id)


def queue(term: int, section: int) -> Topic:
    """The order of a waitlist, for those who are on it."""
    return ("queue", term, section)


def roster(term: int, section: int) -> Topic:
    """Who is in a class, for those who teach it."""
    return ("roster", term, section)


def room(term: int, window: int) -> Topic:
    """How the waiting room of a window moves, for those who wait in it."""
    return ("room", term, window)


def account(account_id: int) -> Topic:
    """What somebody is told whatever the term."""
    return ("account", 0, account_id)


def operations() -> Topic:
    """How the whole portal runs, for admins."""
    return ("operations", 0, 0)


def windows(term: int) -> Topic:
    """The windows of a term."""
    return ("windows", term, 0)
