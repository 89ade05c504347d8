/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who else uses a gdb stub: another client, or the keeper that takes over from a killed outsight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "gdb_fake.h"
#include "vmm-probe/backend/gdb/keeper.h"
#include "vmm-probe/backend/gdb/taken.h"

/* A listener and its connections: none, one that was accepted, and ours in addition. */
static void check_taken(struct sockaddr *addr, socklen_t len, bool tells_who)
{
	char who[64], want[32];
	int server = socket(addr->sa_family, SOCK_STREAM, 0), other, ours, served;

	assert_int_equal(bind(server, addr, len), 0);
	assert_int_equal(listen(server, 4), 0);
	assert_int_equal(getsockname(server, addr, &len), 0);
	ours = socket(addr->sa_family, SOCK_STREAM, 0);
	assert_int_equal(connect(ours, addr, len), 0);
	assert_false(vp_gdb_is_taken(ours, who, sizeof(who)));
	close(ours);
	close(accept(server, NULL, NULL));
	other = socket(addr->sa_family, SOCK_STREAM, 0);
	assert_int_equal(connect(other, addr, len), 0);
	served = accept(server, NULL, NULL);
	assert_true(served >= 0);
	ours = socket(addr->sa_family, SOCK_STREAM, 0);
	assert_int_equal(connect(ours, addr, len), 0);
	assert_true(vp_gdb_is_taken(ours, who, sizeof(who)));
	snprintf(want, sizeof(want), " (PID %d)", (int)getpid());
	if (tells_who)
		assert_non_null(strstr(who, want));
	else
		assert_string_equal(who, "");
	close(ours);
	close(served);
	close(other);
	close(server);
}

static void test_stub_is_taken(void **state)
{
	struct sockaddr_in tcp = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 tcp6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_un path = { .sun_family = AF_UNIX };
	int probe = socket(AF_INET6, SOCK_STREAM, 0);

	(void)state;
	check_taken((struct sockaddr *)&tcp, sizeof(tcp), true);
	if (probe >= 0 && !bind(probe, (struct sockaddr *)&tcp6, sizeof(tcp6)))
		check_taken((struct sockaddr *)&tcp6, sizeof(tcp6), true);
	close(probe);
	snprintf(path.sun_path, sizeof(path.sun_path), "/tmp/outsight-taken-%d", (int)getpid());
	check_taken((struct sockaddr *)&path, sizeof(path), false);
	unlink(path.sun_path);
}

/* --- the keeper --------------------------------------------------------------------------------------- */

/* What has come within so long, behind what is in @got already, or until @text is in it; false: it is not. */
static bool comes(int fd, char *got, size_t size, const char *text, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t len = strlen(got);

	while (!strstr(got, text) && poll(&p, 1, timeout_ms) > 0) {
		ssize_t n = recv(fd, got + len, size - 1 - len, 0);
		if (n <= 0)
			break;
		len += (size_t)n;
		got[len] = '\0';
	}
	return strstr(got, text);
}

/* A killed outsight's stub answers the fence with @answer, in two pieces of which the first has @first bytes.
 */
static void check_keeper(const char *answer, size_t first)
{
	struct vp_gdb_keeper keeper;
	char got[4096] = "";
	int fds[2], status;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_ok(vp_gdb_keeper_start(&keeper, fds[1]));
	close(fds[1]);
	close(keeper.pipe_fd);
	assert_true(comes(fds[0], got, sizeof(got), "\003+\003$qSupported#37", 30000));
	/* a stub that is slow to stop: a detach that it reads together with the interrupt is too early */
	assert_false(comes(fds[0], got, sizeof(got), "$D#44", 700));
	assert_true(say(fds[0], answer, first));
	assert_false(comes(fds[0], got, sizeof(got), "$D#44", 100));
	assert_true(say(fds[0], answer + first, strlen(answer) - first));
	/* the parent may have detached: it attaches again before */
	assert_true(comes(fds[0], got, sizeof(got), "$vAttach;1#37", 30000));
	assert_true(comes(fds[0], got, sizeof(got), "$D#44", 30000));
	assert_true(strstr(got, "$vAttach;1#37") < strstr(got, "$D#44"));
	close(fds[0]);
	assert_int_equal(waitpid(keeper.pid, &status, 0), keeper.pid);
	assert_int_equal(status, 0);
}

static void test_keeper(void **state)
{
	(void)state;
	check_keeper("$T02thread:01;#04+$PacketSize=1000;multiprocess+#00", 24);
	/* an answer that the parent did not read any more is none to the keeper */
	check_keeper("+$QC01#f5$OK#9a+$PPacketSize=1#00", 27);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stub_is_taken),
		cmocka_unit_test(test_keeper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
