"""The least that Flask can do: what a claim through the whole portal is held against."""

from flask import Flask

app = Flask(__name__)


@app.route("/", methods=["GET", "POST"])
def hello() -> str:
    return "hello"
