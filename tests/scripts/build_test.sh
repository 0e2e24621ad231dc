#!/usr/bin/env bash
# scripts/build tells of its progress and of whom it waits for; scripts/test shows failures and sums.
# With stand-ins for ninja and ctest, in a tree of its own.
# shellcheck disable=SC2016
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

# stand_in NAME LINE...: a program of that name, found first.
stand_in() {
  printf '#!/usr/bin/env bash\n' >"$tree/bin/$1"
  printf '%s\n' "${@:2}" >>"$tree/bin/$1"
  chmod +x "$tree/bin/$1"
}

# runs SCRIPT ARGUMENTS: leaves what it said in `said`, its exit code in `code`.
runs() {
  code=0
  said=$(PATH=$tree/bin:$PATH "$tree/scripts/$1" "${@:2}" 2>&1 </dev/null) || code=$?
}

expect() {
  if ! eval "$1"; then
    printf 'not so: %s\n  said: %s\n  code: %s\n' "$1" "$said" "$code"
    failures=$((failures + 1))
  fi
}

mkdir -p "$tree/bin" "$tree/scripts" "$tree/build/release"
cp "$root/scripts/build" "$root/scripts/test" "$tree/scripts"
printf '#!/bin/sh\n' >"$tree/scripts/setup"
chmod +x "$tree/scripts/setup"
: >"$tree/build/release/build.ninja"

stand_in ninja 'for i in {1..40}; do echo "[$i/40] Building CXX object a_$i.o"; done'
runs build release
expect '((code == 0))'
expect '[[ $said == "build: 10 % of 40 steps"*"build: 100 % of 40 steps" ]]'
expect '[[ $(wc -l <<<"$said") == 10 ]]'

stand_in ninja 'for i in {1..5}; do echo "[$i/5] Building"; done' 'echo "a.cpp:1: error: no"' 'exit 1'
runs build release
expect '((code == 1))'
expect '[[ $said == "a.cpp:1: error: no"*"build/release failed" ]]'

stand_in ninja 'echo "ninja: no work to do."'
runs build release
expect '[[ $code == 0 && -z $said ]]'

if command -v flock >/dev/null; then
  exec 8>"$tree/build/release/.lock"
  flock 8
  { sleep 1 && flock -u 8; } &
  runs build release
  wait
  expect '[[ $code == 0 && $said == "build: waiting for another build of build/release to end" ]]'
fi

stand_in ctest \
  'echo "        Start   1: A.Passes"' \
  'echo "        Start   2: A.Fails"' \
  'echo "  1/2 Test   #1: A.Passes ............   Passed    0.01 sec"' \
  'echo "  2/2 Test   #2: A.Fails .............***Failed    0.01 sec"' \
  'echo "expected 1, got 2"' \
  'echo "50% tests passed, 1 tests failed out of 2"' \
  'exit 8'
runs test -R A
expect '((code == 8))'
expect '[[ $said == *"building the program and the tests"* ]]'
expect '[[ $said != *A.Passes* && $said != *Start* ]]'
expect '[[ $said == *"A.Fails"*"Failed"*"expected 1, got 2"*"50% tests passed, 1 tests failed out of 2" ]]'

((failures == 0))
