"""Get the image of a function's package: from the cache, or once from its registry."""

from function_script.texts.errors import FatalError, InputError
from function_script.tools.processes.cache import CachedImage, ImageCache
from function_script.tools.processes.options import PackageOptions, cannot_run, default_root


def load(function: str, package: str, options: PackageOptions) -> CachedImage:
    """Return the unpacked image of a package for this machine. Raises InputError."""
    images = ImageCache(options.root or default_root())
    if options.pull != "Always" and (image := images.find(package)):
        return image
    # The client of registries is slow to import.
    from function_script.tools.processes import fetching  # noqa: PLC0415 - see above
    from function_script.tools.xpkg import references  # noqa: PLC0415 - as above

    try:
        reference = references.parse(package)
        if options.pull == "Never":
            raise InputError.of(
                f'package "{package}" is not in the cache "{images.root}"', hint=options.never_hint
            )
        image, digest = fetching.fetch(reference, images, options)
        images.add_reference(package, digest)
    except ValueError as error:
        raise cannot_run(function, f'package "{package}": {error}') from error
    except FatalError as error:
        first = error.diagnostics[0]
        raise cannot_run(function, first.message, hint=first.hint) from error
    return image
