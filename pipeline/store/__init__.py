"""Where things are: content addresses, atomic files, ledger, lease."""

from __future__ import annotations

from pipeline.store.addresses import canonical_json, digest, digest_bytes, digest_file
from pipeline.store.files import read_json, sweep_temporaries, write_bytes, write_json
from pipeline.store.lease import hold_lease, read_holder
from pipeline.store.ledger import Ledger, read_ledger

__all__ = [
    "Ledger",
    "canonical_json",
    "digest",
    "digest_bytes",
    "digest_file",
    "hold_lease",
    "read_holder",
    "read_json",
    "read_ledger",
    "sweep_temporaries",
    "write_bytes",
    "write_json",
]
