# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Kernels that are not in the machine's own release, from Debian's other suites. The lists lie in a folder
# of our own in the cache (apt/SUITE), the machine's sources stay as they are, and the signatures are checked with
# Debian's keyring. Needs common.sh, packages.sh, chroot.sh.

DEBIAN_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
LISTS_DAYS=1 # sid changes: "the newest" is its newest today

# kernel_suite NAME: the suite of a kernel series that apt doesn't know; empty for a series without a suite.
kernel_suite()
{
	case $1 in
	5.10) echo bullseye ;;
	6.1) echo bookworm ;;
	6.12) echo trixie ;;
	sid) echo sid ;;
	esac
}

# suite_apt SUITE TOOL ARG…: one of apt's tools on the lists of that suite; with SUITE "" on the machine's own.
# Installed packages are ignored, so that the answers are about the suite alone. A Release file that is out of date
# (bullseye's no longer changes, sid's may lag on a mirror) is accepted: its signature is checked all the same.
suite_apt()
{
	local suite=$1 tool=$2 dir=$CACHE/apt/$1
	shift 2
	if [ -z "$suite" ]; then
		"$tool" -q -o APT::Sandbox::User="$(id -un)" "$@"
		return
	fi
	"$tool" -q -o Dir::Etc::sourcelist="$dir/sources.list" -o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$dir/lists" -o Dir::State::status="$dir/status" -o Dir::Cache="$dir/cache" \
		-o APT::Sandbox::User="$(id -un)" -o Acquire::Check-Valid-Until=false -o Acquire::Retries=2 \
		-o Acquire::Languages=none "$@"
}

# suite_lists SUITE: make sure that its lists exist and are not older than LISTS_DAYS. 1 if they can't be fetched.
suite_lists()
{
	local suite=$1 dir=$CACHE/apt/$1 mirror
	[ -z "$(find "$dir/refreshed" -mtime "-$LISTS_DAYS" 2>/dev/null)" ] || return 0
	[ -e "$DEBIAN_KEYRING" ] || install_packages debian-archive-keyring
	mirror=$(need_mirror)
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" && : >"$dir/status" &&
		echo "deb [signed-by=$DEBIAN_KEYRING arch=amd64] $mirror $suite main" >"$dir/sources.list" ||
		die "writing $dir failed: is the disk full?"
	say "fetching the package lists of Debian $suite"
	if run_logged "apt-$suite" suite_apt "$suite" apt-get -o APT::Update::Error-Mode=any update; then
		touch "$dir/refreshed"
	elif [ -e "$dir/refreshed" ]; then
		say "no new package lists of Debian $suite: continuing with those of $(date -r "$dir/refreshed" +%F)"
	else
		say "the mirror $mirror has no package lists of Debian $suite (log: $CACHE/log/apt-$suite.log)"
		return 1
	fi
}

# module_build_suite SUITE RELEASE SOURCES OUT MODULE: a module built with that suite's compiler and headers, in a chroot of it.
# Its tools may need a newer C library than the machine's.
module_build_suite()
{
	local suite=$1 release=$2 sources=$3 out=$4 module=$5 build=$ROOT/build/hosts/$1/module-$5
	# shellcheck disable=SC2153
	install_packages "${CHROOT_PACKAGES[@]}"
	chroot_make "$suite"
	rm -rf "$build"
	mkdir -p "$build"
	cp "$sources"/*.[ch] "$sources/Kbuild" "$sources/Makefile" "$build" || die "writing $build failed: is the disk full?"
	run_logged "agent-$suite" chroot_run "$suite" sh -ec '
		export DEBIAN_FRONTEND=noninteractive
		release=$1 module=$2
		install="apt-get -q -y --no-install-recommends -o Acquire::Retries=2 install"
		packages="linux-headers-$release make"
		[ -e "/usr/src/linux-headers-$release" ] || $install $packages || { apt-get -q update && $install $packages; }
		cd "build/module-$module"
		make KDIR="/usr/src/linux-headers-$release" W=1 KCFLAGS=-Werror CONFIG_DEBUG_INFO_BTF_MODULES=
	' module "$release" "$module" ||
		die "the module $module does not build for $release in a chroot of Debian $suite (log: $CACHE/log/agent-$suite.log)"
	mv "$build/$module.ko" "$out" || die "writing $out failed: is the disk full?"
	rm -rf "$build"
}
