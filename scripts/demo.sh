#!/usr/bin/env bash
# The main job, told in four steps: a CREATE TABLE AS that succeeds, one that fails at its last row and
# one that is killed, each followed by a look at what is there.
set -euo pipefail
sluice=$(realpath "${1:-./sluice}")
scripts=$(realpath "$(dirname "$0")")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
ln -s "$scripts" scripts # so that errors name scripts/fails.sql

say() { printf '\n\033[1m%s\033[0m\n' "$*" | if [ -t 1 ]; then cat; else sed 's/\x1b\[[0-9]*m//g'; fi; }
show() { sed -n '/^CREATE TABLE/,/;/p' "scripts/$1" | sed 's/^/    /'; }
# A step that must fail: with exit code 1 and an error message, and not in any other way.
must_fail() {
  local code=0
  "$sluice" -f "scripts/$1" || code=$?
  if [ "$code" != 1 ]; then
    echo "expected $1 to fail with exit code 1, got $code" >&2
    exit 1
  fi
}

say "1. A shop in a SQLite file, made by scripts/shop.sql"
"$sluice" -f "scripts/shop.sql"

say "2. A CREATE TABLE AS that succeeds (scripts/report.sql)"
show report.sql
"$sluice" -f "scripts/report.sql"

say "3. One that fails: the last of 100,001 rows is 'n/a' (scripts/fails.sql)"
show fails.sql
must_fail fails.sql
say "   The table is not there, and selecting from it says so (scripts/till.sql)"
must_fail till.sql

say "4. One that is killed: kill -9 while it writes (scripts/killed.sql)"
show killed.sql
"$sluice" -f "scripts/killed.sql" 2>/dev/null &
pid=$!
sleep 2
if ! kill -9 "$pid" 2>/dev/null; then
  echo "the statement ended before it could be killed" >&2
  exit 1
fi
wait "$pid" 2>/dev/null || true
say "   Killed. The file, right afterwards: $(ls -sh --format=commas shop.db*)"
say "   The next program that opens it finds it as it was before (scripts/every_pair.sql)"
must_fail every_pair.sql

say "All or nothing: city_revenue is whole; till and every_pair never existed."
