"""Settings that every layer may read: the limits of a session, as plain frozen data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a script, a value and a session may cost at most.

    Every limit ends in a clear error and leaves nothing half done. Source: NIT 2, section 8.

    Attributes:
        script_bytes: Longest script, in UTF-8 bytes.
        statements: Most statements in one script.
        nesting: Deepest nesting of brackets and calls.
        value_bytes: Largest text that one expression may make, in UTF-8 bytes.
        value_nodes: Most values (scalars, lists, mappings) in what one expression makes.
        variables: Most variables in a session.
        tool_seconds: Longest run of one tool call, in seconds, unless the tool sets its own. A
            function on the thread of its own cell has none: its person interrupts it.
        running_tasks: Most background tasks that run at once; more wait in line.
        report_chars: Longest report to a model, in characters.
        cell_chars: Most characters that one `%%nit` cell shows.
    """

    script_bytes: int = 256 * 1024
    statements: int = 10_000
    nesting: int = 100
    value_bytes: int = 10_000_000
    value_nodes: int = 1_000_000
    variables: int = 1_000
    tool_seconds: float = 120.0
    running_tasks: int = 32
    report_chars: int = 8_000
    cell_chars: int = 100_000
