"""Commands for authors; nothing here ever runs in a cluster."""
