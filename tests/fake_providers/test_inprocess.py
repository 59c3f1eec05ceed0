"""Fake providers without a socket: what is answered, by whom, and what a client is told."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
import respx
from anthropic import Anthropic, AsyncAnthropic
from delivered import GENERATIONS, QUESTION, ROOT, client_of, recorded
from openai import AsyncOpenAI, OpenAI

from loopcheck.fake_providers.inprocess import InProcessError, Root, in_process
from loopcheck.fake_providers.script import Fault, Say, answer
from loopcheck.fake_providers.server import Server
from loopcheck.fake_providers.wire import HttpRequest, Reply

SEGMENTS = (b"one", b"", b"two", b"\xc3", b"\xbc")
STREAM = Reply(status=200, headers=(), segments=SEGMENTS, streamed=True)
generations = pytest.mark.parametrize("generation", GENERATIONS)


def says(text: str) -> Any:
    return lambda request: Reply(status=200, headers=(), segments=(text.encode(),))


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as started:
        started.mount("real", says("the network"))
        yield started


@pytest.fixture
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "sk-test")
        monkeypatch.delenv(f"{name}_BASE_URL", raising=False)


@pytest.mark.usefixtures("_keys")
def test_the_official_clients_need_no_configuration() -> None:
    with in_process(recorded(answer([Say("Shipped.")]), "chat")[0].handle), OpenAI() as openai:
        chat = openai.chat.completions.create(model="m", messages=QUESTION)
    assert chat.choices[0].message.content == "Shipped."
    provider, _ = recorded(answer([Say("Shipped.")]), "messages")
    with in_process(provider.handle), Anthropic() as anthropic:
        message = anthropic.messages.create(model="m", max_tokens=9, messages=QUESTION)
    assert [block.to_dict() for block in message.content] == [{"type": "text", "text": "Shipped."}]


async def streamed(client: AsyncOpenAI) -> str:
    async with client:
        stream = await client.responses.create(model="m", input="Where is A-1?", stream=True)
        return "".join([e.delta async for e in stream if e.type == "response.output_text.delta"])


@pytest.mark.asyncio
@pytest.mark.usefixtures("_keys")
async def test_the_official_async_clients_too() -> None:
    with in_process(recorded(answer([Say("Shipped.")]), "responses")[0].handle):
        assert await streamed(AsyncOpenAI()) == "Shipped."
    provider, _ = recorded(answer([Say("Shipped.")]), "messages")
    with in_process(provider.handle):
        async with (
            AsyncAnthropic() as client,
            client.messages.stream(model="m", max_tokens=9, messages=QUESTION) as stream,
        ):
            assert await stream.get_final_text() == "Shipped."


@pytest.mark.asyncio
@generations
async def test_an_async_client_gets_each_segment_and_others_run_between(
    generation: ModuleType,
) -> None:
    order: list[object] = []

    async def ticks() -> None:
        for _ in range(20):
            order.append("tick")
            await asyncio.sleep(0)

    with in_process(lambda request: STREAM):
        async with generation.AsyncClient() as client, client.stream("GET", f"{ROOT}/x") as got:
            other = asyncio.create_task(ticks())
            async for segment in got.aiter_raw():
                order.append(segment)
            await other
    assert [step for step in order if step != "tick"] == [b"one", b"two", b"\xc3", b"\xbc"]
    assert "tick" in order[order.index(b"one") : order.index(b"two")]


ENDINGS = {
    "half-chunk": "RemoteProtocolError",
    "reset": "ReadError",
    "close": "RemoteProtocolError",
}


@pytest.mark.asyncio
@generations
@pytest.mark.parametrize("ending", [*ENDINGS, "stall"])
async def test_an_async_client_is_told_of_broken_connections(
    generation: ModuleType, ending: Any
) -> None:
    got: list[bytes] = []

    async def read() -> None:
        async with (
            generation.AsyncClient(timeout=77) as client,
            client.stream("GET", f"{ROOT}/x") as response,
        ):
            async for segment in response.aiter_raw():
                got.append(segment)

    expected = getattr(generation, ENDINGS.get(ending, "ReadTimeout"))
    app = in_process(lambda request: replace(STREAM, ending=ending))
    with app, pytest.raises(expected) as told:
        await read()
    assert b"".join(got) == (b"" if ending == "close" else b"onetwo\xc3\xbc")
    if ending == "stall":
        limit = "the client's read timeout of 77 s has not been waited for"
        assert str(told.value) == f"the fake provider stalls; {limit}"


@generations
def test_a_stall_without_a_read_timeout_is_a_mistake_that_cannot_be_caught_away(
    generation: ModuleType,
) -> None:
    endless = "the client has no read timeout, so it would wait for ever"
    serving = in_process(lambda request: replace(STREAM, ending="stall"))
    serving.__enter__()
    with pytest.raises(InProcessError, match=endless):
        generation.get(f"{ROOT}/x", timeout=None)
    with pytest.raises(InProcessError, match=endless):
        serving.__exit__(None, None, None)


@generations
def test_a_pause_is_skipped_unless_the_read_timeout_is_shorter(generation: ModuleType) -> None:
    paused = replace(STREAM, pauses={0: 5_000, 2: 60_000})
    with in_process(lambda request: paused), client_of(generation, read_seconds=61) as client:
        assert client.get(f"{ROOT}/x").content == b"onetwo\xc3\xbc"
    with (
        in_process(lambda request: paused),
        client_of(generation, read_seconds=60) as client,
        pytest.raises(generation.ReadTimeout, match=r"pauses for 60\.0 s"),
    ):
        client.get(f"{ROOT}/x")


@generations
@pytest.mark.parametrize(
    ("read", "pauses", "reached", "how"),
    [(2, {}, [0, 1, 2, 3, 4], "written"), (1, {2: 50, 4: 50}, [0, 1], "client-closed")],
    ids=["written-at-once", "closed-in-a-pause"],
)
def test_a_client_that_stops_early(
    generation: ModuleType, read: int, pauses: dict[int, int], reached: list[int], how: str
) -> None:
    told: list[object] = []
    reply = replace(STREAM, pauses=pauses, reached=told.append, finished=told.append)
    with (
        in_process(lambda request: reply),
        client_of(generation) as client,
        client.stream("GET", f"{ROOT}/x") as response,
    ):
        segments = response.iter_raw()
        got = [next(segments) for _ in range(read)]
    assert got == [b"one", b"two"][:read]
    assert told == [*reached, how]


@generations
def test_what_is_being_read_breaks_when_the_block_is_left(generation: ModuleType) -> None:
    told: list[object] = []
    reply = replace(STREAM, pauses={2: 50}, finished=told.append)
    with client_of(generation) as client:
        with in_process(lambda request: reply):
            response = client.send(client.build_request("GET", f"{ROOT}/x"), stream=True)
            segments = response.iter_raw()
            assert next(segments) == b"one"
        with pytest.raises(generation.ReadError, match="has been taken away"):
            next(segments)
        response.close()
    assert told == ["client-closed"]


@generations
def test_other_requests_go_out_as_ever(server: Server, generation: ModuleType) -> None:
    with in_process(says("ours")), client_of(generation) as client:
        assert client.get(f"{server.url}/c/real/").text == "the network"
        assert client.get(f"{ROOT}/v1/models").text == "ours"
        assert client.get("https://api.anthropic.com/v1/models").text == "ours"


@generations
def test_afterwards_every_request_goes_out(server: Server, generation: ModuleType) -> None:
    root = f"{server.url}/c/real"
    with client_of(generation) as client:
        serving = in_process(says("ours"), base_url=root)
        for _ in range(2):
            with serving:
                assert client.get(f"{root}/x").text == "ours"
            assert client.get(f"{root}/x").text == "the network"


@generations
@pytest.mark.parametrize("ours_first", [True, False])
def test_beside_other_mocks_of_a_test(generation: ModuleType, ours_first: bool) -> None:
    core = "httpcore" if generation.__name__ == "httpx" else "httpcore2"
    theirs = respx.mock(using=core, assert_all_called=False)
    ours = in_process(says("ours"))
    first, second = (ours, theirs) if ours_first else (theirs, ours)
    with first, second, client_of(generation) as client:
        theirs.get("https://weather.example/now").respond(text="sunny")
        assert client.get("https://weather.example/now").text == "sunny"
        assert client.get(f"{ROOT}/x").text == "ours"
        with pytest.raises(AssertionError, match="not mocked"):
            client.get("https://elsewhere.example/")


@generations
def test_two_apps_below_different_urls(server: Server, generation: ModuleType) -> None:
    one = in_process(says("one"), base_url="https://llm.example/one/v1")
    two = in_process(says("two"), base_url=["https://llm.example:8443", "http://llm.example/v1/"])
    with one, two, client_of(generation) as client:
        for url, text in {
            "https://llm.example/one/x": "one",
            "https://llm.example:443/one/v1/x": "one",
            "https://llm.example:8443/one/x": "two",
            "http://llm.example/x": "two",
            f"{server.url}/c/real/x": "the network",
        }.items():
            assert client.get(url).text == text


def test_one_url_is_served_once() -> None:
    with in_process(says("one"), base_url="https://llm.example/a/v1"):
        for other in ("https://llm.example", "https://llm.example/a", "https://llm.example/a/b"):
            with pytest.raises(InProcessError, match="is served in process already"):
                in_process(says("two"), base_url=other).__enter__()
        with in_process(says("two"), base_url="https://llm.example/ab"):
            pass


@pytest.mark.parametrize(
    ("base_url", "target", "path"),
    [
        ("https://api.openai.com/v1", "/v1/responses?a=b", "/v1/responses?a=b"),
        ("https://api.openai.com/v1/", "/responses", "/responses"),
        ("https://api.openai.com", "/v1/responses", "/v1/responses"),
        ("https://api.openai.com/a/v1", "/a/v1/responses", "/v1/responses"),
        ("https://api.openai.com/a", "/ab/v1/responses", None),
        ("http://api.openai.com", "/v1/responses", None),
        ("https://api.openai.com:444", "/v1/responses", None),
    ],
)
def test_an_app_sees_paths_as_the_service_has_them(
    base_url: str, target: str, path: str | None
) -> None:
    assert Root.of(base_url).below("https", "api.openai.com", None, target) == path


@pytest.mark.parametrize(
    "base_url", ["", "api.openai.com", "ftp://x", "https://", "https://x:y", "https://x/?a=b"]
)
def test_what_is_no_base_url(base_url: str) -> None:
    with pytest.raises(InProcessError, match="not a base URL: '"):
        in_process(says("x"), base_url=base_url)
    with pytest.raises(InProcessError, match="no base URL is given"):
        in_process(says("x"), base_url=[])


@generations
def test_an_app_that_fails_answers_500_and_fails_the_block(generation: ModuleType) -> None:
    """Here the fault needs a stream, and the client asks for none."""
    attempt = replace(answer([Say("Hi.")]), fault=Fault(kind="error-event"))
    serving = in_process(recorded(attempt, "chat")[0].handle)
    serving.__enter__()
    with client_of(generation) as client:
        response = client.post(
            f"{ROOT}/v1/chat/completions",
            json={"model": "m", "messages": QUESTION},
            headers={"authorization": "Bearer x"},
        )
    with pytest.raises(InProcessError, match="FaultError while serving: the fault error-event"):
        serving.__exit__(None, None, None)
    assert (response.status_code, response.headers["x-should-retry"]) == (500, "false")
    assert "FaultError in the app: the fault error-event needs a stream" in response.text
    assert [type(error).__name__ for error in serving.errors] == ["FaultError"]


def test_a_callback_or_a_header_that_fails_does_so_too() -> None:
    def reached(index: int) -> None:
        raise LookupError(f"segment {index}")

    replies = [
        replace(STREAM, segments=(b"one",), reached=reached),
        replace(STREAM, headers=(("x", "a\r\nb"),)),
    ]
    serving = in_process(lambda request: replies.pop(0))
    serving.__enter__()
    with client_of(GENERATIONS[0]) as client:
        assert client.get(f"{ROOT}/x").content == b"one"
        assert "ValueError in the app: not a header: 'x'" in client.get(f"{ROOT}/x").text
    with pytest.raises(InProcessError, match="LookupError while serving: segment 0"):
        serving.__exit__(None, None, None)
    assert [type(error) for error in serving.errors] == [LookupError, ValueError]


def test_the_failure_of_an_app_does_not_hide_that_of_the_test() -> None:
    def app(request: HttpRequest) -> Reply:
        raise LookupError("no such turn")

    def test() -> None:
        with in_process(app), client_of(GENERATIONS[0]) as client:
            assert client.get(f"{ROOT}/x").status_code == 200

    with pytest.raises(AssertionError, match="500 == 200"):
        test()


@generations
def test_a_request_that_no_server_takes_is_refused_alike(
    server: Server, generation: ModuleType
) -> None:
    told: list[object] = []
    with in_process(says("ours")), client_of(generation) as client:
        for root in (f"{server.url}/c/real", ROOT):
            bad = {"headers": {"content-encoding": "gzip"}, "content": b"not gzip"}
            response = client.post(f"{root}/x", **bad)
            told.append((response.status_code, response.json(), response.headers["connection"]))
    assert told[0] == told[1]
    assert "not gzip" in str(told[0])


@generations
def test_a_large_request(generation: ModuleType) -> None:
    body = b"picture " * 100_000
    got: list[bytes] = []

    def app(request: HttpRequest) -> Reply:
        got.append(request.body)
        return STREAM

    with in_process(app), client_of(generation) as client:
        client.post(f"{ROOT}/x", content=body)
        client.post(f"{ROOT}/x", content=iter([body]))
    assert got == [body, body]


def test_an_app_is_called_by_one_thread_at_a_time() -> None:
    inside: list[str] = []
    crowds: list[int] = []

    def app(request: HttpRequest) -> Reply:
        inside.append(request.path)
        crowds.extend(len(inside) for _ in range(1000))
        inside.remove(request.path)
        return STREAM

    with in_process(app), client_of(GENERATIONS[1]) as client, ThreadPoolExecutor(8) as pool:
        paths = [f"{ROOT}/{number}" for number in range(40)]
        assert {response.status_code for response in pool.map(client.get, paths)} == {200}
    assert set(crowds) == {1}
    assert len(crowds) == 40_000


@pytest.mark.parametrize("package", ["respx", "pytest_httpx2"])
def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InProcessError) as told:
        in_process(says("x")).__enter__()
    assert str(told.value) == (
        f"providers in process need {package.replace('_', '-')}; "
        'install the extra: pip install "loopcheck[respx]"'
    )


def test_importing_it_loads_no_client() -> None:
    code = (
        "import sys, loopcheck.fake_providers.inprocess\n"
        "print({'respx', 'httpx', 'httpx2', 'pytest', 'anyio'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
