# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# bpftrace for the guest, to measure beside: Debian's package and the libraries it needs, as a cpio archive that goes
# behind the guest's own initramfs.

BPFTRACE_ARCHIVE=$CACHE/bench/bpftrace.cpio

bpftrace_packages()
{
	apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
		--no-enhances bpftrace 2>/dev/null | grep '^[a-z0-9]' | sort -u
}

# 0 when the archive is there afterwards; 1 when this release has no bpftrace.
bpftrace_archive()
{
	local tmp packages
	[ -e "$BPFTRACE_ARCHIVE" ] && return 0
	need_space "$CACHE" 1500
	mapfile -t packages < <(bpftrace_packages)
	[ ${#packages[@]} -gt 1 ] || return 1
	say "fetching bpftrace for the guest"
	mkdir -p "$CACHE/bench"
	tmp=$(mktemp -d "$CACHE/bench.XXXXXX")
	if ! (cd "$tmp" && run_logged bpftrace-download apt-get -q -o APT::Sandbox::User="$(id -un)" download "${packages[@]}"); then
		rm -rf "$tmp"
		die "downloading bpftrace failed: check the network, then run again"
	fi
	mkdir "$tmp/x"
	for deb in "$tmp"/*.deb; do
		dpkg-deb -x "$deb" "$tmp/x" || die "unpacking ${deb##*/} failed: is the disk full?"
	done
	rm -rf "$tmp/x/usr/share" "$tmp/x/etc"
	# The guest's own /bin stays as it is.
	(set -o pipefail && cd "$tmp/x" && find . -not -path './bin*' | cpio -o -H newc --quiet -R 0:0 >"$BPFTRACE_ARCHIVE.new") ||
		die "writing $BPFTRACE_ARCHIVE failed: is the disk full?"
	mv "$BPFTRACE_ARCHIVE.new" "$BPFTRACE_ARCHIVE"
	rm -rf "$tmp"
}
