"""Networks in CIDR notation, IPv4 and IPv6. Addresses are returned in their canonical spelling."""

from ipaddress import IPv4Network, IPv6Network, ip_interface, ip_network
from typing import Final, TypeAlias

from function_script.engines.library.function import Group

GROUP: Final = Group(
    name="networking",
    summary="Networks in CIDR notation, IPv4 and IPv6.",
)


_Network: TypeAlias = IPv4Network | IPv6Network


@GROUP.function(
    example='cidr_subnet("10.0.0.0/16", 8, 2)', result="10.0.2.0/24", go_name="cidrSubnet"
)
def cidr_subnet(cidr: str, new_bits: int, index: int) -> str:
    """The network number ``index`` of those ``new_bits`` longer; negative: from the end."""
    network = _network(cidr)
    _check_bits(network, new_bits)
    count = 1 << new_bits
    if not -count <= index < count:
        raise ValueError(f"index: {cidr} has {count:,} such networks, {index} is none of them")
    size = network.num_addresses >> new_bits
    address = network.network_address + (index % count) * size
    return f"{address}/{network.prefixlen + new_bits}"


@GROUP.function(
    example='cidr_subnets("10.0.0.0/16", [8, 8, 4])',
    result=["10.0.0.0/24", "10.0.1.0/24", "10.0.16.0/20"],
    go_name="cidrSubnets",
)
def cidr_subnets(cidr: str, new_bits: list[int]) -> list[str]:
    """One network after the other, each longer by its number of new bits, as close as they fit."""
    network = _network(cidr)
    subnets: list[str] = []
    used = 0
    for bits in new_bits:
        _check_bits(network, bits)
        size = network.num_addresses >> bits
        offset = -(-used // size) * size
        used = offset + size
        if used > network.num_addresses:
            raise ValueError(f"{cidr} has no room for network number {len(subnets) + 1}")
        subnets.append(f"{network.network_address + offset}/{network.prefixlen + bits}")
    return subnets


@GROUP.function(
    example='cidr_contains("10.0.0.0/8", "10.1.2.3")', result=True, go_name="cidrContains"
)
def cidr_contains(cidr: str, address: str) -> bool:
    """Whether an address or a whole network lies in the network; false across IPv4 and IPv6."""
    network, inner = _network(cidr), _interface_network(address)
    if isinstance(network, IPv4Network) and isinstance(inner, IPv4Network):
        return inner.subnet_of(network)
    if isinstance(network, IPv6Network) and isinstance(inner, IPv6Network):
        return inner.subnet_of(network)
    return False


@GROUP.function(example='cidr_host("10.0.0.0/24", 5)', result="10.0.0.5", go_name="cidrHost")
def cidr_host(cidr: str, index: int) -> str:
    """The address number ``index``, counted from the network's own; negative: from the end."""
    network = _network(cidr)
    count = network.num_addresses
    if not -count <= index < count:
        raise ValueError(f"index: {cidr} has {count:,} addresses, {index} is none of them")
    return str(network[index])


@GROUP.filter(example='cidr_netmask("10.0.0.0/20")', result="255.255.240.0", go_name="cidrNetmask")
def cidr_netmask(cidr: str) -> str:
    """The netmask as an address."""
    return str(_network(cidr).netmask)


@GROUP.filter(example='cidr_network("10.0.1.7/16")', result="10.0.0.0/16", go_name="cidrNetwork")
def cidr_network(cidr: str) -> str:
    """The network an address with a prefix length lies in."""
    return str(_interface_network(cidr))


def _network(cidr: str) -> _Network:
    if "/" not in cidr:
        raise ValueError(f"cidr: {cidr!r} has no prefix length such as /16")
    try:
        return ip_network(cidr)
    except ValueError as error:
        raise ValueError(f"cidr: {error}") from error


def _interface_network(address: str) -> _Network:
    try:
        return ip_interface(address).network
    except ValueError as error:
        raise ValueError(f"address: {error}") from error


def _check_bits(network: _Network, new_bits: int) -> None:
    limit = network.max_prefixlen - network.prefixlen
    if not 0 <= new_bits <= limit:
        raise ValueError(f"new_bits: must be between 0 and {limit} for {network}, not {new_bits}")
