#!/usr/bin/env bash
# The checks of format, sizes and shell catch their breach; each is left out where its tool is not
# there (scripts/check installs them).
# shellcheck disable=SC2016
set -euo pipefail
# shellcheck source=tests/scripts/planted.sh
source "$(dirname "${BASH_SOURCE[0]}")/planted.sh"

lines() { for ((i = 0; i < $1; i++)); do echo "// $i"; done; }

lines 300 >"$tree/runtime/port.cpp"
lines 500 >"$tree/tests/models/long_test.cpp"
passes sizes 'files at their limit'
lines 301 >"$tree/runtime/port.cpp"
catches sizes 'runtime/port.cpp: 301 lines, the limit is 300' 'a file of 301 lines'
lines 501 >"$tree/tests/models/long_test.cpp"
catches sizes 'tests/models/long_test.cpp: 501 lines, the limit is 500' 'a test of 501 lines'

if command -v clang-format-14 >/dev/null; then
  passes format 'a sound tree'
  plant runtime/port.cpp 'int  x=1;'
  catches format 'runtime/port.cpp:1' 'unformatted code'
fi

if command -v shellcheck >/dev/null; then
  plant scripts/run '#!/usr/bin/env bash' 'set -u' 'echo "$1"'
  passes shell 'a sound script'
  plant scripts/run '#!/usr/bin/env bash' 'rm $1'
  catches shell 'scripts/run line 2' 'an unquoted variable'
fi

# scripts/check itself names what it does not know.
if said=$("$root/scripts/check" flors 2>&1); then
  echo 'scripts/check runs a stage that there is not'
  failures=$((failures + 1))
elif [[ $said != *'no stage "flors"'*floors* ]]; then
  echo "scripts/check does not say which stages there are: $said"
  failures=$((failures + 1))
fi

((failures == 0))
