"""YAML as yaml.v3 reads and writes it, for toYaml and fromYaml."""
