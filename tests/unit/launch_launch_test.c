/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/launch/launch.c, with shell scripts in QEMU's place. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "vmm-probe/launch/launch.h"

static char dir[64];
static char qemu[96], notes[96], plugin[128];

static void write_file(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

/* A QEMU that prints @version, and runs @script otherwise. */
static void make_qemu(const char *version, const char *script)
{
	char text[1024];

	snprintf(text, sizeof(text), "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '%s'; exit; fi\n%s\n",
		 version, script);
	write_file(qemu, text, 0755);
}

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/outsight-launch-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(qemu, sizeof(qemu), "%s/qemu", dir);
	snprintf(notes, sizeof(notes), "%s/notes", dir);
	snprintf(plugin, sizeof(plugin), "%s/liboutsight-tcg.so", dir);
	write_file(plugin, "", 0644);
	setenv("OUTSIGHT_PLUGIN_DIR", dir, 1);
	setenv("XDG_RUNTIME_DIR", dir, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(qemu);
	unlink(notes);
	unlink(plugin);
	return rmdir(dir);
}

static void expect(const struct vp_launch_opts *opts, enum ot_err_code code, const char *part)
{
	struct vp_launched *vm = NULL;
	struct ot_err *err = vp_launch(opts, &vm);

	assert_non_null(err);
	assert_null(vm);
	if (ot_err_code(err) != code || !strstr(ot_err_message(err), part))
		fail_msg("code %d, message: %s", (int)ot_err_code(err), ot_err_message(err));
	ot_err_destroy(err);
}

static void old_qemu_is_refused_with_where_a_new_one_is(void **state)
{
	struct vp_launch_opts opts = { .qemu = qemu };

	(void)state;
	make_qemu("QEMU emulator version 7.2.22 (Debian 1:7.2)", "exit 1");
	expect(&opts, OT_ERR_UNSUPPORTED, "is QEMU 7.2.22");
	expect(&opts, OT_ERR_UNSUPPORTED, "bookworm-backports");
	make_qemu("hello", "exit 1");
	expect(&opts, OT_ERR_UNSUPPORTED, "is no QEMU");
}

static void missing_files_are_named(void **state)
{
	struct vp_launch_opts opts = { .qemu = "/nonexistent/qemu" };

	(void)state;
	expect(&opts, OT_ERR_NOT_FOUND, "/nonexistent/qemu is not installed");
	make_qemu("QEMU emulator version 10.0.2", "exit 1");
	opts.qemu = qemu;
	opts.kernel = "/nonexistent/kernel";
	expect(&opts, OT_ERR_NOT_FOUND, "there is no kernel /nonexistent/kernel");
	opts.kernel = NULL;
	unlink(plugin);
	expect(&opts, OT_ERR_NOT_FOUND, "liboutsight-tcg.so is not there");
	write_file(plugin, "", 0644);
}

static void what_qemu_said_is_in_the_error(void **state)
{
	struct vp_launch_opts opts = { .qemu = qemu };

	(void)state;
	make_qemu("QEMU emulator version 10.0.2", "echo 'no such machine' >&2; exit 1");
	expect(&opts, OT_ERR_GUEST_GONE, "QEMU ended: no such machine");
	make_qemu("QEMU emulator version 10.0.2", "exit 1");
	expect(&opts, OT_ERR_GUEST_GONE, "QEMU ended with status 1 and printed no reason");
	make_qemu("QEMU emulator version 10.0.2", "kill -TERM $$");
	expect(&opts, OT_ERR_GUEST_GONE, "QEMU was ended by signal 15 (Terminated)");
	make_qemu("QEMU emulator version 10.0.2", "exit 0");
	expect(&opts, OT_ERR_GUEST_GONE, "the guest powered off or was reset before it could be traced");
}

/* Once the script has written its pid. */
static bool go_on_until_noted(void *arg)
{
	struct stat st;

	(void)arg;
	return stat(notes, &st) || !st.st_size;
}

static void giving_up_leaves_nothing_running(void **state)
{
	struct vp_launch_opts opts = { .qemu = qemu, .go_on = go_on_until_noted };
	char script[256], *text;
	size_t len;
	pid_t pid;

	(void)state;
	snprintf(script, sizeof(script), "echo $$ >%s; exec sleep 1000", notes);
	make_qemu("QEMU emulator version 11.0.0", script);
	expect(&opts, OT_ERR_BUSY, "interrupted");
	assert_null(ot_read_file(notes, 100, &text, &len));
	pid = (pid_t)strtol(text, NULL, 10);
	free(text);
	assert_true(pid > 0);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

static void options_become_arguments(void **state)
{
	char *extra[] = { (char *)"-device", (char *)"edu" };
	struct vp_launch_opts opts = {
		.qemu = qemu,
		.kernel = plugin, /* any file */
		.append = "quiet a=b",
		.mem_mib = 700,
		.smp = 3,
		.name = "a,b",
		.extra = extra,
		.nextra = 2,
	};
	char script[256], *text;
	size_t len;

	(void)state;
	snprintf(script, sizeof(script), "for a; do echo \"$a\"; done >%s; exit 1", notes);
	make_qemu("QEMU emulator version 10.0.2", script);
	expect(&opts, OT_ERR_GUEST_GONE, "");
	assert_null(ot_read_file(notes, 10000, &text, &len));
	assert_non_null(strstr(text, "\nmemory-backend-memfd,id=outsight-ram,size=700M,share=on\n"));
	assert_non_null(strstr(text, "\n-smp\n3\n"));
	assert_non_null(strstr(text, "\n-append\nquiet a=b\n"));
	assert_non_null(strstr(text, ",name=a,,b\n"));
	assert_non_null(strstr(text, "\n-device\nedu\n"));
	assert_null(strstr(text, "-initrd"));
	/* its exit status is ours unless another waiter takes it */
	assert_non_null(strstr(text, "\n-serial\nchardev:outsight-console\n"));
	free(text);
	extra[0] = (char *)"-serial";
	extra[1] = (char *)"stdio";
	expect(&opts, OT_ERR_GUEST_GONE, "");
	assert_null(ot_read_file(notes, 10000, &text, &len));
	assert_null(strstr(text, "outsight-console"));
	assert_non_null(strstr(text, "\n-serial\nstdio\n"));
	free(text);
}

/* A guest whose kernel panics as it boots: its console says why QEMU ended. */
static void a_panic_is_in_the_error(void **state)
{
	struct vp_launch_opts opts = { .qemu = qemu };

	(void)state;
	make_qemu("QEMU emulator version 10.0.2",
		  "for a; do case $a in file,id=outsight-console*) c=${a##*path=};; esac; done\n"
		  "yes 'a line of the console' | head -20000 >$c\n"
		  "printf '[  1.2] Kernel panic - not syncing: No \\033working init\\r\\n[  1.3] "
		  "Rebooting\\n' >$c\n"
		  "exit 0");
	expect(&opts, OT_ERR_GUEST_GONE, "Kernel panic - not syncing: No working init");
	make_qemu("QEMU emulator version 10.0.2",
		  "for a; do case $a in file,id=outsight-console*) c=${a##*path=};; esac; done\n"
		  "echo 'Kernel panic - of old' >$c; yes 'a line of the console' | head -20000 >$c\nexit 0");
	expect(&opts, OT_ERR_GUEST_GONE, "the guest powered off or was reset");
}

/* Other programs have versions too, and licences of a version. */
static void what_is_no_qemu_is_told(void **state)
{
	struct vp_launch_opts opts = { .qemu = qemu };

	(void)state;
	make_qemu("ls (GNU coreutils) 9.1\nLicense GPLv3+: GNU GPL version 3 or later", "exit 1");
	expect(&opts, OT_ERR_UNSUPPORTED, "is no QEMU: its --version prints \"ls (GNU coreutils) 9.1\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_qemu_is_refused_with_where_a_new_one_is),
		cmocka_unit_test(missing_files_are_named),
		cmocka_unit_test(what_qemu_said_is_in_the_error),
		cmocka_unit_test(giving_up_leaves_nothing_running),
		cmocka_unit_test(options_become_arguments),
		cmocka_unit_test(a_panic_is_in_the_error),
		cmocka_unit_test(what_is_no_qemu_is_told),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
