"""A round's problem: its ballots, the rules and the seats that are left, in the published form.

Rules that need records are checked here, once, and stand in the ballot as a refused section. An
alternative that is refused as a whole has the section UNALLOWED, which no student can have.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from portal.allocation.problem import Ballot, Choice, Problem, Section, Settings, make
from portal.allocation.proof import canonical, sha256
from portal.backend import backend
from portal.catalog import linked_courses
from portal.catalog.models import Subject
from portal.catalog.term_catalog import TermCatalog, catalog_of
from portal.catalog.views import SectionView
from portal.core.db import transaction
from portal.core.i18n import _
from portal.ledger.types import Reason, SeatCounts, SectionSpec
from portal.people.student_profile import StudentProfile, read_all
from portal.registration import rules
from portal.registration.credits import hundredths
from portal.registration.limits import credit_limit
from portal.registration.plans import Plan, unpack
from portal.registration.precheck import Precheck, not_open, offered
from portal.registration.requests import Alternative
from portal.rounds import joint
from portal.rounds.models import BallotRow
from portal.rounds.store import ballots_of, file_of
from portal.windows.models import Round
from portal.windows.rounds import commitment
from portal.windows.warmup import section_specs

UNALLOWED = "not allowed"
PERMITS = {"same_course": "course", "time_conflict": "meetings", "credit_limit": "load"}
RESERVE = "reserve "  # before the number of a reserve, in the name of its cohort
BATCH = 1000  # profiles that are read at once


@dataclass(frozen=True)
class Offer:
    """What the round gives out: sections with their seats, names of sections, pools."""

    sections: tuple[Section, ...]
    names: Mapping[int, str]
    pools: Mapping[str, int]
    majors: frozenset[str]  # codes of subjects, if the majors of a section come first


@dataclass(frozen=True)
class Frozen:
    """A problem, and by student why alternatives were refused beforehand."""

    problem: Problem
    refused: Mapping[int, list[Any]]


def number_of(name: str) -> int:
    """Return the section of a name in the published file."""
    return int(name.rpartition("#")[2])


def build(found: Round) -> Frozen:
    """Return the problem of a round with its ballots as they are now."""
    catalog, offer = catalog_of(found.term_id), offer_of(found)
    settings = Settings(
        sections=offer.sections,
        mechanism=found.mechanism,
        tickets=found.tickets,
        pools=dict(offer.pools),
        name=found.name,
        commitment=commitment(found),
        public_source=found.public_source,
        public_at=found.public_at.astimezone(UTC).isoformat(timespec="seconds"),
    )
    ballots: dict[int, Ballot] = {}
    refused, plans = {}, {}
    columns = BallotRow.code, BallotRow.lines, BallotRow.most_courses, BallotRow.most_credits
    rows = list(ballots_of(found.id, *columns))
    with transaction() as session:
        unmet = _unmet(session, found)
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        with transaction() as session:
            people = read_all(session, [each.student_id for each in batch])
        for row in batch:
            if who := people.get(row.student_id):
                plan = plans[row.student_id] = unpack(row.lines)
                ballot, why = _ballot(found, row, plan, who, catalog, offer)
                ballots[row.student_id] = replace(ballot, unmet=unmet.get(row.student_id, 0))
                refused[row.student_id] = why
    with transaction() as session:
        for number, sections, places in joint.agreed_in(session, found.id, plans):
            _make_joint(ballots, places, f"joint {number}", offer.names, sections)
    return Frozen(make(settings, ballots.values()), refused)


def _make_joint(
    ballots: dict[int, Ballot],
    places: Mapping[int, int],
    name: str,
    names: Mapping[int, str],
    sections: Sequence[int],
) -> None:
    """Let a choice be joint in the ballot of each student, as the same bundle.

    If one of them may not take the sections together, or has one of them, none gets the choice.
    """
    bundle = tuple(dict.fromkeys(names.get(each, UNALLOWED) for each in sections))
    bundles = {
        frozenset(ballots[student].choices[place].alternatives[0])
        for student, place in places.items()
    }
    if bundles != {frozenset(bundle)} and UNALLOWED not in bundle:
        bundle = (*bundle, UNALLOWED)
    for student, place in places.items():
        choices = list(ballots[student].choices)
        choices[place] = Choice((bundle,), name)
        ballots[student] = replace(ballots[student], choices=tuple(choices))


def offer_of(found: Round) -> Offer:
    """Return the sections of the term with the seats that the round can give out now."""
    catalog = catalog_of(found.term_id)
    with transaction() as session:
        specs = section_specs(session, found.term_id)
        subjects = frozenset(session.scalars(select(Subject.code)))
    counts = backend().ledger.seats(found.term_id)
    views = {each.section: catalog.section(each.section) for each in specs}
    names = {each.section: _name(each.section, views.get(each.section)) for each in specs}
    sections = [
        _section(
            found, each, names[each.section], views.get(each.section), counts.get(each.section)
        )
        for each in specs
    ]
    unallowed = Section(id=UNALLOWED, course=UNALLOWED, capacity=0)
    majors = subjects if "major" in found.priorities else frozenset()
    return Offer((*sections, unallowed), names, _pools(specs, counts), majors)


def changed_since(found: Round) -> list[tuple[str, str]]:
    """Return the sections of the ballots that have changed since a round was frozen, and how."""
    stored = json.loads(file_of(found.id, "sections") or "[]")
    if not stored:
        return []
    current = {each.id: asdict(each) for each in offer_of(found).sections}
    return [
        (before["id"].partition(" #")[0], text)
        for before in stored
        if (text := _difference(before, json.loads(canonical(current.get(before["id"])))))
    ]


def _difference(before: dict[str, Any], now: dict[str, Any] | None) -> str:
    """Return what has changed in a section, in words; blank if nothing has."""
    if now is None or (before["capacity"] and not now["capacity"]):
        return _("No seats any more")
    texts = [
        (now["meetings"] != before["meetings"], _("Other times")),
        (now["credits"] != before["credits"], _("Other credits")),
        (now["course"] != before["course"], _("Another course")),
        (
            now["capacity"] < before["capacity"],
            _("%(now)s free seats, not %(before)s", now=now["capacity"], before=before["capacity"]),
        ),
    ]
    return ", ".join(text for differs, text in texts if differs)


def _name(section: int, view: SectionView | None) -> str:
    return f"{view.course_code}-{view.number} #{section}" if view else f"#{section}"


def _section(
    found: Round,
    spec: SectionSpec,
    name: str,
    view: SectionView | None,
    counts: SeatCounts | None,
) -> Section:
    free = _free(counts)
    reserves: list[tuple[str, int]] = []
    if counts and counts.kept and free:
        if found.reserves == "kept":
            free = max(0, free - counts.kept)
        else:
            reserves = _reserves(found, spec, free)
    return Section(
        id=name,
        course=view.course_code if view else name,
        capacity=free,
        credits=spec.credits_min,
        meetings=tuple(spec.times),
        pool=str(spec.pool.id) if spec.pool else "",
        reserves=tuple(reserves),
        priority=tuple(
            f"major {view.subject_code}" if each == "major" and view else each
            for each in found.priorities
        ),
    )


def _free(counts: SeatCounts | None) -> int:
    """Return the seats that a new student could have, apart from those for students who wait."""
    if counts is None or counts.status != "OPEN":
        return 0
    return max(0, counts.capacity - counts.taken) - counts.promised


def _reserves(found: Round, spec: SectionSpec, free: int) -> list[tuple[str, int]]:
    """Return the seats that each reserve still reserves, in order, no more than are free."""
    held, now = backend().ledger.reserved(found.term_id, spec.section), backend().ledger.now()
    reserves = []
    for each in spec.reserves:
        over = 0 < each.until <= now
        seats = 0 if over else min(free, max(0, each.seats - held.get(each.id, 0)))
        reserves.append((f"{RESERVE}{each.id}", seats))
        free -= seats
    return reserves


def _pools(specs: Sequence[SectionSpec], counts: Mapping[int, SeatCounts]) -> dict[str, int]:
    """Return the free seats of pools, apart from those for students who wait in their sections."""
    pools: dict[str, int] = {}
    promised: Counter[str] = Counter()
    for spec in specs:
        if spec.pool is None:
            continue
        found, name = counts.get(spec.section), str(spec.pool.id)
        left = 0
        if found and found.pool_capacity is not None:
            left = max(0, found.pool_capacity - found.pool_taken)
            promised[name] += found.promised if found.status == "OPEN" else 0
        pools[name] = min(left, pools.get(name, left))
    return {name: max(0, left - promised[name]) for name, left in pools.items()}


def _ballot(  # noqa: PLR0913, PLR0917  what a ballot depends on
    found: Round,
    row: Any,
    plan: Plan,
    who: StudentProfile,
    catalog: TermCatalog,
    offer: Offer,
) -> tuple[Ballot, list[Any]]:
    """Return a ballot in the published form, and the reasons against its alternatives."""
    registrations = backend().ledger.registrations(found.term_id, row.student_id)
    limit = hundredths(credit_limit(who, catalog))
    precheck = Precheck(who, catalog, registrations, limit)
    against = [
        [_against(precheck, each) for each in choice.alternatives] for choice in plan.choices
    ]
    everywhere = _refused_everywhere(against)
    choices = [
        Choice(
            tuple(
                _bundle(alternative, why, everywhere, offer)
                for alternative, why in zip(choice.alternatives, reasons, strict=True)
            )
        )
        for choice, reasons in zip(plan.choices, against, strict=True)
    ]
    some = {each for choice in plan.choices for each in choice.sections if each in offer.names}
    refused = sorted(offer.names[each] for each in everywhere if each in offer.names)
    ballot = Ballot(
        pseudonym=sha256(row.code),
        choices=tuple(choices),
        most_credits=row.most_credits,
        credit_limit=max(0, limit - precheck.credits),
        most_courses=row.most_courses,
        cohorts=tuple(_cohorts(found, who, catalog.some(some), offer)),
        refused=(*refused, UNALLOWED),
        own=dict(_own(who, plan, catalog.some(some), offer)),
    )
    packed = [
        [{str(each): [_packed(one) for one in why[each]] for each in why} for why in reasons]
        for reasons in against
    ]
    return ballot, packed


def _bundle(
    alternative: Alternative,
    why: Mapping[int, list[Reason]],
    everywhere: Collection[int],
    offer: Offer,
) -> tuple[str, ...]:
    """Return the names of the sections of an alternative; with UNALLOWED if it is refused."""
    sections = [each.section for each in alternative if each.section in why]
    named = tuple(dict.fromkeys(offer.names[each] for each in sections if each in offer.names))
    unknown = any(each not in offer.names for each in sections)
    partly = any(why[each] and each not in everywhere for each in why)
    return (*named, UNALLOWED) if unknown or partly else named


def _against(precheck: Precheck, alternative: Alternative) -> dict[int, list[Reason]]:
    """Return the rules against the sections of an alternative, taken alone.

    Sections that the student has already are left out, unless there is no other.
    """
    every = [each.section for each in alternative]
    has = {each.section for each in precheck.registrations.enrolled}
    named = [each for each in every if each not in has] or every
    found = precheck.refusals_together(offered([alternative], precheck.catalog), about=named)
    unlinked = {each.id for each in linked_courses.unlinked(precheck.catalog.some(every))}
    reasons = {}
    for section in named:
        why = list(found.get(section, [Reason("section_unknown")]))
        view = precheck.catalog.section(section)
        if view:
            why += not_open(view)
        if section in unlinked:
            why.append(Reason("not_partner"))
        reasons[section] = why
    return reasons


def _refused_everywhere(against: Sequence[Sequence[Mapping[int, list[Reason]]]]) -> set[int]:
    """Return the sections that are refused in each alternative that names them."""
    seen: dict[int, bool] = {}
    for reasons in against:
        for why in reasons:
            for section, found in why.items():
                seen[section] = seen.get(section, True) and bool(found)
    return {section for section, refused in seen.items() if refused}


def _cohorts(
    found: Round, who: StudentProfile, sections: Iterable[SectionView], offer: Offer
) -> list[str]:
    """Return the cohorts of a student that count in the round; the year is for comparisons."""
    cohorts = {f"year {who.year}"} if who.year else set()
    cohorts |= {each for each in found.priorities if each == f"level {who.level}"}
    cohorts |= {f"major {code}" for code in who.majors & offer.majors}
    if found.reserves == "given":
        cohorts |= {
            f"{RESERVE}{number}" for each in sections for number in rules.reserves(who, each)
        }
    return sorted(cohorts)


def _own(
    who: StudentProfile, plan: Plan, sections: Iterable[SectionView], offer: Offer
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the sections that differ for the student: by permissions, or the chosen credits."""
    chosen = credits_of(plan)
    for section in sections:
        name, passes = offer.names[section.id], rules.permitted(who, section)
        fields = {"course": name, "load": 0, "meetings": [], "credits": chosen.get(section.id)}
        found = {PERMITS[each] for each in passes & PERMITS.keys()}
        if chosen.get(section.id, hundredths(section.credits_min)) != hundredths(
            section.credits_min
        ):
            found.add("credits")
        if found:
            yield name, {each: fields[each] for each in sorted(found)}


def credits_of(plan: Plan) -> dict[int, int]:
    """Return the credits (hundredths) that a student chose for sections with a range."""
    parts = (part for choice in plan.choices for each in choice.alternatives for part in each)
    return {part.section: part.credits for part in parts if part.credits is not None}


def tickets_of(found: Round, student: int) -> int:
    """Return how many draw tickets a student has, as long as no other round is published."""
    with transaction() as session:
        return min(1 + _unmet(session, found, student).get(student, 0), found.tickets)


def _unmet(session: Session, found: Round, student: int | None = None) -> dict[int, int]:
    """Return how often students, or one of them, missed their first choice in earlier rounds."""
    if found.tickets < 2:
        return {}
    query = (
        select(BallotRow.student_id, func.count())
        .join(Round, Round.id == BallotRow.round_id)
        .where(BallotRow.unmet_first.is_(True), Round.state.in_(("published", "applied")))
        .group_by(BallotRow.student_id)
    )
    if student is not None:
        query = query.where(BallotRow.student_id == student)
    return {row[0]: row[1] for row in session.execute(query)}


def _packed(reason: Reason) -> list[Any]:
    return [reason.code, reason.facts]
