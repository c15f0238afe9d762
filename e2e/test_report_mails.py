"""Someone of the office gets a report by mail, and stops that from the page that the mail names."""

from playwright.sync_api import expect

from e2e import variants
from e2e.axe import barriers
from e2e.contrast import NARROW
from e2e.person import Meet
from e2e.sizes import too_wide
from portal.catalog.models import Section, Term
from tests import cast as builders


@variants.scripts("scripts")
def test_an_auditor_gets_a_report_by_mail(
    meet: Meet, term: Term, section: Section, *, scripts: bool
) -> None:
    assert section
    name = f"auditor{term.id}"
    builders.an_account(name, email=f"{name}@u.example", staff_roles=["auditor"])
    auditor = meet(name, viewport=NARROW, java_script_enabled=scripts)
    page = auditor.page

    page.goto(f"/admin/terms/{term.id}/underfilled")
    page.get_by_role("link", name="Email me this").press("Enter")
    expect(page.get_by_label("Report", exact=True)).to_have_value("underfilled")
    expect(page.get_by_label("Term", exact=True)).to_have_value(str(term.id))
    page.get_by_label("How often").select_option("Every weekday (Monday to Friday)")
    page.get_by_label("Time", exact=True).fill("17:05")
    page.get_by_role("button", name="Email me this").press("Enter")
    row = page.locator("main tbody tr")
    expect(row).to_contain_text("Every weekday (Monday to Friday) at 5:05 pm")
    if scripts:
        assert not too_wide(page)
        assert barriers(page) == []

    row.get_by_role("button", name="Send now").press("Enter")
    auditor.asks_until(row.get_by_text("Sent with the file"))

    row.get_by_role("link", name="Change").press("Enter")
    page.get_by_label("How often").select_option("Every Monday")
    page.get_by_role("button", name="Save").press("Enter")
    expect(row).to_contain_text("Every Monday at 5:05 pm")
    row.get_by_role("link", name="Stop sending it").press("Enter")
    expect(page.locator("main")).to_contain_text("You no longer get this report by email.")
    page.get_by_role("button", name="Stop sending it").press("Enter")
    expect(page.locator("main")).to_contain_text("You get no reports by email.")
