"""Where a report comes from: when its run began, how to run it again, and the digests of what it read."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.dataclass import dataclass

__all__ = ["InputDigest", "Provenance"]


@dataclass(frozen=True)
class InputDigest:
    """The content of one input: equal digests are equal contents, wherever the file was.

    Parameters
    ----------
    test_set : str
    what : str
        ``gold``, or the system whose output it is.
    digest : str
    """

    test_set: str
    what: str
    digest: str


@dataclass(frozen=True)
class Provenance:
    """Facts about a run that no number depends on: pages show them, ``report.json`` does not.

    Parameters
    ----------
    started : str
        The time of the first attempt, as ISO 8601 in UTC; empty where it is not known.
    command : str
        What asks the same again, from the folder where the paths of the study start; empty where that is not known.
    inputs : sequence of InputDigest
    """

    started: str = ""
    command: str = ""
    inputs: Sequence[InputDigest] = ()
