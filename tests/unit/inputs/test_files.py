import os
from itertools import islice
from pathlib import Path

import pytest
from support import input_steps, timing

from function_script.inputs import Step, beneath
from function_script.inputs.files import Files
from function_script.request.limits import Limits
from function_script.request.values import Object, Value
from function_script.texts.errors import InputError


def write(directory: Path, **files: str) -> Path:
    """A directory with these files; ``a__b`` stands for ``a.b``."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (directory / name.replace("__", ".")).write_text(text)
    return directory


def mount_config_map(directory: Path, revision: str, **files: str) -> None:
    """Write or update a directory the way kubelet mounts a ConfigMap."""
    write(directory / f"..{revision}", **files)
    link = directory / "..tmp"
    link.symlink_to(f"..{revision}")
    link.replace(directory / "..data")
    for name in files:
        entry = directory / name.replace("__", ".")
        if not entry.is_symlink():
            entry.symlink_to(f"..data/{entry.name}")


def parse(root: Path, directory: Value, **section: Value) -> Step:
    """A StarlarkScript from a directory."""
    value: Object = {
        "apiVersion": "script.fn.crossplane.io/v1beta1",
        "kind": "StarlarkScript",
        "source": "FileSystem",
        "fileSystem": {"dirPath": directory, **section},
    }
    return input_steps.parse(value, Limits(program_root=str(root)))


def refusal(root: Path, directory: str, **section: Value) -> str:
    """The one problem of a StarlarkScript from a directory."""
    with pytest.raises(InputError) as caught:
        parse(root, directory, **section)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic.message


OUTSIDE = ["missing", "/missing", "../outside", "/../outside", "/etc", "link", "/link"]
ODD = ["..", "d/main.star", "loop", "a\0b", "x" * 5000, "x" * 300, "/".join("x" * 3000)]


@pytest.mark.parametrize("path", [*OUTSIDE, *ODD], ids=lambda path: path[:12])
def test_paths_never_lead_out_of_the_root(tmp_path: Path, path: str) -> None:
    """Outside and absent look the same, so that nobody can probe for paths."""
    root = tmp_path / "root"
    write(root / "d", main__star="pass")
    write(tmp_path / "outside", main__star="secret")
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to("loop")
    message = refusal(root, path)
    assert message.startswith("input.fileSystem.dirPath: cannot ")
    assert "secret" not in message
    if path in OUTSIDE:
        assert message.endswith(f'cannot find directory "{path}" below the program root')


def test_absolute_directory_begins_at_the_root(tmp_path: Path) -> None:
    """A Composition names the mount of a pod, and an author has its files elsewhere."""
    write(tmp_path / "templates/robots", main__star="x = 1")
    assert parse(tmp_path, "/templates/robots").program.main.text == "x = 1"


def test_other_files_are_modules(tmp_path: Path) -> None:
    write(tmp_path / "robots", main__star="pass", a__star="a = 1", __hidden="x")
    write(tmp_path / "robots/lib", b__star="b = 1")
    program = parse(tmp_path, "robots").program
    assert (program.main.name, program.main.text) == ("main.star", "pass")
    assert {name: module.text for name, module in program.modules.items()} == {
        "a.star": "a = 1",
        "lib/b.star": "b = 1",
    }


def test_absolute_path_below_the_root_is_allowed(tmp_path: Path) -> None:
    write(tmp_path / "robots", other__star="x = 1")
    step = parse(tmp_path, str(tmp_path / "robots"), main="other.star")
    assert step.program.main.text == "x = 1"


def test_config_map_is_read_and_its_update_seen(tmp_path: Path) -> None:
    """Links into the hidden directory are followed; the hidden directory itself is no program."""
    mount_config_map(tmp_path / "cm", "1", main__star="one")
    first = parse(tmp_path, "cm").program
    mount_config_map(tmp_path / "cm", "2", main__star="two")
    assert (first.main.text, first.modules) == ("one", {})
    assert parse(tmp_path, "cm").program.main.text == "two"


@pytest.mark.parametrize("updates", [1, 9])
def test_files_of_two_versions_are_never_one_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, updates: int
) -> None:
    directory = tmp_path / "robots"
    mount_config_map(directory, "0", a__star="0", b__star="0")
    revisions = iter(range(1, updates + 1))

    def read_and_update(roots: tuple[Path, ...], path: Path) -> bytes:
        data = read(roots, path)
        for each in map(str, islice(revisions, 1)):
            mount_config_map(directory, each, a__star=each, b__star=each)
        return data

    read = beneath.read
    monkeypatch.setattr(beneath, "read", read_and_update)
    if updates == 1:
        assert Files(tmp_path).read("robots") == {"a.star": "1", "b.star": "1"}
        return
    with pytest.raises(ValueError, match="its files change while they are read"):
        Files(tmp_path).read("robots")


def test_unchanged_directory_is_not_read_again(tmp_path: Path) -> None:
    write(tmp_path / "d", main__star="pass")
    files = Files(tmp_path)
    assert files.read("d") is files.read("d")


def test_file_changed_in_place_is_read_again(tmp_path: Path) -> None:
    """Also by `cp -p`, from an image whose files all have one time, to one of the same size."""
    file = write(tmp_path, main__star="one") / "main.star"
    os.utime(file, (1, 1))
    files, before = Files(tmp_path), file.stat().st_ctime_ns
    assert files.read(".")["main.star"] == "one"

    def copy() -> bool:
        file.write_text("two")
        os.utime(file, (1, 1))
        return file.stat().st_ctime_ns != before

    # The kernel's clock for files has ticks of milliseconds.
    timing.wait_until(copy)
    assert files.read(".")["main.star"] == "two"


def test_files_come_in_the_order_of_a_walk(tmp_path: Path) -> None:
    """Directory by directory, as function-go-templating joins its templates."""
    for name in ("a-b", "a", "b"):
        write(tmp_path / name, x="")
    assert list(Files(tmp_path).read(".")) == ["a/x", "a-b/x", "b/x"]


def test_link_in_a_directory_must_stay_below_the_root(tmp_path: Path) -> None:
    root = write(tmp_path / "root", main__star="pass")
    write(tmp_path, outside="x")
    (root / "s.star").symlink_to(tmp_path / "outside")
    assert refusal(root, ".") == (
        'input.fileSystem.dirPath: cannot read "s.star": it leads outside of the program root'
    )


@pytest.mark.parametrize(("target", "cause"), [(".", "deeper than 10 d"), ("again", '"again": ')])
def test_circle_of_links_ends(tmp_path: Path, target: str, cause: str) -> None:
    root = write(tmp_path / "root", main__star="pass")
    (root / "again").symlink_to(target)
    assert cause in refusal(root, ".")


def test_missing_main_names_the_nearest_file(tmp_path: Path) -> None:
    """The problem stands at `main`, also when its default is meant."""
    write(tmp_path, mian__star="pass")
    assert refusal(tmp_path, ".") == 'input.fileSystem.main: cannot find file "main.star" in "."'


def test_empty_main_is_refused(tmp_path: Path) -> None:
    write(tmp_path, main__star=" \n")
    assert refusal(tmp_path, ".") == 'input.fileSystem.main: file "main.star" must not be empty'


def test_files_must_be_text(tmp_path: Path) -> None:
    write(tmp_path, main__star="pass")
    (tmp_path / "logo.png").write_bytes(b"\xff\xfe")
    assert refusal(tmp_path, ".") == (
        'input.fileSystem.dirPath: cannot read "logo.png": it is not UTF-8 text'
    )


def test_huge_directory_is_refused_unread(tmp_path: Path) -> None:
    """Sizes are added up before anything is read."""
    write(tmp_path, main__star="pass")
    with (tmp_path / "big").open("wb") as file:
        os.truncate(file.fileno(), 9 << 20)
    assert refusal(tmp_path, ".") == 'input.fileSystem.dirPath: cannot read ".": more than 8 MiB'


def test_file_of_too_many_bytes_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "big").open("w+b") as file:
        file.truncate(1 << 30)
        with pytest.raises(OSError, match="larger than 256 megabytes"):
            beneath.read_bounded(file)
        assert file.tell() == 0


def test_files_of_every_name_are_templates_for_the_peer(tmp_path: Path) -> None:
    """function-go-templating joins all files, whatever their names end in."""
    write(tmp_path, b__yaml="b: 1", a__tpl="a: 1")
    value: Object = {
        "apiVersion": "gotemplating.fn.crossplane.io/v1beta1",
        "kind": "GoTemplate",
        "source": "FileSystem",
        "fileSystem": {"dirPath": "."},
    }
    program = input_steps.parse(value, Limits(program_root=str(tmp_path))).program
    assert program.main.text == "a: 1\n---\nb: 1"
