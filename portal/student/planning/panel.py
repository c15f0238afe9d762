"""My plan: a panel beside the list, or in full on a page of its own."""

from flask import current_app
from htmx_flask import request
from markupsafe import Markup

from portal.registration import plans
from portal.registration.credits import amount, credits_in_words
from portal.registration.plans import Plan
from portal.registration.precheck import plan_credits
from portal.student import fragments, wish
from portal.student.line import line_of
from portal.student.planning.seen import seen
from portal.student.scene import Scene
from portal.web.http.request_info import split_url


def panel(  # noqa: PLR0913  the ways in which a page may want it
    scene: Scene,
    plan: Plan | None = None,
    *,
    full: bool | None = None,
    oob: bool = False,
    said: str = "",
    lost: bool = False,
) -> Markup:
    """My plan, id plan; `full` with all that can be changed, by default as the page has it.

    `said` is why a change was not made; `lost` if what had the focus is gone.
    """
    full = on_plan_page() if full is None else full
    plan = scene.plan if plan is None else plan
    known = plan or Plan()
    line_of(scene, known)  # who may submit it needs a pass
    planned = plan_credits(known, scene.catalog)
    html = current_app.jinja_env.get_template("fragments/plan.html").render(
        scene=scene,
        plan=known,
        away=plan is None,
        seen=seen(scene, known, full=full),
        full=full,
        said=said,
        lost=lost,
        credits=credits_in_words(planned),
        after=amount(scene.credits + planned),
        over=scene.credits + planned > scene.limit,
        points=amount,
        packed=plans.write(known),
        key=wish.new_key(),
    )
    drawn = Markup(html)  # noqa: S704 - the template escapes
    return fragments.out_of_band(drawn) if oob else drawn


def on_plan_page() -> bool:
    """Whether the page that asks is the plan's own."""
    address = request.htmx.current_url if request.htmx else request.path
    return split_url(address).path.endswith("/plan")
