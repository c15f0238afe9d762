"""The captcha: a proof of work that a browser does by itself, ahead of the rush, once per login."""

from portal.gate.captcha.proofs import challenge, check, needed, prove, proven
from portal.gate.captcha.refusals import NotProven

__all__ = ["NotProven", "challenge", "check", "needed", "prove", "proven"]
