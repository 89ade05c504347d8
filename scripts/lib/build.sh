# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Building with the presets of CMakePresets.json.

build_failed()
{
	tail -n 40 "$3" >&2
	die "$1 build/$2 failed: see above and $3"
}

# build PRESET [TARGET…]: configure when needed, then build everything, or these targets.
build()
{
	local preset=$1 targets=("${@:2}")
	need_space "$ROOT" 1500
	say "building build/$preset"
	(cd "$ROOT" && run_logged "configure-$preset" cmake --preset "$preset") ||
		build_failed configuring "$preset" "$CACHE/log/configure-$preset.log"
	(cd "$ROOT" && run_logged "build-$preset" cmake --build --preset "$preset" ${targets[0]:+--target "${targets[@]}"}) ||
		build_failed building "$preset" "$CACHE/log/build-$preset.log"
}
