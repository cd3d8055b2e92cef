"""Any archive: it is unpacked below its directory within its bounds, or it is refused."""

import io
import stat
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from support.example_counts import examples

from function_script.tools.processes.unpacking import Unpacker

_MAX_BYTES = 16 * 1024
# The file that every container has.
_HOSTS_BYTES = 100
# What may be in an image is likelier than what may not, so that archives are read to their ends.
_PARTS = st.sampled_from([*"aaaaaabbbbb", "outside", "dev", "é\n"])
_ODD_PARTS = st.sampled_from(["..", ".", "", ".wh.a", ".wh..wh..opq", ".wh..."])
_NAMES = st.lists(_PARTS, min_size=1, max_size=3).map("/".join)
_ODD_NAMES = st.lists(_PARTS | _ODD_PARTS, min_size=1, max_size=4).map("/".join)
# A link in the root of the image, or in a directory of it, that leads to its neighbour.
_OUTWARD = st.sampled_from(["../outside", "../../outside", "../../../outside", "/", ".."])
_TARGETS = _OUTWARD | st.lists(st.sampled_from(["a", "b", "..", "", "outside"]), max_size=5).map(
    "/".join
)
_TYPES = st.sampled_from([tarfile.REGTYPE] * 4 + [tarfile.DIRTYPE] + [tarfile.SYMTYPE] * 4)
_ODD_TYPES = st.sampled_from(
    [tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE, b"?"]
)


def _is_odd(draw: st.DrawFn) -> bool:
    return draw(st.integers(0, 9)) == 9


@st.composite
def _archives(draw: st.DrawFn) -> bytes:
    """An archive with odd names, links and kinds; sometimes a few of its bytes are others."""
    buffer = io.BytesIO()
    formats = st.sampled_from([tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
    with tarfile.open(fileobj=buffer, mode="w", format=draw(formats)) as archive:
        for _ in range(draw(st.integers(1, 8))):
            info = tarfile.TarInfo(draw(_ODD_NAMES if _is_odd(draw) else _NAMES) or "a")
            info.type = draw(_ODD_TYPES if _is_odd(draw) else _TYPES)
            info.linkname = draw(_TARGETS)
            info.mode, info.mtime = (
                draw(st.integers(0, 0o7777)),
                draw(st.integers(0, (1 << 33) - 1)),
            )
            data = bytes(draw(st.sampled_from([0, 0, 1, 512, 600, 10_000, 20_000])))
            info.size = len(data) if info.isreg() else 0
            archive.addfile(info, io.BytesIO(data))
            if info.issym() and draw(st.booleans()):
                archive.addfile(tarfile.TarInfo(f"{info.name}/b"))
    content = bytearray(buffer.getvalue())
    if not _is_odd(draw):
        return bytes(content)
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, min(len(content), 2_000) - 1))
        content[place] = draw(st.sampled_from([0, 0x2F, 0x30, 0x37, 0x80, 0xFF]))
    return bytes(content[: draw(st.integers(0, len(content)))])


def _state(directory: Path) -> Mapping[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() else b""
        for path in directory.rglob("*")
    }


@examples(75)
@given(
    st.lists(_archives(), min_size=1, max_size=3) | st.lists(st.binary(max_size=600), max_size=1)
)
def test_archive_stays_in_its_directory_and_bounds(layers: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as name:
        root, outside = Path(name) / "rootfs", Path(name) / "outside"
        root.mkdir()
        outside.mkdir()
        (outside / "a").write_text("kept")
        before = _state(outside)
        unpacker = Unpacker(root, _MAX_BYTES)
        try:
            for layer in layers:
                unpacker.add(layer)
            unpacker.complete("/a/../b")
        except (ValueError, OSError):
            pass
        assert _state(outside) == before
        assert {path.name for path in Path(name).iterdir()} == {"rootfs", "outside"}
        statuses = [path.lstat() for path in root.rglob("*")]
        kinds = {stat.S_IFMT(status.st_mode) for status in statuses}
        assert kinds <= {stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK}
        assert not any(status.st_mode & (stat.S_ISUID | stat.S_ISGID) for status in statuses)
        files = {
            (each.st_dev, each.st_ino): each for each in statuses if stat.S_ISREG(each.st_mode)
        }
        assert sum(each.st_size for each in files.values()) <= _MAX_BYTES + _HOSTS_BYTES
