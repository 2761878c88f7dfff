"""Shell templates: whatever a value holds, the shell reads it as one word; and where it could not, the place is refused."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pipeline.trainers._template import Placeholder, fill_template, parse_template

KNOWN = ("input", "output", "seed")
SHELL_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=60)
BYTES_IN_NAMES = st.binary(max_size=40).map(lambda name: name.replace(b"\0", b"").decode("utf-8", "surrogateescape"))


def shell(command, cwd=None):
    return subprocess.run(
        ["/bin/sh", "-ec", command], capture_output=True, cwd=cwd, check=False, stdin=subprocess.DEVNULL, timeout=20
    )


@settings(max_examples=60, deadline=None)
@given(SHELL_TEXT | BYTES_IN_NAMES)
@example("$(touch x)`touch x`;touch x&|<>*?[]{}~!#'\"\\\n\t -rf")
@example("'")
@example("--help")
@example("")
def test_any_value_comes_through_the_shell_as_it_is(value):
    command = fill_template(parse_template("printf '%s|' a {input} b", known=KNOWN), {"input": value})
    assert shell(command).stdout == b"a|" + value.encode("utf-8", "surrogateescape") + b"|b|"


SIGNS = ["$(", "$((", "((", "))", "${{x:-", "}}", "{{ ", "; }}", "<<E\n", "\nE\n", "\\\n", "$'", '$"', ">& ", "# "]
WORDS = ["{input}", " {input} ", "echo ", ": ", "case a in a) ", ";; esac", "if true; then ", "; fi"]
PIECES = st.sampled_from([*"'\"`$()#;&|<>\\\n =x", *SIGNS, *WORDS])
TRAP = "a'\"`touch caught`\"'$(touch caught)\n touch caught #\\"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much])
@given(st.lists(PIECES, min_size=1, max_size=14).map("".join))
@example('echo "{input}"')
@example("echo '{input}'")
@example("echo `echo {input}`")
@example('echo "$(echo {input})"')
@example("cat <<E\n{input}\nE\n")
@example("echo $(( {input} ))")
@example("# {input}\n")
@example('x\\\n# " {input}')
@example("echo \\{input}")
@example('${{x:-"{input}"}}')
@example('"${{x:-"{input}"}}"')
@example("$\\\n(( {input} ))")
def test_no_template_that_is_taken_lets_a_value_be_run(tmp_path, template):
    try:
        pieces = parse_template(template, known=KNOWN)
    except ValueError:
        return
    shell(fill_template(pieces, {"input": TRAP}), cwd=tmp_path)
    assert not (tmp_path / "caught").exists()


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("cat '{input}'", "'…' quotes"),
        ('cat "{input}"', '"…" quotes'),
        ('cat "$(head -1 {input})"', '"…" quotes'),
        ("cat `ls {input}`", "within `…`"),
        ("cat <<E\n{input}\nE", "after <<"),
        ("true # {input}", "a comment"),
        ("echo $(# {input}\n)", "a comment"),
        ("echo $(#{input}\n)", "a comment"),
        ("echo $(( {input} ))", r"\$\(\(…\)\)"),
        ("echo ${{x:-{input}}}", r"\$\{…\}"),
        ("echo \\{input}", r"after \\"),
        ("echo ${input}", "looks like a variable of the shell"),
        ("echo {inptu}", r"no placeholder \{inptu\} \(there are: \{input\}, \{output\}, \{seed\}\)"),
        ("awk '{print}'", r"no placeholder \{print\}"),
        ("awk '{print $1}'", "a single '{'"),
        ("echo }", "a single '}'"),
        ("echo 'open", "not closed"),
        ('echo $(echo "open', "not closed"),
        ("echo $'a'", "not mean the same"),
        ("case $(ls) in a) cat {input};; esac", "put it in a script"),
        ("a\0b", "NUL"),
        ("eval cat {input}", "read their words once more"),
        ("cat >& {output}", "after >& twice"),
    ],
)
def test_a_placeholder_that_could_not_be_quoted_is_refused_with_the_place(template, says):
    with pytest.raises(ValueError, match=says):
        parse_template(template, known=KNOWN)


@pytest.mark.parametrize(
    ("template", "prints"),
    [
        ("printf %s {input}", "it's; $HOME"),
        ('printf %s "$(printf %s ok)" {input}', "okit's; $HOME"),
        ('x=$(printf %s {input}); printf %s "$x"', "it's; $HOME"),
        ("(printf %s {input})", "it's; $HOME"),
        ("{{ printf %s {input}; }}", "it's; $HOME"),
        ("printf %s --in={input}.x", "--in=it's; $HOME.x"),
        ('x=abc; printf %s "${{x#a}}" # a \'comment\nprintf %s {input}', "bcit's; $HOME"),
        ("printf '%s' 'seed={seed}' $(( {seed} % 10 ))", "seed=12344"),
        ("printf %s {input} 2>&1", "it's; $HOME"),
        ("printf %s a | awk '{{print $1}}'", "a\n"),
    ],
)
def test_what_a_template_may_say(template, prints):
    filled = fill_template(parse_template(template, known=KNOWN), {"input": "it's; $HOME", "seed": "1234"})
    assert shell(filled).stdout.decode() == prints


def test_placeholders_are_told_from_the_text_around_them():
    pieces = parse_template("fit {input} > {output}", known=KNOWN)
    assert pieces == ("fit ", Placeholder("input"), " > ", Placeholder("output"))
