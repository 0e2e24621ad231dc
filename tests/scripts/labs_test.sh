#!/usr/bin/env bash
# The labs: their patches apply, both languages have the same commands and outputs, and the solution
# in the text is the one in the patch.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

fail() {
  printf '%s\n' "$1"
  failures=$((failures + 1))
}

# applies PATCH SOURCE: to the source, as it is.
applies() {
  mkdir -p "$tree/$1/collectives"
  cp "$2" "$tree/$1/collectives/all_reduce.cpp"
  (cd "$tree/$1" && GIT_DIR=$tree/none git apply --check "$OLDPWD/docs/labs/$1.diff") 2>/dev/null
}

# Whoever is in the middle of a lab has other lines there: then the ones that were committed.
source=collectives/all_reduce.cpp
if ! git diff --quiet HEAD -- "$source" 2>/dev/null &&
  git show "HEAD:$source" >"$tree/committed.cpp" 2>/dev/null; then
  source=$tree/committed.cpp
fi
for patch in mine tree fault; do
  applies "$patch" "$source" || fail "docs/labs/$patch.diff does not apply to collectives/all_reduce.cpp"
done
sed 's/size() - 1\|distance/other/' "$source" >"$tree/changed.cpp"
for patch in mine fault; do
  ! applies "$patch" "$tree/changed.cpp" || fail "$patch.diff applies to another file, too"
done

# What is code: indented lines, and fenced ones but for the comments in them.
code_of() {
  awk '/^```/ { fenced = !fenced; print; next }
       fenced ? !/^ *\/\// : /^    / { print }' "$1"
}
diff <(code_of docs/labs.md) <(code_of docs/labs.zh.md) >"$tree/languages" ||
  fail "docs/labs.md and docs/labs.zh.md differ in commands or outputs: $(cat "$tree/languages")"
(($(code_of docs/labs.md | grep -c 'scripts/ringside') > 20)) || fail 'the labs have no commands'

# The solution: every line that the patch adds.
while IFS= read -r line; do
  grep -qxF -- "$line" docs/labs.md || fail "docs/labs.md has not the line of tree.diff: $line"
done < <(sed -n '/^+++/d; s/^+//p' docs/labs/tree.diff)

exit $((failures > 0))
