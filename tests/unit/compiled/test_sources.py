"""A kernel is compiled anew when anything that is compiled into it has changed, or what it is called with."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba.core.codegen import JITCPUCodegen

import pipeline
from pipeline.compiled import kept_files, kernel
from pipeline.compiled.decorator import Kernel
from pipeline.compiled.disk_cache import _describe
from pipeline.compiled.sources import digest_sources, forget_sources

HEAD = "import math\nimport numpy as np\nfrom pipeline.compiled import kernel\n"
PAIR = "from typing import NamedTuple\nclass Pair(NamedTuple):\n    a: int\n    b: int\n"
INTRINSIC = """
from numba import types
from numba.extending import intrinsic
N = 5
@intrinsic
def number(context, x):
    def generate(context, builder, signature, arguments):
        return context.get_constant(types.int64, N)
    return types.int64(x), generate
"""
HELPER = "@kernel\ndef change(x):\n    return x + 1\n"


class Change(NamedTuple):
    """What stands in another module, what of it becomes what, and what a kernel gives with it before and after."""

    part: str
    old: str
    new: str
    imports: str
    body: str
    results: tuple[Any, Any]


CHANGES = {
    "helper": Change(HELPER, "+ 1", "+ 2", "from part import change", "return change(x)", (5, 6)),
    "options of a helper": Change(
        "@kernel\ndef change(x):\n    return 1 / (x - 4)\n",
        "@kernel\n",
        '@kernel(error_model="numpy")\n',
        "from part import change",
        "return change(x + 2)",
        (0.5, 0.5),
    ),
    "signature of a helper": Change(
        '@kernel(signature="int64(int64)")\ndef change(x):\n    return x\n',
        "int64(int64)",
        "float64(float64)",
        "from part import change",
        "return change(x / 8) * 8",
        (0, 4.0),
    ),
    "what is guarded of a helper": Change(
        "@kernel\ndef change(x):\n    y = 8 // x\n    try: r = y + 1\n    except Exception: r = -1\n    return r\n",
        "    y = 8 // x\n    try: r",
        "    try: y = 8 // x; r",
        "from part import change",
        "return change(x)",
        (3, 3),
    ),
    "name of a method": Change(
        "@kernel\ndef change(x):\n    return np.arange(x).min()\n",
        "min",
        "max",
        "from part import change",
        "return change(x)",
        (0, 3),
    ),
    "which of two helpers": Change(
        f"{HELPER}@kernel\ndef other(x):\n    return x + 7\na, b, c = change, other, change\n",
        "change, other, change",
        "change, other, other",
        "from part import a, b, c",
        "return a(x) * 10000 + b(x) * 100 + c(x)",
        (51105, 51111),
    ),
    "order of an array": Change(
        "N = np.zeros((2, 2))\n", "2))", "2), order='F')", "from part import N", "return x + N.flags.c_contiguous", (5, 4)
    ),
    "sign of nothing": Change(
        "N = float('nan')\n", "float", "-float", "from part import N", "return math.copysign(x, N)", (4.0, -4.0)
    ),
    "third level": Change(
        f"{HELPER}@kernel\ndef middle(x):\n    return change(x) * 2\n@kernel\ndef outer(x):\n    return middle(x)\n",
        "+ 1",
        "+ 2",
        "from part import outer",
        "return outer(x)",
        (10, 12),
    ),
    "constant": Change("N = 10\n", "10", "20", "from part import N", "return x * N", (40, 80)),
    "constants that change places": Change(
        "N, M = 10, 3\n", "10, 3", "3, 10", "from part import M, N", "return x * N - M", (37, 2)
    ),
    "text": Change('N = "ab"\n', "ab", "abc", "from part import N", "return x * len(N)", (8, 12)),
    "bytes": Change('N = b"a"\n', "a", "b", "from part import N", "return x * N[0]", (388, 392)),
    "complex": Change("N = 1 + 0j\n", "1 +", "2 +", "from part import N", "return (x * N).real", (4.0, 8.0)),
    "last digit": Change("N = 0.1\n", "0.1", "0.1000000001", "from part import N", "return x * N", (0.4, 0.4000000004)),
    "number of NumPy": Change("N = np.uint8(7)\n", "7", "8", "from part import N", "return x + N", (11, 12)),
    "type of a number of NumPy": Change(
        "N = np.uint8(200)\n", "uint8", "uint16", "from part import N", "return np.array([N])[:1].itemsize + x", (5, 6)
    ),
    "array": Change("N = np.array([7, 0])\n", "0]", "3]", "from part import N", "return x + N[1]", (4, 7)),
    "type of an array": Change("N = np.array([7], np.int64)\n", "int", "uint", "from part import N", "return x + N[0]", (11, 11)),
    "shape of an array": Change("N = np.zeros((2, 0))\n", "(2,", "(3,", "from part import N", "return x + N.shape[0]", (6, 7)),
    "tuple of arrays": Change(
        "N = (np.arange(2000), np.array([0.1]))\n",
        "0.1",
        "0.1000000001",
        "from part import N",
        "return x * N[1][0]",
        (0.4, 0.4000000004),
    ),
    "dtype": Change("T = np.int8\n", "int8", "int16", "from part import T", "return x + np.zeros(1, T).itemsize", (5, 6)),
    "function of a library": Change("R = math.floor\n", "floor", "ceil", "from part import R", "return R(x + 0.5)", (4, 5)),
    "function of NumPy": Change("R = np.floor\n", "floor", "ceil", "from part import R", "return R(x + 0.5)", (4.0, 5.0)),
    "inner function": Change(
        "N = 10\n", "10", "20", "from part import N", "def inner(y):\n        return y * N\n    return inner(x)", (40, 80)
    ),
    "comprehension": Change(
        f"N = 10\n{HELPER}", "10", "20", "from part import N", "return sum([N * k for k in range(x)])", (60, 120)
    ),
    "default": Change(
        "@kernel\ndef change(x, y=1):\n    return x + y\n", "y=1", "y=2", "from part import change", "return change(x)", (5, 6)
    ),
    "order of fields": Change(PAIR, "a: int\n    b", "b: int\n    a", "from part import Pair", "return Pair(x, 1).a", (4, 1)),
    "intrinsic": Change(INTRINSIC, "N = 5", "N = 6", "from part import number", "return x + number(x)", (9, 10)),
    "name in a module": Change("N = 10\n", "10", "20", "import part", "return x * part.N", (40, 80)),
    "enumeration": Change(
        "import enum\nclass Kind(enum.IntEnum):\n    ONE = 1\nN = Kind.ONE\n",
        "= 1",
        "= 2",
        "from part import N",
        "return x + N",
        (5, 6),
    ),
    "plain function": Change(
        "from numba.extending import register_jitable\n@register_jitable\ndef change(x):\n    return x + 1\n",
        "+ 1",
        "+ 2",
        "from part import change",
        "return change(x)",
        (5, 6),
    ),
    "closure": Change(
        "def make(n):\n    @kernel\n    def added(x):\n        return x + n\n    return added\nchange = make(1)\n",
        "make(1)",
        "make(2)",
        "from part import change",
        "return change(x)",
        (5, 6),
    ),
}


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_kernel_is_compiled_anew_when_anything_in_it_has_changed(code: Any, change: Change) -> None:
    caller = f"{HEAD}{change.imports}\n@kernel\ndef call(x):\n    {change.body}\n"
    before, after = change.part, change.part.replace(change.old, change.new)
    assert before != after
    for part, result in zip((before, after), change.results, strict=True):
        code.write(caller=caller, part=HEAD + part)
        assert code.call(4) == (pytest.approx(result, rel=1e-15), 0)
        assert code.call(4) == (pytest.approx(result, rel=1e-15), 1)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("old", "new", "result"), [("x + 1", "x + 2", 6), ("x + 1", "x - 1", 3), ("x + 1", "min(x, 1)", 1), ("(x)", "(x, y=0)", 5)]
)
def test_a_kernel_is_compiled_anew_when_its_own_code_has_changed(code: Any, old: str, new: str, result: int) -> None:
    caller = f"{HEAD}@kernel\ndef call(x):\n    return x + 1\n"
    code.write(caller=caller)
    assert code.call(4) == (5, 0)
    code.write(caller=caller.replace(old, new))
    assert code.call(4) == (result, 0)


@pytest.mark.usefixtures("kept")
def test_fields_that_change_places_are_another_argument(code: Any) -> None:
    caller = (
        f"{HEAD}from part import Pair\n@kernel\ndef take(pair):\n    return pair.a\ndef call(x):\n    return take(Pair(a=x, b=1))\n"
    )
    caller += "call.stats = take.stats\n"
    code.write(caller=caller, part=PAIR)
    assert code.call(4) == (4, 0)
    assert code.call(4) == (4, 1)
    code.write(part=PAIR.replace("a: int\n    b", "b: int\n    a"))
    assert code.call(4) == (4, 0)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize("second", [PAIR, PAIR.replace("a: int\n    b", "b: int\n    a")], ids=["alike", "swapped"])
def test_named_tuples_of_one_name_are_two_arguments(code: Any, second: str) -> None:
    caller = f"{HEAD}import first, second\n@kernel\ndef take(pair):\n    return pair, pair.a\n"
    caller += "def call(k):\n    return take((first, second)[k].Pair(a=7, b=1))\ncall.stats = take.stats\n"
    code.write(caller=caller, first=PAIR, second=second)
    found = [code.call(k) for k in (0, 1, 0, 1)]
    assert [(type(pair).__module__, a, hits) for (pair, a), hits in found] == [
        ("first", 7, 0),
        ("second", 7, 0),
        ("first", 7, 1),
        ("second", 7, 1),
    ]


def kept_files_in(kept: Path) -> int:
    return len(list(kept.rglob("*.nbc")))


def test_a_kernel_that_is_given_another_one_works_and_is_not_kept(code: Any, kept: Path) -> None:
    caller = f"{HEAD}from part import change\n@kernel\ndef take(f, x):\n    return f(x)\n"
    caller += "def call(x):\n    return take(change, x)\ncall.stats = take.stats\n"
    code.write(caller=caller, part=HEAD + HELPER)
    assert [code.call(4), code.call(4)] == [(5, 0), (5, 0)]
    assert not [path for path in kept.rglob("*.nbc") if "take" in path.name]


def test_a_closure_works_and_is_not_kept(code: Any, kept: Path) -> None:
    code.write(caller=f"{HEAD}def make(n):\n    @kernel\n    def call(x):\n        return x + n\n    return call\ncall = make(3)\n")
    assert [code.call(4), code.call(4)] == [(7, 0), (7, 0)]
    assert not kept_files_in(kept)


@pytest.mark.usefixtures("kept")
def test_a_default_that_is_not_equal_to_itself_is_never_taken_from_the_disk(code: Any) -> None:
    caller = f"{HEAD}@kernel\ndef fill(x, y=math.nan):\n    return x\n@kernel\ndef first(x):\n    return fill(x)\n"
    caller += "@kernel\ndef second(x):\n    return fill(x) + 1\n"
    caller += "def call(k):\n    return (first, second, fill)[k](4)\ncall.stats = fill.stats\n"
    code.write(caller=caller)
    assert [code.call(k)[0] for k in (0, 1, 2, 2, 0)] == [4, 5, 4, 4, 4]


def test_types_that_look_alike_are_told_apart() -> None:
    values = [
        1,
        np.int32(1),
        1.0,
        True,
        None,
        "a",
        (1, 1),
        (1, 1, 1),
        (1, 1.0),
        ((1, 1), 1),
        (1, (1, 1)),
        np.zeros(1),
        np.zeros((1, 1)),
        np.zeros((2, 2)).T,
        np.zeros(4)[::2],
        np.zeros(1, np.float32),
        np.zeros(1, bool),
        (np.zeros(1), 1),
    ]
    frozen = np.zeros(1)
    frozen.setflags(write=False)
    described = [_describe((numba.typeof(value),)) for value in [*values, frozen]]
    assert len(set(described)) == len(described)
    assert not [text for text in described if " at 0x" in text]


def test_options_and_versions_of_numba_are_told_apart(code: Any, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code.write(caller=f"{HEAD}@kernel\ndef call(x):\n    return x[0]\n")
    numbers = np.arange(3)
    assert code.call(numbers) == (0, 0)
    for name, value in (("BOUNDSCHECK", 1), ("OPT", 0), ("DEBUGINFO_DEFAULT", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(f"numba.core.config.{name}", value)
            assert code.call(numbers) == (0, 0), name
    monkeypatch.setattr(numba, "__version__", "0.0")
    assert code.call(numbers) == (0, 0)
    assert kept_files_in(kept) == 4  # one for each of the options; what another version kept is written over


def test_another_python_and_another_processor_are_told_apart(code: Any, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code.write(caller=f"{HEAD}@kernel\ndef call(x):\n    return x + 1\n")
    assert [code.call(4), code.call(4)] == [(5, 0), (5, 1)]
    with monkeypatch.context() as patch:
        patch.setattr(kept_files, "sys", SimpleNamespace(version_info=(3, 99), abiflags=""))
        assert [code.call(4), code.call(4)] == [(5, 0), (5, 1)]
    with monkeypatch.context() as patch:
        triple, _, features = JITCPUCodegen("here").magic_tuple()
        patch.setattr(JITCPUCodegen, "magic_tuple", lambda self: (triple, "another processor", features))
        assert [code.call(4), code.call(4)] == [(5, 0), (5, 1)]
    assert code.call(4) == (5, 1)
    assert kept_files_in(kept) == 3


def test_a_division_by_zero_is_not_taken_from_a_kernel_that_allows_it() -> None:
    def divide(a: float, b: float) -> float:
        return a / b

    with pytest.raises(ZeroDivisionError):
        kernel(divide)(1.0, 0.0)
    assert kernel(error_model="numpy")(divide)(1.0, 0.0) == float("inf")
    with pytest.raises(ZeroDivisionError):
        kernel(divide)(1.0, 0.0)


def test_every_kernel_of_the_package_is_kept() -> None:
    kernels = {}
    for found in pkgutil.walk_packages(pipeline.__path__, "pipeline."):
        if not found.name.endswith("__main__"):
            members = vars(importlib.import_module(found.name)).values()
            kernels |= {id(value): value.py_func for value in members if isinstance(value, Kernel)}
    assert len(kernels) > 100
    assert all(plain.__closure__ is None for plain in kernels.values())
    assert all(digest_sources(plain.__module__, plain.__code__.co_filename) for plain in kernels.values())


PACKAGE = {
    "__init__": "",
    "far": "N = 1\n",
    "near": "def f():\n    from made.far import N\n",
    "hot": "from pipeline.compiled import kernel\nimport json, made.near as near\nfrom made.deep import \\\n    est\n",
    "cold": "M = 1\n",
    "deep/__init__": "",
    "deep/est/__init__": "L = 1\n",
}


@pytest.mark.parametrize(
    ("changed", "is_other"), [("far", True), ("near", True), ("hot", True), ("deep/est/__init__", True), ("cold", False)]
)
def test_a_file_counts_that_is_imported_from_directly_or_through_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: str, is_other: bool
) -> None:
    package = tmp_path / "made"
    for name, text in PACKAGE.items():
        (package / f"{name}.py").parent.mkdir(parents=True, exist_ok=True)
        (package / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    hot = str(package / "hot.py")
    assert digest_sources("made.hot", hot) is None, "written since this process began: it may have imported other text before"
    forget_sources()
    before = digest_sources("made.hot", hot)
    (package / f"{changed}.py").write_text(PACKAGE[changed] + "# changed\n")
    assert digest_sources("made.hot", hot) == (None if changed == "hot" else before)  # this process has what it has
    forget_sources()
    assert before is not None
    assert (digest_sources("made.hot", hot) != before) is is_other


@pytest.mark.parametrize(
    "text",
    [
        "import a.b\n",
        "x = 1; import a.b\n",
        "if x: import a.b as c\n",
        "from a import (\n    other,  # (b) comes next\n    b,\n)\n",
        "from a import other, \\\n    b\n",
        "from a \\\n    import b\n",
        "def f():\n    from a import b\n",
        '"""\nimport what you like\n"""\nimport a.b\n',
    ],
)
def test_an_import_is_found_however_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    package = tmp_path / "a"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "b.py").write_text("N = 1\n")
    (package / "hot.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    forget_sources()
    before = digest_sources("a.hot", str(package / "hot.py"))
    assert before is not None
    (package / "b.py").write_text("N = 2\n")
    forget_sources()
    assert digest_sources("a.hot", str(package / "hot.py")) != before


def test_what_has_no_file_is_not_kept(tmp_path: Path) -> None:
    assert digest_sources("shell", "<stdin>") is None
    assert digest_sources("zipped", str(tmp_path / "all.zip" / "zipped.py")) is None
