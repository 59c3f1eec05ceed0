"""Measures how soon `loopcheck serve --auto` answers: python tests/bench/bench_serve.py [ROUNDS]

From the start of the process to the first byte of the answer to a first request, which is asked as
soon as the address is printed. Shown are the median and the range, for an answer of text and for
one that calls a tool and has to make up its arguments.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from statistics import median

COMMAND = (sys.executable, "-m", "loopcheck", "serve", "--auto")
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"type": "function", "function": {"name": "weather", "parameters": CITY}}
ASKED: dict[str, dict[str, object]] = {"text": {}, "tool call": {"tools": [TOOL]}}


def first_byte_ms(fields: dict[str, object]) -> float:
    """One start, one request."""
    question = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hello"}], **fields}
    body = json.dumps(question).encode()
    start = time.perf_counter()
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        port = int(serving.stdout.readline().split()[2].rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as client:
            head = f"content-length: {len(body)}\r\nauthorization: Bearer x\r\nhost: x\r\n\r\n"
            client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\n" + head.encode() + body)
            assert client.recv(12) == b"HTTP/1.1 200"
            taken = time.perf_counter() - start
        serving.terminate()
    return taken * 1000


def main(rounds: int) -> None:
    for name, fields in ASKED.items():
        times = [first_byte_ms(fields) for _ in range(rounds)]
        print(
            f"{name}: first byte after a median of {median(times):.0f} ms, "
            f"from {min(times):.0f} to {max(times):.0f} ms over {rounds} starts"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
