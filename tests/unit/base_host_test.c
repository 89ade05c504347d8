/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/: what it takes from the host: files, descriptors, messages with them, mappings, installed files. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/installed.h"
#include "base/io.h"
#include "base/proc_map.h"

static void assert_err(struct ot_err *err, enum ot_err_code code, const char *message)
{
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), code);
	if (message)
		assert_string_equal(ot_err_message(err), message);
	ot_err_destroy(err);
}

static void assert_ok(struct ot_err *err)
{
	if (err)
		fail_msg("%s", ot_err_message(err));
}

static int temporary_file(const void *data, size_t len)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_ok(ot_write_all(fd, data, len));
	return fd;
}

static void pread_is_exact_or_an_error(void **state)
{
	(void)state;
	ot_auto_close int fd = temporary_file("0123456789", 10);
	char out[8] = { 0 };

	assert_ok(ot_pread_all(fd, out, 4, 3));
	assert_memory_equal(out, "3456", 4);
	assert_ok(ot_pread_all(fd, out, 0, 99));
	assert_err(ot_pread_all(fd, out, 4, 8), OT_ERR_BAD_DATA, NULL);
	assert_err(ot_pread_all(-1, out, 4, 0), OT_ERR_OS, NULL);
}

static void read_file_is_bounded(void **state)
{
	(void)state;
	ot_auto_close int fd = temporary_file("hello", 5);
	char path[64];
	char *data;
	size_t len;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_ok(ot_read_file(path, 5, &data, &len));
	assert_int_equal(len, 5);
	assert_string_equal(data, "hello");
	free(data);
	assert_err(ot_read_file(path, 4, &data, &len), OT_ERR_LIMIT, NULL);
	assert_err(ot_read_file("/nonexistent/x", 10, &data, &len), OT_ERR_OS,
		   "/nonexistent/x: No such file or directory");
	/* A /proc file says its size is 0. */
	assert_ok(ot_read_file("/proc/self/status", 1 << 16, &data, &len));
	assert_true(len > 100);
	free(data);
}

static void memfd_is_sealed(void **state)
{
	(void)state;
	ot_auto_close int fd = -1;
	size_t size = 0;

	assert_ok(ot_memfd_create("sealed", 8192, &fd));
	assert_ok(ot_memfd_check(fd, &size));
	assert_int_equal(size, 8192);
	assert_int_equal(ftruncate(fd, 4096), -1);
	assert_int_equal(ftruncate(fd, 16384), -1);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);

	ot_auto_close int open_ended = temporary_file("x", 1);
	assert_err(ot_memfd_check(open_ended, &size), OT_ERR_BAD_DATA, NULL);
	assert_err(ot_memfd_check(-1, &size), OT_ERR_BAD_DATA, NULL);
}

static void messages_carry_descriptors(void **state)
{
	(void)state;
	int pair[2], got[4] = { -1, -1, -1, -1 }, ngot = -1;
	char text[16];
	size_t len = 99;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	ot_auto_close int fd = temporary_file("payload", 7);
	assert_ok(ot_send_fds(pair[0], "hi", 2, &fd, 1));
	assert_ok(ot_recv_fds(pair[1], text, sizeof(text), got, 4, &len, &ngot));
	assert_int_equal(len, 2);
	assert_int_equal(ngot, 1);
	assert_memory_equal(text, "hi", 2);
	assert_true(fcntl(got[0], F_GETFD) & FD_CLOEXEC);
	assert_ok(ot_pread_all(got[0], text, 7, 0));
	assert_memory_equal(text, "payload", 7);
	close(got[0]);

	close(pair[0]);
	assert_ok(ot_recv_fds(pair[1], text, sizeof(text), got, 4, &len, &ngot));
	assert_int_equal(len, 0);
	assert_int_equal(ngot, 0);
	close(pair[1]);
}

/* A descriptor that no caller takes would stay open for ever. */
static void surplus_descriptors_are_closed(void **state)
{
	(void)state;
	int pair[2], got[1] = { -1 }, ngot = -1;
	char text[4];
	size_t len;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	ot_auto_close int fd = temporary_file("x", 1);
	int three[3] = { fd, fd, fd };
	int lowest = dup(fd);
	close(lowest);

	assert_ok(ot_send_fds(pair[0], "m", 1, three, 3));
	assert_ok(ot_recv_fds(pair[1], text, sizeof(text), got, 1, &len, &ngot));
	assert_int_equal(ngot, 1);
	close(got[0]);
	int next = dup(fd);
	assert_int_equal(next, lowest);
	close(next);

	/* A message that is too long takes its descriptors with it. */
	assert_ok(ot_send_fds(pair[0], "too long", 8, &fd, 1));
	assert_err(ot_recv_fds(pair[1], text, sizeof(text), got, 1, &len, &ngot), OT_ERR_BAD_DATA,
		   "message too long");
	next = dup(fd);
	assert_int_equal(next, lowest);
	close(next);
	close(pair[0]);
	close(pair[1]);
}

static void moving_hands_ownership_out(void **state)
{
	(void)state;
	char *kept;
	{
		ot_auto_free char *mine = strdup("x");
		kept = ot_move(mine);
		assert_null(mine);
	}
	assert_string_equal(kept, "x");
	free(kept);

	int fd_kept;
	{
		ot_auto_close int fd = dup(0);
		fd_kept = ot_move_fd(fd);
		assert_int_equal(fd, -1);
	}
	assert_true(fcntl(fd_kept, F_GETFD) >= 0);
	close(fd_kept);
}

static bool parse_map(const char *text, struct ot_proc_map *ret)
{
	static char line[256];

	snprintf(line, sizeof(line), "%s", text);
	return ot_proc_map_parse(line, ret);
}

static void proc_maps(void **state)
{
	struct ot_proc_map m;

	(void)state;
	assert_true(parse_map(
	    "7f1200000000-7f1200021000 rw-s 00002000 fd:1a 1234567    /memfd:a name (deleted)\n", &m));
	assert_int_equal(m.start, 0x7f1200000000);
	assert_int_equal(m.end, 0x7f1200021000);
	assert_string_equal(m.perms, "rw-s");
	assert_int_equal(m.offset, 0x2000);
	assert_int_equal(m.major, 0xfd);
	assert_int_equal(m.minor, 0x1a);
	assert_int_equal(m.inode, 1234567);
	assert_string_equal(m.path, "/memfd:a name (deleted)");
	assert_true(parse_map("1000-2000 ---p 00000000 00:00 0 \n", &m));
	assert_string_equal(m.path, "");
	assert_true(parse_map("1000-2000 ---p 00000000 00:00 0", &m));
	assert_string_equal(m.path, "");
	static const char *const bad[] = {
		"",
		"\n",
		"1000",
		"1000-",
		"-1000-2000 r--p 0 0:0 0 ",
		"1000-2000 r-",
		"1000-2000 r--p 0 0:0 ",
		"1000-2000 r--p 0 0 0 ",
		"10000000000000000-2 r--p 0 0:0 0 ",
		"1000-2000 r--pp 0 0:0 0 ",
		" 1000-2000 r--p 0 0:0 0 ",
		"1000-2000 r--p 0 0:0 12x /a",
	};
	for (size_t i = 0; i < OT_ARRAY_SIZE(bad); i++)
		assert_false(parse_map(bad[i], &m));
}

static void make_file(const char *dir, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "mkdir -p '%s/%s' && rmdir '%s/%s' && : >'%s/%s'", dir, name, dir, name,
		 dir, name);
	assert_int_equal(system(path), 0);
}

static const char *found_below(const char *root, const struct ot_installed *in, bool d)
{
	static char path[512];

	if (d ? !ot_installed_d_in(in, path, sizeof(path))
	      : !ot_installed_library_in(in, "l.so", path, sizeof(path)))
		return "";
	assert_int_equal(strncmp(path, root, strlen(root)), 0);
	return path + strlen(root);
}

/* When an entry is removed, the next one moves to its place. */
static void installed_files_are_found(void **state)
{
	char root[] = "/tmp/outsight-base-XXXXXX", bin[64], libdir[64], lib[64], command[128];
	struct ot_installed in = { bin, "../lib64/x86/outsight", libdir };
	static const char *const places[] = { "/usr/lib64/x86/outsight", "/usr/lib", "/configured/outsight" };

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(bin, sizeof(bin), "%s/usr/bin", root);
	snprintf(libdir, sizeof(libdir), "%s/configured/outsight", root);
	make_file(root, "usr/bin/outsight");
	assert_string_equal(found_below(root, &in, false), "");
	for (size_t i = OT_ARRAY_SIZE(places); i--;) {
		char want[128];
		snprintf(want, sizeof(want), "%s/l.so", places[i]);
		make_file(root, want + 1);
		assert_string_equal(found_below(root, &in, false), want);
	}
	make_file(root, "configured/outsight/d/a.d");
	assert_string_equal(found_below(root, &in, true), "/configured/outsight/d");
	make_file(root, "usr/lib/outsight/d/a.d");
	assert_string_equal(found_below(root, &in, true), "/usr/lib/outsight/d");
	make_file(root, "usr/lib64/x86/outsight/d/a.d");
	assert_string_equal(found_below(root, &in, true), "/usr/lib64/x86/outsight/d");
	char tools[512];
	assert_false(ot_installed_tools_in(&in, tools, sizeof(tools)));
	make_file(root, "configured/outsight/tools/a.d");
	assert_true(ot_installed_tools_in(&in, tools, sizeof(tools)));
	assert_string_equal(tools + strlen(root), "/configured/outsight/tools");
	make_file(root, "usr/share/outsight/tools/a.d");
	assert_true(ot_installed_tools_in(&in, tools, sizeof(tools)));
	assert_string_equal(tools + strlen(root), "/usr/share/outsight/tools");
	/* A library's own folder is the first: as installed, and as built. */
	snprintf(lib, sizeof(lib), "%s/opt/lib", root);
	in.lib = lib;
	assert_string_equal(found_below(root, &in, false), "/usr/lib64/x86/outsight/l.so");
	make_file(root, "opt/lib/l.so");
	assert_string_equal(found_below(root, &in, false), "/opt/lib/l.so");
	make_file(root, "opt/lib/outsight/l.so");
	assert_string_equal(found_below(root, &in, false), "/opt/lib/outsight/l.so");
	make_file(root, "opt/lib/outsight/d/a.d");
	assert_string_equal(found_below(root, &in, true), "/opt/lib/outsight/d");
	in.lib = NULL;
	/* No room for the path, or no folder of one's own. */
	assert_false(ot_installed_library_in(&in, "l.so", command, 10));
	in.bin = "";
	assert_string_equal(found_below(root, &in, false), "/configured/outsight/l.so");
	snprintf(command, sizeof(command), "rm -r '%s'", root);
	assert_int_equal(system(command), 0);
}

static void a_folder_that_is_named_is_the_only_one(void **state)
{
	char root[] = "/tmp/outsight-base-XXXXXX", path[512] = "as it was", want[64];

	(void)state;
	assert_non_null(mkdtemp(root));
	setenv("OUTSIGHT_PLUGIN_DIR", root, 1);
	assert_false(ot_installed_library("liboutsight-kvm.so", path, sizeof(path)));
	assert_string_equal(path, "as it was");
	snprintf(want, sizeof(want), "%s/liboutsight-kvm.so", root);
	make_file(root, "liboutsight-kvm.so");
	assert_true(ot_installed_library("liboutsight-kvm.so", path, sizeof(path)));
	assert_string_equal(path, want);
	unsetenv("OUTSIGHT_PLUGIN_DIR");
	unlink(want);
	rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pread_is_exact_or_an_error),
		cmocka_unit_test(read_file_is_bounded),
		cmocka_unit_test(memfd_is_sealed),
		cmocka_unit_test(messages_carry_descriptors),
		cmocka_unit_test(surplus_descriptors_are_closed),
		cmocka_unit_test(moving_hands_ownership_out),
		cmocka_unit_test(proc_maps),
		cmocka_unit_test(installed_files_are_found),
		cmocka_unit_test(a_folder_that_is_named_is_the_only_one),
	};

	return cmocka_run_group_tests_name("base_host", tests, NULL, NULL);
}
