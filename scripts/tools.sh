#!/usr/bin/env bash
# Installs the named programs where they are missing, as root on Debian; elsewhere says what to install
# and fails. The names are those of the programs and of Debian's packages.
set -euo pipefail
missing=()
for tool in "$@"; do
  command -v "$tool" >/dev/null || missing+=("$tool")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}"
else
  echo "please install: ${missing[*]}" >&2
  exit 1
fi
