"""Chunked bodies, whole and broken."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loopcheck.fake_providers.chunked import ChunkError, chunks


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=6), st.binary(max_size=9))
@settings(max_examples=50)
def test_what_was_divided_is_read_again_and_no_more(parts: list[bytes], behind: bytes) -> None:
    text = b"".join(b"%X\r\n%b\r\n" % (len(part), part) for part in parts)
    stream = io.BytesIO(text + b"0\r\n\r\n" + behind)
    assert list(chunks(stream)) == parts
    assert stream.read() == behind


def test_extensions_and_trailers_are_left_out() -> None:
    body = b"2;name=value\r\nhi\r\n0;last\r\nchecksum: 1\r\nmore: 2\r\n\r\n"
    assert list(chunks(io.BytesIO(body))) == [b"hi"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"2",
        b"2\r\nh",
        b"2\r\nhi",
        b"2\r\nhi!\r\n0\r\n\r\n",
        b"-2\r\nhi\r\n0\r\n\r\n",
        b"0x2\r\nhi\r\n0\r\n\r\n",
        b"1_0\r\nhi\r\n0\r\n\r\n",
        b"\r\n\r\n",
        b"2\r\nhi\r\n0\r\n",
        b"2" + b" " * 9000 + b"\r\nhi\r\n0\r\n\r\n",
    ],
)
def test_what_is_no_chunked_body(body: bytes) -> None:
    with pytest.raises(ChunkError):
        list(chunks(io.BytesIO(body)))
