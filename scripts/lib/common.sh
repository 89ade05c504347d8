# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the scripts share: messages, paths, root. Sourced by bash scripts that have set -euo pipefail.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PROGRAM=$(basename "$0")
CACHE=${OUTSIGHT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/outsight}

# Progress goes to stderr, so that stdout holds results only.
say()
{
	printf '%s: %s\n' "$PROGRAM" "$*" >&2
}

# One line that says what is wrong and what to do.
die()
{
	say "$*"
	exit 1
}

as_root()
{
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "root is needed to install packages: run as root, or install sudo"
	fi
}

# need_space DIR MEBIBYTES: stop early, instead of half-way through a build.
need_space()
{
	local free
	mkdir -p "$1" || die "cannot make $1: check its permissions, or set OUTSIGHT_CACHE to another folder"
	free=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$2" ] || die "only $free MiB free in $1, $2 MiB are needed: make room and run again"
}

# run_logged NAME COMMAND…: quiet when all goes well; the end of the log when not.
run_logged()
{
	local log=$CACHE/log/$1.log
	shift
	mkdir -p "$CACHE/log"
	if ! "$@" >"$log" 2>&1; then
		tail -n 30 "$log" >&2
		return 1
	fi
}

codename()
{
	# shellcheck disable=SC1091
	(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
}
