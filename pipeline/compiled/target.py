"""What kernels are compiled for: the processor's instructions, and what LLVM makes of them."""

from __future__ import annotations

import functools
import os
import sys

__all__ = ["can_compile", "has_settings", "knows_partial_sums"]

_PARTIAL_SUMS = 22  # the first LLVM that this was tried with
_CHOSEN = ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_ENABLE_AVX")
_SETTINGS = ".numba_config.yaml"  # in the current folder; Numba reads it before the environment


def can_compile(*features: str) -> bool:
    """Tell whether kernels are compiled for a processor that has all of some features, by LLVM's names.

    That is this one, unless Numba was told another: LLVM ends the process where it is given an instruction that its target has not.
    """
    return {f"+{name}" for name in features} <= _features()


def has_settings() -> bool:
    """Tell whether Numba has settings in a file, which may change all that it compiles."""
    return os.path.exists(_SETTINGS)


def knows_partial_sums() -> bool:
    """Tell whether LLVM knows the sums that ARM's form is written in; it crashes on names that it does not know."""
    import llvmlite.binding as llvm

    return bool(llvm.llvm_version_info[0] >= _PARTIAL_SUMS)


@functools.cache
def _features() -> frozenset[str]:
    """Return the features of the target; Numba, which takes a fifth of a second to import, is asked where it may know better."""
    if "numba" in sys.modules or any(name in os.environ for name in _CHOSEN) or has_settings():
        from numba.core.registry import cpu_target

        _, _, known = cpu_target.target_context.codegen().magic_tuple()
        return frozenset(known.split(","))
    import llvmlite.binding as llvm

    return frozenset(llvm.get_host_cpu_features().flatten().split(","))
