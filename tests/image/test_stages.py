"""A line that fails ends the build with its number; nothing of this machine stays in an image."""

import os
from pathlib import Path

import pytest
from image import build, context, dockerfile
from image.dockerfile import DockerfileError
from image.stages import Builder, Image

FIRST = "FROM python:3.13-slim\n"


def carry_out(directory: Path, text: str, **arguments: str) -> Image:
    """Build a Dockerfile of that text beside two files."""
    source = directory / "source"
    (source / "folder" / "__pycache__").mkdir(parents=True)
    (source / "folder" / "file").write_text("content")
    (source / "folder" / "__pycache__" / "cache").write_text("")
    (source / "secret").write_text("secret")
    (directory / "Dockerfile").write_text(text)
    (directory / "ignored").write_text("*\n!folder\n**/__pycache__\n")
    return Builder(
        dockerfile=dockerfile.read(directory / "Dockerfile", arguments),
        source=source,
        ignore_file=directory / "ignored",
        bases=build.make_bases(),
        directory=directory / "stages",
        arguments=arguments,
        report=lambda _: None,
    ).build()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("RUN true\nRUN echo before && false\n", "line 3: RUN ended with exit code 1:\nbefore\n"),
        ("RUN no-such-command\n", "line 2: RUN ended with exit code 127"),
        ("RUN kill -9 $$\n", "line 2: RUN ended with exit code -9"),
        ("COPY nothing ./\n", 'line 2: "nothing" is not among the files of the build'),
        ("COPY secret ./\n", 'line 2: "secret" is not among the files of the build'),
        ("COPY --from=other / /\n", 'line 2: no stage before it is called "other"'),
        ("COPY --from=0 / /\n", 'line 2: no stage before it is called "0"'),
        ("COPY --from=1 / /\nFROM scratch\nCOPY --from=0 / /\n", "line 2: no stage before it"),
        ("FROM scratch\nCOPY --from=0 /nothing /\n", 'line 3: "nothing" does not exist'),
        ("COPY --chown=1 folder /\n", "line 2: COPY --chown=1 is not known here"),
        ("ARG NAME\n", "line 2: argument NAME has no value"),
        ("ENV NAME\n", "line 2: a word has no ="),
        ("ENV NAME=${OTHER:-default}\n", "line 2: cannot read NAME=${OTHER:-default}"),
        ("HEALTHCHECK NONE\n", "line 2: HEALTHCHECK is not known here"),
        ("VOLUME /data\n", "line 2: VOLUME is not known here"),
        ('RUN ["true"]\n', "line 2: RUN with a list"),
        ("RUN --mount=type=cache true\n", "line 2: RUN with a list, a flag"),
        ("USER 1:2\nRUN touch /file\n", "line 3: RUN ended with exit code 1"),
    ],
)
def test_line_that_cannot_be_carried_out_ends_the_build(
    tmp_path: Path, lines: str, message: str
) -> None:
    """The error names the line, and shows what it wrote."""
    with pytest.raises(DockerfileError) as caught:
        carry_out(tmp_path, (FIRST if "RUN" in lines else "FROM scratch\n") + lines)
    assert str(caught.value).startswith(message)


def test_unknown_base_is_refused(tmp_path: Path) -> None:
    """An image of another name has no stand-in."""
    with pytest.raises(DockerfileError, match='no stand-in for base image "alpine:3"'):
        carry_out(tmp_path, "FROM alpine:3\n")


def test_instructions_do_what_docker_documents(tmp_path: Path) -> None:
    """Arguments, variables, directories, users and copies between stages."""
    text = """\
ARG BASE=python:3.13
ARG WORD=default
FROM ${BASE}-slim AS first
ARG WORD
ARG OTHER=other
ENV JOINED="$WORD ${OTHER}" PATH=/own:$PATH
WORKDIR /place
WORKDIR below
COPY folder/ ./
RUN printf '%s' "$JOINED:$PWD:$(cat file):$(ls -A)" > /written \\
    # A comment in a line.
    && chmod 600 /written
FROM scratch AS unused
COPY --from=nowhere / /
FROM first
COPY --from=first /written /copies/
COPY --from=first /place /all/
USER 7:8
EXPOSE 9443
LABEL one="a b" two=$WORD
ENTRYPOINT ["/program", "argument"]
"""
    image = carry_out(tmp_path, text, WORD="given")
    path = image.root / "copies" / "written"
    assert path.read_text() == "given other:/place/below:content:file"
    assert path.stat().st_mode & 0o777 == 0o600
    assert (image.root / "all" / "below" / "file").read_text() == "content"
    assert image.environment["PATH"].startswith("/own:/usr/local/bin:")
    assert (image.user, image.ports, image.directory) == ("7:8", ["9443"], "/place/below")
    assert image.labels == {"one": "a b", "two": ""}
    assert image.entrypoint == ["/program", "argument"]


def test_files_lent_to_a_line_are_gone_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its index, its certificates and its resolver reach pip, and stay in no file."""
    bundle = tmp_path / "own.pem"
    bundle.write_text("certificate-of-this-machine")
    monkeypatch.setenv("PIP_CERT", str(bundle))
    monkeypatch.setenv("PIP_INDEX_URL", "https://index.of.this.machine/simple")
    text = "RUN test $PIP_INDEX_URL = https://index.of.this.machine/simple && "
    image = carry_out(tmp_path, FIRST + text + "grep -q certificate-of $PIP_CERT $SSL_CERT_FILE\n")
    for folder, _, names in os.walk(image.root):
        for path in (os.path.join(folder, name) for name in names):  # noqa: PTH118 - many
            if os.path.isfile(path) and not os.path.islink(path):  # noqa: PTH113, PTH114 - many
                with open(path, "rb") as file:  # noqa: PTH123 - many
                    assert b"of.this.machine" not in file.read(), path
    assert not (image.root / "etc/resolv.conf").exists()


@pytest.mark.parametrize(
    ("name", "is_ignored"),
    [
        ("README.md", False),
        ("other.md", True),
        ("package/README.md", True),
        ("function_script/a/b.py", False),
        ("function_script/a/__pycache__/b.pyc", True),
        ("function_script/wire.so", True),
        ("requirements/image.txt", False),
        ("requirements/dev.txt", True),
        (".git/config", True),
    ],
)
def test_build_gets_what_it_copies_and_nothing_else(name: str, *, is_ignored: bool) -> None:
    """By .dockerignore."""
    rules = context.read_rules(build.FOLDER / "Dockerfile.dockerignore")
    assert context.is_ignored(name, rules) == is_ignored
