"""The functions of sprig 3.3, in groups; registry.py joins them with Go's.

Results are Go's to the byte, oddities included. Functions whose results change, and functions that
reach out of the sandbox, are unavailable, with a reason.
"""
