"""Stubs of apiextensions.fn.proto.v1."""
