# shellcheck shell=bash
# Sourced by the tests of the checks: a small sound tree in which a test plants a breach.
# The check must let the sound tree pass, and must name the breach.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

# plant FILE [LINE...]
plant() {
  mkdir -p "$tree/$(dirname "$1")"
  printf '%s\n' "${@:2}" >"$tree/$1"
}

sound_tree() {
  rm -rf "${tree:?}"/* "$tree/.git"
  git -C "$tree" init -q
  cp "$root/.clang-format" "$tree"
  plant runtime/tensor.hpp '#pragma once'
  plant runtime/comm.hpp '#pragma once' '#include "runtime/tensor.hpp"'
  plant collectives/chunk.hpp '#pragma once' '#include "runtime/comm.hpp"'
  plant models/linear.hpp '#pragma once' '#include "runtime/tensor.hpp"'
  plant parallel/data_parallel.cpp '#include "collectives/chunk.hpp"' '#include "models/linear.hpp"'
  plant scenarios/main.cpp '#include "parallel/mesh.hpp"' '' 'int main() {}'
  plant parallel/mesh.hpp '#pragma once'
  plant tests/models/linear_test.cpp '#include "models/linear.hpp"' '' '#include <gtest/gtest.h>'
}

# passes CHECK WHAT
passes() {
  local found
  if ! found=$("$root/scripts/checks/$1" "$tree" 2>&1); then
    printf 'scripts/checks/%s refuses %s:\n%s\n' "$1" "$2" "$found"
    failures=$((failures + 1))
  fi
}

# catches CHECK WORDS WHAT: the check fails, and says WORDS; then the tree is sound again.
catches() {
  local found
  if found=$("$root/scripts/checks/$1" "$tree" 2>&1); then
    printf 'scripts/checks/%s lets pass: %s\n' "$1" "$3"
    failures=$((failures + 1))
  elif [[ $found != *"$2"* ]]; then
    printf 'scripts/checks/%s does not say "%s" of %s:\n%s\n' "$1" "$2" "$3" "$found"
    failures=$((failures + 1))
  fi
  sound_tree
}

sound_tree
