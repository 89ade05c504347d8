/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests to a stub and their answers: registers, memory, breakpoints, resuming. */
#include "vmm-probe/backend/gdb/stub.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>

#include "vmm-probe/backend/gdb/ask.h"

#define LEAVE_MS    3000
#define STOPPED_MS  2000
#define INFO_STATUS "qRcmd,696e666f20737461747573" /* "info status", to QEMU's monitor */

/* --- stops ---------------------------------------------------------------------------------------------- */

/* "p1.2", "2": a thread's name ends at the first byte that can't be part of one. */
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
		if (i == VP_GDB_STRAYS_MAX)
			return ot_err_new(OT_ERR_BAD_DATA,
					  "the gdb stub sends packets that answer no request");
		OT_TRY(vp_gdb_receive(&stub->conn, timeout_ms, &stub->reply));
		OT_TRY(vp_gdb_parse_stop(stub, &stub->reply, &is, ret));
	}
	return NULL;
}

struct ot_err *vp_gdb_wait_stop(struct vp_gdb_stub *stub, struct vp_gdb_stop *ret)
{
	bool answered;
	struct ot_err *err = receive_stop(stub, stub->has_fence ? STOPPED_MS : VP_GDB_ANSWER_MS, ret);

	if (!err || ot_err_code(err) != OT_ERR_BUSY || !stub->has_fence)
		return err;
	ot_err_destroy(err);
	OT_TRY(vp_gdb_fence(stub, &answered));
	*ret = (struct vp_gdb_stop){ .signal = VP_GDB_SIGINT, .vcpu = VP_VCPUS_MAX };
	return NULL;
}

/* Did the target execute our last resume request? If not, it is stopped. A stop reply that arrived with the
 * fence is ignored: a vCPU at a breakpoint will hit it again. */
static struct ot_err *was_heard(struct vp_gdb_stub *stub, bool *ret)
{
	bool answered;

	*ret = true;
	if (!stub->has_fence)
		return NULL;
	OT_TRY(vp_gdb_wait_heard(&stub->conn, VP_GDB_HEARD_MS, ret));
	return *ret ? NULL : vp_gdb_fence(stub, &answered);
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

	/* an interrupt has no effect on a stopped target, and stops a running one, with a stop reply */
	stub->said_debug = false;
	OT_TRY(vp_gdb_ask_once(stub, "\003", INFO_STATUS, &answered));
	*ret = answered && stub->stops == stops && !stub->said_debug;
	return NULL;
}

/* --- registers and memory ------------------------------------------------------------------------------- */

struct ot_err *vp_gdb_read_regs(struct vp_gdb_stub *stub, uint32_t vcpu, struct vp_regs *ret)
{
	OT_TRY(vp_gdb_ask(stub, "Hg%s", stub->threads[vcpu]));
	if (!vp_gdb_is_ok(&stub->reply))
		return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub no longer has a vCPU %u", vcpu);
	OT_TRY(vp_gdb_ask(stub, "g"));
	if (vp_gdb_is_error(&stub->reply) || vp_gdb_is_empty(&stub->reply))
		return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub does not send registers");
	return vp_gdb_target_regs(&stub->target, stub->reply.data, stub->reply.len, ret);
}

struct ot_err *vp_gdb_write_rip(struct vp_gdb_stub *stub, uint32_t vcpu, uint64_t rip, bool *ret_done)
{
	char request[64];
	bool answered;

	*ret_done = false;
	if (stub->no_register_write || stub->meddled)
		return NULL;
	OT_TRY(vp_gdb_ask(stub, "Hg%s", stub->threads[vcpu]));
	if (stub->meddled) /* by now the vCPU may be elsewhere */
		return NULL;
	snprintf(request, sizeof(request), "P%x=%016" PRIx64, stub->target.number[VP_REG_PC],
		 __builtin_bswap64(rip));
	OT_TRY(vp_gdb_ask_once(stub, "", request, &answered)); /* not repeated, for the same reason */
	*ret_done = answered && vp_gdb_is_ok(&stub->reply);
	stub->no_register_write = answered && !*ret_done;
	return NULL;
}

static struct ot_err *set_physical(struct vp_gdb_stub *stub, bool physical)
{
	if (stub->physical == physical)
		return NULL;
	OT_TRY(vp_gdb_ask(stub, "Q" VP_GDB_PHYSICAL ":%d", physical));
	if (!vp_gdb_is_ok(&stub->reply))
		return vp_gdb_unsupported(stub, "does not switch between physical and virtual memory");
	stub->physical = physical;
	return NULL;
}

struct ot_err *vp_gdb_read(struct vp_gdb_stub *stub, bool physical, uint64_t addr, void *dst, size_t len)
{
	uint8_t *to = dst;

	OT_TRY(set_physical(stub, physical));
	while (len) {
		size_t want = len < stub->chunk ? len : stub->chunk;
		OT_TRY(vp_gdb_ask(stub, "m%" PRIx64 ",%zx", addr, want));
		const struct vp_gdb_packet *r = &stub->reply;
		size_t n = r->len / 2; /* a stub may send less than requested */
		if (vp_gdb_is_error(r) || !n)
			return ot_err_new(OT_ERR_FAULT,
					  "guest address %#llx can't be read through the gdb stub",
					  (unsigned long long)addr);
		if (n > want || r->len % 2 || !vp_gdb_bytes(r->data, n, to))
			return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub's answer is not hexadecimal memory");
		to += n;
		addr += n;
		len -= n;
	}
	return NULL;
}

/* --- breakpoints ---------------------------------------------------------------------------------------- */

struct ot_err *vp_gdb_break(struct vp_gdb_stub *stub, enum vp_gdb_break kind, uint64_t gva, bool in)
{
	/* the length is that of an int3 for software breakpoints, and of an execution breakpoint for hardware
	 * ones
	 */
	OT_TRY(vp_gdb_ask(stub, "%c%d,%" PRIx64 ",1", in ? 'Z' : 'z', kind, gva));
	if (vp_gdb_is_ok(&stub->reply))
		return NULL;
	return ot_err_new(OT_ERR_UNSUPPORTED, "the gdb stub at %s refuses a breakpoint at %#llx", stub->name,
			  (unsigned long long)gva);
}

/* --- closing -------------------------------------------------------------------------------------------- */

/* A stub that did not answer may do so later, when another client disconnects: we must not keep it waiting.
 */
static void leave_unheard(const struct vp_gdb_conn *conn)
{
	static const char leave[] = VP_GDB_HALT "$D#44";

	(void)!send(conn->fd, leave, sizeof(leave) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Not with a fence, which would stop a target that is already running. */
static struct ot_err *detach(struct vp_gdb_stub *stub)
{
	OT_TRY(vp_gdb_send(&stub->conn, "D"));
	return vp_gdb_answer(stub, LEAVE_MS);
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
