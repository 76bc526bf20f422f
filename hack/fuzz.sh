#!/usr/bin/env bash
# Every fuzz target of the tree in turn, FUZZTIME each (default 30s). The corpora that it finds stay in testdata/fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."
grep -rlE '^func Fuzz' --include='*_test.go' . | sort | while read -r file; do
  for target in $(grep -hoE '^func (Fuzz[A-Za-z0-9]+)' "$file" | cut -d' ' -f2); do
    echo "== $(dirname "$file") $target"
    go test "$(dirname "$file")" -run '^$' -fuzz "^${target}\$" -fuzztime "${FUZZTIME:-30s}" -fuzzminimizetime 10x
  done
done
