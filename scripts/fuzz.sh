#!/usr/bin/env bash
# Runs every fuzz target of the project for the given time each (default 60s).
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-60s}
grep -rlE '^func Fuzz' --include='*_test.go' . | sort | while read -r file; do
  pkg=$(dirname "$file")
  grep -oE '^func Fuzz[A-Za-z0-9_]*' "$file" | awk '{print $2}' | while read -r target; do
    echo "== $pkg $target"
    go test "$pkg" -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 1x
  done
done
