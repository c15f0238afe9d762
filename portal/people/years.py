"""Class years in the order in which students go through them; others follow by name."""

YEARS = ("Freshman", "Sophomore", "Junior", "Senior", "Graduate")


def place(year: str) -> tuple[int, str]:
    """Sorts class years."""
    return (YEARS.index(year) if year in YEARS else len(YEARS)), year
