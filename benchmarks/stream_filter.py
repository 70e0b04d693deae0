"""What the stream filter costs a chunk, against the OpenAI SDK's own work and a `str.find` filter.

    python benchmarks/stream_filter.py [--rounds 7]

Texts of a million characters, cut into chunks of 4 and of 40: English and Chinese prose with a
block of about 350 characters every 2,500; prose alone; prose full of `<`; one block. The anchor is
what the SDK spends on one chunk of the same size, from the bytes of its SSE event to a
`ChatCompletionChunk`. Every run gets fresh chunks, so that no cached UTF-8 helps.
"""

import argparse
import json
import random
from collections.abc import Callable, Iterator

import httpx2
import openai
import scripts
from harness import Candidate, paired, pin, table

from nit_kernel._syntax import StreamFilter

ID = "A1B2"
OPEN, CLOSE = f"<nit-{ID}>", f"</nit-{ID}>"
CHARS = 1_000_000
SDK, OURS, FIND = "OpenAI SDK, one chunk", "StreamFilter", "str.find filter"


class FindFilter:
    """Blocks cut out with `str.find`, as a careful author writes it; no strings, no events."""

    def __init__(self) -> None:
        self.held, self.inside = "", False

    def feed(self, chunk: str) -> str:
        text = self.held + chunk if self.held else chunk
        shown = ""
        while True:
            if self.inside:
                end = text.find(CLOSE)
                if end < 0:
                    self.held = text[-(len(CLOSE) - 1) :]
                    return shown
                text = text[end + len(CLOSE) :]
                self.inside = False
            start = text.find("<")
            if start < 0:
                self.held = ""
                return shown + text if shown else text
            if text.startswith(OPEN, start):
                shown += text[:start]
                text = text[start + len(OPEN) :]
                self.inside = True
            elif len(text) - start < len(OPEN) and OPEN.startswith(text[start:]):
                self.held = text[start:]
                return shown + text[:start]
            else:
                shown += text[: start + 1]
                text = text[start + 1 :]


def paragraph(rng: random.Random) -> str:
    if rng.random() < 0.7:
        return " ".join(rng.choice(scripts.WORDS) for _ in range(300)) + "\n"
    return "".join(rng.choice(scripts.HAN) for _ in range(900)) + "。\n"


def text_of(kind: str) -> str:
    rng = random.Random(7)
    lines = scripts.nit(scripts.program(3000)).split("\n")
    if kind == "one block":
        body = "\n".join(lines)
        return "hello " + OPEN + (body * (CHARS // len(body) + 1))[:CHARS] + "\n" + CLOSE
    parts: list[str] = []
    size = 0
    while size < CHARS:
        part = paragraph(rng)
        if kind == "prose full of <":
            part = part.replace(" ", " <b>").replace("n", "n</nit", 40)
        if kind == "prose and blocks":
            first = rng.randrange(2900)
            part += OPEN + "\n" + "\n".join(lines[first : first + 3]) + "\n" + CLOSE
        parts.append(part)
        size += len(part)
    return "".join(parts)


def cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def drive(make: Callable[[], Callable[[str], object]]) -> Callable[[list[str]], None]:
    def run(chunks: list[str]) -> None:
        feed = make()
        for chunk in chunks:
            feed(chunk)

    return run


def sse(chunks: list[str]) -> list[bytes]:
    head = {
        "id": "chatcmpl-9Zq0aBcDeFgHiJkLmNoPqRsTuV",
        "object": "chat.completion.chunk",
        "created": 1764500000,
        "model": "gpt-4o-2024-08-06",
        "service_tier": "default",
        "system_fingerprint": "fp_07871e2ad8",
        "usage": None,
    }
    events = []
    for chunk in chunks:
        choice = {"index": 0, "delta": {"content": chunk}, "logprobs": None, "finish_reason": None}
        body = json.dumps({**head, "choices": [choice]}, separators=(",", ":"))
        events.append(f"data: {body}\n\n".encode())
    return [*events, b"data: [DONE]\n\n"]


class Body(httpx2.SyncByteStream):
    def __init__(self, parts: list[bytes]) -> None:
        self.parts = parts

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.parts)


def sdk_stream(chunks: list[str]) -> Callable[[object], None]:
    parts = sse(chunks)

    def answer(_request: httpx2.Request) -> httpx2.Response:
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, stream=Body(parts))

    http_client = httpx2.Client(transport=httpx2.MockTransport(answer))
    client = openai.OpenAI(api_key="x", base_url="http://test/v1", http_client=http_client)
    messages = [{"role": "user", "content": "x"}]

    def run(_prepared: object) -> None:
        stream = client.chat.completions.create(model="m", messages=messages, stream=True)
        received = sum(len(chunk.choices[0].delta.content or "") for chunk in stream)
        assert received == sum(map(len, chunks))

    return run


def candidate(make: Callable[[], Callable[[str], object]], text: str, size: int) -> Candidate:
    return Candidate(drive(make), lambda: cut(text, size), units=-(-len(text) // size))


def ours() -> Callable[[str], object]:
    return StreamFilter(ID).feed


def find() -> Callable[[str], object]:
    return FindFilter().feed


def cost_of_a_chunk(rounds: int) -> str:
    rows = []
    for size in (4, 40):
        some = cut(text_of("prose and blocks"), size)[:1000]
        for kind in ("prose and blocks", "prose", "prose full of <", "one block"):
            text = text_of(kind)
            candidates = {
                SDK: Candidate(sdk_stream(some), units=len(some)),
                FIND: candidate(find, text, size),
                OURS: candidate(ours, text, size),
            }
            figures = paired(candidates, SDK, rounds=rounds)
            to_find = figures[OURS].seconds / figures[FIND].seconds
            rows.append(
                (
                    str(size),
                    kind,
                    f"{figures[OURS].seconds * 1e9:.0f} ns",
                    f"{figures[FIND].seconds * 1e9:.0f} ns",
                    f"{figures[SDK].seconds * 1e6:.1f} µs",
                    f"{figures[OURS].ratio * 100:.3f} %",
                    f"{to_find:.2f}",
                )
            )
    header = ("chars", "text", "filter", "str.find", "SDK", "filter / SDK", "filter / str.find")
    return table(header, rows)


def flatness(rounds: int) -> str:
    """The cost of a chunk of 4 characters, near the start of a block and far into it."""
    body = scripts.nit(scripts.program(12_000))
    last = body[:4000]
    candidates = {}
    for inside in (1_000, 64_000, 1_000_000):
        start = OPEN + (body * (inside // len(body) + 1))[:inside] + "\n"

        def prepare(start: str = start) -> tuple[Callable[[str], object], list[str]]:
            feed = ours()
            for chunk in cut(start, 4):
                feed(chunk)
            return feed, cut(last, 4)

        def run(prepared: tuple[Callable[[str], object], list[str]]) -> None:
            feed, chunks = prepared
            for chunk in chunks:
                feed(chunk)

        candidates[f"{inside:,}"] = Candidate(run, prepare, units=1000)
    figures = paired(candidates, "1,000", rounds=rounds, seconds=0.01)
    rows = [(k, f"{f.seconds * 1e9:.0f} ns", f"{f.ratio:.2f}") for k, f in figures.items()]
    return table(("characters of the block before", "a chunk of 4", "ratio"), rows)


def throughput(rounds: int) -> str:
    """Bytes a second on one long chunk; text that is not ASCII is encoded on the way."""
    texts = {
        "English prose": " ".join(random.Random(1).choices(scripts.WORDS, k=1_500_000)),
        "Chinese prose": "".join(random.Random(1).choices(scripts.HAN, k=3_000_000)),
        "prose and blocks": text_of("prose and blocks") * 5,
        "prose full of <": text_of("prose full of <") * 5,
    }
    rows = []
    for name, text in texts.items():
        size = len(text.encode())
        fresh = Candidate(lambda chunk: ours()(chunk), lambda text=text: text[:1] + text[1:])
        figure = paired({name: fresh}, name, rounds=rounds)[name]
        rows.append((name, f"{size / 1e6:.1f} MB", f"{size / figure.seconds / 1e9:.2f} GB/s"))
    return table(("one chunk of", "size", "speed"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    print(f"CPU {pin()}, openai {openai.__version__}, {rounds} rounds\n")
    for part in (cost_of_a_chunk, flatness, throughput):
        print(part(rounds), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
