"""Creation order and readiness of a step's resources."""

from function_script.step.sequencing.withholding import apply

__all__ = ["apply"]
