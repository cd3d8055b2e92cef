"""The table of languages. Adding one is a module, a line here, a folder of scripts, a CRD."""
