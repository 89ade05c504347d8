# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Programs that tests read Outsight's outputs with, and that installing a package would do more for than is wanted.

TOOLS=$CACHE/tools/bin

# get_programs PACKAGE PATH…: take the programs, or a library, at these paths out of a package that would start a server, were it
# installed. One that the package doesn't have is left out; without it its tests are skipped.
get_programs()
{
	local package=$1 path tmp to missing=()
	shift
	PATH=$PATH:$TOOLS:/usr/sbin
	for path in "$@"; do
		command -v "${path##*/}" >/dev/null || [ -e "$TOOLS/../lib/${path##*/}" ] || missing+=("$path")
	done
	if [ ${#missing[@]} = 0 ] || [ -e "$TOOLS/$package.got" ]; then
		return 0
	fi
	say "getting ${missing[*]##*/}"
	tmp=$(mktemp -d)
	if (cd "$tmp" && run_logged "apt-$package" apt-get -q -o APT::Sandbox::User=root download "$package") &&
		dpkg-deb -x "$tmp"/*.deb "$tmp/x" 2>/dev/null && mkdir -p "$TOOLS" "$TOOLS/../lib"; then
		for path in "${missing[@]}"; do
			to=$TOOLS
			case $path in
			*.so.*) to=$TOOLS/../lib ;;
			esac
			[ ! -e "$tmp/x/$path" ] || install "$tmp/x/$path" "$to/"
		done
		touch "$TOOLS/$package.got"
	else
		say "no ${missing[*]##*/}: see $CACHE/log/apt-$package.log"
	fi
	rm -rf "$tmp"
}

# An sshd, for tests that start one of their own, and a library of its that a machine without it may not have.
get_sshd()
{
	get_programs openssh-server usr/sbin/sshd usr/lib/openssh/sshd-session usr/lib/openssh/sshd-auth
	get_programs libwrap0 usr/lib/x86_64-linux-gnu/libwrap.so.0
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
