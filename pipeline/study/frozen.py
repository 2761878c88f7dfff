"""Values of a study that are complete when built. This module is the base of all of them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Frozen"]


class Frozen(BaseModel):
    """A value that is complete when built and refuses keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)
