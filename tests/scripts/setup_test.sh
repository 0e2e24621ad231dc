#!/usr/bin/env bash
# scripts/setup installs what is missing and no more, and says so; with stand-ins for the compiler
# and the package manager.
# shellcheck disable=SC2016
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
stand_ins=$(mktemp -d)
trap 'rm -rf "$stand_ins"' EXIT
failures=0

# stand_in NAME LINE...: a program of that name, found first.
stand_in() {
  printf '#!/usr/bin/env bash\n' >"$stand_ins/$1"
  printf '%s\n' "${@:2}" >>"$stand_ins/$1"
  chmod +x "$stand_ins/$1"
}

# setup ARGUMENTS: leaves what it said in `said`, its exit code in `code`, calls of apt-get in `calls`.
setup() {
  : >"$stand_ins/calls"
  code=0
  said=$(PATH=$stand_ins:$PATH "$root/scripts/setup" "$@" 2>&1 </dev/null) || code=$?
  calls=$(<"$stand_ins/calls")
}

expect() {
  if ! eval "$1"; then
    printf 'not so: %s\n  said: %s\n  calls: %s\n  code: %s\n' "$1" "$said" "$calls" "$code"
    failures=$((failures + 1))
  fi
}

stand_in apt-get "printf '%s\n' \"\$*\" >>'$stand_ins/calls'"
stand_in apt-cache 'echo known'
stand_in sudo 'exec "$@"'
for program in cmake ninja faketime; do stand_in "$program" 'exit 0'; done

stand_in c++ 'exit 0'
setup
expect '((code == 0))'
expect '[[ -z $said && -z $calls ]]'

stand_in c++ 'echo "<toml++/toml.h>"' 'echo "<gtest/gtest.h>"'
setup
expect '((code == 0))'
expect '[[ $said == *"libtomlplusplus-dev (scenario files)"* && $said == *libgtest-dev* ]]'
expect '[[ $calls == *update*install*"libtomlplusplus-dev libgtest-dev" ]]'
expect '[[ $calls != *boost* && $calls != *cmake* ]]'

stand_in apt-cache '[[ $* != *libtomlplusplus-dev* ]] || exit 0' 'echo known'
setup
expect '((code == 1))'
expect '[[ $said == *"do not have: libtomlplusplus-dev"* && $calls != *install* ]]'

setup --check-toools
expect '((code == 2))'
expect '[[ $said == *--check-tools* ]]'

((failures == 0))
