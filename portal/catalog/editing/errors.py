"""Why a section could not be read or stored: for callers to turn into a clear page."""


class Stale(Exception):  # noqa: N818  a fact, not a mistake
    """The section has been changed since the version that the change is based on."""

    def __init__(self, section_id: int) -> None:
        super().__init__(section_id)
        self.section_id = section_id


class NotPossible(Exception):  # noqa: N818
    """The section's state forbids it, by `code`.

    Codes: its status; deleted, not_deleted, held, unknown, crn_taken.
    """

    def __init__(self, code: str, section_id: int = 0) -> None:
        super().__init__(code)
        self.code = code
        self.section_id = section_id
