# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The programs of a Debian release for the test guests, which have none of their own: in the cache, userland/u is
# the tree, whose path in a guest is /u (so that userland is what --sysroot is given), userland/disk an image of it that guests
# share, and userland/KERNEL.cpio what a guest needs to mount it. Needs common.sh, packages.sh, guest.sh.
#
# The release is the same on every machine, so that tests know its programs.

USERLAND_SUITE=bookworm
USERLAND_PACKAGES=(postgresql nginx-light python3 php-cli ruby gdb binutils openjdk-17-jre-headless libvirt-clients procps)
# shellcheck disable=SC2034
USERLAND_HOST_PACKAGES=(mmdebstrap debian-archive-keyring e2fsprogs)
USERLAND_SOURCES=$ROOT/tests/linux/userland
USERLAND_MODULES=(virtio_blk ext4 overlay)

userland_hash()
{
	echo "$USERLAND_SUITE ${USERLAND_PACKAGES[*]} 1" | sha256sum | cut -c1-16
}

# userland_tree: userland/u and userland/disk, made once. Downloads 200 MB.
userland_tree()
{
	local dir=$CACHE/userland tmp mirror hash
	hash=$(userland_hash)
	[ "$(cat "$dir/hash" 2>/dev/null)" != "$hash" ] || return 0
	need_space "$CACHE" 4000
	mirror=$(need_mirror)
	mkdir -p "$dir"
	tmp=$(mktemp -d "$dir/new.XXXXXX")
	say "making the guests' userland of Debian $USERLAND_SUITE (200 MB to fetch, some minutes)"
	# Manuals and translations are left out, but Java links to its own. Nothing of it starts on this machine.
	# shellcheck disable=SC2016
	if ! run_logged userland as_root mmdebstrap --mode=root --variant=minbase --keyring="$DEBIAN_KEYRING" \
		--aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Languages "none"' \
		--aptopt='APT::Sandbox::User "root"' --aptopt='APT::Install-Recommends "false"' \
		--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt=force-unsafe-io \
		--essential-hook='mkdir -p "$1/usr/share/man/man1"; printf "#!/bin/sh\nexit 101\n" >"$1/usr/sbin/policy-rc.d"; chmod 755 "$1/usr/sbin/policy-rc.d"' \
		--customize-hook='rm -rf "$1"/var/cache/apt "$1"/var/lib/apt/lists' \
		--include="$(IFS=, && echo "${USERLAND_PACKAGES[*]}")" "$USERLAND_SUITE" "$tmp/u" "$mirror"; then
		as_root rm -rf --one-file-system "$tmp"
		die "making the userland failed: check the network and the disk, then run again (log: $CACHE/log/userland.log)"
	fi
	as_root chmod 755 "$tmp" "$tmp/u"
	# Half as large again, for its metadata.
	run_logged userland-disk as_root mke2fs -q -t ext4 -O ^has_journal -d "$tmp/u" "$tmp/disk" \
		"$(($(as_root du -sm "$tmp/u" | cut -f1) * 3 / 2))M" ||
		die "writing $tmp/disk failed: is the disk full? (log: $CACHE/log/userland-disk.log)"
	rm -f "$dir/hash"
	as_root rm -rf --one-file-system "$dir/u" "$dir/disk"
	as_root mv "$tmp/u" "$tmp/disk" "$dir/" || die "storing $dir failed: is the disk full?"
	rmdir "$tmp"
	echo "$hash" >"$dir/hash"
}

# userland_archive KERNEL: userland/KERNEL.cpio, which is unpacked over the guest's initramfs. 1: no such kernel.
userland_archive()
{
	local name=$1 dir=$CACHE/userland tmp hash module
	fetch_kernel "$name" || return 1
	hash=$(cat "$USERLAND_SOURCES"/* "$CACHE/kernels/$name/release" "${BASH_SOURCE[0]}" | sha256sum | cut -c1-16)
	[ "$(cat "$dir/$name.hash" 2>/dev/null)" != "$hash" ] || return 0
	tmp=$(mktemp -d "$dir/archive.XXXXXX")
	mkdir -p "$tmp/bin" "$tmp/modules"
	cp "$USERLAND_SOURCES"/* "$tmp/bin/"
	: >"$tmp/modules/order"
	for module in "${USERLAND_MODULES[@]}"; do
		add_module "$CACHE/kernels/$name" "$module" "$tmp/modules"
	done
	mv "$tmp/modules/order" "$tmp/modules/userland.order"
	(set -o pipefail && cd "$tmp" && find . -mindepth 1 | cpio -o -H newc --quiet -R 0:0) >"$dir/$name.cpio" ||
		die "writing $dir/$name.cpio failed: is the disk full?"
	rm -rf "$tmp"
	echo "$hash" >"$dir/$name.hash"
}

# guest_userland KERNEL: both. 1: this release has no such kernel.
guest_userland()
{
	userland_tree
	userland_archive "$1"
}
