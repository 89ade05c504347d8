/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tracing session in the operator's process: the attached guests, the host engine for BEGIN, END and tick,
 * the shared buffers, and the order in which data leaves them.
 *
 * Life cycle: create → attach (none, one or several guests) → [compile for each
 * kernel with vp_session_world()] → enable → start (BEGIN fires) → poll … → stop (sites are removed, END
 * fires, the remaining data is handed out) → destroy. Guests may join while it is polled (adopt, join).
 * Destroying at any point leaves the guests clean. One thread.
 */
#ifndef VP_SESSION_SESSION_H
#define VP_SESSION_SESSION_H

#include "base/buf.h"
#include "dif/lang/compile.h"
#include "dif/obj/layout.h"
#include "vmm-probe/attach/attach.h"
#include "vmm-probe/engine/wire/batch.h"
#include "vmm-probe/engine/wire/private_memory.h"
#include "vmm-probe/engine/wire/protocol.h"
#include "vmm-probe/machines/memory_room.h"
#include "vmm-probe/provider/provider.h"
#include "vmm-probe/session/data.h"

struct vp_session;

struct vp_session_config {
	struct dif_options *options; /* borrowed; read at enable and, for dynamic ones, at each poll */
	int64_t target_pid;          /* $target; 0: none */
	const char *sysroot;         /* --sysroot: the guest's files, or their debugging information; NULL */
	/* Other sessions, on other hosts, have the same program: a description that matches nothing in this
	 * one's guests belongs to them. Probes of no guest (BEGIN, tick …) belong to this session. */
	bool has_others;
	struct vp_attach_opts attach; /* trap is taken from the options */
	/* Called some times a second while an engine does not answer, with attach.arg; NULL */
	void (*waiting)(void *arg);
};

OT_MUST_CHECK struct ot_err *vp_session_create(const struct vp_session_config *config,
					       struct vp_session **ret);
void vp_session_destroy(struct vp_session *s);

/**
 * Attach a guest: "none", a name, a PID, a socket's path, "peek:NAME" or "peek:PID" (external sampling,
 * nothing is injected into its VMM), "dump:FILE" (a raw image of RAM or an ELF core; FILE.regs may hold
 * registers as QEMU's `info registers` prints them), "gdb:HOST:PORT" (a gdb stub; "gdb:/PATH": on a UNIX
 * socket); NULL: the only running guest. Reads the guest's symbols and types. The errors NOT_FOUND,
 * PERMISSION, BUSY, BAD_DATA … are actionable.
 */
OT_MUST_CHECK struct ot_err *vp_session_attach(struct vp_session *s, const char *guest);

/** How many kernels the guests run; 1 without a guest. A program is compiled for each, in order, by compilers
 * that share their names (dif_compiler_share()); `kernel` of its clauses is the kernel's number. */
uint32_t vp_session_nkernels(const struct vp_session *s);
/** The world to compile against for kernel number @p kernel; borrowed from the session. */
const struct dif_world *vp_session_world(struct vp_session *s, uint32_t kernel);
/** "web02 (6.12.9-amd64)", the first guest that runs it, into @p buf. */
void vp_session_kernel_name(const struct vp_session *s, uint32_t kernel, char *buf, size_t size);
/** After a compilation: true if the program holds an address that is not the same in all guests of a kernel.
 * They are kernels of their own from now on, and it must be compiled again. At most once. */
bool vp_session_split_kernels(struct vp_session *s);

/* A site in a guest of a program that is planned. */
struct vp_planned {
	uint32_t guest; /* index */
	bool trapped;   /* the guest's text is changed for it; false: `verdict` is not set */
	struct vp_batch_site site;
	struct vp_verdict verdict; /* of a sentinel (site.sentinel) only `covers` */
};

/** Call @p each for every site of @p prog, and for the sentinels that they need, guest by guest, by address,
 * until it returns false. Nothing changes but @p prog, as in vp_session_enable(). UNSUPPORTED: see
 * vp_sentinels_find(). LIMIT: more sites than debug registers, with -x trap=hw. */
OT_MUST_CHECK struct ot_err *vp_session_plan(struct vp_session *s, struct dif_program *prog,
					     bool (*each)(void *arg, const struct vp_planned *planned),
					     void *arg);

uint32_t vp_session_nguests(const struct vp_session *s);
/** Append a sentence about the cost of tracing guest @p guest to @p out, if it is higher than usual; else
 * nothing. */
void vp_session_cost(const struct vp_session *s, uint32_t guest, struct ot_buf *out);
/** Call @p say with each sentence about data of guest @p guest that could not be read (vp_guest_note(),
 * vp_guest_warning()), and about the way in which it is traced, unless by an engine in its VMM. @p missing: a
 * requested probe is missing, or data are wrong. Once enabled. */
void vp_session_notes(const struct vp_session *s, uint32_t guest,
		      void (*say)(void *arg, bool missing, const char *text), void *arg);
/* The memory that a session takes of a guest's VMM. Its buffers are this process's. */
struct vp_session_memory {
	uint64_t taken; /* bytes at most */
	uint32_t scratch_asked,
	    scratch;  /* bytes of each vCPU's scratch space, and the size that there is room for */
	bool limited; /* the VMM is in a memory cgroup with a limit: */
	struct vp_memory_room room; /* … as it was before the session was opened */
};

/** Once enabled. False: nothing is enabled in guest @p guest, or its engine is in this process. */
bool vp_session_memory(const struct vp_session *s, uint32_t guest, struct vp_session_memory *ret);

/** Guest @p guest was paused when its engine answered HELLO: no probe in it fires until it is resumed. Its
 * VMM's PID is for a message. */
bool vp_session_paused(const struct vp_session *s, uint32_t guest, uint32_t *ret_pid);
/** The users of the engine in guest @p guest's VMM, by its own records (struct vp_access); none if there is
 * no engine.
 * @p logged as in struct vp_msg_access. */
OT_MUST_CHECK struct ot_err *vp_session_access(struct vp_session *s, uint32_t guest, uint64_t logged,
					       struct vp_msg_access_reply *ret);
/** The layout of the enabled program's data; borrowed. */
const struct dif_layout_opts *vp_session_layout_opts(const struct vp_session *s);
/** Is there a guest, and has none of them types of its kernel (no BTF, nor --vmlinux)? Once attached. */
bool vp_session_lacks_types(const struct vp_session *s);
/** How many vCPUs guest @p guest has. Once enabled; 0: there is no such guest. */
uint32_t vp_session_nvcpus(const struct vp_session *s, uint32_t guest);
/** Of guest @p guest's VMM. */
uint32_t vp_session_guest_pid(const struct vp_session *s, uint32_t guest);
/** This host's process and thread that run vCPU @p cpu of guest @p guest; 0 where they are not known. Once
 * enabled. */
void vp_session_vcpu(const struct vp_session *s, uint32_t guest, uint32_t cpu, uint32_t *ret_pid,
		     uint32_t *ret_tid);
/** Borrowed from the session; "" if there is no such guest. */
const char *vp_session_guest_name(const struct vp_session *s, uint32_t guest);

/** Enable a program: lay it out, match every clause, create the shared memory, inject missing engines, send
 * the program to all of them. @p prog is borrowed until destroy, and gets
 * the clauses that its probes need. UNSUPPORTED: "Destructive actions not
 * allowed". */
OT_MUST_CHECK struct ot_err *vp_session_enable(struct vp_session *s, struct dif_program *prog,
					       const struct vp_sink *sink);

/** Plant the sites and fire BEGIN; then the session is active. */
OT_MUST_CHECK struct ot_err *vp_session_start(struct vp_session *s);

/* --- guests that come and go: join.c ---------------------------------------------------------------- */

struct vp_guest_link;

/** The session's options for attaching, once it has attached a guest; for guests that are attached elsewhere.
 * Borrowed. */
const struct vp_attach_opts *vp_session_attach_opts(const struct vp_session *s);
/** Guests may join, so the end of the last one is not the session's, and each guest's variables are its own.
 * Before the session is enabled. */
void vp_session_await(struct vp_session *s);
/** The possible number of guests: the present number, unless others may join. */
uint32_t vp_session_nguests_max(const struct vp_session *s);
/** Ignore the end of this guest: vp_session_guest_end() does not count it. */
void vp_session_may_end(struct vp_session *s, uint32_t guest);
/** Has this guest ended, and are all resources of its VMM released? */
bool vp_session_has_left(const struct vp_session *s, uint32_t guest);
/** May it join again when it can be attached? Not if another outsight has detached it, or it is being saved.
 */
bool vp_session_may_return(const struct vp_session *s, uint32_t guest);

/** Take @p link, a guest that was attached elsewhere, into a session that runs; the session owns it from now
 * on, also after an error. *ret_new_kernel: no other guest of the session runs its kernel, and the program
 * must now be compiled for the last one of vp_session_nkernels(). Then join() or reject(). LIMIT: there were
 * too many. */
OT_MUST_CHECK struct ot_err *vp_session_adopt(struct vp_session *s, struct vp_guest_link *link,
					      uint32_t *ret_guest, bool *ret_new_kernel);
/** Enable and start the program in the guest that was adopted. BEGIN is not fired again. After an error
 * reject() is to be called. */
OT_MUST_CHECK struct ot_err *vp_session_join(struct vp_session *s);
/** Drop the guest that was adopted and has not joined, with the clauses that were compiled for it. Destroy a
 * compiler for its kernel before. */
void vp_session_reject(struct vp_session *s);

enum vp_session_state {
	VP_SESSION_ACTIVE,
	VP_SESSION_EXITED, /* exit() was called: call vp_session_stop() */
	VP_SESSION_GONE,   /* the last guest has ended: call vp_session_stop(), which delivers its remaining
			      data */
};

/**
 * Sleep until the next rate is due, data arrives, @p wake_fd (-1: none) readable, or something
 * happened; then hand out the data. Fires ticks that are due.
 */
OT_MUST_CHECK struct ot_err *vp_session_poll(struct vp_session *s, int wake_fd,
					     enum vp_session_state *ret_state);

/** The two halves of vp_session_poll(): sleep as it does; then do its work. */
OT_MUST_CHECK struct ot_err *vp_session_sleep(struct vp_session *s, int wake_fd);
OT_MUST_CHECK struct ot_err *vp_session_take(struct vp_session *s, enum vp_session_state *ret_state);

/** Hand out the aggregations, if aggrate has passed since they were last handed out, and no more records wait
 * than one buffer holds. */
OT_MUST_CHECK struct ot_err *vp_session_snap(struct vp_session *s);

/** Watch the process of guest number @p guest that $target is (vp_session_config.target_pid), from now on.
 * NOT_FOUND: there is none. Where the guest's types do not describe processes, nothing is watched. */
OT_MUST_CHECK struct ot_err *vp_session_watch_target(struct vp_session *s, uint32_t guest);
/** Wait until a process of the only guest begins to run the program @p name (vp_execs_open()), without limit:
 * it is $target from then on, watched, and its number in *ret_pid. *ret_pid 0: @p wake_fd became readable
 * before. @p waiting is called after the first poll of the processes, so that a program that begins from then
 * on is found; not if it is found at once. Before anything is compiled that has $target. UNSUPPORTED: there
 * is not exactly one guest, or its processes can't be read. GUEST_GONE: it has ended. */
OT_MUST_CHECK struct ot_err *vp_session_wait_for(struct vp_session *s, const char *name, int wake_fd,
						 void (*waiting)(void *arg), void *arg, int64_t *ret_pid);
/** Descriptions that are matched from now on see the current mappings of $target. */
OT_MUST_CHECK struct ot_err *vp_session_read_target(struct vp_session *s);
/** Has the process that is watched ended? Reads the guest, at most once a second; between, and without a
 * watch: false. */
bool vp_session_target_ended(struct vp_session *s);

/** Remove sites, drain, fire END, hand everything out. */
OT_MUST_CHECK struct ot_err *vp_session_stop(struct vp_session *s);

/* One point in time on two clocks. */
struct vp_clock_mark {
	uint64_t tsc;      /* the guest's time-stamp counter */
	uint64_t ns;       /* the clock of records */
	uint64_t bound_ns; /* bound of the error; 0: not known */
};

/** The last comparison of a guest's clock with the host's; times of events inside have at most that error.
 * bound_ns 0: no events inside, or the clocks were not compared. */
struct vp_clock_mark vp_session_agent_clock(const struct vp_session *s, uint32_t guest);

/* Time for which vCPUs were ready but did not run, since each began. */
struct vp_stolen {
	uint64_t at_ns;
	uint32_t nvcpus;
	/* By the guest's own account (steal in its /proc/stat); available only if the hypervisor reports it
	 * to the guest. */
	bool by_guest;
	uint64_t vcpu_ns[VP_VCPUS_MAX];
	/* By this host's account: the time for which all threads of the VMM waited for a CPU. */
	bool by_host;
	uint64_t host_ns;
};

/** Stolen time of guest number @p guest, as far as it is known; unknown parts are left out, without an error.
 */
OT_MUST_CHECK struct ot_err *vp_session_stolen(struct vp_session *s, uint32_t guest, struct vp_stolen *ret);

/** NULL if guest number @p guest has a usable agent and, unless @p tracepoint is NULL, the agent has that
 * tracepoint; else an error with the remedy. */
OT_MUST_CHECK struct ot_err *vp_session_need_agent(const struct vp_session *s, uint32_t guest,
						   const char *tracepoint);

struct vp_guest;
struct vp_census;
/** Have @p take (vp_census_tasks() and its like) read a guest that is attached. *ret is to be deinited in any
 * case. */
OT_MUST_CHECK struct ot_err *vp_session_census(struct vp_session *s, uint32_t guest,
					       struct ot_err *(*take)(struct vp_guest *guest,
								      struct vp_census *ret),
					       struct vp_census *ret);
/** The same of a census of process @p pid: vp_census_libraries(). */
OT_MUST_CHECK struct ot_err *vp_session_census_of(struct vp_session *s, uint32_t guest, uint64_t pid,
						  struct ot_err *(*take)(struct vp_guest *guest, uint64_t pid,
									 struct vp_census *ret),
						  struct vp_census *ret);

/** exit()'s status; 0: it was not called. */
int vp_session_exit_status(const struct vp_session *s);

/** "guest web01 powered off", "guest web01: its VMM (PID 123) has ended" when state was GONE; else NULL. With
 * several guests this is the last one to end; the others were reported to the sink as they ended. */
const char *vp_session_gone_reason(const struct vp_session *s);
/** False: no guest has ended. Else in which way: of several guests the first that was lost, by anything but
 * power-off or reboot, or the last if none was. RUNS: not known. */
bool vp_session_guest_end(const struct vp_session *s, enum vp_guest_end *ret);

/** Number and total time of the windows in which probes were removed because the guests patched their own
 * text. */
void vp_session_patching(const struct vp_session *s, uint64_t *ret_windows, uint64_t *ret_out_ns);

/* The form of an address. */
enum vp_symbol_form {
	VP_SYM_OFFSET, /* mod`sym+0x12, mod`0xaddr, 0xaddr: stack frames, %a */
	VP_SYM_NAME,   /* mod`sym without offset: sym(), func() */
	VP_SYM_MODULE, /* mod */
};

/** Text of a guest kernel address into @p buf (always NUL-terminated). */
void vp_session_symbol(struct vp_session *s, uint32_t guest, uint64_t addr, enum vp_symbol_form form,
		       char *buf, size_t size);

/** Text of a user address of process @p pid, by the symbols of the file that it has mapped there; without a
 * guest, of this host's process. */
void vp_session_user_symbol(struct vp_session *s, uint32_t guest, uint64_t pid, uint64_t addr,
			    enum vp_symbol_form form, char *buf, size_t size);

/** Text of a frame of process @p pid at @p addr for which an engine has left @p note (engine/wire/notes.h): a
 * line for each function at that place, the innermost one first, with '\n' between them. NULL: it is not
 * known. Borrowed until the session ends. */
const char *vp_session_note_text(struct vp_session *s, uint32_t guest, uint64_t pid, uint64_t addr,
				 const char *note);

/** Every symbol of the first guest, sorted by address: "addr name [module]" (--dump-symbols). */
OT_MUST_CHECK struct ot_err *vp_session_each_symbol(struct vp_session *s,
						    bool (*each)(void *arg, uint64_t addr, char type,
								 const char *name, const char *module),
						    void *arg);

/** Append the mappings of process @p pid of guest @p guest in the form of vp_maps_print() (--dump-maps). */
OT_MUST_CHECK struct ot_err *vp_session_maps(struct vp_session *s, uint32_t guest, uint64_t pid,
					     struct ot_buf *out);

#endif
