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
_PARTS = st.sampled_from(
    ["a", "a", "b", "..", ".", "", "outside", ".wh.a", ".wh..wh..opq", ".wh...", "dev", "é\n"]
)
_NAMES = st.lists(_PARTS, min_size=1, max_size=4).map("/".join)
_TARGETS = st.sampled_from(["../outside", "../../outside", "/", ".."]) | st.lists(
    st.sampled_from(["a", "b", "..", "", "outside"]), max_size=5
).map("/".join)
_TYPES = st.sampled_from(
    [
        *(tarfile.REGTYPE, tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE),
        *(tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE, b"?"),
    ]
)


@st.composite
def _archives(draw: st.DrawFn) -> bytes:
    """An archive with odd names, links and kinds; sometimes a few of its bytes are others."""
    buffer = io.BytesIO()
    formats = st.sampled_from([tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
    with tarfile.open(fileobj=buffer, mode="w", format=draw(formats)) as archive:
        for _ in range(draw(st.integers(0, 5))):
            info = tarfile.TarInfo(draw(_NAMES) or "a")
            info.type, info.linkname = draw(_TYPES), draw(_TARGETS)
            info.mode, info.mtime = (
                draw(st.integers(0, 0o7777)),
                draw(st.integers(0, (1 << 33) - 1)),
            )
            data = bytes(draw(st.sampled_from([0, 0, 1, 512, 600, 10_000, 20_000])))
            info.size = len(data) if info.isreg() else 0
            archive.addfile(info, io.BytesIO(data))
    content = bytearray(buffer.getvalue())
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, min(len(content), 2_000) - 1))
        content[place] = draw(st.sampled_from([0, 0x2F, 0x30, 0x37, 0x80, 0xFF]))
    return bytes(content[: draw(st.integers(0, len(content)))] if draw(st.booleans()) else content)


def _state(directory: Path) -> Mapping[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() else b""
        for path in directory.rglob("*")
    }


@examples(300)
@given(st.lists(_archives() | st.binary(max_size=1_500), min_size=1, max_size=3))
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
