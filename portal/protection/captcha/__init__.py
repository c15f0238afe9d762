"""The captcha: a proof of work that a browser does by itself, ahead of the rush, once per login."""

from portal.protection.captcha.proofs import challenge, check, needed, prove, proven
from portal.protection.captcha.refusals import NotProven

__all__ = ["NotProven", "challenge", "check", "needed", "prove", "proven"]
