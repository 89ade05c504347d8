/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declarations shared by the files of this folder. "The stub's thread" is the one thread that talks to the
 * stub; members that are marked as its own are used by no other thread while it runs.
 */
#ifndef VP_BACKEND_GDB_INTERNAL_H
#define VP_BACKEND_GDB_INTERNAL_H

#include <pthread.h>

#include "vmm-probe/backend/gdb/gdb.h"
#include "vmm-probe/backend/gdb/keeper.h"
#include "vmm-probe/backend/gdb/stub.h"

#define VP_GDB_PAGE      4096u
#define VP_GDB_PAGES_MAX 2048u /* that one firing, or one stop, can read */
#define VP_GDB_BLOCK     256u  /* bytes; divides a page */
#define VP_GDB_BLOCKS    64u
/* Guest physical addresses above are not read: this much address space is reserved. */
#define VP_GDB_GPA_MAX   (1ull << 40)

/* A call that the stub's thread carries out while the target is stopped. */
struct vp_gdb_call {
	struct ot_err *(*fn)(struct vp_gdb *gdb, void *arg);
	void *arg;
	struct ot_err *err;
	bool done;
	struct vp_gdb_call *next;
};

/*
 * Guest RAM as the engine sees it: address space in which the page of guest physical address A is at mem + A,
 * read on demand. A page is valid during the stop in which it was read.
 */
struct vp_gdb_window {
	uint8_t *mem;
	uint64_t page[VP_GDB_PAGES_MAX];  /* hashed: which was read, page number + 1 … */
	uint64_t epoch[VP_GDB_PAGES_MAX]; /* … and in which stop */
};

/* The same by virtual address, as the current vCPU maps it, in small blocks: most of a clause's reads are a
 * few words. */
struct vp_gdb_block {
	uint64_t gva, epoch;
	bool readable;
	uint8_t bytes[VP_GDB_BLOCK];
};

/* A breakpoint that is in the target. */
struct vp_gdb_planted {
	uint64_t gva;
	enum vp_gdb_break kind;
	const struct vp_site *site; /* of the plan in force */
};

/* The instruction at a site faulted in its step: its vCPU, or the one that its task has moved to, will reach
 * the site again, and has already fired. */
struct vp_gdb_redo {
	bool used;
	struct vp_regs regs;
};
#define VP_GDB_REDOS 16u

/* The stub's thread, and other threads' calls to it. */
struct vp_gdb_asked {
	pthread_t thread;
	bool started;
	int wake_fd;
	pthread_mutex_t lock; /* of the fields below */
	pthread_cond_t done;
	struct vp_gdb_call *calls, **last;
	bool closing, dead;
};

struct vp_gdb {
	struct vp_gdb_stub stub; /* the stub's thread's own, as are the fields below */
	struct vp_engine *engine;
	bool running;      /* the target runs */
	bool interrupted;  /* an interrupt was sent, and its stop reply has not arrived */
	bool left_stopped; /* another client stopped it, so we do not resume it */
	uint64_t epoch;    /* counts stops */
	uint64_t linger_ns;
	struct vp_gdb_planted *planted; /* by gva */
	size_t nplanted;
	struct vp_gdb_window hits;
	struct vp_gdb_block blocks[VP_GDB_BLOCKS];
	struct vp_gdb_redo redo[VP_GDB_REDOS];
	unsigned next_redo;
	struct ot_err *broken; /* the reason why the connection is unusable; NULL: it is usable */
	bool parted;           /* the engine is about to be destroyed */

	struct vp_gdb_window service; /* the engine's service thread's */
	struct vp_phys *phys;
	struct vp_gdb_keeper keeper;
	char socket[108];
	int listen_fd;
	uint64_t request_ns, hit_ns;

	struct vp_gdb_asked asked;

	uint8_t sample_wanted[VP_VCPUS_MAX]; /* atomic */
};

/* run.c */
OT_MUST_CHECK struct ot_err *vp_gdb_run(struct vp_gdb *gdb);
void vp_gdb_stop_running(struct vp_gdb *gdb);
/** Run @p fn on the stub's thread while the target is stopped; any thread. GUEST_GONE: too late. */
OT_MUST_CHECK struct ot_err *vp_gdb_call(struct vp_gdb *gdb,
					 struct ot_err *(*fn)(struct vp_gdb *gdb, void *arg), void *arg);
void vp_gdb_wake(struct vp_gdb *gdb);

/* hit.c: the stub's thread */
/** vCPU @p vcpu stopped: if it is at a site, the site fires, and the vCPU is stepped over it. */
OT_MUST_CHECK struct ot_err *vp_gdb_hit(struct vp_gdb *gdb, uint32_t vcpu);
OT_MUST_CHECK struct ot_err *vp_gdb_samples(struct vp_gdb *gdb);

/* breaks.c: the stub's thread */
/** Make the sites of @p plan (NULL: none) the planted breakpoints; after an error the previous ones stay. */
OT_MUST_CHECK struct ot_err *vp_gdb_plant(struct vp_gdb *gdb, const struct vp_plan *plan);
struct vp_gdb_planted *vp_gdb_planted_at(struct vp_gdb *gdb, uint64_t gva);

/* memory.c */
OT_MUST_CHECK struct ot_err *vp_gdb_window_init(struct vp_gdb_window *window);
void vp_gdb_window_deinit(struct vp_gdb_window *window);
/** The stub's thread, at a resume: discard the pages that were read. */
void vp_gdb_forget(struct vp_gdb *gdb);
void *vp_gdb_gpa_to_host(void *gdb, uint64_t gpa, uint64_t *ret_len);
bool vp_gdb_load(void *gdb, uint64_t gva, void *dst, uint32_t len, bool user);
/** For vp_phys: on the stub's thread by a call. */
OT_MUST_CHECK struct ot_err *vp_gdb_read_phys(void *gdb, uint64_t gpa, void *dst, size_t len);

#endif
