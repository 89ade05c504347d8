# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Programs that tests read Outsight's outputs with, and that installing a package would do more for than is wanted.

TOOLS=$CACHE/tools/bin

# Only promtool is taken out of prometheus's package: installed, that starts a server. Without the package its test is skipped.
get_promtool()
{
	local tmp
	PATH=$PATH:$TOOLS
	! command -v promtool >/dev/null || return 0
	say "getting promtool"
	tmp=$(mktemp -d)
	if (cd "$tmp" && run_logged apt-promtool apt-get -q -o APT::Sandbox::User=root download prometheus) &&
		dpkg-deb -x "$tmp"/*.deb "$tmp/x" 2>/dev/null && mkdir -p "$TOOLS"; then
		install "$tmp/x/usr/bin/promtool" "$TOOLS/promtool"
	else
		say "no promtool: see $CACHE/log/apt-promtool.log"
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
