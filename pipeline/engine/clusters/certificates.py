"""The certificate of a cluster that we start: made for it, needed by everyone who connects to it, and deleted with it.

Whoever reaches a port of a scheduler, worker or nanny can have code run there. All of them speak TLS, and each side asks the other
for a certificate that this one signed: the key of the run. It stays in memory for workers of this machine; those that a batch
system starts find it in a folder of the run that only its owner can read. It is never part of a command or of the environment.
"""

from __future__ import annotations

import datetime
import os
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from pipeline.dataclass import dataclass
from pipeline.store.files import make_directory, write_bytes

__all__ = ["Certificate", "make_certificate"]

YEARS = 10
"""How long certificates are valid: no run may end because of them. They are gone with its coordinator."""


@dataclass(frozen=True)
class Certificate:
    """A certificate that signed itself, and its key: as text, or as the paths of files with that text."""

    certificate: str
    key: str

    def __repr__(self) -> str:
        return "Certificate()"  # a key does not belong into a log

    def write(self, folder: Path) -> Certificate:
        """Write both into files that only their owner can read, for processes that are started elsewhere."""
        make_directory(folder)
        paths = folder / "certificate.pem", folder / "key.pem"
        for path, text in zip(paths, (self.certificate, self.key), strict=True):
            write_bytes(path, text.encode("ascii"))
        return Certificate(*(os.path.abspath(path) for path in paths))

    def settings(self) -> dict[str, str]:
        """Return the arguments of `distributed.security.Security`: every role has the same certificate."""
        pairs = {f"tls_{role}_cert": self.certificate for role in ("scheduler", "worker", "client")}
        pairs |= {f"tls_{role}_key": self.key for role in ("scheduler", "worker", "client")}
        return {"tls_ca_file": self.certificate, **pairs}

    def config(self) -> dict[str, str]:
        """Return them as Dask's configuration, for classes that read them there."""
        pairs = {f"distributed.comm.tls.{role}.cert": self.certificate for role in ("scheduler", "worker", "client")}
        pairs |= {f"distributed.comm.tls.{role}.key": self.key for role in ("scheduler", "worker", "client")}
        return {"distributed.comm.tls.ca-file": self.certificate, **pairs}


def make_certificate() -> Certificate:
    """Make a new certificate, with elliptic curves, since making an RSA key takes a tenth of a second."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "pipeline")])
    now = datetime.datetime.now(tz=datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # A clock of another machine may be behind.
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=365 * YEARS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    text = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return Certificate(certificate.public_bytes(serialization.Encoding.PEM).decode("ascii"), text.decode("ascii"))
