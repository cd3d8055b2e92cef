"""Saved images whose parts are not what they are called: none of them gets into a package."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from function_script.texts.errors import InputError
from function_script.tools.xpkg import archives, image_loader, images

SECRET = b"the key of another user"
HEX = "0" * 64


class Layout:
    """An OCI layout in a directory, with a secret beside it."""

    def __init__(self, directory: Path) -> None:
        self.secret = directory / "secret_key"
        self.secret.write_bytes(SECRET)
        self.root = directory / "layout"
        (self.root / "blobs" / "sha256").mkdir(parents=True)
        archive = archives.tar({"app": b"x"})
        self.layer = self.blob(archives.gzip_stored(archive))
        self.config: dict[str, object] = {
            "os": "linux",
            "architecture": "amd64",
            "rootfs": {"diff_ids": [images.sha256(archive)]},
        }

    def blob(self, data: bytes) -> dict[str, object]:
        """Write a blob; its descriptor."""
        (self.root / "blobs" / "sha256" / hashlib.sha256(data).hexdigest()).write_bytes(data)
        return {"digest": images.sha256(data), "size": len(data)}

    def path(self, descriptor: dict[str, object]) -> Path:
        """Where a blob is."""
        return self.root / "blobs" / str(descriptor["digest"]).replace(":", "/")

    def finish(self, layer: dict[str, object] | None = None) -> Path:
        """Write the files that name the layer."""
        config = self.blob(json.dumps(self.config).encode())
        manifest = {"config": config, "layers": [layer or self.layer]}
        entry = self.blob(json.dumps(manifest).encode())
        (self.root / "index.json").write_text(json.dumps({"manifests": [entry]}))
        return self.root


def test_sha512_is_a_digest_as_well(tmp_path: Path) -> None:
    """The image specification registers both."""
    layout = Layout(tmp_path)
    data = layout.path(layout.layer).read_bytes()
    name = hashlib.sha512(data).hexdigest()
    (layout.root / "blobs" / "sha512").mkdir()
    (layout.root / "blobs" / "sha512" / name).write_bytes(data)
    (image,) = image_loader.load(layout.finish({"digest": f"sha512:{name}"}))
    assert image.layers[0].data == data


NO_DIGESTS = {
    "path outside": "sha256:../../../secret_key",
    "absolute path": "sha256:/etc/hostname",
    "algorithm": "../../..:secret_key",
    "none": "",
    "upper case": f"sha256:{'A' * 64}",
    "short": f"sha256:{HEX[1:]}",
    "md5": f"md5:{HEX[:32]}",
    "line break": f"sha256:{HEX}\n",
}


@pytest.mark.parametrize("digest", NO_DIGESTS.values(), ids=NO_DIGESTS)
def test_invalid_digest_names_no_file(tmp_path: Path, digest: str) -> None:
    """It is told as that."""
    root = Layout(tmp_path).finish({"digest": digest, "size": len(SECRET)})
    with pytest.raises(InputError, match=r"is not a digest such as sha256:<64 hex digits>"):
        image_loader.load(root)


FAULTS = {
    "other-content": (
        lambda layout: layout.path(layout.layer).write_bytes(b"y" * layout.layer["size"]),
        "has the digest sha256:",
    ),
    "larger": (
        lambda layout: layout.layer.update(size=layout.layer["size"] + 1),
        r"bytes instead of \d+",
    ),
    "smaller": (lambda layout: layout.layer.update(size=1), "has more than 1 bytes"),
    "absent": (lambda layout: layout.path(layout.layer).unlink(), "it has no file"),
    "layers-of-another-image": (
        lambda layout: layout.config.update(rootfs={"diff_ids": [f"sha256:{HEX}"]}),
        r"its layers are not those that its config names in rootfs\.diff_ids",
    ),
}


@pytest.mark.parametrize(("fault", "message"), FAULTS.values(), ids=FAULTS)
def test_content_is_what_its_descriptor_says(
    tmp_path: Path, fault: Callable[[Layout], object], message: str
) -> None:
    layout = Layout(tmp_path)
    fault(layout)
    with pytest.raises(InputError, match=message):
        image_loader.load(layout.finish())


def test_indices_have_an_end(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    index = json.loads((layout.finish() / "index.json").read_text())
    wide = {"manifests": index["manifests"] * 65}
    (layout.root / "index.json").write_text(json.dumps(wide))
    with pytest.raises(InputError, match="it lists 65 images; at most 64 are read"):
        image_loader.load(layout.root)
    for _ in range(6):
        index = {"manifests": [layout.blob(json.dumps(index).encode())]}
    (layout.root / "index.json").write_text(json.dumps(index))
    with pytest.raises(InputError, match="too many indices inside one another"):
        image_loader.load(layout.root)


@pytest.mark.parametrize("name", ["config", "layer"])
def test_names_with_hashes_are_digests_in_saved_images(tmp_path: Path, name: str) -> None:
    """`docker save` writes them in a newer form and in an older one."""
    archive = archives.tar({"app": b"x"})
    layer = archives.gzip_stored(archive)
    config = json.dumps({"rootfs": {"diff_ids": [images.sha256(archive)]}}).encode()
    files = {"config": config, "layer": layer}
    hashes = {key: hashlib.sha256(data).hexdigest() for key, data in files.items()}
    names = {"config": f"{hashes['config']}.json", "layer": f"blobs/sha256/{hashes['layer']}"}
    listing = json.dumps([{"Config": names["config"], "Layers": [names["layer"]]}]).encode()
    path = tmp_path / "image.tar"
    parts = {names[key]: data for key, data in files.items()}
    path.write_bytes(archives.tar({**parts, "manifest.json": listing}))
    assert image_loader.load(path)
    parts[names[name]] = files[name] + b" "
    path.write_bytes(archives.tar({**parts, "manifest.json": listing}))
    with pytest.raises(InputError, match="has the digest sha256:"):
        image_loader.load(path)
