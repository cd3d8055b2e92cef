"""Creation order and readiness of a step's resources."""
