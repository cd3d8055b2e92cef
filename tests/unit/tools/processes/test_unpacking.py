"""Layers of images below a directory, and attempts to leave it."""

import gzip
import importlib
import shutil
import stat
import sys
import tarfile
from pathlib import Path

import pytest
from support.function_images import archive, member

from function_script.tools.processes import unpacking
from function_script.tools.processes.unpacking import Unpacker

# Python 3.14 has it; before, it is a requirement of the tests.
zstd = importlib.import_module(
    "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
)

Entry = tuple[tarfile.TarInfo, bytes]


def link(name: str, target: str) -> Entry:
    return member(name, type=tarfile.SYMTYPE, linkname=target)


def hard_link(name: str, target: str) -> Entry:
    return member(name, type=tarfile.LNKTYPE, linkname=target)


def directory(name: str) -> Entry:
    return member(name, type=tarfile.DIRTYPE)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "rootfs").mkdir()
    return tmp_path / "rootfs"


@pytest.fixture
def unpacker(files: Path) -> Unpacker:
    return Unpacker(files, 1 << 20)


def unpack(root: Path, *layers: list[Entry]) -> Path:
    files = root / "rootfs"
    files.mkdir()
    unpacker = Unpacker(files, 1 << 20)
    for layer in layers:
        unpacker.add(archive(layer))
    return files


def names(files: Path) -> list[str]:
    return sorted(str(path.relative_to(files)) for path in files.rglob("*"))


def test_layers_lie_over_one_another(tmp_path: Path) -> None:
    files = unpack(
        tmp_path,
        [member("etc/a", b"lower"), member("etc/b", b"lower")],
        [member("etc/a", b"upper")],
    )
    assert (files / "etc" / "a").read_bytes() == b"upper"
    assert (files / "etc" / "b").read_bytes() == b"lower"


_DATA = archive([member("a", b"x" * 5000)])


@pytest.mark.parametrize(
    "layer",
    [
        pytest.param(gzip.compress(_DATA, mtime=0), id="gzip"),
        # As parallel compressors write it.
        pytest.param(zstd.compress(_DATA[:1000]) + zstd.compress(_DATA[1000:]), id="zstd"),
    ],
)
def test_compressed_layer_is_read(files: Path, unpacker: Unpacker, layer: bytes) -> None:
    unpacker.add(layer)
    assert (files / "a").read_bytes() == b"x" * 5000


def test_zstd_layer_that_expands_too_far_is_refused(unpacker: Unpacker) -> None:
    layer = zstd.compress(archive([member("a", bytes(8 << 20))]))
    assert len(layer) < 10_000
    with pytest.raises(ValueError, match="more than 1 MiB"):
        unpacker.add(layer)


def test_zstd_layer_without_a_reader_has_a_way_out(
    unpacker: Unpacker, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ValueError, match=r"needs the extra zstd"):
        unpacker.add(zstd.compress(archive([member("a")])))


LAYERS = {
    "whiteouts-of-a-lower-layer": (
        [member("d/a"), member("d/b/c"), member("d/e")],
        [member("d/.wh.a"), member("d/.wh.b")],
        ["d", "d/e"],
    ),
    "opaque-whiteout-of-lower-layers-alone": (
        [member("d/a"), member("d/sub/lower")],
        [member("d/new"), member("d/sub/upper"), member("d/.wh..wh..opq")],
        ["d", "d/new", "d/sub", "d/sub/upper"],
    ),
    "absolute-name": ([member("/ko-app/function", b"x")], [], ["ko-app", "ko-app/function"]),
}


@pytest.mark.parametrize(("lower", "upper", "left"), LAYERS.values(), ids=LAYERS)
def test_layers_make_one_tree(
    tmp_path: Path, lower: list[Entry], upper: list[Entry], left: list[str]
) -> None:
    assert names(unpack(tmp_path, lower, upper)) == left


@pytest.mark.parametrize("name", [".wh..", ".wh...", ".wh."])
def test_whiteout_of_a_parent_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside").write_text("x")
    with pytest.raises(ValueError, match="outside of it"):
        unpack(tmp_path, [member(f"d/{name}")])
    assert (tmp_path / "outside").exists()


def test_link_in_a_path_is_followed_inside_the_image(tmp_path: Path) -> None:
    """The /lib of many images is a link to /usr/lib."""
    files = unpack(tmp_path, [directory("usr/lib"), link("lib", "/usr/lib")], [member("lib/a")])
    assert (files / "usr" / "lib" / "a").is_file()
    assert (files / "lib").is_symlink()


@pytest.mark.parametrize("target", ["..", "../..", "/", "/..", "../../../../../../../../tmp"])
def test_link_to_the_outside_leads_into_the_image(tmp_path: Path, target: str) -> None:
    unpack(tmp_path, [link("way", target), member("way/escape", b"x")])
    outside = [path for path in tmp_path.rglob("escape") if "rootfs" not in path.parts]
    assert outside == []
    assert not Path("/tmp/escape").exists()  # noqa: S108 - must not be there


def test_file_replaces_a_link_and_not_its_target(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("unchanged")
    files = unpack(tmp_path, [link("a", str(tmp_path / "victim"))], [member("a", b"new")])
    assert (tmp_path / "victim").read_text() == "unchanged"
    assert (files / "a").read_bytes() == b"new"


def test_hard_link_shares_its_file(tmp_path: Path) -> None:
    files = unpack(tmp_path, [member("a", b"x"), hard_link("b", "a"), hard_link("a", "a")])
    assert (files / "a").stat().st_ino == (files / "b").stat().st_ino


def test_file_replaces_a_directory_and_the_other_way_round(tmp_path: Path) -> None:
    files = unpack(tmp_path, [member("a/b"), member("c")], [member("a", b"x"), directory("c")])
    assert (files / "a").is_file()
    assert (files / "c").is_dir()


def test_privileged_bits_are_not_taken_over(tmp_path: Path) -> None:
    files = unpack(tmp_path, [member("su", mode=0o6755), member("secret", mode=0o400)])
    assert stat.S_IMODE((files / "su").stat().st_mode) == 0o755
    assert stat.S_IMODE((files / "secret").stat().st_mode) == 0o444


def test_time_of_a_file_is_taken_over(tmp_path: Path) -> None:
    """Python compares it with that in a compiled file."""
    files = unpack(tmp_path, [member("a.py", mtime=1_700_000_000)])
    assert (files / "a.py").stat().st_mtime == 1_700_000_000


REFUSED = {
    "parent": ([member("../escape")], "outside of it"),
    "parent inside": ([member("a/../../escape")], "outside of it"),
    "hard link outside": ([hard_link("a", "../../etc/passwd")], "outside of it"),
    "no target": ([hard_link("a", "missing")], "a file that it does not have"),
    "character device": ([member("a", type=tarfile.CHRTYPE)], "is a device"),
    "block device": ([member("a", type=tarfile.BLKTYPE)], "is a device"),
    "named pipe": ([member("a", type=tarfile.FIFOTYPE)], "is a named pipe"),
    "below a file": ([member("a"), member("a/b")], "no directory"),
    "loop of links": ([link("a", "b"), link("b", "a"), member("a/c")], "loop of links"),
}


@pytest.mark.parametrize(("entries", "cause"), REFUSED.values(), ids=REFUSED)
def test_archive_that_no_image_has_is_refused(
    tmp_path: Path, entries: list[Entry], cause: str
) -> None:
    with pytest.raises(ValueError, match=cause):
        unpack(tmp_path, entries)
    assert list(tmp_path.rglob("escape")) == []


def test_device_files_below_dev_are_left_out(tmp_path: Path) -> None:
    """Bases of distributions have them, and nobody sees them below the /dev of a container."""
    device = member("./dev/console", type=tarfile.CHRTYPE)
    files = unpack(tmp_path, [directory("dev"), device, member("dev/a")])
    assert names(files) == ["dev", "dev/a"]
    with pytest.raises(ValueError, match="is a device"):
        Unpacker(files, 1 << 20).add(archive([member("device/a", type=tarfile.CHRTYPE)]))


@pytest.mark.parametrize("has_links", [False, True], ids=["names", "links"])
def test_directories_that_are_too_deep_are_refused(tmp_path: Path, *, has_links: bool) -> None:
    """Python removes them by recursion, and the partial image must not stay."""
    deep = "/".join(["d"] * 2_040)
    members = [member(f"{deep}/a", b"x")]
    if has_links:
        half = "/".join(["d"] * 200)
        members = [link("way", half), member(f"way/{half}/a", b"x")]
    with pytest.raises(ValueError, match="more than 256 directories deep"):
        unpack(tmp_path, members)
    shutil.rmtree(tmp_path / "rootfs")


def test_directories_of_names_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "_MAX_ENTRIES", 50)
    with pytest.raises(ValueError, match="more than 50 files"):
        unpack(tmp_path, [member(f"{index}{'/d' * 9}/a") for index in range(9)])
    assert len(names(tmp_path / "rootfs")) <= 60


def test_unpacking_has_a_bound_of_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "_MAX_CPU_SECONDS", -1.0)
    with pytest.raises(ValueError, match="CPU time"):
        unpack(tmp_path, [member("a")])


def test_files_beyond_the_bound_are_refused_by_their_declared_size(
    files: Path, unpacker: Unpacker
) -> None:
    info, _ = member("a", mode=0o644)
    info.size = 1 << 40
    with pytest.raises(ValueError, match="more than 1 MiB together"):
        unpacker.add(info.tobuf() + bytes(1024))
    assert names(files) == []


def test_files_beyond_the_bound_are_refused_by_their_sum(tmp_path: Path) -> None:
    entries = [member(str(index), bytes(400_000)) for index in range(4)]
    with pytest.raises(ValueError, match="more than 1 MiB together"):
        unpack(tmp_path, entries[:2], entries[2:])


def test_layer_that_expands_beyond_the_bound_is_refused(unpacker: Unpacker) -> None:
    # Files without content count, too.
    headers = archive([directory("a")] * 4000)
    with pytest.raises(ValueError, match="expands to more than 1 MiB"):
        unpacker.add(gzip.compress(headers, mtime=0))


def test_large_header_is_refused_before_it_is_read(files: Path) -> None:
    info = tarfile.TarInfo("a")
    info.type = tarfile.XHDTYPE
    info.size = 512 << 20
    with pytest.raises(ValueError, match="a header of its archive"):
        Unpacker(files, 1 << 30).add(info.tobuf() + bytes(1024))


NO_ARCHIVES = {
    "text in zstd": (zstd.compress(b"no archive"), "no archive"),
    "cut off zstd": (zstd.compress(bytes(999))[:-3], "compression is broken"),
    "no zstd": (b"\x28\xb5\x2f\xfd no zstd", "compression is broken"),
    "text": (b"no archive", "no archive"),
    "text in gzip": (gzip.compress(b"no archive", mtime=0), "no archive"),
    "headers": (member("a", type=tarfile.GNUTYPE_LONGNAME)[0].tobuf() * 2000, "too many headers"),
    "cut off": (gzip.compress(bytes(999), mtime=0)[:-9], "compression is broken"),
}


@pytest.mark.parametrize(("data", "cause"), NO_ARCHIVES.values(), ids=NO_ARCHIVES)
def test_layer_that_is_no_archive_is_refused(unpacker: Unpacker, data: bytes, cause: str) -> None:
    with pytest.raises(ValueError, match=cause):
        unpacker.add(data)


def test_mount_points_are_directories_whatever_the_image_has(
    files: Path, unpacker: Unpacker
) -> None:
    unpacker.add(archive([link("tmp", "/etc"), member("proc", b"x"), directory("dev")]))
    unpacker.complete()
    assert [(files / name).is_symlink() for name in ("tmp", "proc", "dev")] == [False] * 3
    assert all((files / name).is_dir() for name in ("tmp", "proc", "dev"))
    assert "localhost" in (files / "etc" / "hosts").read_text()


def test_hosts_of_the_image_stay(files: Path, unpacker: Unpacker) -> None:
    unpacker.add(archive([member("etc/hosts", b"own")]))
    unpacker.complete()
    assert (files / "etc" / "hosts").read_bytes() == b"own"


def test_working_directory_that_the_image_lacks_is_made(files: Path, unpacker: Unpacker) -> None:
    unpacker.add(archive([link("var/lib", "/data"), directory("data")]))
    unpacker.complete("/var/lib/work")
    assert (files / "data" / "work").is_dir()
