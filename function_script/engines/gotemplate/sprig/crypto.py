"""Ciphers and certificates: the only module that imports the package ``cryptography``.

That package is the extra ``crypto``; ciphers.py imports this module on a call.
"""

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes


def encrypt(key: bytes, start: bytes, blocks: bytes) -> bytes:
    """Encrypt whole blocks with AES in CBC mode; ``start`` is the initial block."""
    return _apply(Cipher(algorithms.AES(key), modes.CBC(start)).encryptor(), blocks)


def decrypt(key: bytes, start: bytes, blocks: bytes) -> bytes:
    """Decrypt whole blocks with AES in CBC mode; ``start`` is the initial block."""
    return _apply(Cipher(algorithms.AES(key), modes.CBC(start)).decryptor(), blocks)


def _apply(context: CipherContext, blocks: bytes) -> bytes:
    return context.update(blocks) + context.finalize()


def check_certificate(der: bytes) -> None:
    """Raise ValueError unless it is a certificate."""
    x509.load_der_x509_certificate(der)


def check_private_key(der: bytes) -> None:
    """Raise ValueError or TypeError unless it is a private key without a password."""
    serialization.load_der_private_key(der, password=None)
