"""Cases: tests of Compositions without a cluster.

Steps run in the sandbox of production; a case never sees the clock, the network or the
environment.
"""
