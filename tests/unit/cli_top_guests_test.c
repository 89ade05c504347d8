/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live view's guests: cli/top/counters.c, exits.c, guests.c, on a /proc and a debugfs of the test's own.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/top/guests.h"

static char root[] = "/tmp/outsight-top-XXXXXX";
static struct vp_qemu vmms[4];
static size_t nvmms;

/* A command on the folder, whose name has nothing that a shell minds. */
static void shell(const char *format, int pid)
{
	char command[256], line[512];

	snprintf(command, sizeof(command), format, pid);
	snprintf(line, sizeof(line), "cd %s && %s", root, command);
	assert_int_equal(system(line), 0);
}

static void write_file(const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	FILE *fp = fopen(path, "w");
	assert_non_null(fp);
	fputs(text, fp);
	assert_int_equal(fclose(fp), 0);
}

/* proc(5)'s stat, with the fields that are read. */
static void write_stat(const char *name, unsigned minflt, unsigned majflt, unsigned utime, unsigned stime,
		       unsigned began, unsigned guest)
{
	char text[512];

	snprintf(text, sizeof(text),
		 "7 (a) b ) S 1 1 1 0 -1 4194304 %u 0 %u 0 %u %u 0 0 20 0 3 0 %u 1 1 1 1 1 1 1 1 0 0 0 0 0 0 "
		 "0 17 0 0 0 0 %u 0 0 0 0 0 0 "
		 "0 0 0\n",
		 minflt, majflt, utime, stime, began, guest);
	write_file(name, text);
}

static struct ot_err *list(struct vp_qemu **ret, size_t *ret_count)
{
	struct vp_qemu *copy = calloc(nvmms + 1, sizeof(*copy));

	assert_non_null(copy);
	memcpy(copy, vmms, nvmms * sizeof(*copy));
	*ret = copy;
	*ret_count = nvmms;
	return NULL;
}

static char proc[64], kvm[64];

static int setup(void **state)
{
	(void)state;
	strcpy(root + strlen(root) - 6, "XXXXXX");
	assert_non_null(mkdtemp(root));
	snprintf(proc, sizeof(proc), "%s/proc", root);
	snprintf(kvm, sizeof(kvm), "%s/kvm", root);
	shell("mkdir -p proc/7/task/7 proc/7/task/8 kvm/7-14 kvm/77-1", 0);
	write_stat("proc/7/stat", 10, 1, 100, 50, 999, 0);
	write_stat("proc/7/task/7/stat", 0, 0, 0, 0, 999, 0);
	write_stat("proc/7/task/8/stat", 0, 0, 0, 0, 999, 55);
	write_file("proc/7/task/7/comm", "qemu-system-x86\n");
	write_file("proc/7/task/8/comm", "qemu-system-x86\n");
	write_file("proc/7/task/7/schedstat", "1 1000000 1\n");
	write_file("proc/7/task/8/schedstat", "1 5000000 1\n");
	write_file("proc/7/io", "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: "
				"8192\ncancelled_write_bytes: 5\n");
	write_file("kvm/7-14/exits", "1000\n");
	write_file("kvm/7-14/io_exits", "30\n");
	write_file("kvm/77-1/exits", "5\n");
	memset(vmms, 0, sizeof(vmms));
	vmms[0] = (struct vp_qemu){ .pid = 7, .nvcpus = 2, .name = "web01" };
	nvmms = 1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	shell("rm -rf proc kvm && rmdir $PWD", 0);
	return 0;
}

static void test_counters(void **state)
{
	const struct cli_top_host host = { proc, kvm };
	struct cli_top_counters c;
	struct cli_top_vmm v;

	(void)state;
	assert_null(cli_top_vmm_init(&v, &host, 7));
	assert_int_equal(v.nthreads, 1); /* the one that has been in a guest */
	assert_int_equal(v.threads[0], 8);
	assert_true(cli_top_counters_read(&v, &host, &c));
	assert_int_equal(c.began, 999);
	assert_int_equal(c.cpu_ns, 150 * (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK)));
	assert_int_equal(c.faults, 11);
	assert_true(c.has_wait && c.has_io);
	assert_int_equal(c.wait_ns, 5000000);
	assert_int_equal(c.read_bytes, 4096);
	assert_int_equal(c.written_bytes, 8192);
	/* the folder of this process, not of 77; a file that this KVM lacks is not known */
	assert_int_equal(c.exits_known, 1u << CLI_TOP_EXIT_all | 1u << CLI_TOP_EXIT_io);
	assert_int_equal(c.exits[CLI_TOP_EXIT_all], 1000);
	assert_int_equal(c.exits[CLI_TOP_EXIT_io], 30);
	cli_top_vmm_deinit(&v);

	/* threads by their names; without either sign all of them */
	write_file("proc/7/task/7/comm", "CPU 0/KVM\n");
	write_stat("proc/7/task/8/stat", 0, 0, 0, 0, 999, 0);
	assert_null(cli_top_vmm_init(&v, &host, 7));
	assert_int_equal(v.nthreads, 1);
	assert_int_equal(v.threads[0], 7);
	write_file("proc/7/task/7/comm", "sh\n");
	assert_null(cli_top_vmm_threads(&v, &host));
	assert_int_equal(v.nthreads, 2);

	/* what may not be read is not known */
	shell("rm proc/7/io proc/7/task/*/schedstat kvm/7-14/io_exits", 0);
	assert_true(cli_top_counters_read(&v, &host, &c));
	assert_false(c.has_io || c.has_wait);
	assert_int_equal(c.exits_known, 1u << CLI_TOP_EXIT_all);
	write_file("proc/7/stat", "7 (sh");
	assert_false(cli_top_counters_read(&v, &host, &c));
	shell("rm -r proc/7", 0);
	assert_false(cli_top_counters_read(&v, &host, &c));
	cli_top_vmm_deinit(&v);
	struct ot_err *err = cli_top_vmm_init(&v, &host, 7);
	assert_int_equal(ot_err_code(err), OT_ERR_NOT_FOUND);
	ot_err_destroy(err);
}

static struct cli_top_guests guests_here(void)
{
	return (struct cli_top_guests){ .host = { proc, kvm }, .list = list };
}

/* What is shown is what counters got, in a second. */
static void test_rates(void **state)
{
	struct cli_top_guests g = guests_here();
	struct cli_top_table t = { 0 };

	(void)state;
	assert_null(cli_top_guests_refresh(&g));
	assert_null(cli_top_guests_table(&g, false, &t));
	assert_int_equal(t.count, 1);
	assert_string_equal(t.rows[0].name, "web01");
	assert_true(t.rows[0].values[0] == 7 && t.rows[0].values[1] == 2);
	for (unsigned i = 2; i < 9; i++)
		assert_true(isnan(t.rows[0].values[i])); /* read once */

	write_stat("proc/7/stat", 30, 1, 200, 50, 999, 0);
	write_file("proc/7/task/8/schedstat", "1 505000000 1\n");
	write_file("proc/7/io", "\nread_bytes: 8192\nwrite_bytes: 0\n");
	write_file("kvm/7-14/exits", "3000\n");
	assert_null(cli_top_guests_refresh(&g));
	g.items[0].before.at_ns = g.items[0].now.at_ns - 2000000000; /* as if two seconds had passed */
	g.items[0].syscalls = 12;
	const double cpu = 100. / (double)sysconf(_SC_CLK_TCK) / 2 * 100;
	const double expected[] = { 7, 2, cpu, 25, 1000, 12, 10, 2048, 0 };
	assert_null(cli_top_guests_table(&g, false, &t));
	for (unsigned i = 0; i < 9; i++)
		assert_true(fabs(t.rows[0].values[i] - expected[i]) < 1e-6);
	assert_null(cli_top_guests_table(&g, true, &t));
	assert_true(t.rows[0].values[CLI_TOP_EXIT_all] == 1000 && t.rows[0].values[CLI_TOP_EXIT_io] == 0);
	assert_true(isnan(t.rows[0].values[CLI_TOP_EXIT_halt]));
	const struct cli_top_sums sums = cli_top_guests_sums(&g);
	assert_int_equal(sums.guests, 1);
	assert_int_equal(sums.vcpus, 2);
	assert_true(fabs(sums.cpu - cpu) < 1e-6 && fabs(sums.steal - 25) < 1e-6);
	cli_top_table_deinit(&t);
	cli_top_guests_deinit(&g);
}

/* The one that ends is gone at once; another with its PID is another. */
static void test_come_and_go(void **state)
{
	struct cli_top_guests g = guests_here();

	(void)state;
	assert_null(cli_top_guests_refresh(&g));
	assert_null(cli_top_guests_refresh(&g));
	shell("cp -r proc/7 proc/%d", 9);
	vmms[1] = (struct vp_qemu){ .pid = 9, .name = "web02" };
	vmms[2] = (struct vp_qemu){ .pid = 11, .name = "ended" };
	nvmms = 3;
	assert_null(cli_top_guests_refresh(&g));
	assert_int_equal(g.count, 1); /* VMMs are listed now and then */
	g.listed_ns = 0;
	assert_null(cli_top_guests_refresh(&g));
	assert_int_equal(g.count, 2);
	assert_int_equal(cli_top_guests_find(&g, 7)->nread, 2);
	assert_int_equal(cli_top_guests_find(&g, 9)->nread, 1);
	assert_null(cli_top_guests_find(&g, 11));

	write_stat("proc/7/stat", 0, 0, 0, 0, 1000, 0);
	strcpy(vmms[0].name, "again");
	assert_null(cli_top_guests_refresh(&g));
	assert_null(cli_top_guests_find(&g, 7));
	assert_null(cli_top_guests_refresh(&g));
	assert_string_equal(cli_top_guests_find(&g, 7)->name, "again");
	assert_int_equal(cli_top_guests_find(&g, 7)->nread, 1);

	shell("rm -r proc/%d", 9);
	assert_null(cli_top_guests_refresh(&g));
	assert_int_equal(g.count, 1);
	nvmms = 0;
	g.listed_ns = 0;
	assert_null(cli_top_guests_refresh(&g));
	assert_int_equal(g.count, 0);
	cli_top_guests_deinit(&g);
}

static void test_patterns(void **state)
{
	const char *patterns[] = { "db*", "7" };
	struct cli_top_guests g = guests_here();

	(void)state;
	g.patterns = patterns;
	g.npatterns = 1;
	assert_null(cli_top_guests_refresh(&g));
	assert_int_equal(g.count, 0);
	g.npatterns = 2;
	g.listed_ns = 0;
	assert_null(cli_top_guests_refresh(&g));
	assert_int_equal(g.count, 1);
	cli_top_guests_deinit(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_counters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rates, setup, teardown),
		cmocka_unit_test_setup_teardown(test_come_and_go, setup, teardown),
		cmocka_unit_test_setup_teardown(test_patterns, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
