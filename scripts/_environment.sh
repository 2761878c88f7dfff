# Makes this checkout's virtual environment, once; sourced by the other scripts.
# shellcheck shell=bash
#
#   make_environment [INTERPRETER]      sets VENV to the directory of an environment with the package, the reference systems and tools
#   choose_interpreter VARIABLE         sets INTERPRETER to what VARIABLE names, which has the package already, or to that of VENV
#   run_module VARIABLE MODULE …        becomes a module of this folder, run by that interpreter, its arithmetic on one thread
#
# PYTHON names the interpreter, otherwise it is the first of python3.13, python3.12, python3.11, python3 that will do.

# Where this is set every process that a test starts compiles the package again, and pytest rewrites the assertions of all tests.
unset PYTHONDONTWRITEBYTECODE

ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '==> %s\n' "$*" >&2; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 2
}

is_usable() { # a name on PATH may be a shim that only says which versions exist: run it
  command -v -- "$1" >/dev/null 2>&1 &&
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 </dev/null
}

find_python() {
  local candidate
  if [ -n "${PYTHON:-}" ]; then
    is_usable "$PYTHON" || die "PYTHON=$PYTHON is not a Python 3.11 or newer with the modules venv and ensurepip"
    printf '%s\n' "$PYTHON"
    return
  fi
  for candidate in python3.13 python3.12 python3.11 python3; do
    if is_usable "$candidate"; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  die "no Python 3.11 or newer with the modules venv and ensurepip; install one (on Debian with python3-venv) or set PYTHON"
}

describe_python() { "$1" -c 'import sys; print(sys.base_prefix, ".".join(map(str, sys.version_info[:3])))' </dev/null; }

minor_version() { "$1" -c 'import sys; print("{}.{}".format(*sys.version_info))' </dev/null; }

make_environment() {
  local python mark wanted
  if [ $# -gt 0 ]; then
    python=$1
    is_usable "$python" || die "$python is not a Python 3.11 or newer with the modules venv and ensurepip"
    VENV=$ROOT/.venv-$(minor_version "$python")
  else
    python=$(find_python)
    VENV=$ROOT/.venv
  fi
  if [ -L "$VENV" ]; then # somebody's other checkout has it: --clear would empty it there
    say "using $VENV, which is a link: nothing is installed there"
    return
  fi
  mark=$VENV/.made-by-pipeline-scripts
  if [ -e "$VENV" ] && [ ! -e "$mark" ]; then
    die "$VENV was not made by these scripts; move it away first"
  fi
  # What the environment depends on. The mark holds it only after the installation went through.
  wanted=$(
    describe_python "$python"
    printf '%s\n' "$ROOT"
    cat -- "$ROOT/pyproject.toml" "$ROOT/workflows/reference_systems/pyproject.toml" "$ROOT/constraints.txt"
  )
  wanted=$(printf '%s' "$wanted" | "$python" -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())')
  if [ -e "$mark" ] && [ "$(cat -- "$mark")" = "$wanted" ] && "$VENV/bin/python" -c '' 2>/dev/null </dev/null; then
    say "using $VENV"
    return
  fi
  say "making $VENV with $(describe_python "$python")"
  mkdir -p -- "$VENV"
  : >"$mark"
  "$python" -m venv --clear "$VENV" </dev/null
  : >"$mark" # --clear took it away; an interrupted installation leaves it empty
  say "installing the package, the reference systems and what they need (a minute or two; the next time nothing is installed)"
  "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check --constraint "$ROOT/constraints.txt" \
    --editable "$ROOT[slurm,test,check,docs]" --editable "$ROOT/workflows/reference_systems[crf]" >&2 </dev/null
  printf '%s\n' "$wanted" >"$mark"
}

choose_interpreter() {
  INTERPRETER=${!1:-}
  if [ -z "$INTERPRETER" ]; then
    make_environment
    INTERPRETER=$VENV/bin/python
  fi
}

run_module() {
  choose_interpreter "$1"
  export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1
  PYTHONPATH=$ROOT/scripts${PYTHONPATH:+:$PYTHONPATH} exec "$INTERPRETER" -m "${@:2}" </dev/null
}
