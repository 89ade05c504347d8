/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may connect to the control socket, what is recorded of it, and how its name is made. */
#include "tests/unit/engine_client.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"

/* The record of a client; it waits until that has ended, as an end is seen a little later. */
static struct vp_access record_of(pid_t pid)
{
	struct vp_msg_access m = { { VP_MSG_ACCESS, sizeof(m) }, 0 };
	const struct timespec ms = { .tv_nsec = 1000000 };
	struct vp_access ret = { 0 };

	for (unsigned i = 0; i < 10000 && !ret.ended_s; i++) {
		struct ec_client *c = ec_dial();
		ec_hello(c);
		assert_true(ec_ask(c, &m, sizeof(m), NULL, 0));
		const struct vp_msg_access_reply *r = (const void *)c->reply;
		assert_int_equal(r->head.type, VP_MSG_ACCESS_REPLY);
		assert_int_equal(c->len, sizeof(*r));
		for (uint32_t k = 0; k < r->n; k++)
			if (r->list[k].pid == pid)
				ret = r->list[k];
		ec_drop(c);
		nanosleep(&ms, NULL);
	}
	return ret;
}

/* By the kernel's word, whatever the client does or does not say itself. */
static void a_client_is_recorded(void **state)
{
	struct ef *f = ec_serve();
	int status;
	(void)state;

	pid_t pid = fork();
	if (!pid) {
		struct ec_client *c = ec_dial();
		prctl(PR_SET_NAME, "sh\n\033[2J");
		ec_hello(c);
		ec_open_session(f, c);
		ec_enable(f, c);
		ec_simple(c, VP_MSG_START, 0);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	struct vp_access a = record_of(pid);
	assert_int_equal(a.pid, pid);
	assert_int_equal(a.uid, geteuid());
	assert_int_equal(a.enablings, 1);
	assert_true(a.flags & VP_ACCESS_STARTED);
	assert_true(a.ended_s >= a.began_s);
	assert_string_equal(a.comm, "sh");
	assert_non_null(strstr(a.first, ":a:entry"));
	ef_destroy(f);
}

/* The server's end of the only connection. */
static int server_end(void)
{
	for (int fd = 3; fd < 1024; fd++) {
		struct sockaddr_un addr = { 0 };
		socklen_t len = sizeof(addr), flag_len = sizeof(int);
		int listens = 0;
		if (!getsockname(fd, (struct sockaddr *)&addr, &len) && !strcmp(addr.sun_path, ec_path) &&
		    !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &flag_len) && !listens)
			return fd;
	}
	return -1;
}

/* It is not waited for: neither by other clients nor by the vCPUs of a VMM that destroys its engine. */
static void who_takes_no_replies_is_cut_off(void **state)
{
	struct ef *f = ec_serve();
	struct vp_msg m = { VP_MSG_STATS, sizeof(m) };
	unsigned sent = 0, replies = 0;
	(void)state;

	struct ec_client *c = ec_dial();
	ec_hello(c);
	assert_true(fcntl(server_end(), F_GETFL) & O_NONBLOCK);
	while (sent < 1000 && send(c->sock, &m, sizeof(m), MSG_NOSIGNAL) > 0)
		sent++;
	assert_in_range(sent, 1, 999);
	while (recv(c->sock, c->reply, sizeof(c->reply), 0) > 0)
		replies++;
	assert_true(replies < sent);
	ec_drop(c);
	ef_destroy(f);
}

static void stale_socket_is_replaced(void **state)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	(void)state;

	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	memcpy(addr.sun_path, ec_path, strlen(ec_path) + 1);
	assert_int_equal(bind(sock, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(sock); /* the file stays, as after a crash */
	struct ef *f = ec_serve();
	/* but one that is in use is not taken away */
	struct ef *second = ef_create();
	EF_FAILS(OT_ERR_BUSY, vp_engine_serve(vp_fake_engine(second->fake), ec_path));
	ef_destroy(second);
	struct ec_client *c = ec_dial();
	ec_hello(c);
	ec_drop(c);
	ef_destroy(f);
	assert_int_equal(access(ec_path, F_OK), -1);
}

/* The socket's mode keeps others away; where it does not, the kernel's word about them does. */
static void strangers_are_not_served(void **state)
{
	struct vp_msg_hello m = { { VP_MSG_HELLO, sizeof(m) }, VP_PROTOCOL_VERSION, 0 };
	struct ef *f;
	int status;
	(void)state;

	if (geteuid()) {
		print_message("SKIP: another user takes root\n");
		skip();
	}
	f = ec_serve();
	assert_int_equal(chmod(ec_dir, 0711), 0);
	assert_int_equal(chmod(ec_path, 0666), 0);
	pid_t pid = fork();
	if (!pid) {
		if (setresuid(65534, 65534, 65534))
			_exit(2);
		struct ec_client *c = ec_dial();
		struct ot_err *err = ot_send_fds(c->sock, &m, sizeof(m), NULL, 0);
		_exit(err || recv(c->sock, c->reply, sizeof(c->reply), 0) <= 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	struct ec_client *c = ec_dial();
	ec_hello(c);
	ec_drop(c);
	ef_destroy(f);
}

/* Its name is a link of another user's: nothing is made or changed where that leads. */
static void a_link_is_not_followed(void **state)
{
	char target[sizeof(ec_path) + 8];
	struct stat st;
	(void)state;

	snprintf(target, sizeof(target), "%s.target", ec_path);
	int fd = open(target, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(symlink(target, ec_path), 0);
	struct ef *f = ef_create();
	EF_FAILS(OT_ERR_BUSY, vp_engine_serve(vp_fake_engine(f->fake), ec_path));
	assert_int_equal(stat(target, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(unlink(target), 0);
	EF_FAILS(OT_ERR_BUSY, vp_engine_serve(vp_fake_engine(f->fake), ec_path)); /* it leads nowhere */
	assert_int_equal(access(target, F_OK), -1);
	assert_int_equal(unlink(ec_path), 0);
	ef_destroy(f);
}

/* Between bind() and a change of its mode by its name another user could put a link there. */
static void its_mode_is_not_set_by_name(void **state)
{
	_Alignas(struct inotify_event) char events[4096];
	mode_t mask = umask(0);
	struct stat st;
	(void)state;

	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	assert_true(inotify_add_watch(watch, ec_dir, IN_CREATE | IN_ATTRIB) >= 0);
	struct ef *f = ec_serve();
	umask(mask);
	assert_int_equal(stat(ec_path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	ssize_t n = read(watch, events, sizeof(events));
	const struct inotify_event *e = (const void *)events;
	assert_true(n >= (ssize_t)sizeof(*e));
	assert_int_equal(e->mask, IN_CREATE);
	assert_int_equal(n, sizeof(*e) + e->len); /* and that is all */
	close(watch);
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_is_recorded),     cmocka_unit_test(who_takes_no_replies_is_cut_off),
		cmocka_unit_test(stale_socket_is_replaced), cmocka_unit_test(strangers_are_not_served),
		cmocka_unit_test(a_link_is_not_followed),   cmocka_unit_test(its_mode_is_not_set_by_name),
	};

	return cmocka_run_group_tests(tests, ec_make_dir, ec_remove_dir);
}
