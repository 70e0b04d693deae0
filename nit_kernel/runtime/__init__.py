"""Does what a script says: tools, variables, calls, background tasks."""
