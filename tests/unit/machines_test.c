/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/machines: QEMU's command lines, domains' XML, where a domain's engine listens. */
#include <grp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "vmm-probe/engine/wire/socket_path.h"
#include "vmm-probe/machines/domain_xml.h"
#include "vmm-probe/machines/process.h"

#define PARSE(args, ret) vp_qemu_parse(args, sizeof(args) - 1, ret)

static void command_lines_tell_accelerator_vcpus_and_uuid(void **state)
{
	struct vp_qemu q;

	(void)state;
	PARSE("q\0", &q);
	assert_int_equal(q.accel, VP_ACCEL_TCG);
	assert_int_equal(q.nvcpus, 1);
	assert_false(q.libvirt || q.plugin);
	PARSE("q\0-enable-kvm\0-smp\0", &q);
	assert_int_equal(q.accel, VP_ACCEL_KVM);
	PARSE("q\0-machine\0q35,accel=kvm\0-smp\0sockets=2,cpus=4\0", &q);
	assert_int_equal(q.accel, VP_ACCEL_KVM);
	assert_int_equal(q.nvcpus, 4);
	PARSE("q\0-M\0pc,accel=kvm:tcg\0", &q);
	assert_int_equal(q.accel, VP_ACCEL_UNKNOWN);
	PARSE("q\0-name\0guest=web,debug-threads=on\0-accel\0tcg,thread=multi\0-smp\0"
	      "2,sockets=2,cores=1\0-uuid\0a9ec73d2-9eee-409b-bbdd-0a6ea508e962\0"
	      "-chardev\0socket,id=charmonitor,fd=30,server=on,wait=off\0",
	      &q);
	assert_string_equal(q.name, "web");
	assert_string_equal(q.uuid, "a9ec73d2-9eee-409b-bbdd-0a6ea508e962");
	assert_int_equal(q.accel, VP_ACCEL_TCG);
	assert_int_equal(q.nvcpus, 2);
	assert_true(q.libvirt);
	assert_false(q.incoming);
	PARSE("q\0-uuid\0a9ec73d2\0-incoming\0"
	      "defer\0",
	      &q);
	assert_true(q.incoming);
	PARSE("q\0-append\0-incoming\0", &q);
	assert_false(q.incoming);
	PARSE("q\0-append\0-enable-kvm\0", &q); /* the kernel's, not QEMU's */
	assert_int_equal(q.accel, VP_ACCEL_TCG);
	PARSE("q\0-smp\0"
	      "99999999999\0",
	      &q);
	assert_int_equal(q.nvcpus, 0);
}

static void our_plugin_is_known_and_where_it_listens(void **state)
{
	struct vp_qemu q;

	(void)state;
	PARSE("q\0-plugin\0file=/a,,b/liboutsight-tcg.so,name=x,socket=/run/a,,b.sock\0", &q);
	assert_true(q.plugin);
	assert_string_equal(q.socket, "/run/a,b.sock");
	PARSE("q\0-plugin\0/lib/liboutsight-tcg.so\0", &q);
	assert_true(q.plugin);
	assert_string_equal(q.socket, "");
	PARSE("q\0-plugin\0file=/lib/libother.so,socket=/x\0", &q);
	assert_false(q.plugin);
	assert_string_equal(q.socket, "");
}

static void a_name_is_one_line(void **state)
{
	struct vp_qemu q;

	(void)state;
	PARSE("q\0-name\0guest=a\nb\xc2\x85\xe2\x80\xa8\xe2\x80\xae|\xc3\xa9\0", &q);
	assert_string_equal(q.name, "a?b???|\xc3\xa9");
}

static void command_lines_cut_anywhere_are_read_in_bounds(void **state)
{
	static const char line[] =
	    "q\0-name\0guest=w,,\0-smp\0cpus=\0-plugin\0file=/liboutsight-tcg.so,socket=\0-uuid\0";
	struct vp_qemu q;

	(void)state;
	for (size_t n = 0; n < sizeof(line); n++) {
		char *copy = malloc(n + 1); /* so that a sanitizer sees a byte too many */
		assert_non_null(copy);
		memcpy(copy, line, n);
		copy = realloc(copy, n ? n : 1);
		vp_qemu_parse(copy, n, &q);
		free(copy);
	}
	assert_string_equal(q.name, "w,");
}

static void a_domain_has_a_socket_in_its_own_directory(void **state)
{
	char path[108], small[30], *long_home;

	(void)state;
	assert_null(vp_socket_path_libvirt("/var/lib/libvirt/qemu/domain-1-web/.cache", path, sizeof(path)));
	assert_string_equal(path, "/var/lib/libvirt/qemu/domain-1-web/outsight.sock");
	const char *const bad[] = { NULL, "", "/.cache", "relative/.cache", "/home/me", "/home/me/.cache/" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct ot_err *err = vp_socket_path_libvirt(bad[i], path, sizeof(path));
		assert_non_null(err);
		assert_int_equal(ot_err_code(err), OT_ERR_NOT_FOUND);
		ot_err_destroy(err);
	}
	long_home = strdup("/a/directory/that/is/too/long/.cache");
	struct ot_err *err = vp_socket_path_libvirt(long_home, small, sizeof(small));
	assert_int_equal(ot_err_code(err), OT_ERR_LIMIT);
	ot_err_destroy(err);
	free(long_home);
}

/* The directory for sockets below @p base, as vp_socket_dir_make() finds it. */
static enum ot_err_code made(const char *base)
{
	char path[108];

	setenv("XDG_RUNTIME_DIR", base, 1);
	struct ot_err *err = vp_socket_dir_make(path, sizeof(path));
	unsetenv("XDG_RUNTIME_DIR");
	enum ot_err_code code = err ? ot_err_code(err) : 0;
	ot_err_destroy(err);
	return code;
}

/* Whoever may write to the directory could put a socket of their own in an engine's place. */
static void the_directory_for_sockets_is_ours_alone(void **state)
{
	char base[] = "/tmp/outsight-sockets-XXXXXX", dir[64], elsewhere[64];
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(base));
	snprintf(dir, sizeof(dir), "%s/outsight", base);
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", base);
	assert_int_equal(made(base), 0);
	assert_int_equal(lstat(dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(made(base), 0);
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(made(base), OT_ERR_PERMISSION);
	assert_int_equal(rename(dir, elsewhere), 0);
	assert_int_equal(chmod(elsewhere, 0700), 0);
	assert_int_equal(symlink(elsewhere, dir), 0);
	assert_int_equal(made(base), OT_ERR_PERMISSION);
	unlink(dir);
	rmdir(elsewhere);
	rmdir(base);
}

/* --- XML ----------------------------------------------------------------------------------------------- */

static const struct vp_domain_files files = { .plugin = "/lib/a,b&'/liboutsight-tcg.so",
					      .hook = "/lib/liboutsight-kvm.so" };

/* False: this host has no libxml2. */
static bool have_libxml(void)
{
	struct vp_domain_xml d;
	struct ot_err *err = vp_domain_xml_read("<domain/>", &d);
	bool have = !err;

	ot_err_destroy(err);
	if (!have)
		print_message("SKIP: there is no libxml2 here\n");
	return have;
}

static void what_a_domain_needs_is_added_once(void **state)
{
	static const char *const types[] = { "kvm", "qemu" };
	static const char *const needs[] = { "value=\"/lib/liboutsight-kvm.so\"",
					     "value=\"file=/lib/a,,b&amp;'/liboutsight-tcg.so,libvirt=on\"" };
	struct vp_domain_xml d;

	(void)state;
	if (!have_libxml())
		return;
	for (size_t i = 0; i < 2; i++) {
		char xml[200], *once, *twice;
		snprintf(xml, sizeof(xml),
			 "<!-- <domain type='x'> -->\n<domain type='%s'><name>w&amp;b</name></domain>",
			 types[i]);
		assert_null(vp_domain_xml_read(xml, &d));
		assert_string_equal(d.name, "w&b");
		assert_int_equal(d.accel, i ? VP_ACCEL_TCG : VP_ACCEL_KVM);
		assert_false(d.ready);
		assert_null(vp_domain_xml_add(xml, &files, &once));
		assert_non_null(strstr(once, needs[i]));
		assert_null(vp_domain_xml_read(once, &d));
		assert_true(d.ready);
		assert_null(vp_domain_xml_add(once, &files, &twice));
		assert_string_equal(once, twice);
		free(once);
		free(twice);
	}
}

static void a_commandline_that_is_there_is_kept(void **state)
{
	static const char xml[] = "<domain type='qemu' xmlns:q='http://libvirt.org/schemas/domain/qemu/1.0'>"
				  "<q:commandline><q:arg value='-s'/></q:commandline></domain>";
	char *with;

	(void)state;
	if (!have_libxml())
		return;
	assert_null(vp_domain_xml_add(xml, &files, &with));
	const char *first = strstr(with, "commandline");
	assert_non_null(strstr(with, "<q:arg value=\"-s\"/><q:arg value=\"-plugin\"/>"));
	assert_non_null(first);
	assert_null(strstr(strstr(first, "</q:commandline>") + 16, "commandline"));
	free(with);
}

static void the_lines_to_paste_are_what_is_added(void **state)
{
	(void)state;
	if (!have_libxml())
		return;
	for (enum vp_accel accel = VP_ACCEL_KVM; accel <= VP_ACCEL_TCG; accel++) {
		struct vp_domain_xml d;
		struct ot_buf xml;
		ot_buf_init(&xml);
		ot_buf_printf(&xml, "<domain type='%s'>", accel == VP_ACCEL_KVM ? "kvm" : "qemu");
		vp_domain_xml_lines(accel, &files, &xml);
		ot_buf_puts(&xml, "</domain>");
		assert_null(vp_domain_xml_read(ot_buf_str(&xml), &d));
		assert_true(d.ready);
		ot_buf_deinit(&xml);
	}
}

static void what_is_no_domain_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"x",
		"<domain",
		"<network/>",
		"<domain type='lxc'/>",
		"<domain/>",
		"<domain type='kvm'><qemu:commandline><qemu:env name='LD_PRELOAD' value='/x'/>"
		"</qemu:commandline></domain>"
	};
	char *with;

	(void)state;
	if (!have_libxml())
		return;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct ot_err *err = vp_domain_xml_add(bad[i], &files, &with);
		if (strstr(bad[i],
			   "LD_PRELOAD")) { /* not in the namespace: not QEMU's, nothing is taken from it */
			assert_null(err);
			free(with);
			continue;
		}
		assert_non_null(err);
		assert_int_equal(ot_err_code(err), strstr(bad[i], "<domain t") || !strcmp(bad[i], "<domain/>")
						       ? OT_ERR_UNSUPPORTED
						       : OT_ERR_SYNTAX);
		ot_err_destroy(err);
	}
}

static void a_preload_of_the_domains_own_is_not_lost(void **state)
{
	static const char xml[] =
	    "<domain type='kvm' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>"
	    "<qemu:commandline><qemu:env name='LD_PRELOAD' value='/x.so'/></qemu:commandline>"
	    "</domain>";
	char *with;

	(void)state;
	if (!have_libxml())
		return;
	struct ot_err *err = vp_domain_xml_add(xml, &files, &with);
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_UNSUPPORTED);
	assert_non_null(strstr(ot_err_message(err), "LD_PRELOAD"));
	ot_err_destroy(err);
}

#define GROUPS 2000

/* A process in a PID namespace of its own; its creator writes its PID to @p out. */
static void be_in_a_namespace(int out)
{
	gid_t groups[GROUPS];
	pid_t pid = 0;

	for (unsigned i = 0; i < GROUPS; i++)
		groups[i] = 4000000000u + i;
	if (!setgroups(GROUPS, groups) && !unshare(CLONE_NEWPID))
		pid = fork();
	if (!pid && getpid() == 1)
		_exit((int)sleep(60)); /* until it is killed */
	_exit(write(out, &pid, sizeof(pid)) != sizeof(pid));
}

static void groups_do_not_hide_the_inner_pid(void **state)
{
	struct vp_process process;
	pid_t creator, pid = 0;
	int out[2];

	(void)state;
	assert_false(pipe(out));
	creator = fork();
	assert_true(creator >= 0);
	if (!creator)
		be_in_a_namespace(out[1]);
	assert_int_equal(read(out[0], &pid, sizeof(pid)), sizeof(pid));
	assert_int_equal(waitpid(creator, NULL, 0), creator);
	close(out[0]);
	close(out[1]);
	if (pid <= 0) {
		print_message("SKIP: groups and a PID namespace need root\n");
		skip();
	}
	struct ot_err *err = vp_process_read(pid, &process);
	kill(pid, SIGKILL);
	assert_null(err);
	assert_int_equal(process.inner, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(command_lines_tell_accelerator_vcpus_and_uuid),
		cmocka_unit_test(our_plugin_is_known_and_where_it_listens),
		cmocka_unit_test(a_name_is_one_line),
		cmocka_unit_test(groups_do_not_hide_the_inner_pid),
		cmocka_unit_test(command_lines_cut_anywhere_are_read_in_bounds),
		cmocka_unit_test(a_domain_has_a_socket_in_its_own_directory),
		cmocka_unit_test(the_directory_for_sockets_is_ours_alone),
		cmocka_unit_test(what_a_domain_needs_is_added_once),
		cmocka_unit_test(a_commandline_that_is_there_is_kept),
		cmocka_unit_test(the_lines_to_paste_are_what_is_added),
		cmocka_unit_test(what_is_no_domain_is_refused),
		cmocka_unit_test(a_preload_of_the_domains_own_is_not_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
