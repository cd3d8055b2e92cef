"""HTTP/2 and gRPC for one purpose: whole requests in, whole responses out, on one event loop.

Started by the server's lifecycle. Nothing in here knows what is in a request. The way down:
listener (sockets, TLS, drain) > connection (frames) > stream > calls (gRPC) > services.
"""
