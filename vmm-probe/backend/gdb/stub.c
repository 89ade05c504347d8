/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmm-probe/backend/gdb/stub.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A stub answers in microseconds; one with another client does not answer at all. */
#define HELLO_MS    5000
#define ANSWER_MS   30000
#define LEAVE_MS    3000
/* An answer that is not there then may never come: it is looked into. */
#define HEARD_MS    200
#define STOPPED_MS  2000
#define REPEATS_MAX 20
#define STRAYS_MAX  64
#define CHUNK_MAX   4096u
#define SUPPORTED   "qSupported:swbreak+;hwbreak+;vContSupported+;xmlRegisters=i386"
#define PHYSICAL    "qemu.PhyMemMode"
#define FENCE       "qC"
#define INFO_STATUS "qRcmd,696e666f20737461747573" /* "info status", to QEMU's monitor */

/* --- asking --------------------------------------------------------------------------------------------- */

/* Does @reply mean "no such request"? */
static bool is_empty(const struct vp_gdb_packet *reply)
{
	return reply->len == 0;
}

static bool is_ok(const struct vp_gdb_packet *reply)
{
	return !strcmp(reply->data, "OK");
}

/* E and two digits; an answer that is data has an even length. */
static bool is_error(const struct vp_gdb_packet *reply)
{
	return reply->data[0] == 'E' && reply->len % 2 == 1;
}

/* Hexadecimal text of a monitor: "VM status: paused (debug)"? */
static bool says_debug(const struct vp_gdb_packet *r)
{
	char text[128] = "";
	size_t n = (r->len - 1) / 2;

	n = n < sizeof(text) - 1 ? n : sizeof(text) - 1;
	return vp_gdb_bytes(r->data + 1, n, text) && strstr(text, "(debug)");
}

static bool is_fence(const struct vp_gdb_packet *reply)
{
	return !strncmp(reply->data, "QC", 2);
}

/* Packets that are no answer: the target's output, and stops that nobody waited for. */
static struct ot_err *is_stray(struct vp_gdb_stub *stub, const struct vp_gdb_packet *r, bool *ret)
{
	struct vp_gdb_stop stop;

	*ret = false;
	if (r->data[0] == 'O' && !is_ok(r)) {
		stub->said_debug |= says_debug(r);
		*ret = true;
		return NULL;
	}
	if (r->data[0] != 'T' && r->data[0] != 'S' && r->data[0] != 'W' && r->data[0] != 'X')
		return NULL;
	OT_TRY(vp_gdb_parse_stop(stub, r, ret, &stop));
	stub->stops += *ret;
	return NULL;
}

/* The answer to what was sent, into stub->reply. */
static struct ot_err *answer(struct vp_gdb_stub *stub, int timeout_ms)
{
	bool stray = true;

	for (unsigned i = 0; stray; i++) {
		if (i == STRAYS_MAX)
			return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub talks about other things");
		OT_TRY(vp_gdb_receive(&stub->conn, timeout_ms, &stub->reply));
		OT_TRY(is_stray(stub, &stub->reply, &stray));
	}
	return NULL;
}

/*
 * What was sent last was not answered in time: is that slowness, or was it lost? A stub whose target runs, as
 * somebody else let it, takes the first byte of a packet for an interrupt and the others for nothing, and
 * says nothing (QEMU since 8.1; before, a stop reply). So a request is sent whose answer is like no other,
 * with bytes before it that stop the target whatever it does: + for a reply that waits for it, then an
 * interrupt. What came before is answered before. The target stands still then for sure. *ret_answered: the
 * answer is in stub->reply after all.
 */
static struct ot_err *fence(struct vp_gdb_stub *stub, bool *ret_answered)
{
	bool stray;

	*ret_answered = false;
	OT_TRY(vp_gdb_send_after(&stub->conn, "+\003", FENCE));
	for (unsigned i = 0; i < STRAYS_MAX; i++) {
		OT_TRY(vp_gdb_receive(&stub->conn, ANSWER_MS, &stub->aside));
		if (is_fence(&stub->aside)) {
			/* two: what was sent before was late only */
			bool lost = !*ret_answered && stub->conn.acks < 2;
			stub->lost += lost;
			stub->meddled |= lost;
			return NULL;
		}
		OT_TRY(is_stray(stub, &stub->aside, &stray));
		if (!stray) {
			stub->reply = stub->aside;
			*ret_answered = true;
		}
	}
	return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub talks about other things");
}

/* Send a request; *ret_answered false: it was lost. */
static struct ot_err *ask_once(struct vp_gdb_stub *stub, const char *before, const char *request,
			       bool *ret_answered)
{
	OT_TRY(vp_gdb_send_after(&stub->conn, before, request));
	struct ot_err *err = answer(stub, stub->has_fence ? HEARD_MS : ANSWER_MS);
	*ret_answered = !err;
	if (!err || ot_err_code(err) != OT_ERR_BUSY || !stub->has_fence)
		return err;
	ot_err_destroy(err);
	return fence(stub, ret_answered);
}

OT_MUST_CHECK static struct ot_err *ask(struct vp_gdb_stub *stub, const char *fmt, ...) OT_PRINTF(2, 3);

/* As often as it is lost: what is asked may run on again at any moment, but not each time. */
static struct ot_err *ask(struct vp_gdb_stub *stub, const char *fmt, ...)
{
	char request[VP_GDB_REQUEST_MAX];
	bool answered = false;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(request, sizeof(request), fmt, ap);
	va_end(ap);
	for (unsigned i = 0; !answered; i++) {
		if (i == REPEATS_MAX)
			return ot_err_new(OT_ERR_BUSY, "the gdb stub loses every packet");
		OT_TRY(ask_once(stub, "", request, &answered));
	}
	return NULL;
}

static struct ot_err *unsupported(const struct vp_gdb_stub *stub, const char *what)
{
	return ot_err_new(OT_ERR_UNSUPPORTED, "the gdb stub at %s %s", stub->name, what);
}

/* --- stops ------------------------------------------------------------------------------------------------
 */

/* "p1.2", "2": the name of a thread ends at the first byte that is none of it. */
static uint32_t find_thread(const struct vp_gdb_stub *stub, const char *id)
{
	size_t len = strcspn(id, ";,");

	for (uint32_t i = 0; i < stub->nthreads; i++)
		if (strlen(stub->threads[i]) == len && !memcmp(stub->threads[i], id, len))
			return i;
	return VP_VCPUS_MAX;
}

struct ot_err *vp_gdb_parse_stop(const struct vp_gdb_stub *stub, const struct vp_gdb_packet *packet,
				 bool *ret_is, struct vp_gdb_stop *ret)
{
	const char *at = packet->data;
	uint8_t signal;

	*ret_is = false;
	if (*at == 'W' || *at == 'X')
		return ot_err_new(OT_ERR_GUEST_GONE, "the guest has ended");
	if ((*at != 'T' && *at != 'S') || packet->len < 3 || !vp_gdb_bytes(at + 1, 1, &signal))
		return NULL;
	*ret = (struct vp_gdb_stop){ .signal = signal, .vcpu = VP_VCPUS_MAX };
	/* "n:r;" pairs, of which one may be the thread */
	for (at += 3; *at; at += strcspn(at, ";"), at += *at == ';')
		if (!strncmp(at, "thread:", 7))
			ret->vcpu = find_thread(stub, at + 7);
	if (ret->vcpu == VP_VCPUS_MAX && stub->nthreads == 1)
		ret->vcpu = 0;
	*ret_is = true;
	return NULL;
}

static struct ot_err *receive_stop(struct vp_gdb_stub *stub, int timeout_ms, struct vp_gdb_stop *ret)
{
	bool is = false;

	for (unsigned i = 0; !is; i++) {
		if (i == STRAYS_MAX)
			return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub talks about other things");
		OT_TRY(vp_gdb_receive(&stub->conn, timeout_ms, &stub->reply));
		OT_TRY(vp_gdb_parse_stop(stub, &stub->reply, &is, ret));
	}
	return NULL;
}

struct ot_err *vp_gdb_wait_stop(struct vp_gdb_stub *stub, struct vp_gdb_stop *ret)
{
	bool answered;
	struct ot_err *err = receive_stop(stub, stub->has_fence ? STOPPED_MS : ANSWER_MS, ret);

	if (!err || ot_err_code(err) != OT_ERR_BUSY || !stub->has_fence)
		return err;
	ot_err_destroy(err);
	OT_TRY(fence(stub, &answered));
	*ret = (struct vp_gdb_stop){ .signal = VP_GDB_SIGINT, .vcpu = VP_VCPUS_MAX };
	return NULL;
}

/* Has the target run on as it was told to by what was sent last? If not, it stands still. A stop reply that
 * came with the fence is not looked at: a vCPU at a breakpoint comes to it again. */
static struct ot_err *was_heard(struct vp_gdb_stub *stub, bool *ret)
{
	bool answered;

	*ret = true;
	if (!stub->has_fence)
		return NULL;
	OT_TRY(vp_gdb_wait_heard(&stub->conn, HEARD_MS, ret));
	return *ret ? NULL : fence(stub, &answered);
}

struct ot_err *vp_gdb_continue(struct vp_gdb_stub *stub, bool *ret_runs)
{
	OT_TRY(vp_gdb_send(&stub->conn, "vCont;c"));
	return was_heard(stub, ret_runs);
}

struct ot_err *vp_gdb_step(struct vp_gdb_stub *stub, uint32_t vcpu)
{
	char request[VP_GDB_THREAD_MAX + 16];
	struct vp_gdb_stop stop;
	bool heard;

	snprintf(request, sizeof(request), "vCont;s:%s", stub->threads[vcpu]);
	OT_TRY(vp_gdb_send(&stub->conn, request));
	OT_TRY(was_heard(stub, &heard));
	return heard ? vp_gdb_wait_stop(stub, &stop) : NULL;
}

struct ot_err *vp_gdb_is_held(struct vp_gdb_stub *stub, bool *ret)
{
	uint32_t stops = stub->stops;
	bool answered;

	/* an interrupt is nothing to a target that is stopped, and stops one that runs, which says so */
	stub->said_debug = false;
	OT_TRY(ask_once(stub, "\003", INFO_STATUS, &answered));
	*ret = answered && stub->stops == stops && !stub->said_debug;
	return NULL;
}

/* --- opening
 * ------------------------------------------------------------------------------------------------ */

/* "PacketSize=1000;qXfer:features:read+;…": is @feature in it, and what stands behind it? */
static const char *feature(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; *at; at += strcspn(at, ";"), at += *at == ';')
		if (!strncmp(at, name, len))
			return at + len;
	return NULL;
}

/* Half of what a packet may have, as it is written in hexadecimal. */
static void take_packet_size(struct vp_gdb_stub *stub, const char *list)
{
	const char *text = feature(list, "PacketSize=");
	unsigned long size = text ? strtoul(text, NULL, 16) : 0;

	stub->chunk = size / 2 >= CHUNK_MAX ? CHUNK_MAX : size / 2 >= 64 ? (uint32_t)(size / 2) & ~7u : 64;
}

/* Who does not answer the first request is none, or has no time for us. */
static struct ot_err *explain(const struct vp_gdb_stub *stub, struct ot_err *err)
{
	enum ot_err_code code = ot_err_code(err);

	if (code == OT_ERR_BUSY) {
		ot_err_destroy(err);
		return ot_err_new(OT_ERR_BUSY,
				  "%s does not answer: another debugger is connected to it, or it is no gdb "
				  "stub",
				  stub->name);
	}
	if (code == OT_ERR_GUEST_GONE || code == OT_ERR_BAD_DATA) {
		ot_err_destroy(err);
		return ot_err_new(OT_ERR_BAD_DATA, "%s is no gdb stub, or serves somebody else", stub->name);
	}
	return err;
}

static struct ot_err *say_hello(struct vp_gdb_stub *stub)
{
	OT_TRY(vp_gdb_send(&stub->conn, SUPPORTED));
	struct ot_err *err = answer(stub, HELLO_MS);
	if (err)
		return explain(stub, err);
	take_packet_size(stub, stub->reply.data);
	if (!feature(stub->reply.data, "qXfer:features:read+"))
		return unsupported(stub, "does not say which registers it has (qXfer:features)");
	return NULL;
}

/* One document of the target description; *ret_len of it in @buf. */
static struct ot_err *read_document(struct vp_gdb_stub *stub, const char *annex, char *buf, size_t *ret_len)
{
	size_t len = 0;
	bool last = false;

	while (!last) {
		OT_TRY(ask(stub, "qXfer:features:read:%s:%zx,%x", annex, len, stub->chunk));
		const struct vp_gdb_packet *r = &stub->reply;
		last = r->data[0] == 'l';
		if ((!last && r->data[0] != 'm') || (!last && r->len == 1))
			return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub at %s does not give %s", stub->name,
					  annex);
		if (r->len - 1 > VP_GDB_DOCUMENT_MAX - len)
			return ot_err_new(OT_ERR_LIMIT, "the gdb stub's %s has more than %u bytes", annex,
					  VP_GDB_DOCUMENT_MAX);
		memcpy(buf + len, r->data + 1, r->len - 1);
		len += r->len - 1;
	}
	*ret_len = len;
	return NULL;
}

static struct ot_err *read_target(struct vp_gdb_stub *stub)
{
	char *buf = malloc(VP_GDB_DOCUMENT_MAX);
	size_t len = 0;

	if (!buf)
		return ot_err_nomem();
	struct ot_err *err = read_document(stub, "target.xml", buf, &len);
	if (!err)
		err = vp_gdb_target_add(&stub->target, buf, len);
	/* documents may include others, each once */
	for (uint32_t i = 0; !err && i < stub->target.nincludes; i++) {
		err = read_document(stub, stub->target.includes[i], buf, &len);
		if (!err)
			err = vp_gdb_target_add(&stub->target, buf, len);
	}
	free(buf);
	return err ? err : vp_gdb_target_finish(&stub->target);
}

static struct ot_err *add_thread(struct vp_gdb_stub *stub, const char *id, size_t len)
{
	if (!len || len >= VP_GDB_THREAD_MAX || strspn(id, "0123456789abcdefABCDEFp.") < len)
		return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub's threads have no good names");
	if (stub->nthreads == VP_VCPUS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "the gdb stub has more than %u threads", VP_VCPUS_MAX);
	memcpy(stub->threads[stub->nthreads], id, len);
	stub->threads[stub->nthreads++][len] = '\0';
	return NULL;
}

/* "m1,2" … "l" */
static struct ot_err *read_threads(struct vp_gdb_stub *stub)
{
	OT_TRY(ask(stub, "qfThreadInfo"));
	while (stub->reply.data[0] == 'm') {
		const char *at = stub->reply.data + 1;
		while (*at) {
			size_t len = strcspn(at, ",");
			OT_TRY(add_thread(stub, at, len));
			at += len + (at[len] == ',');
		}
		OT_TRY(ask(stub, "qsThreadInfo"));
	}
	return stub->nthreads ? NULL : unsupported(stub, "does not list its threads");
}

/* Is @action ("c", "s") among "vCont;c;C;s;S"? */
static bool offers(const char *list, char action)
{
	for (const char *at = strchr(list, ';'); at; at = strchr(at + 1, ';'))
		if (at[1] == action && (!at[2] || at[2] == ';'))
			return true;
	return false;
}

static struct ot_err *check_vcont(struct vp_gdb_stub *stub)
{
	OT_TRY(ask(stub, "vCont?"));
	if (strncmp(stub->reply.data, "vCont", 5) != 0 || !offers(stub->reply.data, 'c') ||
	    !offers(stub->reply.data, 's'))
		return unsupported(stub, "can't step one vCPU while the others are held (vCont)");
	return NULL;
}

static struct ot_err *check_physical(struct vp_gdb_stub *stub)
{
	OT_TRY(ask(stub, "q" PHYSICAL));
	if (strcmp(stub->reply.data, "0") != 0 && strcmp(stub->reply.data, "1") != 0)
		return unsupported(stub, "reads no physical memory (qqemu.PhyMemMode), so no kernel can be "
					 "found through it");
	stub->physical = stub->reply.data[0] == '1';
	return NULL;
}

/* Tried where nobody comes by, as no request asks for it: "" says that there are none. */
static struct ot_err *check_breaks(struct vp_gdb_stub *stub)
{
	OT_TRY(ask(stub, "z1,0,1"));
	if (!is_empty(&stub->reply))
		return NULL;
	OT_TRY(ask(stub, "z0,0,1"));
	return is_empty(&stub->reply) ? unsupported(stub, "has no breakpoints (Z packets)") : NULL;
}

/* Long mode, or going there: QEMU tells EFER, others may not. */
static struct ot_err *check_64bit(struct vp_gdb_stub *stub)
{
	for (uint32_t i = 0; i < stub->nthreads; i++) {
		struct vp_regs regs;
		OT_TRY(vp_gdb_read_regs(stub, i, &regs));
		if (!(regs.valid & VP_REG_BIT(VP_EFER)) || regs.v[VP_EFER] & 1u << 10)
			return NULL;
	}
	return unsupported(stub, "has a guest that runs no 64-bit kernel, or none yet");
}

struct ot_err *vp_gdb_stub_open(struct vp_gdb_stub *stub, const char *name, int fd)
{
	struct vp_gdb_stop stop;

	*stub = (struct vp_gdb_stub){ 0 };
	vp_gdb_conn_init(&stub->conn, fd);
	snprintf(stub->name, sizeof(stub->name), "%s", name);
	OT_TRY(say_hello(stub));
	/* only a stub that was asked why it stopped is sure to be stopped */
	OT_TRY(vp_gdb_send(&stub->conn, "?"));
	OT_TRY(vp_gdb_wait_stop(stub, &stop));
	OT_TRY(ask(stub, FENCE));
	stub->has_fence = is_fence(&stub->reply);
	OT_TRY(read_target(stub));
	OT_TRY(read_threads(stub));
	OT_TRY(check_vcont(stub));
	OT_TRY(check_physical(stub));
	OT_TRY(check_breaks(stub));
	return check_64bit(stub);
}

/* --- registers and memory
 * ------------------------------------------------------------------------------------- */

struct ot_err *vp_gdb_read_regs(struct vp_gdb_stub *stub, uint32_t vcpu, struct vp_regs *ret)
{
	OT_TRY(ask(stub, "Hg%s", stub->threads[vcpu]));
	if (!is_ok(&stub->reply))
		return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub does not know its vCPU %u any more", vcpu);
	OT_TRY(ask(stub, "g"));
	if (is_error(&stub->reply) || is_empty(&stub->reply))
		return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub does not tell registers");
	return vp_gdb_target_regs(&stub->target, stub->reply.data, stub->reply.len, ret);
}

struct ot_err *vp_gdb_write_rip(struct vp_gdb_stub *stub, uint32_t vcpu, uint64_t rip, bool *ret_done)
{
	char request[64];
	bool answered;

	*ret_done = false;
	if (stub->no_register_write || stub->meddled)
		return NULL;
	OT_TRY(ask(stub, "Hg%s", stub->threads[vcpu]));
	if (stub->meddled) /* by now: the vCPU may be elsewhere */
		return NULL;
	snprintf(request, sizeof(request), "P%x=%016" PRIx64, stub->target.number[VP_RIP],
		 __builtin_bswap64(rip));
	OT_TRY(ask_once(stub, "", request, &answered)); /* not again, for the same reason */
	*ret_done = answered && is_ok(&stub->reply);
	stub->no_register_write = answered && !*ret_done;
	return NULL;
}

static struct ot_err *set_physical(struct vp_gdb_stub *stub, bool physical)
{
	if (stub->physical == physical)
		return NULL;
	OT_TRY(ask(stub, "Q" PHYSICAL ":%d", physical));
	if (!is_ok(&stub->reply))
		return unsupported(stub, "does not change between physical and virtual memory");
	stub->physical = physical;
	return NULL;
}

struct ot_err *vp_gdb_read(struct vp_gdb_stub *stub, bool physical, uint64_t addr, void *dst, size_t len)
{
	uint8_t *to = dst;

	OT_TRY(set_physical(stub, physical));
	while (len) {
		size_t want = len < stub->chunk ? len : stub->chunk;
		OT_TRY(ask(stub, "m%" PRIx64 ",%zx", addr, want));
		const struct vp_gdb_packet *r = &stub->reply;
		size_t n = r->len / 2; /* a stub may give less than was asked for */
		if (is_error(r) || !n)
			return ot_err_fault(addr, "guest address %#llx can't be read through the gdb stub",
					    (unsigned long long)addr);
		if (n > want || r->len % 2 || !vp_gdb_bytes(r->data, n, to))
			return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub answers for memory with nonsense");
		to += n;
		addr += n;
		len -= n;
	}
	return NULL;
}

/* --- breakpoints
 * ------------------------------------------------------------------------------------------------- */

struct ot_err *vp_gdb_break(struct vp_gdb_stub *stub, enum vp_gdb_break kind, uint64_t gva, bool in)
{
	/* the length is that of an int3, for the one kind; of what an execution breakpoint is, for the other
	 */
	OT_TRY(ask(stub, "%c%d,%" PRIx64 ",1", in ? 'Z' : 'z', kind, gva));
	if (is_ok(&stub->reply))
		return NULL;
	return ot_err_new(OT_ERR_UNSUPPORTED, "the gdb stub at %s refuses a breakpoint at %#llx", stub->name,
			  (unsigned long long)gva);
}

/* --- closing
 * ------------------------------------------------------------------------------------------------------ */

/* Who did not answer may do so later, when another client leaves: then nobody must be kept waiting for us.
 * The
 * + is for a reply that waits for one: until then an interrupt is not looked at (QEMU). */
static void leave_unheard(const struct vp_gdb_conn *conn)
{
	static const char leave[] = "+\003$D#44";

	(void)!send(conn->fd, leave, sizeof(leave) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Not with a fence, which would stop what runs on already. */
static struct ot_err *detach(struct vp_gdb_stub *stub)
{
	OT_TRY(vp_gdb_send(&stub->conn, "D"));
	return answer(stub, LEAVE_MS);
}

void vp_gdb_stub_close(struct vp_gdb_stub *stub, enum vp_gdb_leave how)
{
	if (stub->conn.fd < 0)
		return;
	uint32_t lost = stub->lost;
	bool held = true;
	struct ot_err *err = how == VP_GDB_UNHEARD ? NULL : set_physical(stub, false);
	if (!err && how == VP_GDB_LEAVE_STOPPED)
		err = vp_gdb_is_held(stub, &held);
	if (!err && (how == VP_GDB_LET_RUN || !held || stub->lost != lost))
		err = detach(stub);
	if (err || how == VP_GDB_UNHEARD)
		leave_unheard(&stub->conn);
	ot_err_destroy(err);
	vp_gdb_conn_deinit(&stub->conn);
}
