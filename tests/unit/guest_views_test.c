/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/guest/census_sockets*.c, census_mounts.c, census_libraries.c: each thing by each way, what was
 * taken out of one, and memory that lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "views_fixture.h"
#include "vmm-probe/guest/census.h"
#include "vmm-probe/guest/guest_internal.h"

#define BOTH (VP_SOCKET_TABLES | VP_SOCKET_FILES)

struct views {
	struct process_guest *pg;
	struct vp_guest *guest;
	bool maple;
};

static int setup(void **state, bool maple)
{
	struct views *v = calloc(1, sizeof(*v));

	assert_non_null(v);
	v->maple = maple;
	v->pg = views_guest_create(maple);
	v->guest = process_guest_kernel(v->pg);
	v->guest->is_still = true;
	*state = v;
	return 0;
}

static int setup_newer(void **state)
{
	return setup(state, true);
}

static int setup_older(void **state)
{
	return setup(state, false);
}

static int teardown(void **state)
{
	struct views *v = *state;

	process_guest_destroy(v->pg);
	free(v);
	return 0;
}

struct want {
	const char *name;
	uint32_t ways;
	uint64_t owner;
};

static void are(struct vp_census *c, const struct want *want, size_t n)
{
	for (size_t i = 0; i < n && i < c->count; i++) {
		assert_string_equal(c->items[i].name, want[i].name);
		assert_int_equal(c->items[i].ways, want[i].ways);
		assert_int_equal(c->items[i].owner, want[i].owner);
		assert_int_equal(c->items[i].id, 0);
	}
	assert_int_equal(c->count, n);
	vp_census_deinit(c);
}

static void sockets_are(struct views *v, const struct want *want, size_t n)
{
	struct vp_census c;
	struct ot_err *err = vp_census_sockets(v->guest, &c);

	if (err)
		fail_msg("%s", ot_err_message(err));
	assert_int_equal(c.ways, BOTH);
	are(&c, want, n);
	views_guest_reset(v->pg, v->maple);
}

static void test_sockets(void **state)
{
	static const struct want want[] = {
		{ "tcp 0.0.0.0:22 listening", BOTH, 1 },
		{ "tcp 10.0.0.2:22 10.0.0.1:50000", BOTH, 1 },
		{ "tcp6 [::1]:25 [::1]:40000", BOTH, 0 },
		{ "udp 127.0.0.53:53", BOTH, 1 },
		{ "udp6 [::]:2049", BOTH, 0 },
	};

	sockets_are(*state, want, OT_ARRAY_SIZE(want));
}

/* One that is in no table, one that no process has open, and one that is in neither. */
static void test_hidden_sockets(void **state)
{
	static const struct want want[] = {
		{ "tcp 0.0.0.0:22 listening", VP_SOCKET_FILES, 1 },
		{ "tcp 10.0.0.2:22 10.0.0.1:50000", VP_SOCKET_TABLES, 0 },
		{ "tcp6 [::1]:25 [::1]:40000", BOTH, 0 },
		{ "udp6 [::]:2049", BOTH, 0 },
	};
	struct views *v = *state;

	views_unchain(v->pg, VF_SSH);
	*process_word(v->pg, VF_FD + 8 * 6) = 0;
	views_unchain(v->pg, VF_DNS);
	*process_word(v->pg, VF_FD + 8 * 7) = 0;
	sockets_are(v, want, OT_ARRAY_SIZE(want));
}

/* What is no TCP or UDP socket, no socket at all, or leads nowhere is passed over. */
static void test_other_files(void **state)
{
	static const struct want want[] = {
		{ "tcp 0.0.0.0:22 listening", VP_SOCKET_TABLES, 0 },
		{ "tcp 10.0.0.2:22 10.0.0.1:50000", VP_SOCKET_TABLES, 0 },
		{ "tcp6 [::1]:25 [::1]:40000", BOTH, 0 },
		{ "udp 127.0.0.53:53", VP_SOCKET_TABLES, 0 },
		{ "udp6 [::]:2049", BOTH, 0 },
	};
	struct views *v = *state;

	((uint16_t *)(void *)process_word(v->pg, VF_SK(VF_SSH) + VF_SK_TYPE))[0] = 3; /* raw */
	*process_word(v->pg, VF_FD + 8 * 6) = 0xdead000000000100;
	*process_word(v->pg, VF_SK(VF_DNS) + VF_SK_SOCKET) = VF_SOCKET(VF_SSH); /* another's */
	sockets_are(v, want, OT_ARRAY_SIZE(want));
}

static void refuses(struct views *v, struct ot_err *(*take)(struct vp_guest *guest, struct vp_census *ret),
		    enum ot_err_code code, const char *part)
{
	struct vp_census c;
	struct ot_err *err = take(v->guest, &c);

	assert_non_null(err);
	if (ot_err_code(err) != code || !strstr(ot_err_message(err), part))
		fail_msg("code %d, want %d with \"%s\": %s", ot_err_code(err), code, part,
			 ot_err_message(err));
	ot_err_destroy(err);
	vp_census_deinit(&c);
	views_guest_reset(v->pg, v->maple);
}

static void test_hostile_sockets(void **state)
{
	struct views *v = *state;
	uint64_t node = VF_SK(VF_CONNECTED) + VF_NODE;

	*process_word(v->pg, node) = VF_SK(VF_CLOSED) + VF_NODE; /* round and round */
	refuses(v, vp_census_sockets, OT_ERR_BUSY, "tables of sockets");
	*process_word(v->pg, VF_EHASH) = node; /* two buckets have one chain */
	refuses(v, vp_census_sockets, OT_ERR_BUSY, "tables of sockets");
	*process_word(v->pg, VF_EHASH) = 0x123456789000;
	refuses(v, vp_census_sockets, OT_ERR_FAULT, "tables of sockets");
	*process_word(v->pg, VF_HASHINFO + 8) |= 0xffffffff; /* as many buckets as can be said */
	refuses(v, vp_census_sockets, OT_ERR_BAD_DATA, "does not end");
	*process_word(v->pg, VF_FDTABLE) = 0xffffffff;
	refuses(v, vp_census_sockets, OT_ERR_BAD_DATA, "open files");
}

/* Without the symbols that the tables hang on, the other way remains. */
static void test_without_symbols(void **state)
{
	static const struct want want[] = {
		{ "tcp 0.0.0.0:22 listening", VP_SOCKET_FILES, 1 },
		{ "tcp 10.0.0.2:22 10.0.0.1:50000", VP_SOCKET_FILES, 1 },
		{ "udp 127.0.0.53:53", VP_SOCKET_FILES, 1 },
	};
	struct views *v = *state;
	struct vp_symtab *tab;
	struct vp_census c;

	assert_null(vp_symtab_create(&tab));
	assert_null(vp_symtab_add_range(tab, VP_SYMTAB_VMLINUX, PF_BASE, PF_BASE + (2u << 20)));
	assert_null(vp_symtab_add(tab, PF_PID_NS, 'D', VP_SYMTAB_VMLINUX, 0, "init_pid_ns", 11));
	assert_null(vp_symtab_add(tab, VF_INIT_NET, 'D', VP_SYMTAB_VMLINUX, 0, "init_net", 8));
	assert_null(vp_symtab_add(tab, VF_SOCKET_OPS, 'D', VP_SYMTAB_VMLINUX, 0, "socket_file_ops", 15));
	assert_null(vp_symtab_finish(tab));
	vp_symtab_destroy(v->guest->symtab);
	v->guest->symtab = tab;
	assert_null(vp_census_sockets(v->guest, &c));
	assert_int_equal(c.ways, VP_SOCKET_FILES);
	are(&c, want, OT_ARRAY_SIZE(want));
}

/* --- mounts --------------------------------------------------------------------------------------------- */

#define WAYS (VP_MOUNT_NAMESPACE | VP_MOUNT_TREE)

static void mounts_are(struct views *v, uint32_t of_srv, uint32_t of_data)
{
	const struct want want[] = {
		{ "/ ext4", WAYS, 0 },
		{ "/srv fuse.disk", of_srv, 0 },
		{ "/srv/data tmpfs", of_data, 0 },
	};
	struct vp_census c;
	struct ot_err *err = vp_census_mounts(v->guest, &c);

	if (err)
		fail_msg("%s", ot_err_message(err));
	assert_int_equal(c.ways, WAYS);
	are(&c, want, OT_ARRAY_SIZE(want));
	views_guest_reset(v->pg, v->maple);
}

static void test_mounts(void **state)
{
	struct views *v = *state;

	mounts_are(v, WAYS, WAYS);
	views_unmount(v->pg, 2);
	mounts_are(v, WAYS, VP_MOUNT_NAMESPACE);
	if (v->maple) {
		*process_word(v->pg, PF_MOUNT(1) + PF_MNT_LINK + 8) = 0;
	} else {
		*process_word(v->pg, PF_MOUNT(1) + PF_MNT_LINK) = VF_MNT_NS + 8;
		*process_word(v->pg, VF_MNT_NS + 16) = PF_MOUNT(1) + PF_MNT_LINK;
	}
	mounts_are(v, WAYS, VP_MOUNT_TREE);
}

/* A mark of a reader has no root; a name may be as long as it likes. */
static void test_marks_and_names(void **state)
{
	struct views *v = *state;
	struct vp_census c;

	*process_word(v->pg, PF_MOUNT(3) + 16) = 0;
	mounts_are(v, WAYS, WAYS);
	memset(process_word(v->pg, VF_TYPENAME(2)), 'x', 0x100);
	assert_null(vp_census_mounts(v->guest, &c));
	assert_int_equal(strlen(c.items[2].name), strlen("/srv/data ") + 63);
	vp_census_deinit(&c);
	views_guest_reset(v->pg, v->maple);
}

static void test_hostile_mounts(void **state)
{
	struct views *v = *state;
	uint64_t child = PF_MOUNT(0) + PF_MNT_CHILD, list = PF_MOUNT(1) + PF_MNT_MOUNTS;

	/* the root is mounted on a mount below it: each list ends well */
	*process_word(v->pg, list) = *process_word(v->pg, list + 8) = child;
	*process_word(v->pg, child) = *process_word(v->pg, child + 8) = list;
	refuses(v, vp_census_mounts, OT_ERR_BUSY, "tree of mounts");
	*process_word(v->pg, PF_MOUNT(1)) = PF_MOUNT(2); /* each is mounted on the other's root */
	*process_word(v->pg, PF_MOUNT(1) + 8) = PF_DENTRY(3);
	*process_word(v->pg, PF_MOUNT(2) + 8) = PF_DENTRY(2);
	refuses(v, vp_census_mounts, OT_ERR_BAD_DATA, "the path does not end");
	*process_word(v->pg, VF_SUPER(1) + PF_SB_TYPE) = 0x1234;
	refuses(v, vp_census_mounts, OT_ERR_FAULT, "list of mounts");
	*process_word(v->pg, PF_TASK + PF_TASK_NSPROXY) = 0;
	refuses(v, vp_census_mounts, OT_ERR_FAULT, "first process");
}

/* --- libraries ------------------------------------------------------------------------------------------ */

static void test_libraries(void **state)
{
	struct views *v = *state;
	const struct want found = { "/srv/data/prog", VP_LIBRARY_MAPPINGS, 0 };
	const struct want program = { "/srv/data/prog (deleted)", VP_LIBRARY_MAPPINGS, 1 };
	struct vp_census c;

	assert_null(vp_census_libraries(v->guest, 1, &c));
	assert_int_equal(c.ways, VP_LIBRARY_MAPPINGS);
	are(&c, &found, 1);
	*process_word(v->pg, PF_MM + PF_EXE_FILE) = PF_FILE;
	*process_word(v->pg, PF_DENTRY(4) + PF_D_PPREV) = 0;
	assert_null(vp_census_libraries(v->guest, 1, &c));
	are(&c, &program, 1);
	for (unsigned i = 0; i < PF_VMAS; i++) /* nothing is code */
		*process_word(v->pg, PF_VMA(i) + 24) = 1;
	assert_null(vp_census_libraries(v->guest, 1, &c));
	are(&c, NULL, 0);
	struct ot_err *err = vp_census_libraries(v->guest, 2, &c);

	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_NOT_FOUND);
	ot_err_destroy(err);
	vp_census_deinit(&c);
	views_guest_reset(v->pg, v->maple);
}

#define BOTH_KERNELS(f)                                            \
	cmocka_unit_test_setup_teardown(f, setup_newer, teardown), \
	    cmocka_unit_test_setup_teardown(f, setup_older, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH_KERNELS(test_sockets),         BOTH_KERNELS(test_hidden_sockets),
		BOTH_KERNELS(test_other_files),     BOTH_KERNELS(test_hostile_sockets),
		BOTH_KERNELS(test_without_symbols), BOTH_KERNELS(test_mounts),
		BOTH_KERNELS(test_marks_and_names), BOTH_KERNELS(test_hostile_mounts),
		BOTH_KERNELS(test_libraries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
