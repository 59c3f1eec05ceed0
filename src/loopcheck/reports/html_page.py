"""The frame of an HTML report: one file that fetches nothing and runs no script but its own."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources

from loopcheck.reports.markup import Markup, escaped, joined, tag


def page(title: str, *body: Markup) -> str:
    """A whole document around this body."""
    style, script = _part("style.css"), _part("script.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    head = [
        tag("meta", charset="utf-8"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        Markup(f"<title>{escaped(title)}</title>"),
        Markup(f"<style>{style}</style>"),
    ]
    content = Markup("\n").join([*map(joined, body), Markup(f"<script>{script}</script>")])
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n{"".join(head)}\n</head>\n'
        f"<body>\n{content}\n</body>\n</html>\n"
    )


@cache
def _part(name: str) -> str:
    return resources.files("loopcheck.reports").joinpath("page", name).read_text("utf-8")


def _digest(text: str) -> str:
    """How a content security policy names the one text that may stand here."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
