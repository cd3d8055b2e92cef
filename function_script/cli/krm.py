"""The command ``krm``: a KRM function, which kustomize and kpt call."""

from dataclasses import replace
from pathlib import Path
from typing import Unpack

from function_script.cli import exit_codes, options, render_options, terminal


@options.command(
    *render_options.pipeline("programs/ in the current directory"),
    render_options.required_schemas(),
    short_help="Run as a KRM function.",
)
def krm(**flags: Unpack[render_options.PipelineFlags]) -> int:
    """Render the XRs of a ResourceList, as a KRM function of kustomize and kpt.

    Reads a ResourceList of config.kubernetes.io/v1 from stdin and prints it with what its
    functionConfig composes. The functionConfig is a Composition, which is run for every XR of its
    type; or an input of one step, for one XR; or a ConfigMap that holds one of the two as text.

    The list is the cluster: resources that were composed before are observed, Functions and XRDs
    are used, and steps find what they require. Items that do not change keep every line.

    After an error, the items are printed unchanged, with results, and the exit code is 1.

    Examples:
      function-script krm < resource-list.yaml
      kustomize build --enable-alpha-plugins --enable-exec .
      kpt fn eval --exec "function-script krm" --fn-config composition.yaml
    """
    from function_script.tools import local_pool, sources  # noqa: PLC0415 - slow to import

    source = sources.load_stdin()
    # Programs in files are beside it.
    config = Path("functionConfig")
    project = render_options.read_project(Path(), flags)
    with render_options.open_sandbox(config, project, flags, text=source.text) as sandbox:
        from function_script.tools.krm import command as tool  # noqa: PLC0415 - slow to import
        from function_script.tools.render import loading  # noqa: PLC0415 - as above

        paths = render_options.add_paths(loading.PipelinePaths(project=project), flags)
        rendering = render_options.read_rendering(flags, hides_packages=True)
        paths = replace(paths, programs=paths.programs or local_pool.programs_beside(config))
        with rendering.servers:
            text, results = tool.run(source, paths, rendering, sandbox)
    terminal.echo_exact(text)
    # Errors and warnings go to stderr, for kustomize shows no results.
    problems = [result for result in results if result.severity != "info"]
    for result in problems:
        is_last = result is problems[-1]
        terminal.echo_problem(result.problem, result.severity, is_last=is_last)
    has_error = any(result.severity == "error" for result in problems)
    return exit_codes.PROBLEM if has_error else exit_codes.OK
