"""Tools that are operations of an HTTP service, as its OpenAPI 3.1 document describes them."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final
from urllib.parse import SplitResult, urlsplit

import httpx2

from loopcheck.reference_loop.tool_sources.http_requests import RequestBuilder
from loopcheck.reference_loop.tool_sources.http_tools import (
    Credentials,
    FromLoop,
    HttpCall,
    HttpTool,
    Kind,
)
from loopcheck.reference_loop.tool_sources.names import check_name, legal_name
from loopcheck.reference_loop.tool_sources.openapi_document import (
    Document,
    Node,
    RawOperation,
    mapping,
    read_document,
)
from loopcheck.reference_loop.tool_sources.openapi_inputs import Inputs, read_inputs
from loopcheck.reference_loop.tool_sources.trace_context import TraceHeaders, current_trace
from loopcheck.reference_loop.tools import LoopTool, ToolDefinitionError

IDEMPOTENCY_KEY: Final = "idempotency-key"

# RFC 9110, 9.2: these change nothing, and these do the same once and many times.
_SAFE: Final = frozenset({"get", "head", "options"})
_IDEMPOTENT: Final = frozenset({"put", "delete"})
_OF_TRACE: Final = frozenset({"traceparent", "tracestate"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Service:
    """What the tools of one service share."""

    document: Document
    client: httpx2.AsyncClient
    base_url: str | None
    credentials: Credentials | None
    from_loop: Mapping[str, FromLoop]
    trace: TraceHeaders
    now: Callable[[], float]
    max_response_bytes: int


def openapi_tools(
    document: Node | Path | str,
    *,
    client: httpx2.AsyncClient,
    base_url: str | None = None,
    include: Collection[str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    operation: Mapping[str, tuple[str, ...]] | None = None,
    credentials: Credentials | None = None,
    from_loop: Mapping[str, FromLoop] = MappingProxyType({IDEMPOTENCY_KEY: "operation_id"}),
    trace: TraceHeaders = current_trace,
    now: Callable[[], float] = time.time,
    max_response_bytes: int = 1_000_000,
) -> tuple[LoopTool, ...]:
    """One tool for each operation of an OpenAPI 3.1 document, or of a JSON file that holds one.

    Tools are named by `operationId`. `include` chooses among them, `kinds` says which of them read
    and which write, against what their methods mean, and `operation` gives them operation keys.
    Without `base_url`, requests go where the document's servers are. `credentials` gives the
    headers that authorise a call, `from_loop` says which headers carry the loop's own ids, and
    `trace` gives those of the trace. The client stays the application's, which closes it.

    GET, HEAD and OPTIONS are reads. PUT and DELETE may be repeated under one operation id, and so
    may what takes an `Idempotency-Key`; nothing else ever is. Raises ToolDefinitionError, which
    names the operation, for what cannot be offered or sent as the document says.
    """
    service = _Service(
        document=read_document(document),
        client=client,
        base_url=base_url,
        credentials=credentials,
        from_loop={name.lower(): which for name, which in from_loop.items()},
        trace=trace,
        now=now,
        max_response_bytes=max_response_bytes,
    )
    named = _by_name(service.document.operations(), include)
    kinds, operation = kinds or {}, operation or {}
    for name in {*kinds, *operation, *(include or ())}.difference(named):
        raise ToolDefinitionError(f"the document has no operation {name!r}")
    return tuple(
        _tool(service, name, raw, kinds.get(name) or _kind(raw), operation.get(name))
        for name, raw in named.items()
    )


def _by_name(
    operations: Iterable[RawOperation], include: Collection[str] | None
) -> dict[str, RawOperation]:
    named: dict[str, RawOperation] = {}
    for raw in operations:
        name = legal_name(str(raw.node.get("operationId") or f"{raw.method}{raw.path}"))
        if include is not None and name not in include:
            continue
        check_name(name, raw.where)
        if name in named:
            raise ToolDefinitionError(f"{raw.where} and {named[name].where} are both named {name}")
        named[name] = raw
    return named


def _kind(raw: RawOperation) -> Kind:
    return "read" if raw.method in _SAFE else "write"


def _tool(
    service: _Service, name: str, raw: RawOperation, kind: Kind, operation: tuple[str, ...] | None
) -> LoopTool:
    inputs = read_inputs(service.document, raw, hide=_OF_TRACE.union(service.from_loop))
    may_repeat = raw.method in _IDEMPOTENT or IDEMPOTENCY_KEY in inputs.hidden
    return LoopTool(
        name=name,
        description=_description(raw.node),
        parameters=inputs.schema,
        kind=kind,
        invoke=_http_tool(service, name, raw, inputs, kind),
        operation=operation,
        deduplicates=kind == "write" and may_repeat,
    )


def _description(node: Node) -> str:
    texts = [str(node[member]).strip() for member in ("summary", "description") if member in node]
    return "\n\n".join(dict.fromkeys(texts))


def _http_tool(
    service: _Service, name: str, raw: RawOperation, inputs: Inputs, kind: Kind
) -> HttpTool:
    base_url = _base_url(service, raw)
    method = raw.method.upper()
    return HttpTool(
        client=service.client,
        call=HttpCall(
            tool=name,
            method=method,
            base_url=base_url,
            security=tuple(
                tuple(mapping(one, f"{raw.where}: security"))
                for one in service.document.nearest("security", raw)
            ),
        ),
        kind=kind,
        builder=RequestBuilder(
            method=method,
            base_url=base_url,
            path=raw.path,
            parameters=inputs.parameters,
            body=inputs.body,
        ),
        credentials=service.credentials,
        from_loop=service.from_loop,
        trace=service.trace,
        now=service.now,
        max_response_bytes=service.max_response_bytes,
    )


def _base_url(service: _Service, raw: RawOperation) -> str:
    url = service.base_url
    servers = service.document.nearest("servers", raw)
    if url is None and servers:
        server = mapping(servers[0], f"{raw.where}: a server")
        url = _filled_in(str(server.get("url")), server, raw.where)
    parts = _split(url or "")
    if parts is None or parts.scheme not in ("http", "https") or not parts.netloc:
        raise ToolDefinitionError(
            f"{raw.where}: {url or 'nothing'} is no address to send it to; give base_url"
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ToolDefinitionError(
            f"{raw.where}: an address with credentials, query or fragment is not used, since "
            f"addresses get into logs"
        )
    return parts.geturl().rstrip("/")


def _split(url: str) -> SplitResult | None:
    try:
        httpx2.URL(url)
        return urlsplit(url)
    except (httpx2.InvalidURL, ValueError):
        return None


def _filled_in(url: str, server: Node, where: str) -> str:
    """The server's address, with the default values of its variables."""
    variables = mapping(server.get("variables", {}), f"{where}: variables")
    for name, variable in variables.items():
        default = mapping(variable, f"{where}: variable {name}").get("default")
        url = url.replace(f"{{{name}}}", str(default))
    return url
