/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/session/host_types: the host's C types, read on first use, or none at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "btf_builder.h"
#include "vmm-probe/guest/btf_types.h"
#include "vmm-probe/session/host_types.h"

static char path[] = "/tmp/outsight-host-types-XXXXXX";

static void write_file(const void *data, size_t size)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static void test_found(void **state)
{
	struct vp_host_types host = { 0 };
	struct btf_builder b;
	struct ot_buf blob;

	(void)state;
	btf_builder_init(&b, NULL);
	uint32_t i = btf_add_int(&b, "int", 4, BTF_INT_SIGNED);
	btf_add(&b, "pair", BTF_KIND_STRUCT, 1, 0, 4);
	btf_add_member(&b, "first", i, 0);
	ot_buf_init(&blob);
	btf_finish(&b, &blob);
	write_file(blob.data, blob.len);

	struct vp_types *types = vp_host_types_get(&host, path);
	assert_non_null(types);
	assert_non_null(vp_types_find(types, NULL, DIF_C_STRUCT, "pair"));
	assert_null(vp_types_find(types, NULL, DIF_C_STRUCT, "other"));

	/* read once: what the file says later is of no interest */
	write_file("", 0);
	assert_ptr_equal(vp_host_types_get(&host, path), types);
	vp_host_types_deinit(&host);
	ot_buf_deinit(&blob);
	btf_builder_deinit(&b);
}

static void test_absent(void **state)
{
	struct vp_host_types host = { 0 };

	(void)state;
	assert_null(vp_host_types_get(&host, "/nowhere/vmlinux"));
	assert_null(vp_host_types_get(&host, path)); /* and not searched for again */
	vp_host_types_deinit(&host);
}

static void test_broken(void **state)
{
	struct vp_host_types host = { 0 };

	(void)state;
	write_file("no BTF at all, whatever the name says", 37);
	assert_null(vp_host_types_get(&host, path));
	vp_host_types_deinit(&host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_broken),
	};
	int fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
