"""The web plugin: readable pages of the open web, and nothing of the inside of a network."""

import asyncio
import gzip
import ipaddress
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpcore
import pytest
from plugins.pages import PUBLIC, Net, Server, page, redirect
from plugins.shipped import function_of, load_shipped, module_of

WEB = load_shipped("web")
addresses = module_of(WEB, "addresses")
fetching = module_of(WEB, "fetching")
reading = module_of(WEB, "reading")

ARTICLE = """<!doctype html><html>
<head><title> The  dam </title><style>p {color: red}</style></head>
<body><nav><a href="/">Home</a> <a href="/news">News</a></nav>
<article><h1>The dam holds</h1>
<p>The river rose again on Monday, and the people of the valley watched the dam all night long.</p>
<p>The water board said on Tuesday that the dam holds 3.5 million litres and that it is safe.</p>
</article><footer>Imprint</footer><script>alert("x")</script></body></html>"""

PAGES = {
    "/article": page(ARTICLE),
    "/latin": page("<p>déjà vu in a café</p>".encode("latin-1"), "text/html; charset=iso-8859-1"),
    "/gbk": page('<meta charset="gbk"><p>世界你好，这是一个网页。</p>'.encode("gbk"), "text/html"),
    "/json": page('{"a": 1}', "application/json"),
    "/plain": page("plain text", "text/plain"),
    "/untyped": page("just text", ""),
    "/untyped-html": page("<!DOCTYPE html><title>T</title><p>some words</p>", ""),
    "/pdf": page(b"%PDF-1.7", "application/pdf"),
    "/image": page(b"\x89PNG\0", "image/png"),
    "/bytes": page(b"\0\1\2", ""),
    "/empty": page("", "text/html"),
    "/gone": page("no", status=410),
    "/packed": page(gzip.compress(ARTICLE.encode()), Content_Encoding="gzip"),
    "/deflated": page(zlib.compress(ARTICLE.encode()), Content_Encoding="deflate"),
    "/raw-deflated": page(zlib.compress(ARTICLE.encode(), wbits=-15), Content_Encoding="deflate"),
    "/bomb": page(gzip.compress(b"x" * 300_000_000, 1), Content_Encoding="gzip"),
    "/twice": page(gzip.compress(gzip.compress(b"x")), Content_Encoding="gzip, gzip"),
    "/brotli": page(b"x", Content_Encoding="br"),
    "/broken": page(b"no gzip at all", Content_Encoding="gzip"),
    "/huge": page(b"x" * 6_000_000, "text/plain"),
    "/moved": redirect("/article", 301),
    "/relative": redirect("article"),
    "/round": redirect("/round"),
    "/to-metadata": redirect("http://169.254.169.254/latest/meta-data/"),
    "/to-loopback": redirect("http://127.0.0.1/admin"),
    "/to-inner-name": redirect("http://inner.example/admin"),
    "/to-file": redirect("file:///etc/passwd"),
    "/to-gopher": redirect("gopher://example.com/1"),
    "/to-user": redirect("http://example.com@127.0.0.1/"),
    "/to-mapped": redirect("http://[::ffff:10.0.0.1]/"),
    "/to-number": redirect("http://2130706433/"),
}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(PAGES).running() as running:
        yield running


@pytest.fixture
def net(server: Server) -> Net:
    server.asked.clear()
    return Net(server.port, {"example.com": [[PUBLIC]], "inner.example": [["10.1.2.3"]]})


def fetch(net: Net, url: str, **changes: Any) -> Any:
    fetcher = fetching.Fetcher(resolver=net.resolve, network=net.backend(httpcore), **changes)
    return asyncio.run(fetcher.fetch(url))


def read(net: Net, url: str, max_chars: int = 20_000) -> str:
    return asyncio.run(reading.read_page(fetch(net, url), max_chars))


def test_a_page_becomes_title_address_and_text(net: Net) -> None:
    text = read(net, "http://example.com/article")
    assert text == (
        "The dam\nhttp://example.com/article\n\n"
        "The dam holds\n"
        "The river rose again on Monday, and the people of the valley watched the dam all night"
        " long.\n"
        "The water board said on Tuesday that the dam holds 3.5 million litres and that it is safe."
    )
    assert net.connected == [PUBLIC]


@pytest.mark.parametrize("path", ["packed", "deflated", "raw-deflated", "moved", "relative"])
def test_packed_and_moved_pages_are_read(net: Net, path: str) -> None:
    assert "people of the valley" in read(net, f"http://example.com/{path}")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("json", '{"a": 1}'),
        ("plain", "plain text"),
        ("untyped", "just text"),
        ("untyped-html", "some words"),
        ("latin", "déjà vu in a café"),
        ("gbk", "世界你好，这是一个网页。"),
        ("empty", "[the page holds no text]"),
    ],
)
def test_other_text_is_decoded(net: Net, path: str, text: str) -> None:
    assert read(net, f"http://example.com/{path}").endswith(f"\n\n{text}")


def test_a_long_text_is_cut_and_says_so(net: Net) -> None:
    text = read(net, "http://example.com/article", 100)
    assert text.endswith("[cut: the first 100 of 197 characters]")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("pdf", "is no page of text, it is application/pdf"),
        ("image", "is no page of text, it is image/png"),
        ("bytes", "is no page of text, it is binary content"),
    ],
)
def test_what_is_no_text_says_what_it_is(net: Net, path: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(net, f"http://example.com/{path}")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("gone", "answered 410 Gone"),
        ("nowhere", "answered 404 Not Found"),
        ("round", "leads on more than 5 times"),
        ("huge", "is longer than 5,000,000 bytes"),
        ("bomb", "is longer than 10,000,000 bytes when unpacked"),
        ("twice", "is packed as 'gzip, gzip', which was not asked for"),
        ("brotli", "is packed as 'br', which was not asked for"),
        ("broken", "cannot be unpacked"),
    ],
)
def test_an_answer_that_cannot_be_used_is_an_error(net: Net, path: str, message: str) -> None:
    with pytest.raises(ConnectionError, match=message):
        fetch(net, f"http://example.com/{path}")


def test_a_bomb_is_never_unpacked_whole() -> None:
    unpacker = fetching._Unpacker("gzip")
    bomb = gzip.compress(b"x" * 50_000_000)
    assert len(unpacker.unpack(bomb, 1_000)) == 1_000


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.com/",
        "gopher://example.com/",
        "data:text/html,x",
        "javascript:alert(1)",
        "example.com/page",
        "//example.com/page",
        "",
        "http://",
        "http:///path",
        "http://user:secret@example.com/",
        "http://example.com@127.0.0.1/",
        "http://127.0.0.1\\@example.com/",
        "http://example.com/\r\nX-Injected: 1",
        "http://exa mple.com/",
        "http://example.com:port/",
        "http://[::1/",
        "http://example.com/" + "x" * 9_000,
        "HTTP://\0example.com",
        "http://xn--a.com/",
    ],
)
def test_addresses_of_other_kinds_are_refused_before_any_look_up(net: Net, url: str) -> None:
    with pytest.raises(addresses.RefusedAddressError):
        fetch(net, url)
    assert (net.looked_up, net.connected) == ([], [])


PRIVATE = [
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.5.4",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fec0::1",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::",
    "2001:0:5ef5:79fd:0:0:80ff:fffe",
    "2001:db8::1",
]


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_inside_a_network_are_refused(net: Net, address: str) -> None:
    assert not addresses.is_public(ipaddress.ip_address(address))
    url = f"http://[{address}]/" if ":" in address else f"http://{address}/"
    with pytest.raises(addresses.RefusedAddressError, match="is no public address"):
        fetch(net, url)
    assert net.connected == []


@pytest.mark.parametrize("address", [PUBLIC, "8.8.8.8", "2606:4700:4700::1111", "2002:808:808::1"])
def test_public_addresses_are_public(address: str) -> None:
    assert addresses.is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "host",
    [
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0x7f.1",
        "127.1",
        "127.0.0.1.",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "１２７.0.0.1",
        "127。0。0。1",
        "①②⑦.0.0.1",
        "0",
    ],
)
def test_loopback_in_disguise_is_refused_by_the_real_resolver(host: str) -> None:
    # Not public, no host at all, or an address that httpx does not take: never a connection.
    connected: list[str] = []

    class Backend(httpcore.AsyncNetworkBackend):
        async def connect_tcp(self, host: str, *args: Any, **kwargs: Any) -> Any:
            connected.append(host)
            raise httpcore.ConnectError("the test has no network")

    fetcher = fetching.Fetcher(network=Backend())
    with pytest.raises(OSError, match=r"is no public address|is no address|is not known"):
        asyncio.run(fetcher.fetch(f"http://{host}/"))
    assert connected == []


@pytest.mark.parametrize(
    "path",
    ["metadata", "loopback", "inner-name", "file", "gopher", "user", "mapped", "number"],
)
def test_a_redirect_to_the_inside_is_refused(net: Net, server: Server, path: str) -> None:
    net.names["2130706433"] = [["127.0.0.1"]]
    with pytest.raises(addresses.RefusedAddressError):
        fetch(net, f"http://example.com/to-{path}")
    assert net.connected == [PUBLIC]
    assert server.asked == [f"example.com/to-{path}"]


def test_a_name_that_stands_for_an_inner_address_is_refused(net: Net) -> None:
    with pytest.raises(
        addresses.RefusedAddressError, match=r"inner\.example \(10\.1\.2\.3\) is no public"
    ):
        fetch(net, "http://inner.example/article")
    net.names["mixed.example"] = [[PUBLIC, "10.0.0.1"]]
    with pytest.raises(addresses.RefusedAddressError):
        fetch(net, "http://mixed.example/article")
    assert net.connected == []


def test_a_name_that_changes_its_meaning_is_asked_once(net: Net) -> None:
    # The second look-up would lead inside (DNS rebinding): there is none for one connection.
    net.names["rebind.example"] = [[PUBLIC], ["127.0.0.1"]]
    fetch(net, "http://rebind.example/article")
    assert net.looked_up == ["rebind.example"]
    assert net.connected == [PUBLIC]


def test_a_name_that_is_not_known_is_an_error(net: Net) -> None:
    with pytest.raises(ConnectionError, match=r"the host 'nowhere\.example' is not known"):
        fetch(net, "http://nowhere.example/")


def test_private_addresses_are_fetched_where_they_are_allowed(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch_page = function_of(WEB, "fetch_page")
    url = f"http://127.0.0.1:{server.port}/article"
    with pytest.raises(PermissionError, match="set NIT_WEB_ALLOW_PRIVATE=1"):
        asyncio.run(fetch_page(url=url))
    monkeypatch.setenv("NIT_WEB_ALLOW_PRIVATE", "1")
    assert asyncio.run(fetch_page(url=url)).startswith(f"The dam\n{url}\n\n")


def test_a_certificate_is_checked_for_the_name_and_not_for_the_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    certificate = Path(__file__).with_name("secure_example.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with Server(PAGES, certificate=certificate).running() as server:
        net = Net(server.port, {"secure.example": [[PUBLIC]], "other.example": [[PUBLIC]]})
        assert fetch(net, "https://secure.example/plain").content == b"plain text"
        with pytest.raises(ConnectionError, match="certificate verify failed"):
            fetch(net, "https://other.example/plain")
    assert net.connected == [PUBLIC, PUBLIC]


def test_proxies_of_the_environment_are_not_used(net: Net, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert fetch(net, "http://example.com/plain").content == b"plain text"
    assert net.connected == [PUBLIC]


def test_a_server_that_never_ends_is_left(net: Net) -> None:
    left = threading.Event()

    def never_end(request: Any) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "text/plain")
        request.send_header("Content-Length", "1000000")
        request.end_headers()
        left.wait(30)

    with Server({"/endless": never_end}).running() as slow:
        net.port = slow.port
        with pytest.raises(TimeoutError, match=r"took longer than 0\.5 seconds"):
            fetch(net, "http://example.com/endless", total_s=0.5)
        assert not left.is_set()
        left.set()


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 200_000 + "deep",
        "<b>" * 100_000 + "bold",
        "<table><tr><td>" * 50_000,
        "<!--" * 100_000,
        "<![CDATA[" * 100_000,
        "<p " + "a=b " * 200_000 + ">attributes",
        "&#x110000;&#0;&amp" * 50_000,
        "<" * 1_000_000,
        "\0" * 1_000_000,
        "<?xml version='1.0' encoding='utf-16'?><html><p>text</p></html>",
        "<meta charset=punycode><p>text</p>",
        "<meta charset=zlib><p>text</p>",
        "",
    ],
    ids=lambda html: repr(html[:12]),
)
@pytest.mark.timeout(60)
def test_odd_pages_end_in_some_text(html: str) -> None:
    odd = fetching.Page(
        url="http://example.com/", content_type="text/html", charset=None, content=html.encode()
    )
    assert asyncio.run(reading.read_page(odd, 1_000)).startswith(("http://example.com/", "deep"))
