"""The options of a `%%nit` line and of a `%%ask` line."""

from __future__ import annotations

OPTIONS = ("--name", "--out", "--quiet", "--check", "--timeout", "--wait")

USAGE = "%%nit [--name NAME] [--out NAME] [--quiet] [--check] [--timeout S] [--wait]"

ASK_OPTIONS = ("--model", "--codec", "--fresh", "--dry-run", "--out")

ASK_USAGE = "%%ask [--model M] [--codec C] [--fresh] [--dry-run] [--out NAME]"
