"""What messages advise, read from the source: every text that may become the help of a `Problem`, braces for what is put in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "pipeline"
_HELP_PLACE = 3
"""Where the help stands among the arguments of a `Problem`."""
_SUGGESTERS = {"suggest", "meant"}
"""Functions that name what is alike, or all there is, or say what is ``otherwise`` to be done."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class _Module:
    def __init__(self, path: Path) -> None:
        self.name = path.relative_to(PACKAGE).with_suffix("").as_posix()
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.nodes: list[ast.AST] = [self.tree]
        self._above: dict[ast.AST, ast.AST] = {}
        self._within: dict[ast.AST, list[ast.AST]] = {self.tree: self.nodes}
        for node in self.nodes:  # which grows
            for inner in ast.iter_child_nodes(node):
                self.nodes.append(inner)
                self._above[inner] = node
        self.calls = [node for node in self.nodes if isinstance(node, ast.Call)]
        self.functions = {node.name: node for node in self.nodes if isinstance(node, Function)}

    def within(self, place: ast.AST) -> list[ast.AST]:
        """Return what is in the module, or in a function."""
        if place not in self._within:
            self._within[place] = list(ast.walk(place))
        return self._within[place]

    def around(self, node: ast.AST) -> Function | None:
        """Return the innermost function around a node."""
        above = self._above.get(node)
        return above if above is None or isinstance(above, Function) else self.around(above)

    def helps(self) -> Iterator[ast.expr]:
        """Yield what is given as the help of a problem."""
        for node in self.calls:
            name = ast.unparse(node.func)
            if name == "Problem" and len(node.args) > _HELP_PLACE:
                yield node.args[_HELP_PLACE]
            # Below the command line, whose options have a help of their own, what is called so is handed on to a problem.
            if name in {"Problem", "replace"} or name.endswith((".of", "Error")) or not self.name.startswith("cli/"):
                yield from (keyword.value for keyword in node.keywords if keyword.arg in {"help", "help_"})

    def texts(self, node: ast.expr | None, seen: frozenset[ast.AST] = frozenset()) -> Iterator[str]:
        """Yield what an expression may be."""
        if node is None or node in seen:
            return
        seen |= {node}
        match node:
            case ast.Constant(value=str(text)):
                yield text
            case ast.Constant():
                return
            case ast.JoinedStr(values=parts):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
            case ast.IfExp(body=body, orelse=other):
                yield from self.texts(body, seen)
                yield from self.texts(other, seen)
            case ast.BoolOp(op=op, values=values):
                for value in values[-1:] if isinstance(op, ast.And) else values:
                    yield from self.texts(value, seen)
            case ast.NamedExpr(value=value) | ast.Starred(value=value) | ast.Subscript(value=value):
                yield from self.texts(value, seen)
            case ast.Dict(values=values) | ast.Tuple(elts=values) | ast.List(elts=values):
                for value in values:
                    yield from self.texts(value, seen)
            case ast.BinOp(left=left, right=right):
                lefts, rights = list(self.texts(left, seen)), list(self.texts(right, seen))
                yield from (one + other for one in lefts for other in rights)
            case ast.Call(func=ast.Attribute(value=value, attr="format")):
                for text in self.texts(value, seen):
                    yield re.sub(r"\{\d*\}", "{}", text).replace("{{", "{").replace("}}", "}")
            case ast.Call(func=ast.Attribute(value=value, attr="get")):
                yield from self.texts(value, seen)
            case ast.Call(func=ast.Name(id=name), keywords=keywords) if name in _SUGGESTERS:
                yield "did you mean {}"
                yield from (text for word in keywords if word.arg == "otherwise" for text in self.texts(word.value, seen))
            case ast.Call(func=ast.Name(id=name)) if name in self.functions:
                for inner in self.within(self.functions[name]):
                    if isinstance(inner, ast.Return):
                        yield from self.texts(inner.value, seen)
            case ast.Name(id=name):
                yield from self._values(node, name, seen)
            case ast.Attribute(attr="help"):  # of another problem, which has it from where it was made
                return
            case _:
                yield f"<{ast.unparse(node)}>"

    def _values(self, node: ast.expr, name: str, seen: frozenset[ast.AST]) -> Iterator[str]:
        """Yield what a name may stand for: what is assigned to it around it, or given to its function, or to the module's own."""
        function = self.around(node)
        found = False
        for place in (*((function,) if function else ()), self.tree):
            whole: list[str] = []
            for inner in self.within(place):
                for value in _assigned(inner, name):
                    found = True
                    whole += self.texts(value, seen)
            more, always = _added(self.within(place), name) if whole else ([], False)
            added = [text for value in more for text in self.texts(value, seen)]
            yield from whole if not always else ()
            yield from (text + one for text in whole for one in added)
            if found:
                return
            if place is function and function is not None:
                given = list(self._given(function, name))
                for value in given:
                    yield from self.texts(value, seen)
                if given or name in _parameters(function):
                    return  # what other modules give it is found there
        constants = list(_elsewhere(name)) if name.isupper() else []
        yield from constants or [f"<{name}>"]

    def _given(self, function: Function, name: str) -> Iterator[ast.expr]:
        arguments = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
        if name not in _parameters(function):
            return
        for call in self.calls:
            if function.name in {getattr(call.func, "id", None), getattr(call.func, "attr", None)}:
                yield from (keyword.value for keyword in call.keywords if keyword.arg == name)
                places = [one for one in arguments if one != "self"]
                if name in places and places.index(name) < len(call.args):
                    yield call.args[places.index(name)]


def _parameters(function: Function) -> set[str]:
    return {one.arg for one in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}


def _added(nodes: list[ast.AST], name: str) -> tuple[list[ast.expr], bool]:
    """Return what is added to a name, and whether it is in any case: where it is assigned."""
    added: list[ast.expr] = []
    always = False
    for block in nodes:
        for field in ("body", "orelse"):
            body = getattr(block, field, [])
            body = body if isinstance(body, list) else []
            found = [node.value for node in body if isinstance(node, ast.AugAssign) and ast.unparse(node.target) == name]
            added += found
            always |= bool(found) and any(True for node in body for _ in _assigned(node, name))
    return added, always


@cache
def _elsewhere(name: str) -> tuple[str, ...]:
    """Return what a constant of the package is that a module imports."""
    modules = [_Module(path) for path in sorted(PACKAGE.rglob("*.py")) if f"\n{name} = " in path.read_text(encoding="utf-8")]
    return tuple(text for one in modules for node in one.tree.body for value in _assigned(node, name) for text in one.texts(value))


def _assigned(node: ast.AST, name: str) -> Iterator[ast.expr]:
    match node:
        case ast.Assign(targets=[target], value=value):
            yield from _paired(target, value, name)
        case ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value) if found == name:
            yield value
        case ast.NamedExpr(target=ast.Name(id=found), value=value) if found == name:
            yield value
        case ast.For(target=target, iter=ast.Tuple(elts=values)) | ast.For(target=target, iter=ast.List(elts=values)):
            for value in values:
                yield from _paired(target, value, name)


def _paired(target: ast.expr, value: ast.expr, name: str) -> Iterator[ast.expr]:
    if isinstance(target, ast.Name) and target.id == name:
        yield value
    elif isinstance(target, ast.Tuple):
        for place, inner in enumerate(target.elts):
            if isinstance(inner, ast.Name) and inner.id == name:
                pairs = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
                for pair in pairs:
                    yield pair.elts[place] if isinstance(pair, ast.Tuple) and place < len(pair.elts) else pair


@cache
def list_advices() -> tuple[tuple[str, str], ...]:
    """Return the modules of the package and what their problems advise."""
    found: dict[tuple[str, str], None] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if not re.search(r"\bhelp_?=|Problem\(", source):
            continue
        module = _Module(path)
        for node in module.helps():
            found.update(((module.name, text), None) for text in module.texts(node) if text)
    return tuple(found)
