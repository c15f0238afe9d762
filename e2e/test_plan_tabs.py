"""A plan is the same in all tabs, and what others do shows on it."""

from playwright.sync_api import expect

from e2e.campus import cancel
from e2e.person import Meet, Person, second_tab
from e2e.plans import lines, plan
from portal.catalog.models import Section, Term
from tests import cast as builders


def planning(meet: Meet, term: Term, *sections: Section) -> Person:
    """Ada on the section list, with these sections in her plan."""
    ada = meet("ada").enter(term)
    for each in sections:
        plan(ada, each)
    return ada


def test_what_is_changed_in_one_tab_shows_in_the_other(
    meet: Meet, term: Term, section: Section, others: list[Section]
) -> None:
    builders.a_coming_window(term)
    ada = meet("ada").enter(term)
    other = second_tab(ada).enter(term)
    search = other.page.get_by_label("Search")
    search.press_sequentially("Cour")
    plan(ada, section)
    expect(lines(other)).to_have_count(1)
    expect(other.row(section).locator(".row-plan")).to_have_attribute("aria-pressed", "true")
    expect(search).to_be_focused()
    expect(search).to_have_value("Cour")
    plan(other, others[0])
    expect(lines(ada)).to_have_count(2)
    assert not other.complaints


def test_a_plan_that_comes_late_never_replaces_a_newer_one(
    meet: Meet, term: Term, section: Section, others: list[Section]
) -> None:
    builders.a_coming_window(term)
    ada = meet("ada").enter(term)
    plan(ada, section)
    older = ada.page.locator("#plan").evaluate("it => it.outerHTML")
    plan(ada, others[0])
    ada.page.evaluate("it => dispatchEvent(new CustomEvent('fs:fragments', { detail: it }))", older)
    expect(lines(ada)).to_have_count(2)


def test_a_form_that_has_seen_an_older_plan_says_so_and_loses_nothing(
    meet: Meet, term: Term, section: Section, others: list[Section]
) -> None:
    builders.a_coming_window(term)
    ada = planning(meet, term, section, others[0])
    ada.page.locator(f'.plan-move[href$="/{section.id}/plan"]').click()
    expect(ada.dialog).to_be_visible()
    other = second_tab(ada).enter(term)
    plan(other, others[1])
    ada.dialog.get_by_role("button", name="Remove from plan").click()
    expect(ada.dialog).to_contain_text("Your plan has changed, maybe in another tab")
    ada.dialog.get_by_role("button", name="Remove from plan").click()
    expect(ada.dialog).to_be_hidden()
    expect(lines(ada)).to_have_count(2)


def test_counts_in_the_dialog_and_on_the_plan_move_by_themselves(
    meet: Meet, term: Term, last_seat: Section
) -> None:
    builders.an_open_window(term)
    ada, ben = (meet(name).enter(term) for name in ("ada", "ben"))
    plan(ada, last_seat)
    ada.go(f"/terms/{term.id}/plan")
    counts = ada.page.locator("#plan .counts")
    tab = second_tab(ada).enter(term)
    tab.row(last_seat).locator(".row-more").click()
    expect(tab.dialog.locator(".counts")).to_contain_text("1 of 1 open")
    expect(counts).to_contain_text("1 of 1 open")
    ben.pick(last_seat)
    for shown in (counts, tab.dialog.locator(".counts")):
        expect(shown).to_contain_text("0 of 1 open")
    assert not tab.complaints


def test_the_sum_of_a_plan_follows_my_classes(
    meet: Meet, term: Term, section: Section, last_seat: Section
) -> None:
    builders.an_open_window(term)
    ada, ben = (meet(name).enter(term) for name in ("ada", "ben"))
    plan(ben, section)
    tab = second_tab(ben).enter(term)
    ada.pick(last_seat)
    ben.pick(last_seat)
    ada.ask(last_seat)
    ada.confirm()
    ben.has(last_seat, "selected")
    for page in (ben, tab):
        expect(page.page.locator("#plan .mine-sum")).to_contain_text("8 of 21 credits")
    ben.ask(last_seat)
    ben.confirm()
    for page in (ben, tab):
        expect(page.page.locator("#plan .mine-sum")).to_contain_text("4 of 21 credits")
    ben.pick(section)  # a planned class that is held counts once
    for page in (ben, tab):
        expect(page.mine).to_contain_text("4 of 21 credits")
        expect(page.page.locator("#plan .mine-sum")).to_contain_text("4 of 21 credits")
    assert not [*ben.complaints, *tab.complaints]


def test_a_plan_follows_the_registrar_who_cancels_a_section(
    meet: Meet, term: Term, section: Section, others: list[Section]
) -> None:
    builders.an_open_window(term)
    ada = planning(meet, term, section, others[0])
    unplanned = ada.row(others[1]).locator(".row-plan")
    expect(unplanned).to_be_visible()
    tab = second_tab(ada).listen(f"/terms/{term.id}/plan")
    elsewhere = second_tab(ada).enter(term, "?q=nothing")
    pages = [each.page for each in (ada, tab, elsewhere)]
    for page in pages:
        expect(page.locator("#plan .mine-sum")).to_contain_text("8 of 21 credits")
    for each in (section, others[1]):
        cancel(each)
    for page in pages:
        expect(page.locator("#plan .mine-sum")).to_contain_text("4 of 21 credits")
        expect(page.locator("#plan")).to_contain_text("has been canceled.")
        expect(page.locator("#plan [data-first]")).to_have_count(1)
    expect(tab.page.locator("#plan .plan-wait")).to_have_count(1)
    expect(unplanned).to_be_hidden()
    assert not [*ada.complaints, *tab.complaints, *elsewhere.complaints]
