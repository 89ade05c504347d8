/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source of a guest: the access by which the operator's process reads and traces a guest without an engine
 * in its VMM. A memory dump, a gdb stub and external sampling of a VMM are the three.
 *
 * To add a source: a folder in vmm-probe/backend/ with a struct vp_source_ops, and one line in the table of
 * vmm-probe/attach/source_table.c.
 */
#ifndef VP_BACKEND_SOURCE_H
#define VP_BACKEND_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "vmm-probe/arch/regs.h"
#include "vmm-probe/guest/phys.h"

/* Services of the attaching code for open(). */
struct vp_source_env {
	void *arg;

	/* Announce a step that may take over a second. */
	void (*progress)(void *arg, const char *what);

	/* The VMM's process of @name (a PID or a guest's name), claimed: until *ret_claim_fd, the caller's,
	 * is closed, no other outsight changes it. NOT_FOUND; PERMISSION; BUSY: another outsight holds it, it
	 * has an engine, or it is already in the session. */
	struct ot_err *(*claim_vmm)(void *arg, const char *name, pid_t *ret_pid, int *ret_claim_fd);
};

/* A source that was opened. open() fills it in except for ops; the source owns the memory that it points to,
 * until close().
 */
struct vp_source {
	const struct vp_source_ops *ops; /* NULL: no source, the guest's engine is in its VMM */
	void *handle;
	const char *client; /* address of its engine, in this process, as vp_client_connect() takes it; NULL:
			       nothing runs in this guest, and no probe can be enabled */
	const struct vp_phys *phys; /* guest memory; NULL: RAM as the engine reports it */
	const struct vp_regs *regs; /* without an engine: its vCPUs' registers */
	size_t nregs;
	const char *name; /* without an engine: the guest's name; valid as long as open()'s where */
	pid_t vmm;        /* the VMM's process, which holds guest RAM; 0: not of this host */
};

/* Required unless marked optional. All are called on the operator's thread. */
struct vp_source_ops {
	const char *prefix;  /* "gdb:", of -g's argument; the rest is passed to open() */
	const char *reading; /* optional: progress while the kernel is read, "reading the guest through …" */
	bool patient;        /* reading has no time limit: a large file, or a slow stub */
	bool costless; /* its engine costs this process time, and the guest none: there is no overload */
	bool nameless; /* a guest whose kernel can't be read is still sampled, without names */

	/* @ret is zeroed, and unchanged on an error. */
	struct ot_err *(*open)(const struct vp_source_env *env, const char *where, struct vp_source *ret);

	/* On return the guest is in its state before open(). */
	void (*close)(void *handle);

	/* Optional. The kernel was found: its page table is at @root, its memory in @phys, which lives until
	 * close(). Before a session is opened. */
	void (*kernel_found)(void *handle, const struct vp_phys *phys, struct vp_gpa root, unsigned levels);

	/* Optional. NULL: probes of this @kind (enum vp_probe_kind), with this vp_probe.event, fire here;
	 * else the guest's kind, and which probes fire: "only …: dtrace::: and tick probes fire". NULL: all
	 * listed probes fire. */
	const char *(*suffices)(uint32_t kind, uint32_t event);

	/* Optional. Append a sentence about the cost of tracing to guest @name. */
	void (*cost)(const void *handle, const char *name, struct ot_buf *out);

	/* Optional. Append a sentence on how guest @name is traced. */
	void (*note)(const void *handle, const char *name, struct ot_buf *out);
};

#endif
