/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest/symtab and guest/cache. */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "guest_fixture.h"
#include "vmm-probe/guest/cache.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/guest/symtab.h"

static void add(struct vp_symtab *t, uint64_t addr, char type, uint16_t module, const char *name)
{
	assert_ok(vp_symtab_add(t, addr, type, module, 0, name, strlen(name)));
}

static struct vp_symtab *usual(void)
{
	struct vp_symtab *t;
	uint16_t mod, late;

	assert_ok(vp_symtab_create(&t));
	assert_ok(vp_symtab_add_module(t, "ext4", &mod));
	assert_ok(vp_symtab_add_module(t, "late", &late));
	assert_ok(vp_symtab_add_range(t, mod, 0xc0001000, 0xc0003000));
	assert_ok(vp_symtab_add_range(t, VP_SYMTAB_VMLINUX, 0x81000000ull << 8, 0x82000000ull << 8));
	assert_ok(vp_symtab_add_range(t, mod, 0xc0010000, 0xc0011000));
	add(t, 0xc0001100, 't', mod, "helper");
	add(t, 0xc0001000, 't', mod, "ext4_open");
	add(t, 0xc0010000, 'd', mod, "ext4_ops");
	add(t, 0x0, 'A', 0, "__per_cpu_start");
	add(t, 0x100, 'A', 0, "current_task");
	add(t, 0x2000, 'A', 0, "__per_cpu_end");
	add(t, 0x9000, 'A', 0, "a_number");
	add(t, 0x8100000000, 'T', 0, "_text");
	add(t, 0x8100000000, 'T', 0, "_stext");
	add(t, 0x8100000040, 't', 0, "helper");
	add(t, 0x8100000080, 'T', 0, "last");
	add(t, 0xc0002000, 't', mod, "helper");
	assert_ok(vp_symtab_finish(t));
	return t;
}

/* ThinLTO's hashes. */
static void hashes_are_not_of_the_name(void **state)
{
	static const char *const names[][2] = {
		{ "vfs_open.llvm.8713", "vfs_open" }, { "slow.llvm.1.cold", "slow.cold" },
		{ "a.llvm.x1", "a.llvm.x1" },         { "a.llvm.1x", "a.llvm.1x" },
		{ ".llvm.12", ".llvm.12" },           { "b.llvm.", "b" },
		{ "c.isra.0.llvm.77", "c.isra.0" },
	};
	struct vp_symtab *t;

	(void)state;
	assert_ok(vp_symtab_create(&t));
	for (unsigned i = 0; i < OT_ARRAY_SIZE(names); i++)
		add(t, 0x8100000000 + i, 't', 0, names[i][0]);
	assert_ok(vp_symtab_finish(t));
	for (unsigned i = 0; i < OT_ARRAY_SIZE(names); i++)
		assert_string_equal(vp_symbol_name(t, vp_symtab_at(t, i)), names[i][1]);
	assert_null(vp_symtab_find(t, NULL, "vfs_open.llvm.8713"));
	vp_symtab_destroy(t);
}

static void assert_at(const struct vp_symtab *t, uint64_t addr, const char *want, uint64_t want_off)
{
	uint64_t off = 0;
	const struct vp_symbol *sym = vp_symtab_find_addr(t, vp_gva(addr), &off);
	char got[64] = "";

	if (sym)
		snprintf(got, sizeof(got), "%s`%s", vp_symbol_module(t, sym), vp_symbol_name(t, sym));
	assert_string_equal(got, want);
	assert_int_equal(off, want_off);
}

static void addresses_are_found(void **state)
{
	struct vp_symtab *t = usual();

	(void)state;
	assert_at(t, 0x8100000000, "vmlinux`_text", 0); /* the first of two at one address */
	assert_at(t, 0x810000003f, "vmlinux`_text", 0x3f);
	assert_at(t, 0x8100000040, "vmlinux`helper", 0);
	assert_at(t, 0x81ffffffff, "vmlinux`last", 0x81ffffffffull - 0x8100000080ull);
	assert_at(t, 0x8200000000, "", 0); /* behind the image */
	assert_at(t, 0xc0001000, "ext4`ext4_open", 0);
	assert_at(t, 0xc0001fff, "ext4`helper", 0xeff);
	assert_at(t, 0xc0002fff, "ext4`helper", 0xfff);
	assert_at(t, 0xc0003000, "", 0);
	assert_at(t, 0xc0000fff, "", 0);
	assert_at(t, 0xc0010010, "ext4`ext4_ops", 0x10);
	assert_at(t, 0x100, "", 0); /* per-CPU: no address */
	assert_at(t, UINT64_MAX, "", 0);
	vp_symtab_destroy(t);
}

static uint64_t size_of(const struct vp_symtab *t, const char *module, const char *name)
{
	const struct vp_symbol *sym = vp_symtab_find(t, module, name);

	assert_non_null(sym);
	return vp_symbol_size(t, sym);
}

static void sizes_end_at_the_next_symbol_or_the_range(void **state)
{
	struct vp_symtab *t = usual();

	(void)state;
	assert_int_equal(size_of(t, NULL, "_text"), 0x40);
	assert_int_equal(size_of(t, NULL, "_stext"), 0x40);
	assert_int_equal(size_of(t, NULL, "last"), 0x8200000000ull - 0x8100000080ull);
	assert_int_equal(size_of(t, "ext4", "ext4_open"), 0x100);
	assert_int_equal(size_of(t, "ext4", "ext4_ops"), 0x1000);
	assert_int_equal(size_of(t, NULL, "__per_cpu_start"), 0x100);
	vp_symtab_destroy(t);
}

static void names_are_found(void **state)
{
	struct vp_symtab *t = usual();
	const struct vp_symbol *sym = vp_symtab_find(t, NULL, "helper");

	(void)state;
	assert_int_equal(sym->addr, 0x8100000040); /* the core's first */
	assert_int_equal(vp_symtab_find(t, "ext4", "helper")->addr, 0xc0001100);
	assert_null(vp_symtab_find(t, "late", "helper"));
	assert_null(vp_symtab_find(t, "nomod", "helper"));
	assert_null(vp_symtab_find(t, NULL, "help"));
	assert_null(vp_symtab_find(t, NULL, ""));
	assert_int_equal(vp_symtab_find_module(t, "late"), 2);
	assert_int_equal(vp_symtab_find_module(t, "vmlinux"), VP_SYMTAB_VMLINUX);
	assert_int_equal(vp_symtab_find_module(t, "none"), -1);
	assert_int_equal(vp_symtab_find(t, NULL, "current_task")->flags, VP_SYM_PERCPU);
	assert_int_equal(vp_symtab_find(t, NULL, "a_number")->flags, VP_SYM_ABSOLUTE);
	assert_int_equal(vp_symtab_find(t, NULL, "last")->flags, 0);
	assert_true(vp_symbol_is_function(vp_symtab_find(t, NULL, "last")));
	assert_false(vp_symbol_is_function(vp_symtab_find(t, NULL, "ext4_ops")));
	vp_symtab_destroy(t);
}

/* Modules above the core kernel, as x86 has them, are loaded and unloaded: each name is found, the core's
 * first, also when one of its symbols is added behind them. */
static void modules_come_and_go(void **state)
{
	struct vp_symtab *t;
	uint16_t mod;

	(void)state;
	assert_ok(vp_symtab_create(&t));
	add(t, 0x8100000000, 'T', 0, "_text");
	add(t, 0x8100000040, 't', 0, "helper");
	assert_ok(vp_symtab_finish(t));
	for (unsigned i = 0; i < 3; i++) {
		assert_ok(vp_symtab_add_module(t, "ext4", &mod));
		add(t, 0xc000001100, 't', mod, "helper");
		add(t, 0xc000001000, 't', mod, "ext4_open");
		assert_ok(vp_symtab_finish(t));
		assert_int_equal(vp_symtab_find(t, NULL, "helper")->addr, 0x8100000040);
		assert_int_equal(vp_symtab_find(t, "ext4", "helper")->addr, 0xc000001100);
		assert_int_equal(vp_symtab_find(t, NULL, "ext4_open")->addr, 0xc000001000);
		vp_symtab_drop(t, mod, 0, 0);
		assert_ok(vp_symtab_finish(t));
		assert_null(vp_symtab_find(t, NULL, "ext4_open"));
		assert_int_equal(vp_symtab_find(t, NULL, "_text")->addr, 0x8100000000);
	}
	add(t, 0xc000001000, 't', mod, "ext4_open");
	add(t, 0xd000000000, 'T', 0, "ext4_open");
	assert_ok(vp_symtab_finish(t));
	assert_int_equal(vp_symtab_find(t, NULL, "ext4_open")->addr, 0xd000000000);
	assert_int_equal(vp_symtab_find(t, "ext4", "ext4_open")->addr, 0xc000001000);
	assert_int_equal(vp_symtab_find(t, "vmlinux", "helper")->addr, 0x8100000040);
	vp_symtab_destroy(t);
}

/* Since 6.15 per-CPU variables have addresses in the image. */
static void percpu_marks_may_be_addresses(void **state)
{
	struct vp_symtab *t;

	(void)state;
	assert_ok(vp_symtab_create(&t));
	add(t, 0x8100000000, 'T', 0, "_text");
	add(t, 0x8100001000, 'D', 0, "__per_cpu_start");
	add(t, 0x8100001040, 'D', 0, "current_task");
	add(t, 0x8100002000, 'D', 0, "__per_cpu_end");
	assert_ok(vp_symtab_finish(t));
	assert_int_equal(vp_symtab_find(t, NULL, "current_task")->flags, VP_SYM_PERCPU);
	assert_int_equal(vp_symtab_find(t, NULL, "__per_cpu_end")->flags, 0);
	vp_symtab_destroy(t);
}

/* A data section that is marked executable gives all of its variables the letter of text. */
static void data_is_no_function(void **state)
{
	struct vp_symtab *t;

	(void)state;
	assert_ok(vp_symtab_create(&t));
	add(t, 0x8100000000, 'T', 0, "_text");
	add(t, 0x8100000fff, 't', 0, "before");
	add(t, 0x8100001000, 'T', 0, "_sdata");
	add(t, 0x8100001040, 't', 0, "a_variable");
	add(t, 0x8100001080, 'W', 0, "a_weak_one");
	add(t, 0x8100002000, 'T', 0, "_edata");
	add(t, 0x8100002040, 't', 0, "behind");
	assert_ok(vp_symtab_finish(t));
	assert_int_equal(vp_symtab_find(t, NULL, "a_variable")->flags, VP_SYM_DATA);
	assert_false(vp_symbol_is_function(vp_symtab_find(t, NULL, "a_variable")));
	assert_false(vp_symbol_is_function(vp_symtab_find(t, NULL, "a_weak_one")));
	assert_true(vp_symbol_is_function(vp_symtab_find(t, NULL, "before")));
	assert_true(vp_symbol_is_function(vp_symtab_find(t, NULL, "behind")));
	vp_symtab_destroy(t);
}

static void limits_hold(void **state)
{
	struct vp_symtab *t;
	char name[VP_SYM_NAME_MAX + 2];
	uint16_t mod;

	(void)state;
	assert_ok(vp_symtab_create(&t));
	memset(name, 'n', sizeof(name));
	assert_ok(vp_symtab_add(t, 1, 't', 0, 0, name, VP_SYM_NAME_MAX));
	assert_err(vp_symtab_add(t, 1, 't', 0, 0, name, VP_SYM_NAME_MAX + 1), OT_ERR_BAD_DATA, NULL);
	assert_err(vp_symtab_add(t, 1, 't', 1, 0, "x", 1), OT_ERR_BAD_DATA, "module 1");
	assert_err(vp_symtab_add_range(t, 0, 5, 5), OT_ERR_BAD_DATA, NULL);
	for (unsigned int i = 1; i < VP_SYMTAB_MODULES; i++)
		assert_ok(vp_symtab_add_module(t, "m", &mod));
	assert_err(vp_symtab_add_module(t, "m", &mod), OT_ERR_LIMIT, NULL);
	assert_ok(vp_symtab_finish(t));
	vp_symtab_destroy(t);
	/* An empty one answers too. */
	assert_ok(vp_symtab_create(&t));
	assert_ok(vp_symtab_finish(t));
	assert_int_equal(vp_symtab_count(t), 0);
	assert_null(vp_symtab_find(t, NULL, "x"));
	assert_null(vp_symtab_find_addr(t, vp_gva(5), NULL));
	vp_symtab_destroy(t);
	vp_symtab_destroy(NULL);
}

/* A finished table changes: names stay where they are, and the core kernel's symbols stay whatever is
 * dropped. */
static void test_changes(void **state)
{
	struct vp_symtab *t;
	uint16_t a, b;

	(void)state;
	assert_ok(vp_symtab_create(&t));
	assert_ok(vp_symtab_add_module(t, "a", &a));
	assert_ok(vp_symtab_add_module(t, "b", &b));
	assert_ok(vp_symtab_add_range(t, 0, 1000, 2000));
	assert_ok(vp_symtab_add_range(t, a, 3000, 4000));
	assert_ok(vp_symtab_add(t, 1500, 't', 0, 0, "core", 4));
	assert_ok(vp_symtab_add(t, 3000, 't', a, 0, "in_a", 4));
	assert_ok(vp_symtab_add(t, 3900, 't', a, 0, "end_a", 5));
	assert_ok(vp_symtab_finish(t));
	const char *core = vp_symbol_name(t, vp_symtab_find(t, NULL, "core"));
	vp_symtab_drop(t, -1, 0, 3001); /* b takes a part of a's place, and claims the core's */
	assert_ok(vp_symtab_add_range(t, b, 2500, 3001));
	assert_ok(vp_symtab_add(t, 2600, 't', b, 0, "in_b", 4));
	for (unsigned i = 0; i < 100000; i++) /* names need new chunks */
		assert_ok(vp_symtab_add(t, 5000 + i, 't', b, 0, "a_name_of_some_length", 21));
	assert_ok(vp_symtab_finish(t));
	assert_ptr_equal(vp_symbol_name(t, vp_symtab_find(t, NULL, "core")), core);
	assert_null(vp_symtab_find(t, NULL, "in_a"));
	assert_string_equal(vp_symbol_name(t, vp_symtab_find_addr(t, vp_gva(2700), NULL)), "in_b");
	assert_null(vp_symtab_find_addr(t, vp_gva(3950), NULL)); /* a's range went with the overlap */
	for (size_t i = 1; i < vp_symtab_count(t); i++)
		assert_true(vp_symtab_at(t, i - 1)->addr <= vp_symtab_at(t, i)->addr);
	vp_symtab_drop(t, b, 0, 0);
	vp_symtab_drop(t, 0, 0, UINT64_MAX);
	assert_ok(vp_symtab_finish(t));
	assert_int_equal(vp_symtab_count(t), 1);
	vp_symtab_destroy(t);
}

/* A directory of its own for each test. */
static char *temp_dir(void)
{
	static char path[64];

	strcpy(path, "/tmp/ot-cache-XXXXXX");
	assert_non_null(mkdtemp(path));
	return path;
}

static void remove_dir(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;

	assert_non_null(dir);
	while ((e = readdir(dir)) != NULL)
		(void)unlinkat(dirfd(dir), e->d_name, 0);
	closedir(dir);
	assert_int_equal(rmdir(path), 0);
}

static const uint8_t id[4] = { 0xde, 0xad, 0xbe, 0xef };

static const char kept[] = "where functions are inlined";

static void assert_kept(const struct vp_cache *cache)
{
	ot_auto_free char *data = NULL;
	size_t len = 0;

	assert_ok(vp_cache_read(cache, id, sizeof(id), "test", &data, &len));
	assert_int_equal(len, sizeof(kept));
	assert_string_equal(data, kept);
}

static void assert_none(const struct vp_cache *cache, const uint8_t *build_id, size_t build_id_len)
{
	char *data = NULL;
	size_t len;

	assert_err(vp_cache_read(cache, build_id, build_id_len, "test", &data, &len), OT_ERR_NOT_FOUND, NULL);
	assert_null(data);
}

static void a_cache_keeps_what_it_was_given(void **state)
{
	char *dir = temp_dir(), path[128];
	struct vp_cache *cache;
	struct stat st;

	(void)state;
	snprintf(path, sizeof(path), "%s/a/b", dir);
	assert_ok(vp_cache_open(path, &cache));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_none(cache, id, sizeof(id));
	assert_ok(vp_cache_write(cache, id, sizeof(id), "test", kept, sizeof(kept)));
	vp_cache_close(cache);
	assert_ok(vp_cache_open(path, &cache));
	assert_kept(cache);
	assert_none(cache, id, 3);
	vp_cache_close(cache);
	remove_dir(path);
	snprintf(path, sizeof(path), "%s/a", dir);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

/* Each byte of a file changed in turn, and each length: the file is rejected and written again. */
static void broken_files_are_ignored(void **state)
{
	char *dir = temp_dir(), path[128], bytes[512];
	struct vp_cache *cache;
	ssize_t len;
	int fd;

	(void)state;
	assert_ok(vp_cache_open(dir, &cache));
	assert_ok(vp_cache_write(cache, id, sizeof(id), "test", kept, sizeof(kept)));
	snprintf(path, sizeof(path), "%s/deadbeef.test", dir);
	fd = open(path, O_RDWR | O_CLOEXEC);
	len = pread(fd, bytes, sizeof(bytes), 0);
	assert_int_equal(len, sizeof(kept) + 8);
	for (ssize_t i = 0; i < len; i++) {
		char bad = bytes[i] ^ 0x40;

		assert_int_equal(pwrite(fd, &bad, 1, i), 1);
		assert_none(cache, id, sizeof(id));
		assert_int_equal(pwrite(fd, &bytes[i], 1, i), 1);
	}
	for (ssize_t i = 0; i < len; i++) {
		assert_int_equal(ftruncate(fd, i), 0);
		assert_none(cache, id, sizeof(id));
		assert_int_equal(pwrite(fd, bytes, (size_t)len, 0), len);
	}
	assert_kept(cache);
	assert_int_equal(ftruncate(fd, 10), 0);
	assert_ok(vp_cache_write(cache, id, sizeof(id), "test", kept, sizeof(kept)));
	assert_kept(cache);
	close(fd);
	vp_cache_close(cache);
	/* Without its key nothing in it counts. */
	snprintf(path, sizeof(path), "%s/key", dir);
	assert_int_equal(unlink(path), 0);
	assert_ok(vp_cache_open(dir, &cache));
	assert_none(cache, id, sizeof(id));
	vp_cache_close(cache);
	assert_int_equal(chmod(dir, 0777), 0);
	assert_err(vp_cache_open(dir, &cache), OT_ERR_PERMISSION, "another user could replace");
	remove_dir(dir);
}

/* HOME is another user's, as with su: what lies there may lead anywhere. */
static void another_users_home_is_not_used(void **state)
{
	char *dir = temp_dir(), home[128], target[128], path[160];
	const char *was = getenv("HOME"), *xdg = getenv("XDG_CACHE_HOME");
	ot_auto_free char *home_was = was ? strdup(was) : NULL, *xdg_was = xdg ? strdup(xdg) : NULL;
	struct vp_cache *cache;

	(void)state;
	if (geteuid()) {
		print_message("SKIP: another user's directory takes root\n");
		remove_dir(dir);
		skip();
	}
	assert_int_equal(chmod(dir, 0755), 0);
	snprintf(home, sizeof(home), "%s/home", dir);
	snprintf(target, sizeof(target), "%s/target", dir);
	assert_int_equal(mkdir(home, 0755), 0);
	assert_int_equal(mkdir(target, 0755), 0);
	snprintf(path, sizeof(path), "%s/.cache", home);
	assert_int_equal(symlink(target, path), 0);
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", home, 1);
	/* a link of ours is our will, one of others is not, nor is anything in their directory */
	assert_ok(vp_cache_open(NULL, &cache));
	vp_cache_close(cache);
	snprintf(path, sizeof(path), "%s/outsight/key", target);
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/outsight", target);
	assert_int_equal(rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/.cache", home);
	assert_int_equal(lchown(path, 65534, 65534), 0);
	assert_err(vp_cache_open(NULL, &cache), OT_ERR_PERMISSION, "another user could replace");
	assert_int_equal(lchown(path, 0, 0), 0);
	assert_int_equal(chown(home, 65534, 65534), 0);
	assert_err(vp_cache_open(NULL, &cache), OT_ERR_PERMISSION, "another user could replace");
	assert_int_equal(chown(home, 0, 0), 0);
	assert_int_equal(chmod(home, 0777), 0);
	assert_err(vp_cache_open(NULL, &cache), OT_ERR_PERMISSION, "another user could replace");
	assert_int_equal(rmdir(target), 0); /* it is empty: nothing was made there */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(home), 0);
	if (home_was)
		setenv("HOME", home_was, 1);
	if (xdg_was)
		setenv("XDG_CACHE_HOME", xdg_was, 1);
	remove_dir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(hashes_are_not_of_the_name),
		cmocka_unit_test(addresses_are_found),
		cmocka_unit_test(sizes_end_at_the_next_symbol_or_the_range),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(modules_come_and_go),
		cmocka_unit_test(percpu_marks_may_be_addresses),
		cmocka_unit_test(data_is_no_function),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(a_cache_keeps_what_it_was_given),
		cmocka_unit_test(broken_files_are_ignored),
		cmocka_unit_test(another_users_home_is_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
