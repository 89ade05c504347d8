/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/machines/memory_room: what memory cgroups leave a process, in trees made here. */
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "vmm-probe/machines/memory_room.h"

#define MIB     (1ull << 20)
#define UNIFIED "30 1 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
#define VERSION_1                                                    \
	"30 1 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n" \
	"31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"

static char root[] = "/tmp/outsight-memory.XXXXXX";

/* Make a file and the folders it lies in. */
static void put(const char *path, const char *text)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(whole, 0700);
		*slash = '/';
	}
	FILE *f = fopen(whole, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int set_up(void **state)
{
	(void)state;
	memcpy(strrchr(root, '.'), ".XXXXXX", sizeof(".XXXXXX"));
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void nothing_limits(void **state)
{
	struct vp_memory_room room;

	(void)state;
	assert_false(vp_memory_room(root, 7, &room)); /* no such process */
	put("/proc/self/mountinfo", UNIFIED);
	put("/proc/7/cgroup", "0::/machine.slice/vm.scope\n");
	assert_false(vp_memory_room(root, 7, &room)); /* no such files */
	put("/sys/fs/cgroup/machine.slice/vm.scope/memory.max", "max\n");
	put("/sys/fs/cgroup/machine.slice/vm.scope/memory.current", "1048576\n");
	assert_false(vp_memory_room(root, 7, &room));
}

static void of_version_2(void **state)
{
	struct vp_memory_room room;

	(void)state;
	put("/proc/self/mountinfo", "1 1 8:1 / / rw - ext4 /dev/sda1 rw\n" UNIFIED);
	put("/proc/7/cgroup", "0::/machine.slice/vm.scope\n");
	put("/sys/fs/cgroup/machine.slice/vm.scope/memory.max", "67108864\n");
	put("/sys/fs/cgroup/machine.slice/vm.scope/memory.current", "41943040\n");
	assert_true(vp_memory_room(root, 7, &room));
	assert_int_equal(room.limit, 64 * MIB);
	assert_int_equal(room.room, 24 * MIB);
	assert_non_null(strstr(room.group, "/sys/fs/cgroup/machine.slice/vm.scope"));
	/* caches are no use of it; names that begin alike are others */
	put("/sys/fs/cgroup/machine.slice/vm.scope/memory.stat",
	    "anon 31457280\nworkingset_inactive_file 999999999\ninactive_file 4194304\nactive_file 2097152\n"
	    "active_file_other 5\n");
	assert_true(vp_memory_room(root, 7, &room));
	assert_int_equal(room.room, 30 * MIB);
}

static void whoever_leaves_least(void **state)
{
	struct vp_memory_room room;

	(void)state;
	put("/proc/self/mountinfo", UNIFIED);
	put("/proc/7/cgroup", "0::/machine.slice/vm.scope/emulator\n");
	put("/sys/fs/cgroup/machine.slice/vm.scope/emulator/memory.max", "max\n");
	put("/sys/fs/cgroup/machine.slice/vm.scope/memory.max", "67108864\n");
	put("/sys/fs/cgroup/machine.slice/vm.scope/memory.current", "41943040\n");
	put("/sys/fs/cgroup/machine.slice/memory.max", "134217728\n");
	put("/sys/fs/cgroup/machine.slice/memory.current", "130023424\n");
	assert_true(vp_memory_room(root, 7, &room));
	assert_int_equal(room.limit, 128 * MIB);
	assert_int_equal(room.room, 4 * MIB);
	/* used beyond the limit, as it may be for a moment */
	put("/sys/fs/cgroup/machine.slice/memory.current", "234217728\n");
	assert_true(vp_memory_room(root, 7, &room));
	assert_int_equal(room.room, 0);
}

static void of_version_1(void **state)
{
	struct vp_memory_room room;

	(void)state;
	put("/proc/self/mountinfo", VERSION_1);
	put("/proc/7/cgroup", "9:cpu,cpuacct:/a\n4:memory:/machine/vm\n0::/\n");
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	put("/sys/fs/cgroup/memory/machine/memory.limit_in_bytes", "9223372036854771712\n");
	put("/sys/fs/cgroup/memory/machine/vm/memory.limit_in_bytes", "9223372036854771712\n");
	put("/sys/fs/cgroup/memory/machine/vm/memory.usage_in_bytes", "41943040\n");
	assert_false(vp_memory_room(root, 7, &room));
	put("/sys/fs/cgroup/memory/machine/vm/memory.limit_in_bytes", "50331648\n");
	put("/sys/fs/cgroup/memory/machine/vm/memory.stat",
	    "inactive_file 1\nactive_file 1\ntotal_inactive_file 1048576\ntotal_active_file 1048576\n");
	assert_true(vp_memory_room(root, 7, &room));
	assert_int_equal(room.limit, 48 * MIB);
	assert_int_equal(room.room, 10 * MIB);
}

/* In a container the top of what is mounted is a cgroup inside. */
static void mounted_from_further_down(void **state)
{
	struct vp_memory_room room;

	(void)state;
	put("/proc/self/mountinfo", "30 1 0:26 /box /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
	put("/sys/fs/cgroup/memory.max", "67108864\n");
	put("/sys/fs/cgroup/memory.current", "1048576\n");
	put("/sys/fs/cgroup/vm/memory.max", "33554432\n");
	put("/sys/fs/cgroup/vm/memory.current", "1048576\n");
	put("/proc/7/cgroup", "0::/box/vm\n");
	assert_true(vp_memory_room(root, 7, &room));
	assert_int_equal(room.room, 31 * MIB);
	put("/proc/7/cgroup", "0::/boxes/vm\n");
	assert_true(vp_memory_room(root, 7, &room));
	assert_int_equal(room.room, 63 * MIB);
}

static void broken_files(void **state)
{
	static const char *const groups[] = {
		"", "\n", "0", "0:", "0::", "0:memory", "x:memory:relative\n", ":::\n"
	};
	static const char *const mounts[] = { "", " - ", "30 1 - cgroup2 cgroup2 rw\n",
					      "30 1 0:26 / /x rw - cgroup2\n" };
	struct vp_memory_room room;

	(void)state;
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		for (size_t k = 0; k < sizeof(mounts) / sizeof(*mounts); k++) {
			put("/proc/self/mountinfo", mounts[k]);
			put("/proc/7/cgroup", groups[i]);
			assert_false(vp_memory_room(root, 7, &room));
		}
}

static void what_the_host_has(void **state)
{
	(void)state;
	assert_int_equal(vp_memory_available(root), 0);
	put("/proc/meminfo",
	    "MemTotal:       24683520 kB\nMemFree:  22694912 kB\nMemAvailable:   23871488 kB\n");
	assert_int_equal(vp_memory_available(root), 23871488ull * 1024);
	assert_true(vp_memory_available("") > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_limits),
		TEST(of_version_2),
		TEST(whoever_leaves_least),
		TEST(of_version_1),
		TEST(mounted_from_further_down),
		TEST(broken_files),
		TEST(what_the_host_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
