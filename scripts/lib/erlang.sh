# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Erlang's emulator with its static probes, which no distribution builds: erlang/erl.cpio in the cache, unpacked over a guest's
# initramfs as /erl. Built of the distribution's source in a chroot that is thrown away. Needs common.sh, packages.sh,
# chroot.sh, suites.sh.

ERLANG_SUITE=bookworm
ERLANG_BUILD=$ROOT/scripts/lib/erlang-build
# shellcheck disable=SC2034
ERLANG_HOST_PACKAGES=(mmdebstrap debian-archive-keyring cpio)

# guest_erlang: made once. Fetches 250 MB and takes a quarter of an hour.
guest_erlang()
{
	local dir=$CACHE/erlang hash tmp mirror
	hash=$(cat "$ERLANG_BUILD" "${BASH_SOURCE[0]}" | sha256sum | cut -c1-16)
	[ "$(cat "$dir/hash" 2>/dev/null)" != "$hash" ] || return 0
	need_space "$CACHE" 4000
	mirror=$(need_mirror)
	mkdir -p "$dir"
	tmp=$(mktemp -d "$dir/new.XXXXXX")
	say "building Erlang with static probes (250 MB to fetch, a quarter of an hour)"
	# $1 is the chroot.
	# shellcheck disable=SC2016
	if ! run_logged erlang as_root mmdebstrap --mode=root --variant=minbase --format=null --keyring="$DEBIAN_KEYRING" \
		--aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Languages "none"' \
		--aptopt='APT::Sandbox::User "root"' --aptopt='APT::Install-Recommends "false"' --dpkgopt=force-unsafe-io \
		--include=gcc,libc6-dev,make,perl,m4,systemtap-sdt-dev,zlib1g-dev,xz-utils,dpkg-dev \
		--customize-hook="copy-in $ERLANG_BUILD /" --customize-hook='chroot "$1" sh /erlang-build' \
		--customize-hook="tar-out /erl $tmp/erl.tar" \
		"$ERLANG_SUITE" - "deb $mirror $ERLANG_SUITE main" "deb-src $mirror $ERLANG_SUITE main"; then
		as_root rm -rf --one-file-system "$tmp"
		die "building Erlang failed: check the network and the disk, then run again (log: $CACHE/log/erlang.log)"
	fi
	mkdir "$tmp/root"
	tar -xf "$tmp/erl.tar" -C "$tmp/root" --no-same-owner || die "unpacking $tmp/erl.tar failed: is the disk full?"
	(set -o pipefail && cd "$tmp/root" && find . -mindepth 1 | cpio -o -H newc --quiet -R 0:0) >"$dir/erl.cpio" ||
		die "writing $dir/erl.cpio failed: is the disk full?"
	as_root rm -rf --one-file-system "$tmp"
	echo "$hash" >"$dir/hash"
}
