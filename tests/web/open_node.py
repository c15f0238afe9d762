"""The web application of a node of its own, without CSRF tokens and without the gate."""

from portal.app import create_app

app = create_app()
app.config.update(WTF_CSRF_ENABLED=False, GATE=False)
