"""Why a request can't be made or decided: for callers to turn into words."""


class RequestRefused(Exception):  # noqa: N818  a fact, not a mistake
    """It can't be, by `code`: see REFUSED in words.py."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code
