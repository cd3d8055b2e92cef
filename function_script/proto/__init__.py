"""Protobuf stubs made by `make proto`: oracle of tests, reflection, protobuf JSON."""
