"""A step of a pipeline: from its request to what it adds to the desired state."""
