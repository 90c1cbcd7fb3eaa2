#!/usr/bin/env bash
# Two streaming jobs for SECONDS (3600): one counts 2,000 rows a second by key into a SQLite table, one drops
# them. Every ten seconds the process's memory and descriptors are noted; at the end the counts must be exact.
set -euo pipefail
sluice=$(realpath "${1:-./sluice}")
seconds=${2:-3600}
rate=2000
rows=$((rate * seconds))
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat >soak.sql <<SQL
SET 'execution.runtime-mode' = 'streaming';
CREATE CATALOG s WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:soak.db');
CREATE TABLE s.soak.counts (k BIGINT, n BIGINT, total BIGINT, PRIMARY KEY (k) NOT ENFORCED);
CREATE TABLE numbers (i BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '$rate',
  'fields.i.kind' = 'sequence', 'fields.i.start' = '0', 'fields.i.end' = '$((rows - 1))');
CREATE TABLE texts (i BIGINT, s STRING) WITH ('connector' = 'datagen', 'rows-per-second' = '$rate',
  'fields.i.kind' = 'sequence', 'fields.i.start' = '0', 'fields.i.end' = '$((rows - 1))', 'fields.s.length' = '40');
CREATE TABLE hole (i BIGINT, s STRING) WITH ('connector' = 'blackhole');
INSERT INTO s.soak.counts SELECT MOD(i, 1000), COUNT(*), SUM(i) FROM numbers GROUP BY MOD(i, 1000);
INSERT INTO hole SELECT i, UPPER(s) FROM texts WHERE MOD(i, 3) > 0;
SQL
"$sluice" -f soak.sql >out 2>&1 &
pid=$!
while kill -0 "$pid" 2>/dev/null; do
  rss=$(awk '/^VmRSS/ {print $2}' "/proc/$pid/status" 2>/dev/null || true)
  fds=$(ls "/proc/$pid/fd" 2>/dev/null | wc -l)
  [ -n "$rss" ] && echo "$SECONDS s: $rss kB, $fds descriptors"
  sleep 10
done
code=0
wait "$pid" || code=$?
cat out
[ "$code" = 0 ] || { echo "exit code $code" >&2; exit 1; }
want="1000,$rows,$((rows * (rows - 1) / 2))"
got=$("$sluice" --format csv soak.db -c 'SELECT COUNT(*), SUM(n), SUM(CAST(total AS DECIMAL(38, 0))) FROM counts' | tail -1)
[ "$got" = "$want" ] || { echo "expected $want, got $got" >&2; exit 1; }
echo "$rows rows counted, none lost and none twice: $got"
