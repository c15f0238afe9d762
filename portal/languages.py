"""The languages of the pages, and whose page is in which."""

from flask import Flask
from flask_babel import Babel

babel = Babel()


def start(app: Flask) -> None:
    """Choose a language for each request."""
    app.config["BABEL_DEFAULT_LOCALE"] = "en"
    app.config["BABEL_TRANSLATION_DIRECTORIES"] = str(app.root_path) + "/portal/translations"
    babel.init_app(app)
