# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Guests: Debian's own kernels, and an initramfs of busybox and our workload programs. All of it lies in
# the cache: kernels/NAME (vmlinuz, modules, release) and guests/NAME (vmlinuz, initrd, vmlinux).
# These functions are called as conditions, where set -e is off: each step that can fail says so itself.

GUEST_SOURCES=$ROOT/tests/linux/guest
# The host's channel, and more real modules, so that module symbols are there; what each depends on comes along.
GUEST_MODULES=(virtio_pci virtio_console dummy veth loop xor bridge nbd)

# "package=version" of the newest cloud kernel of series NAME that apt knows, or nothing. FLAVOUR is another metapackage.
kernel_package()
{
	apt-cache show "linux-image-${2:-cloud-amd64}" 2>/dev/null |
		sed -n 's/^Depends: \(linux-image-[^ ]*\) (= \([^)]*\)).*$/\1=\2/p' |
		awk -F= -v series="$1." 'index($2, series) == 1' | sort -V | tail -n 1
}

# fetch_kernel NAME [FLAVOUR]: 0 when it is in the cache afterwards, 1 when this release has no such kernel.
fetch_kernel()
{
	local name=$1 flavour=${2:-cloud-amd64} dir=$CACHE/kernels/$1${2:+-$2} package tmp release modules
	[ -e "$dir/release" ] && return 0
	need_space "$CACHE" 1500
	package=$(kernel_package "$name" "$flavour")
	# Lists may never have been fetched, or (on Debian 12) backports not be known yet.
	if [ -z "$package" ] && { [ "$(codename)" = bookworm ] || [ -z "$(kernel_package 6)" ]; }; then
		apt_update
		ensure_backports
		package=$(kernel_package "$name" "$flavour")
	fi
	[ -n "$package" ] || return 1
	tmp=$(mktemp -d "$CACHE/fetch.XXXXXX")
	say "fetching guest kernel ${package%%=*}"
	if ! (cd "$tmp" && run_logged apt-download apt-get -q -o APT::Sandbox::User="$(id -un)" download "$package"); then
		rm -rf "$tmp"
		die "downloading $package failed: check the network (and run apt-get update), then run again (log: $CACHE/log/apt-download.log)"
	fi
	mkdir "$tmp/x"
	dpkg-deb -x "$tmp"/*.deb "$tmp/x" || die "unpacking $package failed: is the disk full?"
	release=$(basename "$(echo "$tmp"/x/boot/vmlinuz-*)")
	release=${release#vmlinuz-}
	modules=$tmp/x/lib/modules
	[ -d "$modules" ] || modules=$tmp/x/usr/lib/modules
	rm -rf "$dir"
	mkdir -p "$CACHE/kernels" "$tmp/k" && mv "$tmp/x/boot/vmlinuz-$release" "$tmp/k/vmlinuz" &&
		mv "$modules/$release/kernel" "$tmp/k/modules" && echo "$release" >"$tmp/k/release" &&
		mv "$tmp/k" "$dir" || die "storing $package in $dir failed: is the disk full?"
	rm -rf "$tmp"
}

# find_module KERNEL-DIR NAME: the module's file; - and _ are the same in module names.
find_module()
{
	local pattern=${2//[-_]/[-_]}
	find "$1/modules" \( -name "$pattern.ko" -o -name "$pattern.ko.xz" -o -name "$pattern.ko.zst" \) | head -n 1
}

unpack_module()
{
	case $1 in
	*.xz) xz -dc "$1" ;;
	*.zst) zstd -qdc "$1" ;;
	*) cat "$1" ;;
	esac
}

# add_module KERNEL-DIR NAME OUT-DIR: the module and, before it, what it depends on; OUT-DIR/order grows.
# A name that is built into this kernel is passed over.
add_module()
{
	local kernel=$1 name=${2//-/_} out=$3 file dep
	grep -qx "$name" "$out/order" && return 0
	file=$(find_module "$kernel" "$name")
	[ -n "$file" ] || return 0
	unpack_module "$file" >"$out/$name.ko" || die "unpacking $file failed: is the disk full?"
	# Elements of .modinfo are NUL-terminated "key=value" strings.
	for dep in $(tr '\0' '\n' <"$out/$name.ko" | sed -n 's/^depends=//p' | tr ',' ' '); do
		add_module "$kernel" "$dep" "$out"
	done
	echo "$name" >>"$out/order"
}

# What the initramfs is made of, as one hash.
initrd_hash()
{
	{
		cat "$GUEST_SOURCES"/* "$(command -v busybox)" "$1/release" "${BASH_SOURCE[0]}"
		gcc -dumpfullversion
	} | sha256sum | cut -c1-16
}

build_initrd()
{
	local kernel=$1 out=$2 tmp source
	tmp=$(mktemp -d "$CACHE/initrd.XXXXXX")
	mkdir -p "$tmp"/{bin,dev,proc,sys,tmp,mnt,modules}
	cp "$(command -v busybox)" "$tmp/bin/busybox"
	for applet in $("$tmp/bin/busybox" --list); do
		[ "$applet" = busybox ] || ln -s busybox "$tmp/bin/$applet"
	done
	cp "$GUEST_SOURCES/init" "$tmp/init"
	for source in "$GUEST_SOURCES"/*.c; do
		gcc -std=gnu11 -D_GNU_SOURCE -O2 -static -pthread -o "$tmp/bin/$(basename "$source" .c)" "$source" ||
			die "the workload $source does not compile: is libc6-dev installed?"
	done
	: >"$tmp/modules/order"
	for module in "${GUEST_MODULES[@]}"; do
		add_module "$kernel" "$module" "$tmp/modules"
	done
	(set -o pipefail && cd "$tmp" && find . | cpio -o -H newc --quiet -R 0:0 | gzip -1) >"$out" ||
		die "writing $out failed: is the disk full?"
	rm -rf "$tmp"
}

# guest_image NAME: kernel and initramfs in the cache, made again only when their parts changed.
# Returns 1 when this release has no such kernel.
guest_image()
{
	local name=$1 dir=$CACHE/guests/$1 hash
	fetch_kernel "$name" || return 1
	mkdir -p "$dir"
	hash=$(initrd_hash "$CACHE/kernels/$name")
	[ "$(cat "$dir/hash" 2>/dev/null)" = "$hash" ] && return 0
	say "building the guest image $name"
	rm -f "$dir/hash"
	build_initrd "$CACHE/kernels/$name" "$dir/initrd.new"
	mv "$dir/initrd.new" "$dir/initrd" &&
		cp "$CACHE/kernels/$name/vmlinuz" "$CACHE/kernels/$name/release" "$dir" ||
		die "writing $dir failed: is the disk full?"
	if ! python3 "$ROOT/scripts/lib/extract-vmlinux.py" "$dir/vmlinuz" "$dir/vmlinux"; then
		rm -f "$dir/vmlinux"
		say "no vmlinux of $name: tests with --vmlinux will be skipped"
	fi
	echo "$hash" >"$dir/hash"
}
