"""The report in a real browser: headless Chromium, driven by Playwright.

The browser is the one that LOOPCHECK_CHROMIUM names, else the first `chromium` or `google-chrome`
on the path.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from sample_pair import AFTER, BEFORE
from sample_report import CARD, HOSTILE, ONCE, REPORT, case, report

from loopcheck.harness.results import TargetResult
from loopcheck.reports import diff_html, html
from loopcheck.reports.diff import compare
from loopcheck.reports.inert import inert

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

BROWSER = next(
    filter(
        None,
        (
            os.environ.get("LOOPCHECK_CHROMIUM"),
            shutil.which("chromium"),
            shutil.which("google-chrome"),
        ),
    ),
    None,
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        BROWSER is None, reason="no Chromium; LOOPCHECK_CHROMIUM names the path of one"
    ),
]
LOST = "case=booking:once/lost[chat-stream]"
ATTACK = (
    "</script></style></summary><script>document.title='owned'</script>"
    "<img src=x onerror=\"document.title='owned'\"><svg onload=alert(1)>\u202e\u2066 👩\u200d💻"
)
Open: TypeAlias = "Callable[..., Page]"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens a page, by default that of the sample report. No script may fail, nothing may be
    fetched, and nothing may be said in the console."""
    troubles: list[str] = []
    fetched: list[str] = []
    contexts: list[BrowserContext] = []

    def open_page(
        text: str | None = None, fragment: str = "", *, width: int = 1280, **options: Any
    ) -> Page:
        path = tmp_path / "report.html"
        path.write_text(text if text is not None else html.render(REPORT), encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda message: troubles.append(message.text))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.on("request", lambda request: fetched.append(request.url))
        page.goto(path.as_uri() + fragment)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []
    assert all("/report.html" in url for url in fetched)


def seen(page: Page, what: str = ".case") -> list[str]:
    """The ids of the cases that are shown."""
    found = page.locator(f"{what}:visible > summary .id").all_inner_texts()
    return [text.partition("[")[0] for text in found]


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.querySelector('.id')?.textContent ?? ''"))


ALL = [
    "once/lost",
    "transport/reset",
    "transport/cut",
    "hostile/text",
    "errors/known",
    "truncation/parsable",
    "transport/slow",
]


def test_verdicts_filter_causes_and_scenarios(opened: Open) -> None:
    page = opened()
    assert seen(page) == ALL
    page.get_by_role("button", name="expected").click()
    assert seen(page) == ["errors/known"]
    assert page.locator(".matrix tbody tr:not(.group):visible th").all_inner_texts() == ["known"]
    page.get_by_role("button", name="by policy").click()
    assert seen(page) == ["errors/known", "truncation/parsable"]
    page.get_by_role("button", name="expected").click()
    assert seen(page) == ["truncation/parsable"]
    assert page.locator("#count").inner_text() == "1 of 7 causes, 1 of 11 scenarios"


def test_class_check_and_text_filter_together(opened: Open) -> None:
    page = opened()
    page.select_option("#by-class", "transport")
    assert seen(page) == ["transport/reset", "transport/cut", "transport/slow"]
    page.select_option("#by-check", "effect.once")
    assert seen(page) == ["transport/slow"]
    page.fill("#search", "no such words")
    assert seen(page) == []
    page.keyboard.press("Escape")
    assert seen(page) == ["transport/slow"]


def test_search_finds_words_of_a_case_wherever_they_stand(opened: Open) -> None:
    page = opened()
    page.keyboard.press("/")
    page.keyboard.type("#R2 BUSINESS")
    assert seen(page) == ["once/lost"]


def test_a_deep_link_opens_its_case(opened: Open) -> None:
    page = opened(fragment=f"#{LOST}")
    assert page.locator(".case[open] > summary .id").all_inner_texts() == ["once/lost[chat-stream]"]
    assert page.locator("mark:visible").all_inner_texts() == ["first mismatch", "proof"]
    assert focused(page) == "once/lost[chat-stream]"


@pytest.mark.parametrize(
    "fragment",
    [
        "case=booking:once/lost[messages-stream]",
        "case=once/lost[messages-stream]",
        "case%3Dbooking%3Aonce%2Flost%5Bchat-stream%5D",
    ],
)
def test_a_link_to_a_case_of_the_same_cause_opens_that_cause(opened: Open, fragment: str) -> None:
    page = opened(fragment=f"#{fragment}")
    assert page.locator(".case[open] > summary .id").all_inner_texts() == ["once/lost[chat-stream]"]


def test_a_cell_of_the_matrix_leads_to_its_case_also_behind_a_filter(opened: Open) -> None:
    page = opened()
    page.fill("#search", "once/lost")
    page.locator(".matrix a:visible").first.click()
    assert page.url.endswith(f"#{LOST}")
    page.fill("#search", "nothing")
    page.evaluate("location.hash = 'case=booking:hostile/text[chat-stream]'")
    page.wait_for_selector(".case[open] [id*='hostile']")
    assert page.input_value("#search") == ""


def test_a_foreign_fragment_is_passed_over(opened: Open) -> None:
    page = opened(fragment="#case=%E0%A4%A")
    assert page.locator(".case[open]").count() == 0


def test_everything_can_be_done_by_keyboard(opened: Open) -> None:
    page = opened()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert focused(page) == "once/lost[chat-stream]"
    page.keyboard.press("Enter")
    assert page.locator(".case[open]").count() == 1
    page.wait_for_function("location.hash.startsWith('#case=booking:once/lost')")
    page.keyboard.press("Escape")
    assert page.locator(".case[open]").count() == 0
    page.keyboard.press("/")
    page.keyboard.type("jk hostile")
    assert page.input_value("#search") == "jk hostile"
    page.keyboard.press("Escape")
    page.keyboard.type("hostile")
    page.keyboard.press("Enter")
    assert focused(page) == "hostile/text[chat-stream]"


def test_without_scripts_everything_can_be_read(opened: Open) -> None:
    page = opened(java_script_enabled=False)
    assert seen(page) == ALL
    assert not page.locator("#controls").is_visible()
    page.locator(".case > summary").first.click()
    assert page.locator("mark:visible").all_inner_texts() == ["first mismatch", "proof"]
    assert page.locator(".matrix").is_visible()


def test_without_scripts_a_deep_link_leads_to_its_case(opened: Open) -> None:
    page = opened(fragment=f"#{LOST}", java_script_enabled=False)
    assert page.locator(f"[id='{LOST}']").evaluate_all("found => found.length") == 1


def test_hostile_text_is_shown_and_not_obeyed(opened: Open) -> None:
    finding = ONCE.model_copy(update={"seen": ATTACK, "sentence": ATTACK, "why": ATTACK})
    bad = case(
        "fail",
        title=ATTACK,
        rule=ATTACK,
        case=f"{ATTACK}[chat-stream]",
        scenario=ATTACK,
        findings=(finding,),
        lines=(f"   9  execution   book     {ATTACK}",),
        frames=(ATTACK,),
        journal=ATTACK,
        grounds=(ATTACK,),
    )
    card = CARD.model_copy(update={"name": ATTACK, "packages": {ATTACK: ATTACK}})
    page = opened(html.render(report(TargetResult(card=card, cases=(bad,), stale=(ATTACK,)))))
    page.locator(".case > summary").first.click()
    assert page.title().startswith("loopcheck: 1 of 1 case failing")
    assert page.locator("img, svg").count() == 0
    assert page.locator("script").count() == 1
    assert inert(ATTACK) in page.locator(".versus .seen dd").inner_text()


def test_control_characters_are_shown_as_escapes(opened: Open) -> None:
    page = opened(fragment="#case=booking:hostile/text[chat-stream]")
    assert page.locator(".case[open] .versus .seen dd").inner_text() == inert(HOSTILE)


def test_results_of_10_mb_do_no_harm(opened: Open) -> None:
    huge = ONCE.model_copy(update={"seen": "👩\u200d💻" * 3_400_000})
    page = opened(
        html.render(report(TargetResult(card=CARD, cases=(case("fail", findings=(huge,)),)))),
    )
    page.locator(".case > summary").first.click()
    assert "(10199400 more characters)" in page.locator(".versus .seen dd").inner_text()


@pytest.mark.parametrize("width", [360, 768, 1280])
@pytest.mark.parametrize("kind", ["run", "comparison"])
def test_no_width_makes_the_page_scroll_sideways(opened: Open, width: int, kind: str) -> None:
    text = None
    if kind == "comparison":
        text = diff_html.render(compare(BEFORE, AFTER), BEFORE, AFTER)
    page = opened(text, width=width)
    page.evaluate("document.querySelectorAll('details').forEach(node => { node.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_colour_scheme(opened: Open, scheme: str) -> None:
    page = opened(color_scheme=scheme)
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(247, 247, 245)", "dark": "rgb(15, 19, 24)"}[scheme]


def test_print_shows_what_is_folded(opened: Open) -> None:
    page = opened()
    page.emulate_media(media="print")
    assert not page.locator("#controls").is_visible()
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".case[open]").count() == len(ALL)
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator(".case[open]").count() == 0


def test_a_comparison_is_used_in_the_same_way(opened: Open) -> None:
    page = opened(diff_html.render(compare(BEFORE, AFTER), BEFORE, AFTER), f"#{LOST}")
    assert "pass: completed/final_answer" in page.locator(".case[open] .versus").first.inner_text()
    page.fill("#search", "moved")
    assert seen(page) == ["ids/moved"]
    page.keyboard.press("Escape")
    page.get_by_role("button", name="pass").click()
    assert seen(page) == ["ids/mended"]
