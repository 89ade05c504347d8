# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Debian packages: what building and testing need, installed only when something is missing.

BUILD_PACKAGES=(gcc libc6-dev cmake ninja-build pkg-config python3 libcapstone-dev libelf-dev libdw-dev
	libseccomp-dev libexpat1-dev libncurses-dev libcmocka-dev zlib1g-dev liblzma-dev libzstd-dev liblz4-dev libvirt-dev libxml2-dev libsodium-dev
	libnats-dev libmicrohttpd-dev)
# A terminal, for what is drawn on one, and readers of what is written for programs.
TEST_PACKAGES=(iproute2 python3-pyte jq libxml2-utils protobuf-compiler)
PAGE_PACKAGES=(chromium)
FUZZ_PACKAGES=(clang libclang-rt-dev)
LIBVIRT_PACKAGES=(libvirt-daemon libvirt-daemon-driver-qemu libvirt-clients)
GUEST_PACKAGES=(busybox-static cpio gzip xz-utils zstd lz4)
QEMU_MAJOR=10

# apt knows all forms of its sources; ask it instead of parsing them.
# Prints "URI RELEASE SOURCES-ENTRY" of every configured repository that has Debian's main component.
apt_repositories()
{
	# $(…) is apt's own syntax here.
	# shellcheck disable=SC2016
	apt-get indextargets --no-release-info --format '$(REPO_URI) $(RELEASE) $(SOURCESENTRY)' \
		'Identifier: Packages' 'Component: main' | sort -u
}

# The Signed-By of a sources entry FILE:N (stanza N of a .sources file, line N of a .list file), if
# it names a file; nothing for a key that stands in the entry itself.
entry_keyring()
{
	local file=${1%:*} n=${1##*:}
	case $file in
	*.sources)
		sed '/^#/d' "$file" | awk -v RS= -v n="$n" 'NR == n' | sed -n 's/^[Ss]igned-[Bb]y:[ \t]*\(\/[^ \t]*\)[ \t]*$/\1/p'
		;;
	*)
		sed -n "${n}s/.*signed-by=\\(\\/[^] ]*\\).*/\\1/p" "$file"
		;;
	esac
}

# The sources entry for RELEASE-backports on the mirror that RELEASE itself comes from.
backports_entry()
{
	local release=$1 uri entry keyring
	read -r uri _ entry < <(apt_repositories | awk -v r="$release" '$2 == r') || return 1
	keyring=$(entry_keyring "$entry")
	printf 'Types: deb\nURIs: %s\nSuites: %s-backports\nComponents: main\n' "$uri" "$release"
	[ -z "$keyring" ] || printf 'Signed-By: %s\n' "$keyring"
}

apt_update()
{
	need_root
	say "refreshing the package lists"
	run_logged apt-update as_root apt-get -q -o Acquire::Retries=2 -o APT::Update::Error-Mode=any update ||
		die "apt-get update failed: check the network and apt's sources, then run again (log: $CACHE/log/apt-update.log)"
}

# Make RELEASE-backports known to apt, unless it is already.
ensure_backports()
{
	local release entry
	release=$(codename)
	[ "$release" = bookworm ] || return 0
	if apt_repositories | awk -v r="$release-backports" '$2 == r { found = 1 } END { exit !found }'; then
		return 0
	fi
	entry=$(backports_entry "$release") ||
		die "apt has no source for $release, so the address of $release-backports is unknown: add it to apt's sources"
	say "adding $release-backports to apt's sources"
	printf '%s\n' "$entry" | as_root tee /etc/apt/sources.list.d/outsight-backports.sources >/dev/null
	apt_update
}

qemu_is_new_enough()
{
	local major
	major=$(qemu-system-x86_64 --version 2>/dev/null | sed -n '1s/.*version \([0-9]*\)\..*/\1/p')
	[ "${major:-0}" -ge "$QEMU_MAJOR" ]
}

missing_packages()
{
	local package
	for package in "$@"; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
	done
}

apt_install()
{
	say "installing $*"
	run_logged apt-install as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -q -y --no-install-recommends -o Acquire::Retries=2 install "$@" ||
		die "installing packages failed: check the network and the disk, then run again (log: $CACHE/log/apt-install.log)"
}

# install_packages PACKAGE…: no network and no root when all are there.
install_packages()
{
	local missing
	command -v apt-get >/dev/null || die "this is not a Debian system: install by hand: $* and QEMU >= $QEMU_MAJOR"
	mapfile -t missing < <(missing_packages "$@")
	[ ${#missing[@]} = 0 ] && return 0
	apt_update
	apt_install "${missing[@]}"
}

install_qemu()
{
	qemu_is_new_enough && return 0
	apt_update
	ensure_backports
	if [ "$(codename)" = bookworm ]; then
		apt_install -t bookworm-backports qemu-system-x86
	else
		apt_install qemu-system-x86
	fi
	qemu_is_new_enough || die "QEMU >= $QEMU_MAJOR is needed and this release has none: install one by hand"
}
