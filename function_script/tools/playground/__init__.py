"""The playground: a page in the browser that renders as you type.

Programs run in the sandbox of production; the server listens on the loopback address only.
"""
