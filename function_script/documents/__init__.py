"""YAML and JSON documents to plain objects and back, as Kubernetes reads and writes them.

There are several readers of YAML, since each has to behave like another program:

========================  ============================  =========================================
Reader                    Reads                         Rules, and why
========================  ============================  =========================================
kubernetes_yaml           documents of templates and    go-yaml v2: sigs.k8s.io/yaml has it, and so
                          files; ``from_yaml``          kubectl, Crossplane and the API server.
                                                        ``on`` is true, ``<<`` merges in order
fast_path                 the same documents, before    the same rules, for common lines only: as
                          kubernetes_yaml               parser events they took most of the time
json_objects              a stream that begins with     JSON, as Kubernetes' decoder does; numbers
                          ``{``, while it is JSON       and limits as in kubernetes_yaml
positions                 the same texts again, after   keys as in kubernetes_yaml, no values: only
                          errors and in the tools       the position of a field is needed
engines.gotemplate.yaml   ``fromYaml`` of Go templates  go-yaml v3: function-go-templating has it.
                                                        ``on`` is a string, a date is a time
========================  ============================  =========================================

Property tests compare fast_path and json_objects with kubernetes_yaml.
"""

from function_script.documents.positions import EmbeddedText, find_embedded_text, is_folded
from function_script.documents.stream import Document, read_source, read_stream, read_value
from function_script.documents.writer import to_flow_yaml, to_yaml, to_yaml_stream

__all__ = [
    "Document",
    "EmbeddedText",
    "find_embedded_text",
    "is_folded",
    "read_source",
    "read_stream",
    "read_value",
    "to_flow_yaml",
    "to_yaml",
    "to_yaml_stream",
]
