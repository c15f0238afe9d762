"""Minimal Flask application, the baseline of a claim through the whole portal."""

from flask import Flask

app = Flask(__name__)


@app.route("/", methods=["GET", "POST"])
def hello() -> str:
    return "hello"
