"""Compare the function that runs a pipeline's Go templates with this one, on the same requests."""
