#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Wait until the parent has been stopped, and let it go on.
while [ "$(cut -d ' ' -f 3 "/proc/$PPID/stat")" != T ]; do
	[ -e "/proc/$PPID" ] || exit 1
	sleep 0.01
done
kill -CONT "$PPID"
