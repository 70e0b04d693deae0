"""The options of a `%%nit` line."""

from __future__ import annotations

OPTIONS = ("--name", "--out", "--quiet", "--check", "--timeout", "--wait")

USAGE = "%%nit [--name NAME] [--out NAME] [--quiet] [--check] [--timeout S] [--wait]"
