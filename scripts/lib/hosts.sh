# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Both commands on other Debian releases, each in a chroot of it, as on a machine that was just installed: what is
# missing there is installed there, and its own kernels are booted. Needs common.sh, packages.sh, chroot.sh.

HOSTS=(12 13 sid)
HOST_PARTS=(unit d layering kvm hook libvirt)

# host_command SUITE LOG COMMAND…: what it prints goes to a log, of which the last line says how it went.
host_command()
{
	local suite=$1 log=$2 status=0 line start=$SECONDS
	shift 2
	say "Debian $suite: $*"
	run_logged "$log" chroot_run "$suite" "$@" || status=$?
	line=$(tail -n 1 "$CACHE/log/$log.log")
	if [ $status != 0 ]; then
		grep -aE '^FAIL|\*\*\*|error:' "$CACHE/log/$log.log" | head -n 20 >&2 || true
		tail -n 20 "$CACHE/log/$log.log" >&2
		line="status $status: $line (log: $CACHE/log/$log.log)"
	fi
	HOST_REPORT+=("  $1: $line, $((SECONDS - start)) s")
	return $status
}

# What the release is made of on that day: sid moves.
host_versions()
{
	# shellcheck disable=SC2016
	chroot_run "$1" sh -c '
		dpkg-query -W -f "\${source:Package} \${Version}\n" gcc libcapstone-dev qemu-system-x86 libvirt0 |
			sed "s/-defaults//" | sort -u | paste -sd, | sed "s/,/, /g"
		for kernel in '"$CHROOT_CACHE"'/kernels/*/release; do
			[ ! -e "$kernel" ] || cat "$kernel"
		done | sort -u | paste -sd, | sed "s/,/, /g"'
}

# test_hosts [NAME…]: releases by number or code name. 1 when something failed on one of them.
test_hosts()
{
	local name suite failed=0 versions
	HOST_REPORT=()
	[ $# -gt 0 ] || set -- "${HOSTS[@]}"
	for name in "$@"; do
		suite_of "$name" >/dev/null || die "there is no Debian \"$name\" here: name ${HOSTS[*]}"
	done
	need_root
	install_packages "${CHROOT_PACKAGES[@]}"
	for name in "$@"; do
		suite=$(suite_of "$name")
		chroot_make "$suite"
		HOST_REPORT+=("Debian $suite")
		host_command "$suite" "host-$suite-test" scripts/test "${HOST_PARTS[@]}" || failed=1
		host_command "$suite" "host-$suite-demo" scripts/demo || failed=1
		versions=$(host_versions "$suite") || versions="its versions are unknown"
		HOST_REPORT+=("  ${versions//$'\n'/$'\n'  kernels }")
	done
	printf '%s\n' "${HOST_REPORT[@]}"
	return $failed
}
