"""Images are real ones, and tell whose they are."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from loopcheck.harness.world.images import png


def test_token_stands_in_the_image_as_it_is() -> None:
    assert b"tEXtComment\0tk-0badcafe" in png("tk-0badcafe")


@given(st.lists(st.tuples(st.text(), st.integers(1, 3)), unique=True, max_size=6))
def test_each_image_is_another(makers: list[tuple[str, int]]) -> None:
    assert len({png(token, number) for token, number in makers}) == len(makers)
    assert all(png(token, number) == png(token, number) for token, number in makers)


def chunks(image: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and data of each chunk of a PNG, whose checksums have to be right."""
    assert image[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(image):
        (length,) = struct.unpack(">I", image[at : at + 4])
        kind, data = image[at + 4 : at + 8], image[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack(">I", image[at + 8 + length : at + 12 + length])
        assert checksum == zlib.crc32(kind + data)
        yield kind, data
        at += 12 + length


def test_image_is_a_greyscale_png() -> None:
    read = dict(chunks(png("tk-0badcafe")))

    assert list(read) == [b"IHDR", b"tEXt", b"IDAT", b"IEND"]
    assert struct.unpack(">IIBBBBB", read[b"IHDR"]) == (8, 8, 8, 0, 0, 0, 0)
    rows = zlib.decompress(read[b"IDAT"])
    assert (len(rows), rows[::9]) == (8 * 9, bytes(8))
    assert len(set(rows)) > 32


def test_pixels_differ_where_the_text_was_lost() -> None:
    pixels = {dict(chunks(png(token)))[b"IDAT"] for token in ("tk-1", "tk-2")}

    assert len(pixels) == 2
