# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The KVM lab: a Debian host in QEMU whose emulated CPU has AMD's SVM, so that its kernel's own kvm-amd offers a true
# /dev/kvm on any machine. It sees this machine's files (what it writes stays in its memory) and runs what is installed and built here.

LAB_MODULES=(qemu_fw_cfg kvm kvm-amd virtio_pci 9p 9pnet_virtio overlay)

# The newest kernel with KVM in it (the cloud flavour has none) that this release has.
lab_kernel()
{
	local series
	for series in 6.12 6.1; do
		if fetch_kernel "$series-amd64"; then
			LAB_KERNEL=$CACHE/kernels/$series-amd64
			return 0
		fi
	done
	return 1
}

lab_hash()
{
	cat "$ROOT/scripts/lib/kvm-lab-init" "$LAB_KERNEL/release" "${BASH_SOURCE[0]}" | sha256sum | cut -c1-16
}

# lab_image: LAB_KERNEL/vmlinuz and LAB_INITRD.
lab_image()
{
	local tmp hash module applet
	lab_kernel || return 1
	LAB_INITRD=$LAB_KERNEL/lab-initrd
	hash=$(lab_hash)
	[ "$(cat "$LAB_INITRD.hash" 2>/dev/null)" = "$hash" ] && return 0
	say "building the KVM lab's host"
	tmp=$(mktemp -d "$CACHE/lab.XXXXXX")
	mkdir -p "$tmp"/{bin,dev,proc,sys,outer,upper,root,modules}
	cp "$(command -v busybox)" "$tmp/bin/busybox"
	for applet in sh mount insmod chroot poweroff cat mkdir echo sleep; do
		ln -s busybox "$tmp/bin/$applet"
	done
	cp "$ROOT/scripts/lib/kvm-lab-init" "$tmp/init"
	: >"$tmp/modules/order"
	for module in "${LAB_MODULES[@]}"; do
		add_module "$LAB_KERNEL" "$module" "$tmp/modules"
	done
	rm -f "$LAB_INITRD.hash"
	(set -o pipefail && cd "$tmp" && find . | cpio -o -H newc --quiet -R 0:0 | gzip -1) >"$LAB_INITRD" ||
		die "writing $LAB_INITRD failed: is the disk full?"
	rm -rf "$tmp"
	echo "$hash" >"$LAB_INITRD.hash"
}
