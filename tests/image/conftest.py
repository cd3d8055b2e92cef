"""What the tests of the image share: both images, as they were built."""

import pytest
from image import build
from image.stages import Image


@pytest.fixture(scope="module", params=["slim", "bare"])
def image(request: pytest.FixtureRequest) -> Image:
    """The image: on a slim base, and on one without a shell."""
    return build.read_image(f"{request.param}-image")
