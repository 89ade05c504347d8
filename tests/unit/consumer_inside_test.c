/* SPDX-License-Identifier: GPL-2.0-or-later */
/* consumer/inside*.c: texts of a guest's own tools, told apart and taken apart; what is none is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "consumer/inside.h"

/* The items of a text: "id name, id name" for numbered ones, else "name, name". */
static void lists(const char *text, const struct con_hidden_kind *kind, const char *want)
{
	struct con_inside in;
	struct ot_err *err = con_inside_read("FILE", text, strlen(text), &in);
	struct ot_buf got = { 0 };

	if (err)
		fail_msg("%s", ot_err_message(err));
	assert_ptr_equal(in.kind, kind);
	for (size_t i = 0; i < in.seen.count; i++) {
		assert_int_equal(in.seen.items[i].ways, CON_HIDDEN_TEXT);
		ot_buf_puts(&got, i ? ", " : "");
		if (kind->numbered)
			ot_buf_printf(&got, "%llu ", (unsigned long long)in.seen.items[i].id);
		ot_buf_puts(&got, in.seen.items[i].name);
	}
	assert_string_equal(ot_buf_str(&got), want);
	ot_buf_deinit(&got);
	con_inside_deinit(&in);
}

static void refuses(const char *text, enum ot_err_code code, const char *message)
{
	struct con_inside in;
	struct ot_err *err = con_inside_read("FILE", text, strlen(text), &in);

	assert_non_null(err);
	if (!strstr(ot_err_message(err), message))
		fail_msg("\"%s\" is not in \"%s\"", message, ot_err_message(err));
	assert_int_equal(ot_err_code(err), code);
	ot_err_destroy(err);
	con_inside_deinit(&in);
}

static void test_ps(void **state)
{
	(void)state;
	/* procps's ps -e, ps -ef, ps aux; busybox's */
	lists("    PID TTY          TIME CMD\n      1 ?        00:00:01 systemd\n      2 ?        00:00:00 "
	      "kthreadd\n"
	      "    977 pts/0    00:00:00 ps\n",
	      &con_hidden_tasks, "1 systemd, 2 kthreadd");
	lists("UID          PID    PPID  C STIME TTY          TIME CMD\n"
	      "root           1       0  0 Nov23 ?        00:00:01 /sbin/init splash\n"
	      "root          14       2  0 Nov23 ?        00:00:00 [kworker/0:1-events]\n"
	      "root         977     900  0 02:00 pts/0    00:00:00 /usr/bin/ps -ef\n",
	      &con_hidden_tasks, "1 init, 14 [kworker/0:1-events]");
	lists("USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n"
	      "root           1  0.0  0.1  16 12 ?        Ss   Nov23   0:01 /sbin/init\n\n",
	      &con_hidden_tasks, "1 init");
	lists(
	    "PID   USER     TIME  COMMAND\r\n    1 root      0:00 /init\r\n   22 root      0:00 sh -c ps\r\n"
	    "   23 root      0:00 {ps} /bin/sh /init\r\n",
	    &con_hidden_tasks, "1 init, 22 sh");
	refuses("  PID TTY TIME CMD\n  900 pts/0 00:00:00 bash\n", OT_ERR_UNSUPPORTED, "`ps -e` does");
	refuses("  PID TTY TIME CMD\n  1 ? 00:00:00 init\n  many ? 00:00:00 bash\n", OT_ERR_BAD_DATA,
		"FILE:3: this is no line of ps");
	refuses("  PID TTY TIME CMD\n  1 ?\n", OT_ERR_BAD_DATA, "FILE:2");
	refuses("  PID TTY TIME CMD\n  99999999 ? 0 x\n", OT_ERR_BAD_DATA, "FILE:2");
}

static void test_modules(void **state)
{
	(void)state;
	lists("Module                  Size  Used by\nloop                   36864  0\nnf_tables 270336 1 "
	      "nft_ct\n",
	      &con_hidden_modules, "loop, nf_tables");
	lists("loop 36864 0 - Live 0xffffffffc0a00000\nhide 16384 0 - Live 0x0000000000000000 (OE)\n",
	      &con_hidden_modules, "hide, loop");
	lists("Module                  Size  Used by\n", &con_hidden_modules, "");
	refuses("Module                  Size  Used by\nloop\n", OT_ERR_BAD_DATA,
		"FILE:2: this is no line of lsmod");
}

static void test_mounts(void **state)
{
	(void)state;
	lists("/dev/sda1 / ext4 rw,relatime 0 0\nproc /proc proc rw 0 0\nhost /a\\040b\\134c fuse.sshfs rw 0 "
	      "0\n",
	      &con_hidden_mounts, "/ ext4, /a b\\c fuse.sshfs, /proc proc");
	refuses("proc /proc proc rw 0 0\nproc /proc\n", OT_ERR_BAD_DATA,
		"FILE:2: this is no line of /proc/mounts");
}

static void test_libraries(void **state)
{
	(void)state;
	lists("55d0-55d1 r--p 00000000 fe:01 42 /usr/bin/cat\n"
	      "55d1-55d2 r-xp 00001000 fe:01 42                         /usr/bin/cat\n"
	      "7f00-7f01 r-xp 00000000 fe:01 43                         /tmp/a b.so (deleted)\n"
	      "7f02-7f03 rwxp 00000000 00:00 0 \n"
	      "7ffe-7fff r-xp 00000000 00:00 0                          [vdso]\n",
	      &con_hidden_libraries, "/tmp/a b.so (deleted), /usr/bin/cat");
	lists("\tlinux-vdso.so.1 (0x00007ffd)\n\tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f)\n"
	      "\tlibgone.so.2 => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n",
	      &con_hidden_libraries, "ld-linux-x86-64.so.2, libz.so.1");
	refuses("\tlinux-vdso.so.1 (0x00007ffd)\nhello\n", OT_ERR_BAD_DATA, "FILE:2: this is no line of ldd");
}

static void test_ss(void **state)
{
	(void)state;
	lists("Netid State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
	      "nl    UNCONN 0      0                  rtnl:kernel            *\n"
	      "u_str LISTEN 0      4096 /run/x 1 * 0\n"
	      "udp   UNCONN 0      0      127.0.0.53%lo:53        0.0.0.0:*    users:((\"r\",pid=1,fd=2))\n"
	      "udp   UNCONN 0      0                  *:5353            *:*\n"
	      "udp   ESTAB  0      0      10.0.2.15%eth0:68  10.0.2.2:67\n"
	      "tcp   LISTEN 0      128          0.0.0.0:22        0.0.0.0:*\n"
	      "tcp   LISTEN 0      128             [::]:22           [::]:*\n"
	      "tcp   ESTAB  0      0      [fe80::1]%eth0:22 [fe80::2]:4000\n"
	      "tcp   ESTAB  0      0      [::ffff:10.0.0.2]:22 [::ffff:10.0.0.1]:4001\n"
	      "tcp   TIME-WAIT 0   0          10.0.0.2:22    10.0.0.1:4002\n",
	      &con_hidden_sockets,
	      "tcp 0.0.0.0:22 listening, tcp6 [::]:22 listening, tcp6 [::ffff:10.0.0.2]:22 "
	      "[::ffff:10.0.0.1]:4001, "
	      "tcp6 [fe80::1]:22 [fe80::2]:4000, udp 10.0.2.15:68 10.0.2.2:67, udp 127.0.0.53:53, udp6 "
	      "[::]:5353");
	lists("tcp LISTEN 0 128 0.0.0.0:22 0.0.0.0:*\n", &con_hidden_sockets,
	      "tcp 0.0.0.0:22 listening"); /* -H */
	refuses("State Recv-Q Send-Q Local Address:Port Peer Address:Port\n", OT_ERR_UNSUPPORTED,
		"`ss -tuan`");
	refuses("Netid State Recv-Q Send-Q\ntcp LISTEN 0 128 0.0.0.0:ssh 0.0.0.0:*\n", OT_ERR_BAD_DATA,
		"FILE:2: \"0.0.0.0:ssh\" is no address and port in numbers");
	refuses("tcp LISTEN 0 128 0.0.0:22 0.0.0.0:*\n", OT_ERR_BAD_DATA, "FILE:1");
	refuses("tcp LISTEN 0 128 [:22 0.0.0.0:*\n", OT_ERR_BAD_DATA, "FILE:1");
	refuses("tcp LISTEN 0 128 0.0.0.0:22\n", OT_ERR_BAD_DATA, "FILE:1: this is no line of ss");
	refuses("tcp LISTEN 0 128 0.0.0.0:65536 0.0.0.0:*\n", OT_ERR_BAD_DATA, "FILE:1");
}

#define HEADING \
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"

static const char proc_net[] = HEADING
    "\n"
    "   0: 0100007F:0277 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 16000 1\n"
    "   1: 0200000A:0016 0100000A:C350 01 00000000:00000000 00:00000000 00000000     0        0 16001 1\n"
    "   2: 0200000A:0016 0100000A:C351 06 00000000:00000000 00:00000000 00000000     0        0 0 1\n"
    "  sl  local_address                         remote_address                        st tx_queue rx_queue "
    "tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n"
    "  5: 00000000000000000000000001000000:0035 00000000000000000000000000000000:0000 07 00000000:00000000 "
    "00:00000000 00000000     0        0 16002 2 0000000000000000 0\n";

static void test_proc_net(void **state)
{
	(void)state;
	lists(proc_net, &con_hidden_sockets,
	      "tcp 10.0.0.2:22 10.0.0.1:50000, tcp 127.0.0.1:631 listening, udp6 [::1]:53");
	refuses(HEADING "\n 0: 0100007F:0277 00000000 0A\n", OT_ERR_BAD_DATA,
		"FILE:2: this is no line of /proc/net");
	refuses(HEADING "\n 0: 0100007F:027G 00000000:0000 0A\n", OT_ERR_BAD_DATA, "FILE:2");
}

static void test_none(void **state)
{
	(void)state;
	refuses("", OT_ERR_BAD_DATA, "FILE is empty");
	refuses(" \n\n\t\r\n", OT_ERR_BAD_DATA, "FILE is empty");
	refuses("hello\n", OT_ERR_BAD_DATA, "not a text that can be compared");
	refuses("-", OT_ERR_BAD_DATA, "not a text");
}

/* Whatever one byte of a text becomes, what is taken from it is whole, or it is refused. */
static void damage(const char *text)
{
	size_t len = strlen(text), taken = 0;
	char *copy = malloc(len); /* without a NUL */

	assert_non_null(copy);
	for (size_t at = 0; at < len; at++) {
		for (const char *byte = "\n :[%/0\xff"; *byte; byte++) {
			struct con_inside in;

			memcpy(copy, text, len);
			copy[at] = *byte;
			struct ot_err *err = con_inside_read("FILE", copy, len, &in);

			taken += !err;
			for (size_t i = 0; !err && i < in.seen.count; i++) {
				assert_int_equal(in.seen.items[i].ways, CON_HIDDEN_TEXT);
				assert_true(strlen(in.seen.items[i].name) <= len);
			}
			ot_err_destroy(err);
			con_inside_deinit(&in);
		}
	}
	free(copy);
	assert_true(taken > 0);
}

static void test_damaged(void **state)
{
	(void)state;
	damage(proc_net);
	damage("Netid State Recv-Q Send-Q\ntcp LISTEN 0 128 [fe80::1]%eth0:22 [::]:*\nudp UNCONN 0 0 *:53 "
	       "*:*\n");
	damage("  PID TTY TIME CMD\n    1 ? 00:00:01 /sbin/init\n    2 ? 0 [k/0]\n");
	damage("55d1-55d2 r-xp 00001000 fe:01 42 /usr/bin/c\\012t\n7ffe-7fff r-xp 0 0:0 0 [vdso]\n");
	damage("proc /proc proc rw 0 0\nhost /a\\040b fuse.sshfs rw 0 0\n");
	damage("\tlibz.so.1 => /lib/libz.so.1.2 (0x7f)\n\t/lib64/ld-linux.so.2 (0x7f)\n");
	damage("loop 36864 0 - Live 0xffffffffc0a00000\n");
}

/* --- beside memory -------------------------------------------------------------------------------------- */

static void see(struct vp_census *c, const char *name, uint64_t owner)
{
	assert_null(vp_census_add(c, 0, 0, 1, name, strlen(name)));
	c->items[c->count - 1].owner = owner;
	c->ways = 1;
}

static void joined(const char *text, struct vp_census *seen, const char *want)
{
	struct ot_buf got = { 0 };
	struct con_inside in;

	assert_null(con_inside_read("FILE", text, strlen(text), &in));
	assert_null(con_inside_join(&in, seen));
	assert_int_equal(seen->ways, 1 | CON_HIDDEN_TEXT);
	for (size_t i = 0; i < seen->count; i++)
		ot_buf_printf(&got, "%s%s%s%s", i ? ", " : "", seen->items[i].name,
			      seen->items[i].ways & 1 ? " m" : "",
			      seen->items[i].ways & CON_HIDDEN_TEXT ? " t" : "");
	assert_string_equal(ot_buf_str(&got), want);
	ot_buf_deinit(&got);
	con_inside_deinit(&in);
	vp_census_deinit(seen);
}

/* Tables that the text does not have are not compared. */
static void test_join_sockets(void **state)
{
	struct vp_census seen = { 0 };

	(void)state;
	see(&seen, "tcp 0.0.0.0:31337 listening", 7);
	see(&seen, "tcp 127.0.0.1:631 listening", 0);
	see(&seen, "tcp6 [::]:31337 listening", 0);
	see(&seen, "udp 0.0.0.0:68", 0);
	see(&seen, "udp6 [::1]:53", 0);
	joined(proc_net, &seen,
	       "tcp 0.0.0.0:31337 listening m, tcp 10.0.0.2:22 10.0.0.1:50000 t, tcp 127.0.0.1:631 listening "
	       "m t, "
	       "udp6 [::1]:53 m t");
	see(&seen, "tcp6 [::]:31337 listening", 0);
	joined("tcp LISTEN 0 128 0.0.0.0:22 0.0.0.0:*\n", &seen,
	       "tcp 0.0.0.0:22 listening t, tcp6 [::]:31337 listening m");
}

/* ldd has other names for the files than the kernel, and not the program's. */
static void test_join_ldd(void **state)
{
	struct vp_census seen = { 0 };

	(void)state;
	see(&seen, "/usr/bin/cat", 42);
	see(&seen, "/usr/lib/libz.so.1.2.13", 0);
	see(&seen, "/usr/lib/libc-2.31.so", 0);
	see(&seen, "/usr/lib/libq.so.2.0 (deleted)", 0);
	see(&seen, "/tmp/evil", 0);
	joined("\tlibz.so.1 => /lib/libz.so.1 (0x7f)\n\tlibq.so.2 => /lib/libq.so.2 (0x7f)\n", &seen,
	       "evil m, libc-2.31.so m, libq.so.2 t, libq.so.2 (deleted) m, libz.so.1 m t");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ps),           cmocka_unit_test(test_modules),
		cmocka_unit_test(test_mounts),       cmocka_unit_test(test_libraries),
		cmocka_unit_test(test_ss),           cmocka_unit_test(test_proc_net),
		cmocka_unit_test(test_none),         cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_join_sockets), cmocka_unit_test(test_join_ldd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
