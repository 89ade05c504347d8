# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Programs that tests read Outsight's outputs with, and that installing a package would do more for than is wanted.

TOOLS=$CACHE/tools/bin

# get_program PROGRAM PACKAGE PATH: take the program at PATH out of a package that would start a server, were it installed. Without
# it its tests are skipped.
get_program()
{
	local tmp
	PATH=$PATH:$TOOLS:/usr/sbin
	! command -v "$1" >/dev/null || return 0
	say "getting $1"
	tmp=$(mktemp -d)
	if (cd "$tmp" && run_logged "apt-$1" apt-get -q -o APT::Sandbox::User=root download "$2") &&
		dpkg-deb -x "$tmp"/*.deb "$tmp/x" 2>/dev/null && mkdir -p "$TOOLS"; then
		install "$tmp/x/$3" "$TOOLS/$1"
	else
		say "no $1: see $CACHE/log/apt-$1.log"
	fi
	rm -rf "$tmp"
}

# Readers of profiles, from npm's registry, where npm is installed. Without them their tests are skipped.
get_npm_readers()
{
	local at=$CACHE/tools
	[ ! -d "$at/node_modules/speedscope" ] || [ ! -d "$at/node_modules/pprof-format" ] || return 0
	command -v npm >/dev/null || return 0
	say "getting pprof-format and speedscope"
	mkdir -p "$at"
	run_logged npm-readers npm install --no-audit --no-fund --prefix "$at" pprof-format@2 speedscope@1 ||
		say "no readers of profiles: see $CACHE/log/npm-readers.log"
}
