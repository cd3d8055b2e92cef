"""Find mistakes in the steps of Compositions and Operations: without a run, and by runs.

The result is a report, which `report` prints.
"""
