#!/usr/bin/env bash
# The main job, told in six steps: a CREATE TABLE AS that succeeds, one that fails at its last row and
# one that is killed, each followed by a look at what is there; then the one that fails in streaming mode,
# whose rows stay, and one that never ends, watched while it fills its table.
set -euo pipefail
sluice=$(realpath "${1:-./sluice}")
scripts=$(realpath "$(dirname "$0")")
dir=$(mktemp -d)
desks=
trap '[ -z "$desks" ] || kill "$desks" 2>/dev/null || true; rm -rf "$dir"' EXIT
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

say "5. The one that fails, in streaming mode (scripts/live.sql)"
show live.sql
must_fail live.sql
say "   The table is there, with what had been committed (scripts/live_till.sql)"
"$sluice" -f "scripts/live_till.sql"

say "6. One that never ends (scripts/desks.sql), and a dashboard beside it, twice (scripts/dashboard.sql)"
show desks.sql
"$sluice" -f "scripts/desks.sql" &
desks=$!
for pause in 2 2; do
  sleep "$pause"
  "$sluice" -f "scripts/dashboard.sql" 2>/dev/null
done
say "   Ctrl-C stops it; what is committed stays"
code=0
kill -INT "$desks"
wait "$desks" || code=$?
desks=
if [ "$code" != 130 ]; then
  echo "expected desks.sql to end by the signal with exit code 130, got $code" >&2
  exit 1
fi
"$sluice" -f "scripts/dashboard.sql"

say "Live: till has what was read before its bad line, sales what was sold before Ctrl-C."
