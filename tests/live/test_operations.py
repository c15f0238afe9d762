"""Admins who watch how the portal runs are told of what changes; nobody else is."""

import re
from collections.abc import Collection
from pathlib import Path

from flask import Flask
from sqlalchemy import func

from portal.applications.models import ApplicationDocument
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.core.redis_clients import subscriber
from portal.live.hub import Hub
from portal.live.page import Page
from portal.live.rendering import Fragments, OperationsReader, renderers
from portal.live.topics import operations
from portal.people import visitors
from tests.applications.stories import a_draft
from tests.cast import Cast, a_course, a_section, a_term, an_account
from tests.live.conftest import Claim, Open
from tests.live.nodes import a_node
from tests.live.tabs import Tab

TAKEN = re.compile(r'data-figure="taken">(\d+)<')


def watching(tab: Tab) -> Tab:
    """Have the page ask for how the portal runs."""
    tab.client.send('{"operations": true}')
    return tab


def taken(tab: Tab) -> list[str]:
    """The seats taken, each time that they were told."""
    return TAKEN.findall("".join(tab.frames))


def test_an_admin_gets_it_on_every_node(
    cast: Cast, section: Section, open_tab: Open, claim: Claim, logs: Path
) -> None:
    with a_node(logs) as other:
        tabs = [watching(open_tab(cast.max.id, **at)) for at in ({}, {"at": other})]
        for tab in tabs:
            tab.hear(lambda tab: taken(tab)[-1:] == ["0"])
        claim(cast.ada.id, section.id)
        claim(cast.ben.id, section.id)
        for tab in tabs:
            tab.hear(lambda tab: taken(tab)[-1:] == ["2"])
            tab.hear(lambda tab: "2 in 15 minutes" in "".join(tab.frames))


def test_no_one_else_is_notified(
    cast: Cast, section: Section, open_tab: Open, claim: Claim
) -> None:
    others = [watching(open_tab(who.account_id)) for who in (cast.ada, cast.iris)]
    admin = watching(open_tab(cast.max.id))
    claim(cast.ada.id, section.id)
    admin.hear(lambda tab: taken(tab)[-1:] == ["1"])
    for tab in others:
        assert "ops-" not in "".join(tab.listen(0.2).frames)


def test_readers_are_sent_panels_without_buttons(cast: Cast, term: Term, open_tab: Open) -> None:
    assert term
    audrey = an_account("audrey", staff_roles=["auditor"])
    admin, auditor = watching(open_tab(cast.max.id)), watching(open_tab(audrey.id))
    for tab, buttons in ((admin, True), (auditor, False)):
        tab.hear(lambda tab: 'id="ops-flags"' in "".join(tab.frames))
        assert ("/admin/operations/flags/" in "".join(tab.frames)) == buttons
    helen = watching(open_tab(an_account("helen", staff_roles=["help_desk"]).id))
    assert "ops-" not in "".join(helen.listen(1.5).frames)


def test_panels_come_where_no_window_is_open_and_a_check_has_failed(
    cast: Cast, open_tab: Open
) -> None:
    draft = a_draft("permission", cast.ada, a_section(a_course(), a_term()))
    failed = {"part": "letter", "name": "letter.pdf", "type": "pdf", "size": 1, "digest": "0" * 64}
    with transaction() as session:
        session.add(ApplicationDocument(application_id=draft, dead_at=func.now(), **failed))
    told = ("No open or upcoming windows.", f'href="/admin/applications/{draft}"')
    tab = watching(open_tab(cast.max.id))
    tab.hear(lambda tab: all(each in "".join(tab.frames) for each in told))


def test_what_has_not_changed_is_not_sent_again(cast: Cast, term: Term, open_tab: Open) -> None:
    assert term
    tab = watching(open_tab(cast.max.id))
    tab.hear(lambda tab: 'id="ops-queues"' in "".join(tab.frames))
    tab.hear(lambda tab: "".join(tab.frames).count('id="ops-now"') and tab.listen(2.5))
    assert "".join(tab.frames).count('id="ops-flags"') == 1


def test_nothing_is_asked_while_no_one_looks(app: Flask, cast: Cast, settings: object) -> None:
    asked: list[object] = []
    kept = renderers.operations
    hub = Hub(subscriber(settings.redis_url), lambda _: {}, lambda *_: "")  # type: ignore[attr-defined]

    def draw(readers: Collection[OperationsReader]) -> dict[OperationsReader, Fragments]:
        asked.append(readers)
        return {reader: {"ops-now": "<p id=ops-now></p>"} for reader in readers}

    renderers.operations = draw
    try:
        hub.operations.send_changes()  # what its thread does each second
        assert asked == []
        admin = visitors.find(cast.max.id)
        assert admin
        pages = [Page(admin, lambda: None), Page(admin, lambda: None)]
        for page in pages:
            hub.pages.add(page)
            hub.subscribe(page, frozenset(), {operations()})
        hub.operations.send_changes()
        assert asked == [{OperationsReader("en", operates=True)}]  # once for both
        assert [page.take_update().html for page in pages] == ["<p id=ops-now></p>"] * 2
    finally:
        renderers.operations = kept
    assert app
