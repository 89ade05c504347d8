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

# Before the first as_root, whose own words would end in a log.
need_root()
{
	[ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
		die "root is needed to install packages: run as root, or install sudo"
}

as_root()
{
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

# need_space DIR MEBIBYTES: stop early, instead of half-way through a build.
need_space()
{
	local free
	mkdir -p "$1" 2>/dev/null || die "cannot make $1: check its permissions, or set OUTSIGHT_CACHE to another folder"
	free=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$2" ] || die "only $free MiB free in $1, $2 MiB are needed: make room and run again"
}

# run_logged NAME COMMAND…: what it prints goes to the log of that name.
run_logged()
{
	local log=$CACHE/log/$1.log
	shift
	mkdir -p "$CACHE/log"
	"$@" >"$log" 2>&1
}

codename()
{
	# shellcheck disable=SC1091
	(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
}
