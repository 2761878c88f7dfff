"""Shell templates: put values into a command so that the shell never reads one as anything but a single word.

A value is quoted with `shlex.quote`, which is safe where the shell reads a plain word, and only there: within quotes of the
template the quotes around the value would end them. So the template is read as the shell reads it, and a placeholder that
stands anywhere else is refused. What is too intricate to be sure about is refused too: it belongs in a script.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping

from pipeline.dataclass import dataclass, field

__all__ = ["ANYWHERE", "Placeholder", "fill_template", "parse_template"]

ANYWHERE = frozenset({"seed"})
"""Placeholders for a whole number: digits mean the same within quotes and without."""

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_WHERE = {
    "single": "within '…' quotes",
    "double": 'within "…" quotes',
    "backtick": "within `…`",
    "arithmetic": "within $((…))",
    "inner": "within $((…))",
    "parameter": "within ${…}",
    "comment": "within a comment",
    "here": "after <<",
}


@dataclass(frozen=True)
class Placeholder:
    """The place of a value in a template."""

    name: str


def fill_template(pieces: Collection[str | Placeholder], values: Mapping[str, str]) -> str:
    r"""Return the command with every value as one word of the shell.

    Examples
    --------
    >>> fill_template(parse_template("wc -l < {input}", known=("input",)), {"input": "/tmp/it's; rm *"})
    'wc -l < \'/tmp/it\'"\'"\'s; rm *\''
    """
    return "".join(piece if isinstance(piece, str) else shlex.quote(values[piece.name]) for piece in pieces)


def parse_template(template: str, *, known: Collection[str]) -> tuple[str | Placeholder, ...]:
    """Return the text of a template and the placeholders in it, in order.

    Raises
    ------
    ValueError
        Where a placeholder is not known or stands where a value could not be quoted, a brace stands alone, or a quote is open.

    Examples
    --------
    >>> parse_template("awk '{{print $1}}' {input}", known=("input",))
    ("awk '{print $1}' ", Placeholder(name='input'))
    """
    if "\0" in template:
        raise ValueError("a command cannot hold the character NUL")
    if re.search(r"\bcase\b", template) and "$(" in template:
        raise ValueError("'case' beside $(…) is more than can be read here with certainty: put it in a script")
    if re.search(r"\b(eval|let)\b", template):
        raise ValueError("'eval' and 'let' read their words once more, without the quotes of values: put them in a script")
    if re.search(r"[$(<#`\\]\\\n", template):
        raise ValueError("a line is continued in the middle of a sign of the shell: break it at a space")
    scan = _Scan(template, known)
    while scan.at < len(template):
        scan.step()
    scan.close()
    return tuple(scan.pieces)


@dataclass
class _Scan:
    """Reads a template as the shell does: ``stack`` holds what is open, the innermost last."""

    template: str
    known: Collection[str]
    at: int = 0
    stack: list[str] = field(default_factory=lambda: ["plain"])
    pieces: list[str | Placeholder] = field(default_factory=list)
    before: str = "\n"  # the character read last; a continued line is none
    escaped: bool = False  # by a backslash

    def step(self) -> None:
        """Read one placeholder or one character."""
        rest = self.template[self.at :]
        if rest[:2] in ("{{", "}}"):
            self._read(rest[0], 2, rest[2:])
        elif found := _PLACEHOLDER.match(rest):
            self._place(found[1])
            self.at += found.end()
        elif rest[0] in "{}":
            raise ValueError(f"a single {rest[0]!r} at {rest[:20]!r}: write {rest[0] * 2!r} for a brace of the shell")
        else:
            self._read(rest[0], 1, rest[1:])

    def close(self) -> None:
        """Refuse what is still open at the end."""
        open_ = [_WHERE[context] for context in self.stack if context in _WHERE and context not in ("comment", "here")]
        if open_ and "here" not in self.stack:
            raise ValueError(f"the command ends {open_[-1]}: something is not closed")

    def _place(self, name: str) -> None:
        shown = "{" + name + "}"
        if name not in self.known:
            there_are = ", ".join("{" + one + "}" for one in self.known)
            raise ValueError(f"there is no placeholder {shown} (there are: {there_are}); braces of the shell are doubled")
        if self.before == "$" and not self.escaped:
            raise ValueError(f"'${shown}' looks like a variable of the shell: write {shown}, or ${{{{{name}}}}} for the variable")
        if name not in ANYWHERE:
            place = next((_WHERE[context] for context in self.stack if context in _WHERE), "after \\" if self.escaped else None)
            if place:
                raise ValueError(f"{shown} stands {place}, where its value could not be quoted: write it as a bare word")
        self.pieces.append(Placeholder(name))
        self.before, self.escaped = "x", False

    def _read(self, character: str, width: int, rest: str) -> None:
        context, escaped = self.stack[-1], self.escaped
        self._text(character)
        self.at += width
        self.escaped = False
        if context == "single":
            self._close_on(character == "'")
        elif context == "comment":
            self._close_on(character == "\n")
        elif escaped:
            pass
        elif character == "\\":
            self.escaped = True
        elif context == "backtick":
            self._close_on(character == "`")
        elif character == "`":
            self.stack.append("backtick")
        elif character == "$":
            self._dollar(rest)
        elif context in ("arithmetic", "inner"):
            self._arithmetic(character, rest)
        elif character == '"':
            if context == "double":
                self.stack.pop()
            else:
                self.stack.append("double")
        elif context != "double":
            self._bare(character, context, rest)
        if escaped and character != "\n":
            self.before = "x"
        elif not escaped and not self.escaped:
            last = self.pieces[-1]  # of a sign with several characters, as `$(`, the one that a comment may follow
            self.before = last[-1] if isinstance(last, str) else character

    def _dollar(self, rest: str) -> None:
        opening = next((sign for sign in ("((", "(", "{{", "'", '"') if rest.startswith(sign)), None)
        if opening in ("'", '"') and self.stack[-1] != "double":
            raise ValueError(f"${opening} does not mean the same in every shell: put it in a script")
        context = {"((": "arithmetic", "(": "parenthesis", "{{": "parameter"}.get(opening or "")
        if context and opening:
            self._text(opening[0] if opening == "{{" else opening)
            self.at += len(opening)
            self.stack.append(context)

    def _arithmetic(self, character: str, rest: str) -> None:
        if character in "'\"":
            raise ValueError("a quote within $((…)) does not mean the same in every shell: leave it out")
        if character == "(":
            self.stack.append("inner")
        elif character == ")" and self.stack[-1] == "inner":
            self.stack.pop()
        elif character == ")":
            if not rest.startswith(")"):
                raise ValueError("$(( is not closed by )): write $( ( for a subshell")
            self._text(")")
            self.at += 1
            self.stack.pop()

    def _bare(self, character: str, context: str, rest: str) -> None:
        if character == "'":
            if context == "parameter" and "double" in self.stack:
                raise ValueError('a \' within "${…}" does not mean the same in every shell: put it in a script')
            self.stack.append("single")
        elif character == "}" and context == "parameter":
            self.stack.pop()
        elif character == "#" and self.before in " \t\n;&|()<>":
            self.stack.append("comment")
        elif character == "&" and self.before in "<>" and not re.match(r"(\d+|-)(?=[\s;|&)}]|$)", rest):
            raise ValueError("some shells read a name after >& twice: write '> name 2>&1'")
        elif character == "<" and rest.startswith("<"):
            self.stack.insert(0, "here")  # to the end: its text is no words of the shell
        elif character == "(" and rest.startswith("("):
            self._text("(")
            self.at += 1
            self.stack.append("arithmetic")
        elif character == "(":
            self.stack.append("parenthesis")
        elif character == ")" and context == "parenthesis":
            self.stack.pop()

    def _close_on(self, closes: bool) -> None:
        if closes:
            self.stack.pop()

    def _text(self, text: str) -> None:
        if self.pieces and isinstance(self.pieces[-1], str):
            self.pieces[-1] += text
        else:
            self.pieces.append(text)
