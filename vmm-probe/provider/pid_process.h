/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes of a guest for the pid provider: the files that each has mapped as code, and the functions in
 * those. Read when a description names the process, and again when it has mapped something since; data of an
 * older reading that probes use is kept as long as the registry. All of it comes from the guest, and every
 * reading is within the budget that the caller has put into force.
 */
#ifndef VP_PROVIDER_PID_PROCESS_H
#define VP_PROVIDER_PID_PROCESS_H

#include "base/map.h"
#include "vmm-probe/engine/wire/batch.h"
#include "vmm-probe/guest/elf/symbols.h"
#include "vmm-probe/guest/process/image.h"
#include "vmm-probe/guest/process/maps.h"
#include "vmm-probe/symbolic/expr.h"

struct vp_probes;

/* A file that a process has mapped as code. */
struct vp_pid_object {
	const char *name; /* the last part of its path; borrowed from the process's maps */
	bool is_program;  /* the process's program: a.out */
	uint32_t file;    /* in the process's maps */
	uint32_t nth;     /* its number, whenever the process is read */
	uint32_t reading; /* of the process, which has found it first */
	uint64_t bias;    /* of an address in the process, from that as linked */
	bool opened;      /* vp_pid_object_open() was called */
	bool read;        /* vp_pid_object_read() was */
	struct vp_file_reader reader;
	struct vp_elf_pages *pages;
	struct vp_elf elf;
	bool has_elf;                  /* it is a file of this architecture, and the bias is known */
	struct vp_elf_symbols symbols; /* empty without it */
	bool notes_read;               /* usdt.c has made the probes of its notes … */
	bool notes_missing;            /* … but for some whose pages were not in memory */
	char missing[128];             /* parts of the file that were not in memory; "": none */
};

struct vp_pid_process {
	struct vp_batch_process id;
	const char *provider; /* "pid123"; the registry's. NULL until the pid provider has set it */
	struct vp_maps maps;
	struct vp_pid_object *objects; /* owned */
	size_t nobjects;
	bool is_named;    /* a description has its number */
	uint32_t reading; /* number of earlier readings */
	/* pid_all.c's: */
	uint32_t walk;                /* number of the last vp_pid_process_each() that has found it */
	uint64_t since_ns, reread_ns; /* when it was first read, and when its mappings are checked again */
	bool is_stale;                /* it has mapped something since it was read … */
	bool superseded;              /* … and was read again */
	uint32_t nstatic;             /* number of its static probes: usdt_make.c's */
	bool is_greedy;               /* more were requested than one process may have */
	bool given_up;                /* its budget for reading is used up; nothing more of it is read */
};

#define VP_PID_PROBES_MAX \
	250000u /* in processes, of functions and static ones each: as many as DTrace has by default */
#define VP_PID_STATIC_MAX                                                                \
	16384u /* static ones of one process, where all are meant; Erlang has a thousand \
		*/

/* One registry's. */
struct vp_pid_processes {
	struct vp_processes *ps;
	struct vp_pid_process **list; /* owned, each too */
	size_t count, cap;
	struct ot_map done;  /* descriptions whose probes were made, as text: 1 + the process's reading */
	uint32_t nobjects;   /* that were found in them */
	struct ot_map made;  /* the probes of functions that were made: pid_function.c's */
	struct ot_map files; /* numbers of files, by struct vp_file_id: user.c's */
	struct ot_map noted; /* providers of files' notes, by struct vp_file_id: usdt_files.c's */
	uint32_t nstatic;    /* static probes that were made: usdt_make.c's */
	/* usdt_stand_in.c's: can there be stand-ins, and the places that have one: by file and address */
	enum { VP_STAND_INS_UNKNOWN, VP_STAND_INS_POSSIBLE, VP_STAND_INS_IMPOSSIBLE } stand_ins;
	struct ot_map stood_in;
	uint32_t walks;        /* calls of vp_pid_process_each() */
	struct vp_exprs exprs; /* what the programs of their sites are made of */
};

/** NULL is fine. */
void vp_pid_processes_destroy(struct vp_pid_processes *processes);

/** The process @p pid of a description, read at the first call, and again after vp_pid_named_news(), with its
 * objects, and all that were read; both borrowed. Errors begin with D's tag for them. NOT_FOUND: there is no
 * such process, or it has no memory. BUSY, LIMIT: vp_maps_read(). UNSUPPORTED: vp_processes_open(). */
OT_MUST_CHECK struct ot_err *vp_pid_process_find(struct vp_probes *probes, uint64_t pid,
						 struct vp_pid_processes **ret_all,
						 struct vp_pid_process **ret);

/** Call @p each for every process that has memory of its own, until it returns an error. Those that were read
 * before are not read again, unless they have become another program; a process that can't be read is left
 * out. A process has a share of the caller's budget; one that uses it up, or is_greedy, is given up with a
 * sentence for the operator. LIMIT: the whole budget. UNSUPPORTED: vp_processes_open(). */
OT_MUST_CHECK struct ot_err *
vp_pid_process_each(struct vp_probes *probes, struct vp_pid_processes **ret_all,
		    struct ot_err *(*each)(void *arg, struct vp_pid_process *process), void *arg);

/** Has a process begun, or mapped something new, that vp_pid_process_each() has not read? False, if that was
 * never called. Errors as its. */
OT_MUST_CHECK struct ot_err *vp_pid_process_any_new(struct vp_probes *probes, bool *ret);

/** Has one of those that vp_pid_process_find() was called for mapped something since it was read? One that
 * has ended, or become another program, has not. */
bool vp_pid_named_news(struct vp_probes *probes);

/* For pid_all.c: */
/** The guest's processes read so far, empty at first. */
OT_MUST_CHECK struct ot_err *vp_pid_processes_open(struct vp_probes *probes, struct vp_pid_processes **ret);
/** Read a process, and add it to the list. */
OT_MUST_CHECK struct ot_err *vp_pid_process_add(struct vp_pid_processes *processes, uint64_t pid,
						struct vp_pid_process **ret);
/** Read a process again, which has mapped something since; objects that have their probes keep them. If it
 * can't be read, or is another program now, *ret is the old reading. */
OT_MUST_CHECK struct ot_err *vp_pid_process_again(struct vp_pid_processes *processes,
						  struct vp_pid_process *old, struct vp_pid_process **ret);
void vp_pid_process_destroy(struct vp_pid_process *process);
/** An error that concerns one process or file only is passed over: @p err is freed. NO_MEMORY, GUEST_GONE,
 * and any error when the budget is used up, are returned. */
OT_MUST_CHECK struct ot_err *vp_pid_forgive(struct ot_err *err);

/** Does the OBJECT field @p pattern of a description match this object? By its name, by its name up to a dot
 * (libc: libc.so.6), as a glob, or as a.out. NULL and "": yes. */
bool vp_pid_object_is(const char *name, bool is_program, const char *pattern);

/** Read the object's headers, once. A file of another architecture, or one mapped elsewhere than its headers
 * say, has no elf afterwards. */
OT_MUST_CHECK struct ot_err *vp_pid_object_open(struct vp_pid_processes *processes,
						struct vp_pid_process *process, struct vp_pid_object *object);

/** The same, and its symbols, once. object->missing names the parts of the file that are not in memory. */
OT_MUST_CHECK struct ot_err *vp_pid_object_read(struct vp_pid_processes *processes,
						struct vp_pid_process *process, struct vp_pid_object *object);

/** The address in the process of the byte at @p addr, as linked, if the process has that byte of the file
 * mapped as code; *ret_left is how much of it follows there. 0: it has not. */
uint64_t vp_pid_object_gva(const struct vp_pid_process *process, const struct vp_pid_object *object,
			   uint64_t addr, uint64_t *ret_left);

/** Copy @p len bytes of the file's text at @p addr, as linked. False: their page is not in memory. */
OT_MUST_CHECK bool vp_pid_object_text(struct vp_pid_object *object, uint64_t addr, void *dst, size_t len);

#endif
