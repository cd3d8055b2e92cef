"""Plan a change of Compositions: what it does to the XRs of a cluster, without the cluster."""
