"""Which addresses a page may be fetched from: http and https, and public hosts only."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

IpAddress = IPv4Address | IPv6Address

_SCHEMES = ("http", "https")
_MAX_URL = 8_192

# IANA's special purposes, besides what `ipaddress` knows: that list grew with Python's versions.
_NOT_PUBLIC = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "100.64.0.0/10",
        "169.254.0.0/16",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        # Public by its number, and yet served by a cloud (Azure) to its own machines.
        "168.63.129.16/32",
        "2001::/23",
        "2001:db8::/32",
        "3fff::/20",
    )
)
_UNICAST = ipaddress.IPv6Network("2000::/3")

# IPv6 addresses that carry an IPv4 one: NAT64 (RFC 6052, 8215) and the old IPv4-compatible form.
_CARRIERS = tuple(
    ipaddress.IPv6Network(network) for network in ("64:ff9b::/96", "64:ff9b:1::/48", "::/96")
)


class RefusedAddressError(PermissionError):
    """An address that must not be fetched."""


def check_url(url: str) -> None:
    """Look at the text of an address.

    Raises:
        RefusedAddressError: It is not http(s), names a user, or is built to be misread.
    """
    if len(url) > _MAX_URL:
        raise RefusedAddressError(f"the address is longer than {_MAX_URL:,} characters")
    if "\\" in url or any(ord(character) <= 0x20 or ord(character) == 0x7F for character in url):
        raise RefusedAddressError("an address holds no blanks, control characters or backslashes")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise RefusedAddressError(f"{url!r} is no address: {error}") from None
    if parts.scheme not in _SCHEMES:
        raise RefusedAddressError(
            f"only http and https addresses are fetched, not {parts.scheme or 'one without'!r}"
        )
    if not host:
        raise RefusedAddressError(f"{url!r} names no host")
    if "@" in parts.netloc:
        raise RefusedAddressError("an address with a user name in it is not fetched")


async def resolve(host: str, port: int) -> list[IpAddress]:
    """Ask the system for the addresses of a host; numbers in any notation are addresses, too."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [ipaddress.ip_address(entry[4][0]) for entry in found]
    return list(dict.fromkeys(addresses))


def check_addresses(host: str, addresses: list[IpAddress]) -> None:
    """Look at what a host's name stands for.

    Raises:
        RefusedAddressError: One of the addresses is not public.
    """
    for address in addresses:
        if not is_public(address):
            shown = host if host == str(address) else f"{host} ({address})"
            raise RefusedAddressError(
                f"{shown} is no public address; set NIT_WEB_ALLOW_PRIVATE=1 to allow private ones"
            )


def is_public(address: IpAddress) -> bool:
    """Whether an address is one of the open internet, also where it carries another inside."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address.teredo is not None:
            return all(is_public(part) for part in address.teredo)
        if inner is None and any(address in carrier for carrier in _CARRIERS):
            inner = IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            return is_public(inner)
        if address not in _UNICAST:
            return False
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not any(address in network for network in _NOT_PUBLIC)
    )
