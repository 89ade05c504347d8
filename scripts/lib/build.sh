# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Building with the presets of CMakePresets.json.

# build PRESET: configure when needed, then build everything.
build()
{
	local preset=$1
	need_space "$ROOT" 1500
	say "building build/$preset"
	(cd "$ROOT" && run_logged "configure-$preset" cmake --preset "$preset") ||
		die "configuring build/$preset failed: see above and $CACHE/log/configure-$preset.log"
	(cd "$ROOT" && run_logged "build-$preset" cmake --build --preset "$preset") ||
		die "building build/$preset failed: see above and $CACHE/log/build-$preset.log"
}
