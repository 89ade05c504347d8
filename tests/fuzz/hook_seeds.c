/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes fuzz_hook's seeds, from the struct that it reads: the calls of a VMM as QEMU makes them.
 *
 *   hook_seeds DIRECTORY
 */
#include <linux/kvm.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "tests/fuzz/hook_ops.h"

#define MIB  (1ull << 20)
#define HOST 0x7f0000000000ull

#define START                                                                                         \
	{ .kind = HOOK_MMAP_SIZE, .id = 12288 }, { .kind = HOOK_CREATE_VM },                          \
	    { .kind = HOOK_REGION, .id = 0, .b = 64 * MIB, .c = HOST },                               \
	    { .kind = HOOK_CREATE_VCPU, .id = 0 }, { .kind = HOOK_CREATE_VCPU, .which = 1, .id = 1 }, \
	{                                                                                             \
		.kind = HOOK_SREGS, .a = 0xffff0000, .id = 0xf000                                     \
	}

/* Firmware is moved over the first MiB, RAM around it; then they run. */
static const struct hook_op boots[] = {
	START,
	{ .kind = HOOK_RUN, .which = 0, .a = 5 },
	{ .kind = HOOK_RUN, .which = 1 },
	{ .kind = HOOK_REGION, .id = 0, .b = 0, .c = HOST },
	{ .kind = HOOK_REGION, .id = 0, .b = 0xa0000, .c = HOST },
	{ .kind = HOOK_REGION,
	  .id = 1,
	  .flags = KVM_MEM_READONLY,
	  .a = 0xc0000,
	  .b = 0x20000,
	  .c = HOST + 64 * MIB },
	{ .kind = HOOK_REGION, .id = 2, .a = MIB, .b = 63 * MIB, .c = HOST + MIB },
	{ .kind = HOOK_REGION,
	  .id = 3,
	  .flags = KVM_MEM_LOG_DIRTY_PAGES,
	  .a = 0xfd000000,
	  .b = 16 * MIB,
	  .c = HOST + 128 * MIB },
	{ .kind = HOOK_RUN, .which = 0 },
	{ .kind = HOOK_OTHER, .a = KVM_GET_REGS },
};

/* Saved, migrated, and then with another vCPU and more memory. */
static const struct hook_op changes[] = {
	START,
	{ .kind = HOOK_REGION, .id = 0, .flags = KVM_MEM_LOG_DIRTY_PAGES, .b = 64 * MIB, .c = HOST },
	{ .kind = HOOK_REGION, .id = 0, .b = 64 * MIB, .c = HOST },
	{ .kind = HOOK_FAULTS, .flags = UFFDIO_REGISTER_MODE_WP },
	{ .kind = HOOK_FAULTS, .flags = UFFDIO_REGISTER_MODE_WP, .how = HOOK_FAILS },
	{ .kind = HOOK_CREATE_VCPU, .which = 2, .id = 2 },
	{ .kind = HOOK_CREATE_VCPU, .which = 2, .id = 5 },
	{ .kind = HOOK_REGION,
	  .id = 7,
	  .how = HOOK_REGION2,
	  .a = 1ull << 32,
	  .b = 128 * MIB,
	  .c = HOST + 256 * MIB },
	{ .kind = HOOK_REGION, .id = 0x10000, .b = 64 * MIB, .c = HOST },
	{ .kind = HOOK_DEBUG, .flags = KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_USE_HW_BP },
	{ .kind = HOOK_ENGINE_DEBUG, .flags = KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_USE_HW_BP },
	{ .kind = HOOK_SREGS, .a = 0xffff0000, .id = 0xf000 },
	{ .kind = HOOK_SREGS, .b = 1 },
	{ .kind = HOOK_RUN },
	{ .kind = HOOK_ENCRYPT },
};

/* Injected: RAM is what the monitor tells of. */
static const struct hook_op found[] = {
	START,
	{ .kind = HOOK_FOUND, .id = 0, .b = 0xa0000, .c = HOST },
	{ .kind = HOOK_FOUND, .id = 1, .a = MIB, .b = 63 * MIB, .c = HOST + MIB },
	{ .kind = HOOK_REGION, .id = 9, .a = 32 * MIB, .b = 0, .c = HOST },
	{ .kind = HOOK_FORGET },
	{ .kind = HOOK_FOUND, .id = 0, .b = 64 * MIB, .c = HOST },
	{ .kind = HOOK_REGION, .id = 0, .b = 0 },
};

static void write_seed(const char *directory, const char *name, const struct hook_op *ops, size_t n)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *out = fopen(path, "we");
	if (!out || fwrite(ops, sizeof(*ops), n, out) != n || fclose(out)) {
		perror(path);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: hook_seeds DIRECTORY\n");
		return 2;
	}
	write_seed(argv[1], "boots", boots, OT_ARRAY_SIZE(boots));
	write_seed(argv[1], "changes", changes, OT_ARRAY_SIZE(changes));
	write_seed(argv[1], "found", found, OT_ARRAY_SIZE(found));
	return 0;
}
