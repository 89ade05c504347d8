# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Guests: Debian's own kernels, and an initramfs of busybox and our workload programs. All of it lies in
# the cache: kernels/NAME (vmlinuz, modules, release) and guests/NAME (vmlinuz, initrd, vmlinux).
# These functions are called as conditions, where set -e is off: each step that can fail says so itself.

# shellcheck source=scripts/lib/chroot.sh
. "$ROOT/scripts/lib/chroot.sh"
# shellcheck source=scripts/lib/suites.sh
. "$ROOT/scripts/lib/suites.sh"

GUEST_SOURCES=$ROOT/tests/linux/guest
# The host's channel, a file system, and more real modules, so that module symbols are there. What each depends on comes
# along, but for what it asks the crypto API for by an algorithm's name (crc32c).
GUEST_MODULES=(virtio_pci virtio_console crc32c_generic ext4 dummy veth loop xor bridge nbd)
# In the image too, for the tests that load them: /modules/NAME.order has what to load, in order.
GUEST_MODULES_LATER=(sctp)

# A kernel's NAME is its series (6.1), or "sid": the newest that Debian's unstable suite has today. Both are of the cloud
# flavour, and NAME-FLAVOUR (6.1-rt-amd64) of another.
kernel_series()
{
	echo "${1%%-*}"
}

kernel_flavour()
{
	case $1 in
	*-*) echo "${1#*-}" ;;
	*) echo cloud-amd64 ;;
	esac
}

# kernel_package SUITE SERIES FLAVOUR: "package=version" of the newest kernel of a series that apt knows, or nothing.
# Every series is meant by "".
kernel_package()
{
	suite_apt "$1" apt-cache show "linux-image-$3" 2>/dev/null |
		sed -n 's/^Depends: \(.*, \)*\(linux-image-[^ ]*\) (= \([^)]*\)).*$/\2=\3/p' |
		awk -F= -v series="${2:+$2.}" 'index($2, series) == 1' | sort -t= -k2 -V | tail -n 1
}

# dependencies_like SUITE PACKAGE PATTERN: what a package depends on directly, of those whose name matches.
dependencies_like()
{
	suite_apt "$1" apt-cache show "$2" 2>/dev/null | sed -n 's/^Depends: //p' | sed -n 1p | tr ',|' '\n' |
		sed 's/^ *//; s/ .*//' | grep -x "$3" | sort -u
}

# find_kernel NAME: the machine's own release first, then the suite of that name. Prints "SUITE PACKAGE=VERSION",
# with "own" for the machine's; nothing when there is none.
find_kernel()
{
	local series flavour suite package='' looked=no
	series=$(kernel_series "$1") flavour=$(kernel_flavour "$1")
	suite=$(kernel_suite "$series")
	[ "$series" != sid ] || series=
	if [ "$suite" != bullseye ] && [ "$suite" != sid ]; then
		looked=yes
		package=$(kernel_package "" "$series" "$flavour")
		# Lists may never have been fetched, or (on Debian 12) backports not be known yet.
		if [ -z "$package" ] && { [ "$(codename)" = bookworm ] || [ -z "$(kernel_package "" 6 "$flavour")" ]; }; then
			apt_update
			ensure_backports
			package=$(kernel_package "" "$series" "$flavour")
		fi
		[ -z "$package" ] || suite=own
	fi
	if [ -z "$package" ] && [ -n "$suite" ] && { [ -n "${OTHER_SUITES:-}" ] || [ "$looked" = no ]; }; then
		suite_lists "$suite" || return 0
		package=$(kernel_package "$suite" "$series" "$flavour")
	fi
	[ -z "$package" ] || echo "$suite $package"
}

# The series that this machine's release has: 6.1 and 6.12 where it has them, else its newest.
release_kernels()
{
	local name newest found=()
	if [ -z "$(kernel_package "" "" cloud-amd64)" ] ||
		{ [ "$(codename)" = bookworm ] && [ -z "$(kernel_package "" 6.12 cloud-amd64)" ]; }; then
		apt_update
		ensure_backports
	fi
	for name in 6.1 6.12; do
		[ -z "$(kernel_package "" "$name" cloud-amd64)" ] || found+=("$name")
	done
	if [ ${#found[@]} = 0 ]; then
		newest=$(kernel_package "" "" cloud-amd64)
		[ -z "$newest" ] || found=("$(sed 's/.*=\([0-9]*\.[0-9]*\).*/\1/' <<<"$newest")")
	fi
	[ ${#found[@]} = 0 ] || printf '%s\n' "${found[@]}"
}

# unpack_kernel FROM TO: vmlinuz, modules and release out of a kernel's unpacked packages, wherever they have them.
unpack_kernel()
{
	local vmlinuz modules
	vmlinuz=$(find "$1" -type f \( -name vmlinuz -o -name 'vmlinuz-*' \) | sed -n 1p)
	modules=$(find "$1" -type d -path '*/lib/modules/*/kernel' -prune | sed -n 1p)
	[ -n "$vmlinuz" ] && [ -n "$modules" ] || return 1
	mkdir -p "$2" && mv "$vmlinuz" "$2/vmlinuz" && mv "$modules" "$2/modules" &&
		basename "$(dirname "$modules")" >"$2/release"
}

# is_current NAME: what the cache has will do. A series is good once it is there; sid's newest changes.
is_current()
{
	local found dir=$CACHE/kernels/$1
	[ -e "$dir/release" ] || return 1
	[ "$(kernel_series "$1")" = sid ] || return 0
	found=$(find_kernel "$1")
	[ -z "$found" ] || [ "${found#* linux-image-}" = "$(cat "$dir/release")=$(cat "$dir/version")" ]
}

# fetch_kernel NAME: 0 when it is in the cache afterwards, 1 when there is no such kernel.
fetch_kernel()
{
	local dir=$CACHE/kernels/$1 suite package version release parts tmp
	! is_current "$1" || return 0
	need_space "$CACHE" 1500
	read -r suite package < <(find_kernel "$1") || return 1
	[ "$suite" != own ] || suite=
	version=${package#*=} release=${package#linux-image-} release=${release%%=*}
	tmp=$(mktemp -d "$CACHE/fetch.XXXXXX")
	say "fetching guest kernel ${package%%=*}${suite:+ of Debian $suite}"
	# Newer ones are split: the image depends on packages with vmlinuz and with the modules.
	mapfile -t parts < <(dependencies_like "$suite" "$package" "linux-.*-${release//./\\.}" | sed "s/\$/=$version/")
	if ! (cd "$tmp" && run_logged apt-download suite_apt "$suite" apt-get download "$package" "${parts[@]}"); then
		rm -rf "$tmp"
		die "downloading $package failed: check the network (and run apt-get update), then run again (log: $CACHE/log/apt-download.log)"
	fi
	for package in "$tmp"/*.deb; do
		dpkg-deb -x "$package" "$tmp/x" || die "unpacking $package failed: is the disk full?"
	done
	unpack_kernel "$tmp/x" "$tmp/k" || die "$package and what it depends on have no vmlinuz and modules"
	echo "${suite:-own}" >"$tmp/k/suite"
	echo "$version" >"$tmp/k/version"
	rm -rf "$dir"
	mkdir -p "$CACHE/kernels" && mv "$tmp/k" "$dir" || die "storing $dir failed: is the disk full?"
	rm -rf "$tmp"
}

# find_module KERNEL-DIR NAME: the module's file; - and _ are the same in module names.
find_module()
{
	local pattern=${2//[-_]/[-_]}
	find "$1/modules" \( -name "$pattern.ko" -o -name "$pattern.ko.xz" -o -name "$pattern.ko.zst" \) | sed -n 1p
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
	local kernel=$1 out=$2 tmp source flags
	tmp=$(mktemp -d "$CACHE/initrd.XXXXXX")
	mkdir -p "$tmp"/{bin,dev,proc,sys,tmp,mnt,modules}
	cp "$(command -v busybox)" "$tmp/bin/busybox"
	for applet in $("$tmp/bin/busybox" --list); do
		[ "$applet" = busybox ] || ln -s busybox "$tmp/bin/$applet"
	done
	cp "$GUEST_SOURCES/init" "$tmp/init"
	for source in "$GUEST_SOURCES"/*.c; do
		# one of 32 bits has no libc: the machine may have none for it
		case $source in
		*32.c) flags=(-m32 -ffreestanding -fno-pic -no-pie -nostdlib) ;;
		*) flags=(-D_GNU_SOURCE -pthread) ;;
		esac
		gcc -std=gnu11 -O2 -static "${flags[@]}" -o "$tmp/bin/$(basename "$source" .c)" "$source" ||
			die "the workload $source does not compile: is libc6-dev installed?"
	done
	: >"$tmp/modules/order"
	for module in "${GUEST_MODULES[@]}"; do
		add_module "$kernel" "$module" "$tmp/modules"
	done
	for module in "${GUEST_MODULES_LATER[@]}"; do
		cp "$tmp/modules/order" "$tmp/loaded"
		add_module "$kernel" "$module" "$tmp/modules"
		grep -vxFf "$tmp/loaded" "$tmp/modules/order" >"$tmp/modules/$module.order"
		mv "$tmp/loaded" "$tmp/modules/order"
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

# guest_debug NAME: guests/NAME/vmlinux.debug, the guest's kernel with its debugging information (a download of 300 MB).
# Returns 1 when the mirror has no package with it.
guest_debug()
{
	local name=$1 dir=$CACHE/guests/$1 kernel=$CACHE/kernels/$1 tmp package suite
	[ ! -e "$dir/vmlinux.debug" ] || return 0
	need_space "$CACHE" 1500
	suite=$(cat "$kernel/suite")
	[ "$suite" != own ] || suite=
	package=linux-image-$(cat "$kernel/release")-dbg=$(cat "$kernel/version")
	tmp=$(mktemp -d "$CACHE/debug.XXXXXX")
	say "fetching ${package%%=*}"
	if ! (cd "$tmp" && run_logged apt-download suite_apt "$suite" apt-get download "$package") ||
		! dpkg-deb --fsys-tarfile "$tmp"/*.deb | tar -x -C "$tmp" --wildcards './usr/lib/debug/boot/vmlinux-*'; then
		rm -rf "$tmp"
		return 1
	fi
	mv "$tmp"/usr/lib/debug/boot/vmlinux-* "$dir/vmlinux.debug" || die "storing $dir failed: is the disk full?"
	rm -rf "$tmp"
}
