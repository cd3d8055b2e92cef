"""Names of Kubernetes objects by RFC 1123."""

import pytest

from function_script.request import objects

LABELS = ["a", "a-b", "0", "a" * 63]
OTHERS = ["", "-a", "a-", "A", "a_b", "a\n", "ä"]


@pytest.mark.parametrize("text", LABELS)
def test_label_is_a_subdomain_and_a_label_value(text: str) -> None:
    """A label is the narrowest of the three."""
    assert objects.is_label(text)
    assert objects.is_subdomain(text)
    assert objects.LABEL_VALUE.fullmatch(text)


@pytest.mark.parametrize("text", OTHERS)
def test_other_texts_are_neither_labels_nor_subdomains(text: str) -> None:
    """Case, ends, line breaks and other characters count."""
    assert not objects.is_label(text)
    assert not objects.is_subdomain(text)


def test_subdomain_has_labels_between_dots_and_its_own_length() -> None:
    """Parts of a subdomain may be longer than a label."""
    assert objects.is_subdomain("a.b-c.d")
    assert objects.is_subdomain("a" * 253)
    assert not objects.is_subdomain("a" * 254)
    assert not objects.is_subdomain("a..b")
    assert not objects.is_label("a.b")
    assert not objects.is_label("a" * 64)
