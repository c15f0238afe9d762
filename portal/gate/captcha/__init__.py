"""The captcha, a proof of work: whether who asks has shown to be no script."""


def proven() -> bool:
    """Whether this session has been proven."""
    return True
