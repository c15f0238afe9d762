"""Every page and dialog of the portal once, as tests of all pages walk through them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from playwright.sync_api import expect

from e2e.campus import Campus
from e2e.person import Meet, Person


@dataclass(frozen=True)
class Stop:
    """A page: who looks at it, where it is, what is pressed there, and what that brings up."""

    who: str
    address: str
    press: str = ""
    brings: str = "#dialog[open]"

    def show(self, person: Person, campus: Campus) -> str:
        """Go there; gives what a message calls it."""
        answer = person.go(campus.find(self.address))
        assert answer
        assert "unsafe" not in answer.headers["content-security-policy"], self.address
        if self.press:
            person.page.locator(campus.find(self.press)).first.click()
            expect(person.page.locator(campus.find(self.brings))).to_be_visible()
        return f"{self.who or 'nobody'} at {self.address} {self.press}"


LIST = "/terms/{open}"
# A form is visited after it was refused: it has all of the form that is not filled in, and why.
ADJUST = "/admin/terms/{open}/adjust?look=1&student={number}&add={full_crn}"
STOPS = (
    Stop("", "/login"),
    Stop("", "/api/docs"),
    Stop("", "/visiting"),
    Stop("", "/sign-up", "main form [type=submit]", ".errors"),
    Stop("", "/recovery"),
    Stop("ada", "/"),
    Stop("ada", "/terms/{before}"),
    Stop("ada", "/terms/{unscheduled}"),
    Stop("ada", LIST),
    Stop("ada", f"{LIST}?q=nothing+like+it&days=Mon"),
    Stop("ada", "/terms/{ended}"),
    Stop("ada", f"{LIST}/mine"),
    Stop("cleo", f"{LIST}/mine"),
    Stop("ada", "/terms/{unscheduled}/mine"),
    Stop("ada", f"{LIST}/sections/{{free}}/pick"),
    Stop("ada", f"{LIST}/sections/{{queued}}/pick"),
    Stop("ada", f"{LIST}/sections/{{barred}}/pick"),
    Stop("ada", f"{LIST}/sections/{{held}}/drop"),
    Stop("ada", f"{LIST}/sections/{{waited}}/leave"),
    Stop("ada", f"{LIST}/sections/{{held}}/swaps"),
    Stop("ada", f"{LIST}/sections/{{free}}/swap?swap_out={{held}}"),
    Stop("ada", f"{LIST}/sections/{{queued}}/plan"),
    Stop("ada", f"{LIST}/sections/{{full}}/plan"),
    Stop("ada", LIST, "#act-{free} a"),
    Stop("ada", LIST, "#act-{queued} a"),
    Stop("ada", LIST, "#act-{full} a"),
    Stop("ada", LIST, "#act-{barred} a"),
    Stop("ada", LIST, "#act-{held} .act-drop"),
    Stop("ada", LIST, "#act-{waited} a"),
    Stop("ada", LIST, "#section-{queued} .row-plan", ".toast"),
    Stop("ada", LIST, "#section-{barred} .row-more"),
    Stop("ada", LIST, ".filters-more summary", ".filters-more[open]"),
    Stop("ada", f"{LIST}/sections/{{free}}"),
    Stop("ada", f"{LIST}/sections/{{held}}"),
    Stop("ada", f"{LIST}/plan"),
    Stop("ada", "/terms/{before}/plan"),
    Stop("ada", "/terms/{ended}/plan"),
    Stop("cleo", f"{LIST}/plan", ".plan-submit"),
    Stop("ada", "/terms/{busy}"),
    Stop("ada", "/terms/{busy}", "#gate a:has-text('Leave')"),
    Stop("ada", "/terms/{busy}", ".plan-submit", ".toast"),
    Stop("ada", "/terms/{busy}/sections/{wanted}/pick"),
    Stop("ada", "/terms/{busy}/room"),
    Stop("ada", "/terms/{before}/room"),
    Stop("ada", "/terms/{busy}/room/leave"),
    Stop("", "/terms/{open}/windows/{window}/order"),
    Stop("ada", "/terms/{before}/windows/{coming}/order"),
    Stop("ada", f"{LIST}/schedule"),
    Stop("ada", "/terms/{before}/schedule"),
    Stop("ada", f"{LIST}/schedule/feed"),
    Stop("ada", f"{LIST}/history"),
    Stop("cleo", f"{LIST}/history?only=refused"),
    Stop("ada", f"{LIST}/applications"),
    Stop("ada", f"{LIST}/applications/new/late_add", "main form [type=submit]", ".errors"),
    Stop("ada", f"{LIST}/applications/new/withdrawal"),
    Stop("ada", f"{LIST}/applications/{{application}}"),
    Stop("ada", f"{LIST}/applications/{{application}}/withdraw"),
    Stop("ada", f"{LIST}/applications/{{draft}}/steps/rules"),
    Stop("ada", f"{LIST}/applications/{{draft}}/steps/reason"),
    Stop("ada", f"{LIST}/applications/{{draft}}/documents"),
    Stop("ada", f"{LIST}/applications/{{draft}}/review"),
    Stop("ada", f"{LIST}/applications/{{withdrawn}}"),
    Stop("ada", f"{LIST}/applications/{{withdrawn}}/erase"),
    Stop("tessa", "/"),
    Stop("tessa", f"{LIST}/applications/{{visit}}"),
    Stop("tessa", f"{LIST}/applications/{{visit}}/fee"),
    Stop("tessa", "/payments/test/{charge}"),
    Stop("tessa", "/terms/{before}/applications/{paid}"),
    Stop("tessa", "/terms/{before}/applications/{paid}/fee"),
    Stop("tessa", "/terms/{before}/applications/{paid}/receipt"),
    Stop("tessa", "/terms/{before}/applications/{paid}/documents"),
    Stop("ada", "/receipts/{receipt}"),
    Stop("cleo", "/receipts/{refusal}"),
    Stop("ada", "/inbox"),
    Stop("cleo", "/inbox"),
    Stop("cleo", "/inbox/settings"),
    Stop("ada", "/captcha"),
    Stop("ada", "/captcha/code"),
    Stop("ada", "/account"),
    Stop("ada", "/account/tokens", "main form [type=submit]", ".errors"),
    Stop("cleo", "/account/tokens", ".token-act a"),
    Stop("ada", "/account/password", "main form [type=submit]", ".errors"),
    Stop("ada", "/no/such/page"),
    Stop("ada", "/admin"),
    Stop("iris", "/teaching"),
    Stop("iris", "/teaching/sections/{held}"),
    Stop("iris", "/teaching/sections/{waited}"),
    Stop("iris", "/teaching/sections/{waited}?q=ben&sort=year&order=down"),
    Stop("iris", "/teaching/sections/{waited}/emails?to=all"),
    Stop(
        "iris", "/teaching/sections/{waited}/requests/seats", "main form [type=submit]", ".errors"
    ),
    Stop("iris", "/teaching/sections/{waited}/requests/override"),
    Stop("iris", "/teaching/requests"),
    Stop("cora", "/teaching"),
    Stop("cora", "/teaching/applications"),
    Stop("cora", "/teaching/applications?q=nothing+like+it"),
    Stop("cora", "/teaching/applications/{application}"),
    Stop("max", "/admin"),
    Stop("max", "/admin/terms/new"),
    Stop("max", "/admin/terms/{unscheduled}"),
    Stop("max", "/admin/terms/{open}"),
    Stop("max", "/admin/terms/{unscheduled}/edit"),
    Stop("max", "/admin/terms/{unscheduled}/archive"),
    Stop("max", "/admin/terms/{unscheduled}/windows/copy"),
    Stop("max", "/admin/terms/{open}", "main a:has-text('Archive')"),
    Stop("max", "/admin/catalog/course"),
    Stop("max", "/admin/catalog/course", "main tbody td a"),
    Stop("max", "/admin/catalog/course", "main tbody th a", "main .row-code"),
    Stop("max", "/admin/courses/new", "main form [type=submit]", ".errors"),
    Stop("max", "/admin/catalog/room?deleted=1"),
    Stop("max", "/admin/catalog/term?q=nothing+like+it"),
    Stop("max", "/admin/terms/{open}/sections"),
    Stop("max", "/admin/terms/{open}/sections?q=nothing+like+it&status=NEW&fewer=9"),
    Stop("max", "/admin/terms/{open}/sections/deleted"),
    Stop("max", "/admin/terms/{open}/sections/new?q=tou"),
    Stop("max", "/admin/terms/{open}/sections/new?q=tou", "main li a", "main form.form-wide"),
    Stop("max", "/admin/terms/{open}/sections/{held}"),
    Stop("max", "/admin/terms/{open}/sections/{held}", "main a:has-text('Cancel')"),
    Stop("max", "/admin/terms/{open}/sections/{barred}/edit"),
    Stop("max", "/admin/terms/{open}/sections/{barred}/edit", "[name=more]", "#meetings_2_days"),
    Stop("max", "/admin/terms/{open}/sections/{barred}/edit", "[value=kept]", "#reserves_0_seats"),
    Stop("max", "/admin/terms/{open}/sections/{barred}/share"),
    Stop("ada", "/terms/{ballots}"),
    Stop("ada", "/terms/{ballots}/plan"),
    Stop("ada", "/terms/{ballots}/rounds/{taking}"),
    Stop("ada", "/terms/{given}/rounds/{applied}"),
    Stop("max", "/admin/terms/{ballots}/rounds"),
    Stop("max", "/admin/terms/{ballots}/rounds/{taking}"),
    Stop("max", "/admin/terms/{ballots}/rounds/{taking}/end"),
    Stop("max", "/admin/terms/{ballots}/rounds/{taking}/cancel"),
    Stop("max", "/admin/terms/{given}/rounds/{applied}"),
    Stop("max", "/admin/terms/{given}/rounds/{applied}/compare"),
    Stop("max", "/admin/terms/{unscheduled}/rounds"),
    Stop("max", "/admin/terms/{unscheduled}/rounds/new", "main form [type=submit]", ".errors"),
    Stop("max", "/admin/terms/{open}/windows/new", "main form [type=submit]", ".errors"),
    Stop("max", "/admin", "section:has(#term-{open}) li a:has-text('Extend')"),
    Stop("max", "/admin/operations/opening"),
    Stop("max", "/admin/terms/{open}/windows/{window}/room"),
    Stop("max", "/admin/terms/{busy}/windows/{paused}/room"),
    Stop("max", "/admin/terms/{busy}/windows/{unlimited}/room"),
    Stop("max", "/admin/terms/{before}/windows/{coming}/room/draw"),
    Stop("max", "/admin/terms/{open}/windows/{window}/room/pause"),
    Stop("max", "/admin/terms/{open}/windows/{window}/room/admit"),
    Stop(
        "max",
        "/admin/terms/{open}/windows/{window}/room/expire",
        "main form [type=submit]",
        ".errors",
    ),
    Stop("max", "/admin/requests"),
    Stop("max", "/admin/requests/{asked}"),
    Stop("max", "/admin/requests?state=done"),
    Stop("max", "/admin/applications"),
    Stop("max", "/admin/applications?state=declined"),
    Stop("max", "/admin/applications/{application}"),
    Stop("max", "/admin/applications/{application}", "[value=decline]", ".errors"),
    Stop("max", "/admin/applications/retention"),
    Stop("max", "/admin/audit"),
    Stop("max", "/admin/audit?who=nobody"),
    Stop("max", "/admin/audit/{entry}"),
    Stop("max", "/admin/students/{student}/privacy"),
    Stop("max", "/admin/operations"),
    Stop("max", "/admin/mail-texts"),
    Stop("max", "/admin/mail-texts/promoted/en"),
    Stop("max", "/admin/report-subscriptions"),
    Stop("max", "/admin/report-subscriptions", "main form [type=submit]", ".errors"),
    Stop("max", "/admin/operations", "[data-flag=captcha] a"),
    Stop("max", "/admin/operations/flags/mail", "main form [type=submit]", ".errors"),
    Stop("max", "/admin/operations/audits/{open}"),
    Stop("max", "/admin/webhooks", "main form [type=submit]", ".errors"),
    Stop("max", "/admin/service-tokens", "main form [type=submit]", ".errors"),
    Stop("max", "/admin/terms/{open}/windows/{window}/close"),
    Stop(
        "max",
        "/admin/terms/{before}/windows/{coming}/move",
        "main form [type=submit]",
        "[name=reason]",
    ),
    Stop("max", "/admin/terms/{open}/windows/{window}/report"),
    Stop("max", "/admin/terms/{open}/rules"),
    Stop("max", "/admin/terms/{open}/rules", "main form [type=submit]", "#reason"),
    Stop("max", "/admin/terms/{open}/rules/bands"),
    Stop("max", "/admin", "#over-{ended} summary", "#over-{ended}[open]"),
    Stop("max", "/admin/terms/{ended}/windows/{past}/report"),
    Stop("max", "/admin/terms/{ended}/windows/{past}/fairness"),
    Stop("max", "/admin/imports", "main .btn-primary", ".errors"),
    Stop("max", "/admin/imports/{imported}"),
    Stop("max", "/admin/imports/{imported}/columns"),
    Stop("max", "/admin/instructors/new"),
    Stop("max", "/admin/instructors"),
    Stop("max", "/admin/instructors", "main tbody a", "[href$=unlink]"),
    Stop("max", "/admin/staff"),
    Stop("max", "/admin/staff", "main tbody a", "#roles"),
    Stop("max", "/admin/staff?account=nothing"),
    Stop("max", "/admin/students"),
    Stop("max", "/admin/students?q=nothing+like+it"),
    Stop("max", "/admin/students/new", "main form [type=submit]", ".errors"),
    Stop("max", "/admin/students/{student}/edit"),
    Stop("max", "/admin/students/{student}/view"),
    Stop("max", "/admin/accounts"),
    Stop("max", "/admin/accounts/new", "main form [type=submit]", ".errors"),
    Stop("max", "/admin/accounts", "main tbody a", "main .row-code"),
    Stop("max", "/admin/students/{student}?term={open}"),
    Stop("max", "/admin/students/{student}?term={open}", "main a:has-text('Add a hold')"),
    Stop("max", "/admin/students/{student}?term={open}", "main a:has-text('Grant a permission')"),
    Stop("max", "/admin/students/{student}?term={open}", "main a:has-text('Add a course')"),
    Stop("max", "/admin/students/{student}/holds/new", "main form [type=submit]", ".errors"),
    Stop("max", "/admin/students/{student}/holds/{hold}/lift"),
    Stop("max", "/admin/students/{student}/holds/{hold}/take-back"),
    Stop("max", "/admin/students/{student}/adviser"),
    Stop("max", "/admin/students/{student}/overrides/{permit}/revoke"),
    Stop("max", "/admin/terms/{open}/adjust"),
    Stop("max", ADJUST, "main form [type=submit]", ".errors"),
    Stop("max", "/admin/terms/{open}/sections/{held}/results"),
    Stop("max", "/admin/terms/{open}/sections/{waited}/results?show=waiting"),
    Stop("max", "/admin/terms/{open}/sections/{held}/results?show=history"),
    Stop("max", "/admin/search?q=a"),
    Stop("max", "/admin/search?q=nothing+like+it"),
    Stop(
        "max", "/admin/terms/{open}/sections/several", "main [type=submit].btn-primary", ".errors"
    ),
    Stop("max", "/admin/terms/{open}/rooms"),
    Stop("max", "/admin/terms/{open}/rooms?problems=1"),
    Stop("max", "/admin/terms/{open}/underfilled", "main table + div [type=submit]", ".errors"),
    Stop("max", "/admin/receipts"),
    Stop("max", "/admin/receipts?q=N0"),
    Stop("max", "/admin/receipts?q=nothing+like+it"),
    Stop("max", "/admin/instructors?q=nothing+like+it"),
    Stop("max", "/admin/terms/{open}/sections/new"),
    Stop("max", "/account"),
    Stop("max", "/inbox"),
    Stop("max", "/no/such/page"),
    Stop("iris", "/account"),
    Stop("iris", "/inbox"),
    Stop("iris", "/admin"),
    Stop("max", "/admin/receipts?q={refusal}"),
    Stop("max", "/admin/receipts/{refusal}"),
    Stop("max", "/teaching/sections/{held}"),
)

# A tour visits pages that are not there or not for everyone, and the browser says so.
# The confirmation of what can't be done answers 409.
EXPECTED = re.compile(r"(Failed to load .* status of (403|404|409|422))|Status Error Code 409")


def tour(
    meet: Meet, campus: Campus, stops: Sequence[Stop], **options: object
) -> Iterator[tuple[Person, str]]:
    """Stop by stop, in one window for each person; gives who looks, and what to call the page."""
    people: dict[str, Person] = {}
    for stop in stops:
        person = people.get(stop.who) or meet(stop.who, **options)
        people[stop.who] = person
        person.expected = EXPECTED
        yield person, stop.show(person, campus)
