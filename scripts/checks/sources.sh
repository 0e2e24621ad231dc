# shellcheck shell=bash
# Sourced by the checks: the files they look at, and how they end.

# The tree that is checked: the first argument, or the one that the script is in.
tree=$(cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../..}" && pwd)
cd "$tree" || exit

# files PATTERN...: the tree's own files, new ones included, ignored ones not.
files() {
  git ls-files --cached --others --exclude-standard --deduplicate -- "$@" |
    while IFS= read -r file; do [[ ! -f $file ]] || printf '%s\n' "$file"; done
}

# finish TEXT: prints what was found (one breach a line) and ends accordingly.
finish() {
  [[ -n $1 ]] || exit 0
  printf '%s\n' "$1"
  exit 1
}
