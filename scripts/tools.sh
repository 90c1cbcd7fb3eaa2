#!/usr/bin/env bash
# Installs the named programs where they are missing, as root on Debian; elsewhere says what to install
# and fails. The names are those of Debian's packages, most of which are those of their programs.
set -euo pipefail

# there says whether a package's program is there.
there() {
  case "$1" in
  postgresql) # whose server is not in PATH
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || command -v initdb >/dev/null
    ;;
  mariadb-server)
    { [ -x /usr/sbin/mariadbd ] || command -v mariadbd >/dev/null; } &&
      command -v mariadb >/dev/null && command -v mariadb-install-db >/dev/null
    ;;
  *) command -v "$1" >/dev/null ;;
  esac
}

missing=()
for tool in "$@"; do
  there "$tool" || missing+=("$tool")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  # The tests start servers of their own: none of the system's is to begin with the installation.
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}"
else
  echo "please install: ${missing[*]}" >&2
  exit 1
fi
