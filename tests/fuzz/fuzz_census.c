/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hostile lists, trees and tables of a guest's processes, modules, sockets and mounts. It begins with small
 * valid guests, and overwrites them; the invariant is that every walk ends, in its bounds.
 *
 *   input: u16 place | u16 value, …: the word number `place` becomes a pointer to byte number `value` of the
 * memory, if the place's highest bit is set, else the value itself
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/census_fixture.h"
#include "tests/unit/views_fixture.h"
#include "vmm-probe/guest/guest_internal.h"
#include "vmm-probe/guest/process/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct vp_guest *guest,
		  struct ot_err *(*take)(struct vp_guest *guest, struct vp_census *ret), uint32_t ways)
{
	struct vp_census c;
	struct ot_err *err = take(guest, &c);

	for (size_t i = 0; !err && i < c.count; i++) {
		if (!c.items[i].ways || c.items[i].ways & ~c.ways || c.ways & ~ways)
			abort();
		if (strlen(c.items[i].name) > VP_PATH_MAX + 256u)
			abort();
		/* joined: in order, each once */
		if (i && (c.items[i].id < c.items[i - 1].id ||
			  (c.items[i].id == c.items[i - 1].id &&
			   (c.items[i].id || strcmp(c.items[i].name, c.items[i - 1].name) <= 0))))
			abort();
	}
	ot_err_destroy(err);
	vp_census_deinit(&c);
}

static void fuzz_views(const uint8_t *data, size_t size)
{
	static struct process_guest *guests[2]; /* an older kernel, a newer one */

	for (int i = 0; i < 2; i++) {
		if (!guests[i]) {
			guests[i] = views_guest_create(i);
			process_guest_kernel(guests[i])->is_still = true;
		}
		views_guest_reset(guests[i], i);
		for (size_t k = 0; k + 4 <= size; k += 4) {
			uint16_t place, value;

			memcpy(&place, data + k, 2);
			memcpy(&value, data + k + 2, 2);
			*process_word(guests[i], PF_BASE + (place & 0x7fffu) * 8ull % PF_SIZE) =
			    place & 0x8000 ? PF_BASE + value * 8ull % PF_SIZE : value;
		}
		check(process_guest_kernel(guests[i]), vp_census_sockets, VP_SOCKET_TABLES | VP_SOCKET_FILES);
		check(process_guest_kernel(guests[i]), vp_census_mounts, VP_MOUNT_NAMESPACE | VP_MOUNT_TREE);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct census_guest *cg;

	fuzz_views(data, size);
	if (!cg) {
		cg = census_guest_create();
		census_guest(cg)->is_still = true; /* nobody writes it meanwhile */
	}
	census_guest_reset(cg);
	for (; size >= 4; data += 4, size -= 4) {
		uint16_t place, value;

		memcpy(&place, data, 2);
		memcpy(&value, data + 2, 2);
		*census_word(cg, CENSUS_BASE + (place & 0x7fffu) * 8ull % CENSUS_SIZE) =
		    place & 0x8000 ? CENSUS_BASE + value % CENSUS_SIZE : value;
	}
	check(census_guest(cg), vp_census_tasks, VP_TASK_LIST | VP_TASK_PIDS | VP_TASK_TREE);
	check(census_guest(cg), vp_census_modules, VP_MODULE_LIST | VP_MODULE_SYSFS | VP_MODULE_ADDRESSES);
	return 0;
}
