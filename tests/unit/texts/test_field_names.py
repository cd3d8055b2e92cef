"""Lists of fields in hints begin with the author's own."""

from function_script.texts import field_names


def test_list_begins_with_the_fields_of_the_author() -> None:
    names = ["compositionRef", "crossplane", "zones", "claimRef", "image"]
    assert field_names.listed(names) == "image, zones, claimRef, compositionRef, crossplane"


def test_long_list_is_cut_at_its_end() -> None:
    assert field_names.listed("dcba", 2) == "a, b, …"
    assert field_names.listed("ba", 2) == "a, b"
