"""The machine's table as a page of text, so that the documentation cannot differ from it."""

from __future__ import annotations

from loopcheck.reference_loop.machine import TABLE


def page() -> str:
    """The table in Markdown: each phase, the events that may come in it, and where they lead."""
    lines = ["| phase | event | then |", "|---|---|---|"]
    for phase, transitions in TABLE.items():
        for position, (event, transition) in enumerate(transitions.items()):
            shown = "" if position else phase
            lines.append(f"| {shown} | {event.__name__} | {', '.join(transition.to)} |")
        if not transitions:
            lines.append(f"| {phase} | | the run is over |")
    return "\n".join(lines) + "\n"
