/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a gdb stub: its features, registers and threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/arch/native.h"
#include "vmm-probe/backend/gdb/ask.h"
#include "vmm-probe/backend/gdb/taken.h"

#define HELLO_MS  5000
#define CHUNK_MAX 4096u
#define SUPPORTED "qSupported:swbreak+;hwbreak+;vContSupported+;xmlRegisters=i386"

/* "PacketSize=1000;qXfer:features:read+;…": is @name in it, and with which value? */
static const char *feature(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; *at; at += strcspn(at, ";"), at += *at == ';')
		if (!strncmp(at, name, len))
			return at + len;
	return NULL;
}

/* Half of the maximal packet size, because data is sent in hexadecimal. */
static void take_packet_size(struct vp_gdb_stub *stub, const char *list)
{
	const char *text = feature(list, "PacketSize=");
	unsigned long size = text ? strtoul(text, NULL, 16) : 0;

	stub->chunk = size / 2 >= CHUNK_MAX ? CHUNK_MAX : size / 2 >= 64 ? (uint32_t)(size / 2) & ~7u : 64;
}

/* Explain why the first request was not answered: the peer is not a stub, or serves another client. */
static struct ot_err *explain(const struct vp_gdb_stub *stub, struct ot_err *err)
{
	enum ot_err_code code = ot_err_code(err);
	char who[64];

	if (code == OT_ERR_BUSY && vp_gdb_is_taken(stub->conn.fd, who, sizeof(who))) {
		ot_err_destroy(err);
		return ot_err_new(
		    OT_ERR_BUSY,
		    "%s does not answer: another debugger is connected to it%s%s, and a gdb stub "
		    "serves one at a time",
		    stub->name, *who ? ": " : "", who);
	}
	if (code == OT_ERR_BUSY) {
		ot_err_destroy(err);
		return ot_err_new(
		    OT_ERR_BUSY,
		    "%s does not answer: another debugger is connected to it, or it is not a gdb "
		    "stub",
		    stub->name);
	}
	if (code == OT_ERR_GUEST_GONE || code == OT_ERR_BAD_DATA) {
		ot_err_destroy(err);
		return ot_err_new(OT_ERR_BAD_DATA, "%s is not a gdb stub, or serves another client",
				  stub->name);
	}
	return err;
}

static struct ot_err *say_hello(struct vp_gdb_stub *stub)
{
	OT_TRY(vp_gdb_send(&stub->conn, SUPPORTED));
	struct ot_err *err = vp_gdb_answer(stub, HELLO_MS / 5);
	char who[64];
	/* Another client that is known by its process is reported soon. A connection without one may be a
	 * dead one that a busy QEMU has not closed yet. */
	if (err && ot_err_code(err) == OT_ERR_BUSY &&
	    !(vp_gdb_is_taken(stub->conn.fd, who, sizeof(who)) && *who)) {
		ot_err_destroy(err);
		err = vp_gdb_answer(stub, HELLO_MS - HELLO_MS / 5);
	}
	if (err)
		return explain(stub, err);
	take_packet_size(stub, stub->reply.data);
	if (!feature(stub->reply.data, "qXfer:features:read+"))
		return vp_gdb_unsupported(stub, "does not describe its registers (qXfer:features)");
	return NULL;
}

/* One document of the target description; *ret_len of it in @buf. */
static struct ot_err *read_document(struct vp_gdb_stub *stub, const char *annex, char *buf, size_t *ret_len)
{
	size_t len = 0;
	bool last = false;

	while (!last) {
		OT_TRY(vp_gdb_ask(stub, "qXfer:features:read:%s:%zx,%x", annex, len, stub->chunk));
		const struct vp_gdb_packet *r = &stub->reply;
		last = r->data[0] == 'l';
		if ((!last && r->data[0] != 'm') || (!last && r->len == 1))
			return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub at %s does not send %s", stub->name,
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
		return ot_err_new(OT_ERR_BAD_DATA, "the gdb stub's threads have invalid names");
	if (stub->nthreads == VP_VCPUS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "the gdb stub has more than %u threads", VP_VCPUS_MAX);
	memcpy(stub->threads[stub->nthreads], id, len);
	stub->threads[stub->nthreads++][len] = '\0';
	return NULL;
}

/* "m1,2" … "l" */
static struct ot_err *read_threads(struct vp_gdb_stub *stub)
{
	OT_TRY(vp_gdb_ask(stub, "qfThreadInfo"));
	while (stub->reply.data[0] == 'm') {
		const char *at = stub->reply.data + 1;
		while (*at) {
			size_t len = strcspn(at, ",");
			OT_TRY(add_thread(stub, at, len));
			at += len + (at[len] == ',');
		}
		OT_TRY(vp_gdb_ask(stub, "qsThreadInfo"));
	}
	return stub->nthreads ? NULL : vp_gdb_unsupported(stub, "does not list its threads");
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
	OT_TRY(vp_gdb_ask(stub, "vCont?"));
	if (strncmp(stub->reply.data, "vCont", 5) != 0 || !offers(stub->reply.data, 'c') ||
	    !offers(stub->reply.data, 's'))
		return vp_gdb_unsupported(stub, "can't step one vCPU while the others are held (vCont)");
	return NULL;
}

static struct ot_err *check_physical(struct vp_gdb_stub *stub)
{
	OT_TRY(vp_gdb_ask(stub, "q" VP_GDB_PHYSICAL));
	if (strcmp(stub->reply.data, "0") != 0 && strcmp(stub->reply.data, "1") != 0)
		return vp_gdb_unsupported(stub,
					  "reads no physical memory (qqemu.PhyMemMode), so no kernel can be "
					  "found through it");
	stub->physical = stub->reply.data[0] == '1';
	return NULL;
}

/* Tried at an address that is never executed, because no request queries it: "" means that there are none. */
static struct ot_err *check_breaks(struct vp_gdb_stub *stub)
{
	OT_TRY(vp_gdb_ask(stub, "z1,0,1"));
	if (!vp_gdb_is_empty(&stub->reply))
		return NULL;
	OT_TRY(vp_gdb_ask(stub, "z0,0,1"));
	return vp_gdb_is_empty(&stub->reply) ? vp_gdb_unsupported(stub, "has no breakpoints (Z packets)")
					     : NULL;
}

static struct ot_err *check_64bit(struct vp_gdb_stub *stub)
{
	for (uint32_t i = 0; i < stub->nthreads; i++) {
		struct vp_regs regs;
		OT_TRY(vp_gdb_read_regs(stub, i, &regs));
		if (vp_native_may_be_64bit(&regs))
			return NULL;
	}
	return vp_gdb_unsupported(stub, "has a guest that does not run a 64-bit kernel, or not yet");
}

struct ot_err *vp_gdb_stub_open(struct vp_gdb_stub *stub, const char *name, int fd)
{
	struct vp_gdb_stop stop;

	*stub = (struct vp_gdb_stub){ 0 };
	vp_gdb_conn_init(&stub->conn, fd);
	snprintf(stub->name, sizeof(stub->name), "%s", name);
	OT_TRY(say_hello(stub));
	/* only after "?" is the target sure to be stopped */
	OT_TRY(vp_gdb_send(&stub->conn, "?"));
	OT_TRY(vp_gdb_wait_stop(stub, &stop));
	OT_TRY(vp_gdb_ask(stub, VP_GDB_FENCE));
	stub->has_fence = vp_gdb_is_fence(&stub->reply);
	OT_TRY(read_target(stub));
	OT_TRY(read_threads(stub));
	OT_TRY(check_vcont(stub));
	OT_TRY(check_physical(stub));
	OT_TRY(check_breaks(stub));
	return check_64bit(stub);
}
