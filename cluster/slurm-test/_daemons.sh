# Starting and stopping single daemons by their pid files; sourced by `up` and `down`.
# shellcheck shell=bash

say() { printf 'slurm-test: %s\n' "$*" >&2; }

die() {
  say "$*"
  exit 1
}

find_program() { PATH=$PATH:/usr/sbin:/sbin command -v "$1"; }

wait_for() { # TENTHS COMMAND…: until the command succeeds, or that many tenths of a second are over
  local tenths=$1
  shift
  for ((; tenths > 0; tenths--)); do
    if "$@"; then return 0; fi
    sleep 0.1
  done
  return 1
}

answers() { timeout 5 sinfo --noheader --format=%T >/dev/null 2>&1; }

is_idle() { timeout 5 sinfo --noheader --format=%T 2>/dev/null | grep -Eq '^(idle|mixed|allocated)'; }

daemon_pid() { # STATE NAME: the pid in the file, if that process is alive and is the daemon that was started here
  local pid
  pid=$(cat -- "$1/$2.pid" 2>/dev/null) || return 1
  [[ $pid =~ ^[1-9][0-9]*$ ]] || return 1
  # A pid file outlives its process and the number is given away again: look at who it is now.
  tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -Fq -- "$1/" || return 1
  [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$2" ] || return 1
  echo "$pid"
}

is_running() { daemon_pid "$@" >/dev/null; }

run_daemon() { # STATE NAME ARGUMENTS…: each puts itself into the background; its descriptors must not be the caller's
  local state=$1 program
  program=$(find_program "$2")
  "$program" "${@:3}" </dev/null >>"$state/log/start.log" 2>&1 && wait_for 50 is_running "$state" "$2"
}

stop_daemons() { # STATE NAME…: all are told first and waited for afterwards; each takes its two seconds
  local state=$1 name pid
  local -A told=()
  for name in "${@:2}"; do
    if pid=$(daemon_pid "$state" "$name"); then
      told[$name]=$pid
      kill "$pid" 2>/dev/null || true
    fi
  done
  for name in "${!told[@]}"; do
    pid=${told[$name]}
    if ! wait_for 100 is_gone "$pid"; then
      say "$name ($pid) does not end; killing it"
      kill -KILL "$pid" 2>/dev/null || true
      wait_for 20 is_gone "$pid" || true
    fi
  done
  for name in "${@:2}"; do
    rm -f -- "$state/$name.pid"
  done
}

is_gone() { ! kill -0 "$1" 2>/dev/null; }
