/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attaching and detaching: load the library into the VMM if it is not there, then send it requests. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "vmm-probe/engine/wire/protocol.h"
#include "vmm-probe/engine/wire/socket_path.h"
#include "vmm-probe/inject/internal.h"

#define LOAD_MS    5000 /* wait for the library to become ready */
#define REPLY_MS   30000
#define HANG_UP_MS 50
#define POLL_NS    1000000l
#define COPIES_MAX 8u /* copies of the library, of several releases */

/* --- the library in the target ----------------------------------------------------------------------- */

static bool read_control(pid_t pid, int mem, unsigned n, struct vp_hook_control *ret, bool *ret_more)
{
	struct vp_mapped m;
	uint64_t at = 0;
	ot_auto_err struct ot_err *err = vp_remote_find(pid, "/" VP_HOOK_LIBRARY, n, &m);

	*ret_more = !err;
	if (err)
		return false;
	ot_auto_err struct ot_err *none = vp_remote_symbol(pid, &m, VP_HOOK_SYMBOL, &at);
	return !none && pread(mem, ret, sizeof(*ret), (off_t)at) == sizeof(*ret) &&
	       !memcmp(ret->magic, VP_HOOK_MAGIC, sizeof(ret->magic)) && ret->version == VP_HOOK_VERSION;
}

/* Is the copy of our own release? An older engine may lack features that a session needs. */
static bool is_current(const struct vp_hook_control *c)
{
	return c->protocol == VP_PROTOCOL_VERSION &&
	       !strncmp(c->release, OUTSIGHT_VERSION, sizeof(c->release));
}

/* Find the copy of our release. *ret_copies: if there is none, the number of copies of other releases. */
static bool find_control(pid_t pid, int mem, struct vp_hook_control *ret, unsigned *ret_copies)
{
	bool more = true;

	for (*ret_copies = 0; *ret_copies < COPIES_MAX; ++*ret_copies) {
		if (read_control(pid, mem, *ret_copies, ret, &more) && is_current(ret))
			return true;
		if (!more)
			return false;
	}
	return false;
}

static struct ot_err *wait_ready(const struct vp_target *t, struct vp_hook_control *ret)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	uint64_t end = ot_now_ns() + LOAD_MS * 1000000ull;
	unsigned copies;

	for (;;) {
		bool there = find_control(t->pid, t->mem, ret, &copies);
		if (there && ret->state == VP_HOOK_READY)
			return NULL;
		if (there && ret->state == VP_HOOK_BROKEN)
			return ot_err_os(ret->error, "the library failed to start in process %d",
					 (int)t->pid);
		if (ot_now_ns() > end)
			break;
		nanosleep(&pause, NULL);
	}
	return ot_err_new(OT_ERR_UNSUPPORTED, "process %d did not load the library%s%s", (int)t->pid,
			  *t->confined ? "; its security profile may forbid it: " : "", t->confined);
}

/* --- requests ---------------------------------------------------------------------------------------- */

static struct ot_err *receive(int sock, pid_t pid, struct vp_hook_reply *ret)
{
	struct pollfd fd = { .fd = sock, .events = POLLIN };
	int ready;

	do
		ready = poll(&fd, 1, REPLY_MS);
	while (ready < 0 && errno == EINTR);
	if (ready <= 0 || recv(sock, ret, sizeof(*ret), 0) != sizeof(*ret))
		return ot_err_new(OT_ERR_GUEST_GONE, "the library in process %d does not answer", (int)pid);
	ret->text[sizeof(ret->text) - 1] = '\0';
	return ret->code ? ot_err_new((enum ot_err_code)ret->code, "process %d: %s", (int)pid, ret->text)
			 : NULL;
}

/* Send a request and receive the reply. The socket @bound accompanies the request unless it is -1. */
static struct ot_err *ask(pid_t pid, int pidfd, const struct vp_hook_control *control, uint32_t type,
			  int bound, struct vp_hook_reply *ret)
{
	const struct vp_hook_request request = { VP_HOOK_VERSION, type };
	int pair[2];
	ot_auto_close int sock = (int)syscall(SYS_pidfd_getfd, pidfd, control->fd, 0);

	if (sock < 0)
		return ot_err_os(errno, "pidfd_getfd of process %d", (int)pid);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return ot_err_os(errno, "socketpair");
	ot_auto_close int ours = pair[0], theirs = pair[1];
	const int fds[] = { theirs, bound };
	OT_TRY(ot_send_fds(sock, &request, sizeof(request), fds, bound < 0 ? 1 : 2));
	ot_cleanup_close(&theirs);
	theirs = -1; /* so that recv() ends if the VMM dies */
	return receive(ours, pid, ret);
}

/* --- the engine's socket ----------------------------------------------------------------------------- */

/* Does an engine listen? While there is none, the library closes connections at once. */
static bool is_served(const struct sockaddr_un *addr)
{
	ot_auto_close int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct pollfd fd = { .fd = sock, .events = POLLIN };

	return sock >= 0 && !connect(sock, (const struct sockaddr *)addr, sizeof(*addr)) &&
	       !poll(&fd, 1, HANG_UP_MS);
}

/* Bind the engine's socket in our own view of the file system, since the target may have another view and
 * another uid. The target calls listen(), because the kernel reports the caller of listen() to clients. *ret
 * is unchanged if an engine listens there already. */
static struct ot_err *bind_for(pid_t pid, struct sockaddr_un *addr, int *ret)
{
	*addr = (struct sockaddr_un){ .sun_family = AF_UNIX };
	OT_TRY(vp_socket_dir_make(addr->sun_path, sizeof(addr->sun_path)));
	OT_TRY(vp_socket_path(pid, addr->sun_path, sizeof(addr->sun_path)));
	if (is_served(addr))
		return NULL;
	unlink(addr->sun_path);
	ot_auto_close int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0 || fchmod(sock, 0600) || bind(sock, (const struct sockaddr *)addr, sizeof(*addr)))
		return ot_err_os(errno, "%s", addr->sun_path);
	*ret = ot_move_fd(sock);
	return NULL;
}

/* --- loading ----------------------------------------------------------------------------------------- */

/* The target's loader does not load a file again under a name that it knows: each copy gets another spelling
 * of its path ("/./"). */
static struct ot_err *library_name(const struct vp_target *t, const char *library, unsigned copies, char *ret,
				   size_t size)
{
	char real[PATH_MAX], there[PATH_MAX + 64];
	struct stat a, b;

	if (!realpath(library, real) || stat(real, &a))
		return ot_err_os(errno, "%s", library);
	snprintf(there, sizeof(there), "/proc/%d/root%s", (int)t->pid, real);
	if (stat(there, &b) || a.st_size != b.st_size)
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "%s is not in process %d's view of the file system: copy it to that path there", real,
		    (int)t->pid);
	if (!(b.st_mode & S_IROTH) && b.st_uid != t->uid && t->uid)
		return ot_err_new(OT_ERR_PERMISSION, "%s can't be read by uid %u, which process %d runs as",
				  real, (unsigned)t->uid, (int)t->pid);
	char *slash = strrchr(real, '/');
	int n = snprintf(ret, size, "%.*s/", (int)(slash - real), real);
	for (unsigned i = 0; i < copies && n > 0 && (size_t)n < size; i++)
		n += snprintf(ret + n, size - (size_t)n, "./");
	if (n > 0 && (size_t)n < size)
		n += snprintf(ret + n, size - (size_t)n, "%s", slash + 1);
	return n > 0 && (size_t)n < size ? NULL : ot_err_new(OT_ERR_LIMIT, "%s: the path is too long", real);
}

static struct ot_err *load(const struct vp_target *t, const char *library, struct vp_hook_control *control,
			   struct vp_inject_result *result)
{
	char name[PATH_MAX];
	unsigned copies;

	if (!find_control(t->pid, t->mem, control, &copies)) {
		OT_TRY(library_name(t, library, copies, name, sizeof(name)));
		OT_TRY(vp_frame_call(t, name, &result->stop_ns));
		result->loaded = true;
	}
	return wait_ready(t, control);
}

/* --- attach ------------------------------------------------------------------------------------------ */

static struct ot_err *attach(const struct vp_target *t, const char *library, struct vp_inject_result *result)
{
	struct vp_hook_control control;
	struct vp_hook_reply reply;
	struct sockaddr_un addr;
	ot_auto_close int bound = -1;

	OT_TRY(bind_for(t->pid, &addr, &bound));
	if (bound < 0) {
		result->already = true;
		return NULL;
	}
	struct ot_err *err = load(t, library, &control, result);
	if (!err)
		err = ask(t->pid, t->pidfd, &control, VP_HOOK_ATTACH, bound, &reply);
	if (err) {
		unlink(addr.sun_path);
		return err;
	}
	result->nvcpus = reply.nvcpus;
	result->nram = reply.nram;
	result->ram_bytes = reply.ram_bytes;
	result->held_ns = reply.held_ns;
	return NULL;
}

struct ot_err *vp_inject_attach(pid_t pid, const char *library, struct vp_inject_result *ret)
{
	uint64_t start = ot_now_ns();
	struct vp_inject_result result = { 0 };
	ot_auto_close int claim_fd = -1;
	struct vp_target t;

	/* First, since another injector at work would make the process appear traced or half attached. */
	OT_TRY(vp_vmm_claim(pid, &claim_fd));
	OT_TRY(vp_target_open(pid, &t));
	struct ot_err *err = attach(&t, library, &result);
	vp_target_close(&t);
	OT_TRY(err);
	result.total_ns = ot_now_ns() - start;
	*ret = result;
	return NULL;
}

static struct ot_err *plan(const struct vp_target *t, const char *library, FILE *out)
{
	struct vp_hook_control control;
	char name[PATH_MAX];
	unsigned copies;
	bool there = find_control(t->pid, t->mem, &control, &copies);

	OT_TRY(library_name(t, library, copies, name, sizeof(name)));
	fprintf(out, "process %d: %s, uid %u%s%s, %u vCPU%s\n", (int)t->pid, t->exe, (unsigned)t->uid,
		*t->name ? ", guest " : "", t->name, t->nvcpus, t->nvcpus == 1 ? "" : "s");
	if (*t->confined)
		fprintf(out, "\tconfined by %s, which must allow mapping the file\n", t->confined);
	if (there)
		fprintf(out, "\t%s %.16s is loaded already, dormant or in use\n", VP_HOOK_LIBRARY,
			control.release);
	else
		fprintf(out,
			"\tstop its main thread while it waits in poll, make it call dlopen (0x%llx) of\n"
			"\t\t%s\n",
			(unsigned long long)t->dlopen, name);
	fprintf(out, "\tredirect its calls of ioctl(), kick each vCPU's thread out of the guest once,\n"
		     "\tquery the layout of guest memory from QEMU's monitor, and listen for tracers\n");
	return NULL;
}

struct ot_err *vp_inject_check(pid_t pid, const char *library)
{
	char name[PATH_MAX];
	struct vp_target t;

	OT_TRY(vp_target_open(pid, &t));
	struct ot_err *err = library_name(&t, library, 0, name, sizeof(name));
	vp_target_close(&t);
	return err;
}

struct ot_err *vp_inject_plan(pid_t pid, const char *library, FILE *out)
{
	struct vp_target t;

	OT_TRY(vp_target_open(pid, &t));
	struct ot_err *err = plan(&t, library, out);
	vp_target_close(&t);
	return err;
}

/* --- dormant ------------------------------------------------------------------------------------------ */

/* A library of another release can't be queried: its control block may have another layout. */
static struct ot_err *check_dormant(pid_t pid, const struct vp_hook_control *c)
{
	if (!is_current(c))
		return ot_err_new(
		    OT_ERR_BUSY,
		    "process %d contains the library of another release of Outsight (%.*s): -g %d attaches "
		    "and traces with this release's",
		    (int)pid, (int)sizeof(c->release), c->release, (int)pid);
	if (c->in_use || c->state == VP_HOOK_LOADED)
		return ot_err_new(OT_ERR_BUSY,
				  "process %d has an engine of Outsight in it: -g %d traces with it, and "
				  "`outsight detach %d` disables it",
				  (int)pid, (int)pid, (int)pid);
	return NULL;
}

struct ot_err *vp_inject_idle(pid_t pid)
{
	char path[64];
	struct vp_hook_control control;
	struct vp_mapped m;
	bool more = true;
	ot_auto_err struct ot_err *none = vp_remote_find(pid, "/" VP_HOOK_LIBRARY, 0, &m);

	if (none)
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	ot_auto_close int mem = open(path, O_RDONLY | O_CLOEXEC);
	if (mem < 0)
		return ot_err_os(errno, "%s", path);
	for (unsigned n = 0; more && n < COPIES_MAX; n++)
		if (read_control(pid, mem, n, &control, &more))
			OT_TRY(check_dormant(pid, &control));
	return NULL;
}

/* --- resets and loads ----------------------------------------------------------------------------------- */

bool vp_inject_states_read(pid_t pid, struct vp_inject_states *ret)
{
	char path[64];
	struct vp_hook_control control;
	unsigned copies;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	ot_auto_close int mem = open(path, O_RDONLY | O_CLOEXEC);
	if (mem < 0 || !find_control(pid, mem, &control, &copies))
		return false;
	*ret = (struct vp_inject_states){ control.resets, control.loads, control.changes };
	return true;
}

/* --- detach ------------------------------------------------------------------------------------------ */

/* Checks only the library, so that a process can be detached from that was stopped or traced since. */
struct ot_err *vp_inject_detach(pid_t pid)
{
	struct vp_hook_control control;
	struct vp_hook_reply reply;
	char path[108], mem_path[64];
	bool more = true, found = false;
	ot_auto_close int claim_fd = -1, pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	snprintf(mem_path, sizeof(mem_path), "/proc/%d/mem", (int)pid);
	ot_auto_close int mem = open(mem_path, O_RDONLY | O_CLOEXEC);
	if (pidfd < 0 || mem < 0)
		return ot_err_os(errno, "process %d", (int)pid);
	OT_TRY(vp_vmm_claim(pid, &claim_fd));
	for (unsigned n = 0; more && n < COPIES_MAX; n++) {
		if (!read_control(pid, mem, n, &control, &more) || control.state != VP_HOOK_READY)
			continue;
		OT_TRY(ask(pid, pidfd, &control, VP_HOOK_DETACH, -1, &reply));
		found = true;
	}
	if (!found)
		return ot_err_new(OT_ERR_NOT_FOUND, "process %d contains no library of Outsight", (int)pid);
	OT_TRY(vp_socket_path(pid, path, sizeof(path)));
	unlink(path);
	return NULL;
}
