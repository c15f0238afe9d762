"""The base class of refusals."""


class Refused(Exception):
    """The state forbids it, and nothing was changed; each subclass lists its values of `code`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code
