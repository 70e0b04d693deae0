"""Does what a script says: tools, variables, calls, background tasks. Knows no notebook or model."""
