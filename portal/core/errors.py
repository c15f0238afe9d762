"""What use cases raise when the state of things forbids what was asked."""


class Refused(Exception):
    """It can't be done, and nothing was changed; `code` says why, in the words of the subclass."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code
