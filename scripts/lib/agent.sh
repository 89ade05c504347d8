# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The guest's module, built for the kernels of the test guests: headers/NAME (Debian's, relocated) and agent/NAME/*.ko
# in the cache. Needs common.sh, packages.sh, guest.sh. Like those of guest.sh, these functions are called as
# conditions: each step reports its own failure.

# shellcheck disable=SC2034
AGENT_PACKAGES=(gcc make libelf-dev libc6-dev)

# The headers name one another by absolute paths; links between them are relative.
relocate_headers()
{
	local file
	for file in "$1"/usr/src/linux-headers-*/Makefile; do
		sed -i "s#^\\(include \\)/usr/src/#\\1$1/usr/src/#" "$file"
	done
}

# fetch_headers NAME: headers of the kernel that guest NAME runs, one of the machine's own release.
fetch_headers()
{
	local name=$1 dir=$CACHE/headers/$1 release package common kbuild tmp
	release=$(cat "$CACHE/kernels/$name/release")
	[ "$(cat "$dir/release" 2>/dev/null)" = "$release" ] && return 0
	need_space "$CACHE" 500
	package=linux-headers-$release
	common=$(dependencies_like "" "$package" 'linux-headers-.*-common.*')
	kbuild=$(dependencies_like "" "$package" 'linux-kbuild-.*')
	if [ -z "$common" ] || [ -z "$kbuild" ]; then
		die "apt has no $package any more: remove $CACHE/kernels/$name and run again, for a newer kernel"
	fi
	rm -rf "$dir"
	mkdir -p "$dir"
	tmp=$(mktemp -d "$CACHE/fetch.XXXXXX")
	say "fetching $package"
	if ! (cd "$tmp" && run_logged apt-download apt-get -q -o APT::Sandbox::User="$(id -un)" download \
		"$package" "$common" "$kbuild"); then
		rm -rf "$tmp"
		die "downloading $package failed: check the network (and run apt-get update), then run again (log: $CACHE/log/apt-download.log)"
	fi
	for package in "$tmp"/*.deb; do
		dpkg-deb -x "$package" "$dir" || die "unpacking $package failed: is the disk full?"
	done
	rm -rf "$tmp"
	relocate_headers "$dir"
	echo "$release" >"$dir/release"
}

# Sources of a module: the agent, and what the tests load with it.
module_sources()
{
	case $1 in
	outsight) echo "$ROOT/guest-agent" ;;
	hide | pulse) echo "$ROOT/tests/linux/modules" ;;
	esac
}

# module_hash NAME MODULE
module_hash()
{
	local from
	from=$(module_sources "$2")
	cat "$from"/*.[ch] "$from/Kbuild" "$CACHE/kernels/$1/release" "${BASH_SOURCE[0]}" "$ROOT/scripts/lib/suites.sh" |
		sha256sum | cut -c1-16
}

# module_build NAME MODULE OUT: with the machine's own compiler.
module_build()
{
	local name=$1 module=$2 out=$3 dir=$CACHE/agent/$1 kdir from
	fetch_headers "$name"
	from=$(module_sources "$module")
	kdir=$CACHE/headers/$name/usr/src/linux-headers-$(cat "$CACHE/headers/$name/release")
	rm -rf "$dir/build"
	mkdir -p "$dir/build"
	cp "$from"/*.[ch] "$from/Kbuild" "$from/Makefile" "$dir/build"
	run_logged agent make -C "$dir/build" KDIR="$kdir" W=1 KCFLAGS=-Werror CONFIG_DEBUG_INFO_BTF_MODULES= ||
		die "the module $module cannot be built for $name (log: $CACHE/log/agent.log)"
	mv "$dir/build/$module.ko" "$out" || die "writing $out failed: is the disk full?"
	rm -rf "$dir/build"
}

# guest_module NAME MODULE: agent/NAME/MODULE.ko, built again only when something changed. The module's own types (BTF)
# are omitted: they would require pahole, and no test uses them.
guest_module()
{
	local name=$1 module=$2 dir=$CACHE/agent/$1 hash suite
	hash=$(module_hash "$name" "$module")
	[ "$(cat "$dir/$module.hash" 2>/dev/null)" = "$hash" ] && return 0
	say "building the module $module for $name"
	mkdir -p "$dir"
	suite=$(cat "$CACHE/kernels/$name/suite" 2>/dev/null || echo own)
	if [ "$suite" = own ]; then
		module_build "$name" "$module" "$dir/large.ko"
	else
		module_build_suite "$suite" "$(cat "$CACHE/kernels/$name/release")" "$(module_sources "$module")" \
			"$dir/large.ko" "$module"
	fi
	strip --strip-debug -o "$dir/small.ko" "$dir/large.ko" && mv "$dir/small.ko" "$dir/$module.ko" ||
		die "strip failed on $dir/large.ko"
	rm -f "$dir/large.ko"
	echo "$hash" >"$dir/$module.hash"
}

# guest_agent NAME: the agent for guest NAME, and the modules that tests load.
guest_agent()
{
	fetch_kernel "$1" || return 1
	guest_module "$1" outsight
	guest_module "$1" hide
	guest_module "$1" pulse
}
