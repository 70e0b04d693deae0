"""The table of `%nit plugins`: what is loaded, and what is wrong with what is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nit_kernel.notebook.display import Table

if TYPE_CHECKING:
    from nit_kernel.session import Session


def plugin_table(session: Session) -> Table:
    """One row a plugin, and one below it for each fault."""
    rows: list[tuple[str, ...]] = []
    for plugin in session.plugins.all:
        usable = [tool.spec.nit_name for tool in plugin.tools if tool.name not in plugin.off]
        rows.append((plugin.name, plugin.state, ", ".join(usable), plugin.origin))
        rows.extend(("", fault.severity, str(fault), "") for fault in plugin.faults)
    shown = {fault for plugin in session.plugins.all for fault in plugin.faults}
    rows.extend(
        ("", fault.severity, str(fault), "")
        for fault in session.plugins.faults
        if fault not in shown
    )
    footer = "" if rows else "no plugins: name a folder in NIT_PLUGIN_PATH"
    return Table(("plugin", "state", "tools, faults", "from"), tuple(rows), footer=footer)
