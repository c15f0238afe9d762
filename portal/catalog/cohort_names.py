"""Descriptions of cohorts: the students whom selection windows and reserved seats are for.

A cohort is a mapping. Empty, it means everyone; otherwise a student must match every entry. Years,
levels, subjects and students are lists of names; a `list` has its id and its size.
"""

from collections.abc import Mapping
from typing import Any

from portal.catalog import formatting, requisites
from portal.catalog.subjects import known_labels, labels
from portal.core.i18n import _, _n

KINDS = ("years", "levels", "subjects", "students", "list")
NAMED_AT_MOST = 3
MAX_NAMED = 50  # students that a window lists itself: each decision reads them


def describe(cohort: Mapping[str, Any], most: int = NAMED_AT_MOST) -> str:
    """Return such as `Senior; majors and minors in Mathematics (MTH)`, with `most` names."""
    if not any(cohort.values()):
        return _("Everyone")
    return "; ".join(
        _names_in_words(kind, cohort[kind], most) for kind in KINDS if cohort.get(kind)
    )


def describe_publicly(cohort: Mapping[str, Any]) -> str:
    """Return a description that any student may read: it names no student."""
    parts = []
    if years := cohort.get("years"):
        parts.append(_("students of class year %(names)s", names=requisites.any_of(years)))
    if levels := cohort.get("levels"):
        parts.append(_("students of level %(names)s", names=requisites.any_of(levels)))
    if subjects := cohort.get("subjects"):
        names = requisites.any_of(known_labels(subjects))
        parts.append(_("majors and minors in %(names)s", names=names))
    if cohort.get("students") or cohort.get("list"):
        parts.append(_("students on a list"))
    return ", ".join(parts) or _("everyone")


def join_names(names: list[str], most: int = NAMED_AT_MOST) -> str:
    """Return names with commas; those beyond `most` are counted."""
    shown = ", ".join(names[:most])
    if len(names) <= most:
        return shown
    return _("%(names)s and %(count)s more", names=shown, count=len(names) - most)


def _names_in_words(kind: str, names: Any, most: int) -> str:
    if kind == "list" or (kind == "students" and len(names) > max(MAX_NAMED, most)):
        count = names["students"] if kind == "list" else len(names)
        number = formatting.number(count)
        return _n(
            "a list of %(count)s student", "a list of %(count)s students", count, count=number
        )
    shown = join_names(labels(names) if kind == "subjects" else names, most)
    if kind == "subjects":
        return _("majors and minors in %(names)s", names=shown)
    if kind == "students":
        return _("students %(names)s", names=shown)
    return shown
