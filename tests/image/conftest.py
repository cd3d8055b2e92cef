"""What the tests of the image share: both images, as they were built."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from image import build

if TYPE_CHECKING:
    from image.stages import Image


@pytest.fixture(scope="module", params=["slim", "bare"])
def image(request: pytest.FixtureRequest) -> Image:
    """The image: on a slim base, and on one without a shell."""
    return build.read_image(f"{request.param}-image")
