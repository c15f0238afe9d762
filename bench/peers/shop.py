"""Makes the shops of the comparison and counts what they sold; runs in pretix's environment.

`shop.py make NAME CROWDS SHOPPERS PLACES ITEMS` prints the shops as JSON; their names start with
NAME. `shop.py sold NAME` prints how many places are taken in each crowd's shop.
"""

import json
import secrets
import sys
from datetime import timedelta
from importlib import import_module
from importlib.metadata import version
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.utils.timezone import now  # noqa: E402
from django_scopes import scopes_disabled  # noqa: E402
from pretix.base.models import CartPosition, Event, Organizer  # noqa: E402

Store = import_module(settings.SESSION_ENGINE).SessionStore


def shop(organizer: Any, slug: str, places: int, items: int) -> Any:
    """Create an event that is on sale; each of its items has a quota of its own."""
    event = Event.objects.create(
        organizer=organizer,
        name=slug,
        slug=slug,
        currency="EUR",
        date_from=now() + timedelta(days=90),
        plugins="pretix.plugins.banktransfer",
        live=True,
    )
    event.set_defaults()
    for number in range(items):
        item = event.items.create(name=f"Course {number + 1}", default_price=10, position=number)
        quota = event.quotas.create(name=item.name, size=places)
        quota.items.add(item)
    return event


def session(event: Any) -> str:
    """Return the key of the session of a visitor whose cart is empty."""
    store = Store()
    store.create()
    cart = f"{secrets.token_hex(24)}@{store.session_key}"[:255]
    store["carts"] = {cart: {}}
    store[f"current_cart_event_{event.pk}"] = cart
    store.save()
    return str(store.session_key)


def told(event: Any, shoppers: int) -> dict[str, Any]:
    """Return what the load generator needs to know of an event."""
    return {
        "path": f"/{event.organizer.slug}/{event.slug}/",
        "item": event.items.order_by("position").first().pk,
        "sessions": [session(event) for _ in range(shoppers)],
    }


def made(name: str, crowds: int, shoppers: int, places: int, items: int) -> dict[str, Any]:
    """Create a shop for each crowd and one with many items; return them with the versions."""
    organizer, _ = Organizer.objects.get_or_create(name="University", slug="university")
    hot = [shop(organizer, f"{name}-{number}", places, 1) for number in range(crowds)]
    packages = ("pretix", "Django", "celery", "gunicorn")
    return {
        "crowds": [told(each, shoppers) for each in hot],
        "catalog": told(shop(organizer, f"all-{name}", places, items), shoppers),
        "versions": {each: version(each) for each in packages},
    }


def sold(name: str) -> list[int]:
    """Return how many places each crowd holds."""
    crowds = Event.objects.filter(slug__startswith=f"{name}-")
    return [CartPosition.objects.filter(event=each).count() for each in crowds]


if __name__ == "__main__":
    with scopes_disabled():
        what, name, *numbers = sys.argv[1:]
        print(json.dumps(made(name, *map(int, numbers)) if what == "make" else sold(name)))
