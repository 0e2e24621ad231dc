#!/usr/bin/env bash
# What the documents name is there: files between backquotes, and the targets of links.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# dangling FILE...: "document: target" for what is not there. A lambda, [](const T& t), is no link.
dangling() {
  local document target folders='runtime|collectives|models|parallel|scenarios|tests|scripts|docs|bench'
  for document in "$@"; do
    {
      grep -oE "\`($folders)/[A-Za-z0-9_./]*\.[a-z]+\`" "$document" | tr -d '\`' || true
      grep -oE '\]\([^)#: ]+\)' "$document" | sed -E "s|^\]\((.*)\)$|$(dirname "$document")/\1|" || true
    } | while IFS= read -r target; do
      [[ -e $target ]] || echo "$document: $target"
    done
  done
}

# A negative control first.
planted=$(mktemp -d)
trap 'rm -rf "$planted"' EXIT
# shellcheck disable=SC2016
printf '%s\n' 'See `runtime/no_such_file.hpp`' 'or [this](no_such.md) or [that](https://example.org).' >"$planted/a.md"
found=$(dangling "$planted/a.md")
[[ $(wc -l <<<"$found") == 2 && $found == *no_such_file.hpp* && $found == *no_such.md* ]] || {
  printf 'dangling names are not found:\n%s\n' "$found"
  exit 1
}

found=$(dangling ./*.md docs/*.md docs/parallel/*.md)
[[ -z $found ]] || {
  printf 'named, but not there:\n%s\n' "$found"
  exit 1
}
