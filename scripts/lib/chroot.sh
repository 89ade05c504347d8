# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Other Debian releases on this machine: a chroot for each in the cache (hosts/SUITE), made by mmdebstrap from the
# mirror that this machine's own packages come from. Needs common.sh and packages.sh.
#
# What runs in one has its own processes and mounts, and /tmp and /run that end with it: killed at any moment,
# nothing is left mounted or running. It finds this tree in $CHROOT_ROOT, which it can't write but for build/.

# shellcheck disable=SC2034
CHROOT_PACKAGES=(mmdebstrap debian-archive-keyring)
CHROOT_ROOT=/outsight
CHROOT_CACHE=/root/.cache/outsight # where it is on a machine
CHROOT_REFRESH=1 # days, after which a chroot's packages are brought up to date

# suite_of NAME: a release's code name from its number or its code name; sid is what moves.
suite_of()
{
	case $1 in
	11 | bullseye) echo bullseye ;;
	12 | bookworm) echo bookworm ;;
	13 | trixie) echo trixie ;;
	14 | forky) echo forky ;;
	sid | unstable) echo sid ;;
	*) return 1 ;;
	esac
}

# The mirror of Debian's main archive that this machine's own packages come from.
debian_mirror()
{
	apt_repositories | awk -v own="$(codename)" '
		BEGIN { split(own " stable testing unstable sid", names); for (i in names) known[names[i]] = 1 }
		$2 in known { print $1; exit }'
}

# need_mirror: the same, or the end with what to do.
need_mirror()
{
	local uri
	uri=$(debian_mirror)
	[ -n "$uri" ] || die "apt has no source for Debian's main archive, so no mirror is known: add it to apt's sources"
	echo "$uri"
}

# chroot_dir SUITE
chroot_dir()
{
	echo "$CACHE/hosts/$1"
}

# chroot_new SUITE: made under another name, and renamed when it is complete.
chroot_new()
{
	local suite=$1 dir tmp mirror
	dir=$(chroot_dir "$suite")
	mirror=$(need_mirror)
	need_space "$CACHE" 8000
	mkdir -p "$CACHE/hosts"
	tmp=$(mktemp -d "$CACHE/hosts/new.XXXXXX")
	say "making a chroot of Debian $suite"
	# Sid's Release file can be out of date on a mirror that lags; its signature is checked all the same.
	if ! run_logged "chroot-$suite" as_root mmdebstrap --mode=root --variant=minbase \
		--keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
		--aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Languages "none"' \
		--aptopt='APT::Sandbox::User "root"' --include=ca-certificates,ccache "$suite" "$tmp" "$mirror"; then
		as_root rm -rf --one-file-system "$tmp"
		die "making a chroot of Debian $suite failed: check the network and the disk, then run again (log: $CACHE/log/chroot-$suite.log)"
	fi
	# No service may start in there.
	printf '#!/bin/sh\nexit 101\n' | as_root tee "$tmp/usr/sbin/policy-rc.d" >/dev/null
	as_root chmod 755 "$tmp" "$tmp/usr/sbin/policy-rc.d"
	as_root mkdir -p "$tmp$CHROOT_ROOT" "$tmp$CHROOT_CACHE" "$tmp/var/cache/ccache"
	as_root touch "$tmp/.refreshed"
	as_root mv "$tmp" "$dir" || die "storing $dir failed: is the disk full?"
}

# chroot_make SUITE: it is there afterwards, with packages not older than CHROOT_REFRESH days.
chroot_make()
{
	local suite=$1 dir
	dir=$(chroot_dir "$suite")
	mkdir -p "$CACHE/hosts"
	exec {chroot_lock}>"$CACHE/hosts/$suite.lock"
	flock "$chroot_lock"
	[ -e "$dir/.refreshed" ] || chroot_new "$suite"
	exec {chroot_use}>"$CACHE/hosts/$suite.use"
	# Not under the feet of who runs something there; then it is brought up to date another time.
	if [ -n "$(find "$dir/.refreshed" -mtime "+$((CHROOT_REFRESH - 1))")" ] && flock -n "$chroot_use"; then
		say "bringing the chroot of Debian $suite up to date"
		run_logged "chroot-$suite" chroot_enter "$suite" sh -c \
			'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends dist-upgrade &&
			 apt-get clean' ||
			die "updating the chroot of Debian $suite failed: remove $dir and run again (log: $CACHE/log/chroot-$suite.log)"
		as_root touch "$dir/.refreshed"
	fi
	exec {chroot_use}>&- {chroot_lock}>&-
}

# The first process of chroot_run's namespaces: CHROOT TREE BUILD COMMAND…
# It stays their first process, so that what is orphaned is reaped; the command has a session of its own.
CHROOT_INIT='
	set -e
	dir=$1 tree=$2 build=$3
	shift 3
	mount --bind "$dir" "$dir"
	mount --bind "$tree" "$dir'$CHROOT_ROOT'"
	mount -o remount,bind,ro "$dir'$CHROOT_ROOT'"
	mount --bind "$build" "$dir'$CHROOT_ROOT'/build"
	mount -t proc proc "$dir/proc"
	mount --rbind /sys "$dir/sys"
	# Device nodes of its own: the packages of systemd set the modes of those that are there.
	mount -t tmpfs -o mode=755 tmpfs "$dir/dev"
	mkdir "$dir/dev/pts" "$dir/dev/shm" "$dir/dev/net"
	for at in null zero full random urandom tty kvm net/tun; do
		[ ! -e "/dev/$at" ] || cp -a "/dev/$at" "$dir/dev/$at"
	done
	mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$dir/dev/pts"
	ln -s pts/ptmx "$dir/dev/ptmx"
	ln -s /proc/self/fd "$dir/dev/fd"
	ln -s fd/0 "$dir/dev/stdin"
	ln -s fd/1 "$dir/dev/stdout"
	ln -s fd/2 "$dir/dev/stderr"
	for at in /dev/shm /tmp /run; do
		mount -t tmpfs -o mode=1777 tmpfs "$dir$at"
	done
	cp /etc/resolv.conf "$dir/run/resolv.conf"
	[ -L "$dir/etc/resolv.conf" ] || rm -f "$dir/etc/resolv.conf"
	ln -sfn /run/resolv.conf "$dir/etc/resolv.conf"
	set +e
	setsid --wait chroot "$dir" /usr/bin/env -i "$@"
	exit $?
'

# chroot_run SUITE COMMAND…: as root in the chroot, in $CHROOT_ROOT. Its exit status.
chroot_run()
{
	local status=0
	exec {chroot_use}>"$CACHE/hosts/$1.use"
	flock -s "$chroot_use"
	chroot_enter "$@" || status=$?
	exec {chroot_use}>&-
	return $status
}

# The same for who has the lock.
chroot_enter()
{
	local suite=$1 dir build=$ROOT/build/hosts/$1 pid status=0
	dir=$(chroot_dir "$suite")
	shift
	mkdir -p "$build"
	# Not in the foreground, where bash would handle a signal only after it has ended.
	as_root setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork --kill-child --mount-proc -- bash -c "$CHROOT_INIT" \
		chroot_run "$dir" "$ROOT" "$build" \
		HOME=/root TERM=dumb LC_ALL=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		OUTSIGHT_CACHE="$CHROOT_CACHE" CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_DIR=/var/cache/ccache \
		CCACHE_SLOPPINESS=time_macros CMAKE_BUILD_PARALLEL_LEVEL="$(nproc)" \
		/bin/sh -c 'cd "$0" && exec "$@"' "$CHROOT_ROOT" "$@" </dev/null &
	pid=$!
	# shellcheck disable=SC2064
	trap "as_root kill -KILL $pid 2>/dev/null; exit 130" INT TERM
	wait "$pid" || status=$?
	trap - INT TERM
	return $status
}
