"""Signals of registration; portal/subscribers.py lists their subscribers, in upper packages."""

from sqlalchemy.orm import Session

from portal.core.signals import Signal
from portal.registration.plans import Plan

# In the transaction that stores a plan: term, student and the new plan.
plan_changed: Signal[Session, int, int, Plan] = Signal()
