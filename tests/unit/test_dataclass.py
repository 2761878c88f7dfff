"""Our decorator of frozen values is compared with that of the standard library, on small classes and on those of the package."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import threading
from collections.abc import Callable, Hashable
from dataclasses import KW_ONLY, FrozenInstanceError, InitVar
from functools import partial
from typing import Any, ClassVar, get_type_hints

import pytest

from pipeline.dataclass import dataclass, field
from pipeline.interfaces import analyses, charts, figures
from pipeline.plan import task
from pipeline.report import document

THEIRS = dataclasses.dataclass


def make_classes(decorator: Any) -> dict[str, Any]:
    """The same classes by one decorator or the other."""

    @decorator(frozen=True)
    class Plain:
        """Plain."""

        shared: ClassVar[list[int]] = []
        first: int
        second: str = "two"
        many: dict[str, int] = field(default_factory=dict)
        quiet: int = field(default=3, repr=False, compare=False)
        hashed: int = field(default=4, hash=False)
        counted: int = field(init=False, default=5)
        made: list[int] = field(init=False, default_factory=list, compare=False)

    @decorator(frozen=True, slots=True)
    class Slots:
        """Slots."""

        first: int
        second: tuple[int, ...] = ()
        third: int = field(init=False, default=7)
        fourth: tuple[int, ...] = field(default_factory=tuple)

    @decorator(frozen=True, eq=False)
    class Unequal:
        """Unequal."""

        first: int

    @decorator(frozen=True)
    class Own:
        """With methods of its own."""

        first: int

        def __post_init__(self) -> None:
            if self.first < 0:
                raise ValueError("negative")

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self))

        def __hash__(self) -> int:
            return 11

    @decorator(frozen=True)
    class OwnEqual:
        """Equal by a method of its own, and hashed by its fields."""

        first: int

        def __eq__(self, other: object) -> bool:
            return True

    @decorator(frozen=True)
    class None_:
        """No field."""

    @decorator(frozen=True)
    class Hashed:
        """Hashed by one field of two."""

        first: int
        second: str = field(default="two", hash=False)

    @decorator(frozen=True)
    class Child(Plain):
        """Derived."""

        last: int = 9

    return {cls.__doc__: cls for cls in (Plain, Slots, Unequal, Own, OwnEqual, None_, Hashed, Child)}


OURS_BY_DOC, THEIRS_BY_DOC = make_classes(dataclass), make_classes(THEIRS)
ARGUMENTS = [(), (1,), (2, "b"), (2, "b", {"x": 1}), (1, "two", {}, 8), (1, "two", {}, 3, 8), (-1,), (1, 2, 3, 4, 5, 6, 7), ([],)]


def attempt(call: Any) -> tuple[str, Any]:
    """What a call gives, or with what it is refused."""
    try:
        return "gives", call()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("doc", OURS_BY_DOC)
def test_values_behave_as_those_of_the_standard_library(doc: str) -> None:
    ours, theirs = OURS_BY_DOC[doc], THEIRS_BY_DOC[doc]
    assert (ours.__setattr__.__module__ == "pipeline.dataclass") is (doc != "Derived.")
    names = [each.name for each in dataclasses.fields(theirs)]
    assert [each.name for each in dataclasses.fields(ours)] == names
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__init__.__qualname__ == theirs.__init__.__qualname__
    values: list[tuple[Any, Any]] = []
    for given in ARGUMENTS:
        (ending, mine), (expected, their) = attempt(lambda given=given: ours(*given)), attempt(lambda given=given: theirs(*given))
        assert ending == expected
        if ending != "gives":
            assert mine == their
            continue
        values.append((mine, their))
        assert [getattr(mine, name) for name in names] == [getattr(their, name) for name in names]
        assert repr(mine) == repr(their) or doc == "Unequal."
        assert attempt(partial(hash, mine)) == attempt(partial(hash, their)) or doc == "Unequal."
        for name in [*names, "other"] if doc != "Slots." else names:  # of another, Python 3.11 has an error of its own
            assert attempt(partial(setattr, mine, name, 1)) == attempt(partial(setattr, their, name, 1))
            assert attempt(partial(delattr, mine, name)) == attempt(partial(delattr, their, name))
        assert mine.__eq__(their) is their.__eq__(mine) or doc.startswith(("Equal by", "With"))
        assert dataclasses.asdict(mine) == dataclasses.asdict(their)
    assert values
    assert [[a == b for b, _ in values] for a, _ in values] == [[a == b for _, b in values] for _, a in values]


def odd_classes(decorator: Any) -> dict[str, Callable[[], Any]]:
    """What makes a class whose fields are not parameters one after the other."""

    def by_keyword() -> Any:
        @decorator(frozen=True)
        class Odd:
            first: int = field(kw_only=True)
            second: int = 2

        return Odd(first=1)

    def after_a_mark() -> Any:
        @decorator(frozen=True)
        class Odd:
            first: int = 1
            _: KW_ONLY
            second: int

        return Odd(second=2)

    def for_the_end_alone() -> Any:
        @decorator(frozen=True)
        class Odd:
            first: int
            more: InitVar[int] = 4

            def __post_init__(self, more: int) -> None:
                object.__setattr__(self, "first", self.first + more)

        return Odd(1, 2)

    def misplaced() -> Any:
        @decorator(frozen=True)
        class Odd:
            first: int = 1
            second: int  # type: ignore[misc]

        return Odd

    def called_self() -> Any:
        @decorator(frozen=True)
        class Odd:
            self: int

        return Odd(1)

    return {each.__name__: each for each in (by_keyword, after_a_mark, for_the_end_alone, misplaced, called_self)}


@pytest.mark.parametrize("name", odd_classes(THEIRS))
def test_odd_fields_are_those_of_the_standard_library(name: str) -> None:
    (ending, ours), (expected, theirs) = attempt(odd_classes(dataclass)[name]), attempt(odd_classes(THEIRS)[name])
    assert ending == expected
    if ending != "gives":
        assert ours == theirs
        return
    assert repr(ours) == repr(theirs)
    assert str(inspect.signature(type(ours))) == str(inspect.signature(type(theirs)))


def test_annotations_of_a_signature_can_be_looked_up() -> None:
    found = get_type_hints(task.Receipt.__init__)
    assert found.pop("return") is type(None)
    assert found == get_type_hints(task.Receipt)
    assert inspect.signature(task.Receipt, eval_str=True).parameters["kind"].annotation == task.Kind


def test_methods_that_are_made_are_no_longer_abstract() -> None:
    @dataclass(frozen=True)
    class Hashed(Hashable):
        first: int

    assert hash(Hashed(1)) == hash(Hashed(1))


def test_what_shows_itself_within_itself_ends() -> None:
    value = OURS_BY_DOC["Plain."](1)
    value.many["self"] = value
    assert "..." in repr(value)


def test_subclasses_that_are_no_dataclasses_may_have_more() -> None:
    for made in (OURS_BY_DOC, THEIRS_BY_DOC):
        child: Any = type("Sub", (made["Plain."],), {})(1)
        child.more = 2
        del child.more
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'first'"):
            child.first = 2
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'first'"):
            del child.first


@dataclass(frozen=True)
class Kept:
    """A value that a file of pickled objects may hold."""

    first: int
    many: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptSlots:
    """The same with slots."""

    first: int
    many: tuple[int, ...] = ()


@pytest.mark.parametrize("kind", [Kept, KeptSlots])
def test_values_come_back_before_any_was_made(kind: type) -> None:
    # A worker that is sent a value may never have called its class.
    value = kind(1, (2,))
    text = pickle.dumps(value)
    fresh = make_fresh(kind)
    again = pickle.loads(text.replace(kind.__qualname__.encode(), fresh.__qualname__.encode()))
    assert type(again) is fresh
    assert repr(again) == f"{fresh.__qualname__}(first=1, many=(2,))"
    assert again == fresh(1, (2,))
    assert hash(again) == hash(value)
    assert dataclasses.replace(again, first=3) == fresh(3, (2,))
    assert copy.deepcopy(value) == copy.copy(value) == value


def test_slots_are_set_without_being_looked_up_by_name() -> None:
    filled: Any = KeptSlots.__init__
    setters = dict(zip(filled.__code__.co_freevars, (cell.cell_contents for cell in filled.__closure__), strict=True))
    assert "_set" not in setters
    assert setters["_set_many"] == KeptSlots.__dict__["many"].__set__


def make_fresh(kind: type) -> type:
    """A class with the same fields, of a name as long, of which no value was made."""
    name = kind.__qualname__[:-1] + "_"
    made = type(name, (), {"__annotations__": dict(kind.__annotations__), "many": (), "__module__": __name__, "__doc__": "Fresh."})
    globals()[name] = dataclass(frozen=True, slots=hasattr(kind, "__slots__"))(made)
    return globals()[name]  # type: ignore[no-any-return]


def test_threads_that_make_the_first_value_together() -> None:
    for _ in range(50):
        cls = make_classes(dataclass)["Plain."]
        start, made = threading.Barrier(4), []

        def make(cls: Any = cls, start: Any = start, made: Any = made) -> None:
            start.wait()
            made.append(cls(1).first)

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [1] * 4


@pytest.mark.parametrize("module", [document, task, analyses, figures, charts])
def test_signatures_of_the_package_are_those_of_the_standard_library(module: Any) -> None:
    kinds = [each for each in vars(module).values() if isinstance(each, type) and dataclasses.is_dataclass(each)]
    ours = [each for each in kinds if each.__module__ == module.__name__ and each.__dataclass_params__.frozen]  # type: ignore[attr-defined]
    assert len(ours) > 1
    for each in ours:
        own = [(known.name, known.type, copy.copy(known)) for known in dataclasses.fields(each)]
        assert str(inspect.signature(each)) == str(inspect.signature(dataclasses.make_dataclass("Twin", own, frozen=True)))
