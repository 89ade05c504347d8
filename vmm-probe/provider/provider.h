/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes of one guest (or of none): which exist, which match a description, and their sites. Each provider
 * has a file and publishes its probes into the registry. Operator's process, one thread.
 *
 * Probe ids are dense from 1: dtrace:::BEGIN 1, END 2, ERROR 3, then the rest in the order in
 * which providers publish; a probe that is created on demand (profile-997) follows them.
 */
#ifndef VP_PROVIDER_PROVIDER_H
#define VP_PROVIDER_PROVIDER_H

#include "dif/lang/compile.h"
#include "dif/obj/program.h"
#include "vmm-probe/engine/wire/batch.h"
#include "vmm-probe/engine/wire/protocol.h"
#include "vmm-probe/planner/planner.h"
#include "vmm-probe/provider/text.h"

struct vp_guest_agent;
struct vp_guest;  /* vmm-probe/guest/guest.h */
struct vp_types;  /* vmm-probe/guest/btf_types.h */
struct vp_probes; /* the registry */

/* A probe. The registry owns the strings. */
struct vp_probe {
	uint32_t id;
	enum vp_probe_kind kind;
	enum vp_args args;
	const char *provider, *module, *function, *name;
	uint64_t gva;        /* function's or tracepoint's address; 0 for probes without one */
	uint64_t size;       /* of the function, bytes; 0: unknown */
	const void *own;     /* the provider's data; NULL: none */
	const char *refused; /* why it can't be enabled; NULL: it can. Only -lv lists refused probes */
	bool stands_in;      /* for those of processes that have none yet (vp_batch_probe.stands_in): it is
			      * enabled with these, and neither listed nor counted */
};

/** Create the registry and publish every provider's probes. @p guest may be NULL (no guest: dtrace,
 * profile and tick); borrowed. */
OT_MUST_CHECK struct ot_err *vp_probes_create(struct vp_guest *guest, struct vp_probes **ret);
void vp_probes_destroy(struct vp_probes *probes);

/**
 * Probes of this guest change its text: from now on a probe exists only if each of its sites can be trapped;
 * else it is refused, with the reason. This is decided when a description first matches the probe. @p traps
 * as in vp_planner_create(), not 0. @p undo (copied; NULL: none) reports the changes that other sessions made
 * to the text. UNSUPPORTED: the engine can't satisfy @p wish.
 */
OT_MUST_CHECK struct ot_err *vp_probes_plan(struct vp_probes *probes, uint32_t traps, enum vp_trap_wish wish,
					    const struct vp_text_undo *undo);

/** Publish the vm provider's probes, with @p n statistics of these names (copied). @p refused (copied): why
 * they can't be enabled, for -lv; NULL: they can. */
OT_MUST_CHECK struct ot_err *vp_probes_add_vm(struct vp_probes *probes, char (*stats)[VP_VM_STAT_NAME],
					      uint32_t n, const char *refused);

/** The registry's test whether an event can be counted for this guest's vCPUs. UNSUPPORTED: it can't, and the
 * message is the reason. */
struct vp_cpc_support {
	struct ot_err *(*test)(void *arg, const struct vp_cpc_event *event);
	void *arg;
};

/** From now on cpc probes exist as far as @p support (copied) allows. Without this none can be enabled. */
void vp_probes_set_cpc(struct vp_probes *probes, const struct vp_cpc_support *support);

/** From now on probes can be in processes of this guest; @p refused (copied): not, with the reason. Without
 * this they can't. */
OT_MUST_CHECK struct ot_err *vp_probes_set_processes(struct vp_probes *probes, const char *refused);

/** From now on semaphores of static probes that are enabled are raised in this guest; @p refused (copied):
 * not, with the reason. Without this they are not. */
OT_MUST_CHECK struct ot_err *vp_probes_set_semaphores(struct vp_probes *probes, const char *refused);

/** The guest's index in its session, below DIF_PROVIDER_GUESTS, before a description is matched: variables of
 * the providers' clauses have numbers by it. The default is 0. */
void vp_probes_set_guest(struct vp_probes *probes, unsigned guest);

/** The process that -p names: a description of a program's probes may leave out its number. 0: none. */
void vp_probes_set_target(struct vp_probes *probes, uint64_t pid);

/** The receiver of messages to the operator while probes are made; without it they are dropped. */
void vp_probes_set_say(struct vp_probes *probes, void (*say)(void *arg, const char *text), void *arg);

/** The guest's text has changed: drop the text read so far, and the decisions based on it. */
void vp_probes_forget_text(struct vp_probes *probes);

uint32_t vp_probes_count(const struct vp_probes *probes);

/** By id; NULL when there is none. Valid until the registry is destroyed. */
const struct vp_probe *vp_probes_get(const struct vp_probes *probes, uint32_t id);

/** Call @p each for every matching probe, in order of id, until it returns false. Probes that exist on demand
 * are created. Refused probes only with @p with_refused. A function that exists only as a compiler's copies
 * (vp_function_is_copy()) is matched by these. */
OT_MUST_CHECK struct ot_err *vp_probes_match(struct vp_probes *probes, const struct dif_probedesc *desc,
					     bool with_refused,
					     bool (*each)(void *arg, const struct vp_probe *probe), void *arg,
					     uint64_t *ret_count);

/** The same for what is to be enabled: with the stand-ins of processes, where @p desc means all of these, and
 * without refused probes. @p after not 0: those whose id is above it, and none of that name before is asked
 * for. */
OT_MUST_CHECK struct ot_err *vp_probes_match_to_enable(struct vp_probes *probes,
						       const struct dif_probedesc *desc, uint32_t after,
						       bool (*each)(void *arg, const struct vp_probe *probe),
						       void *arg, uint64_t *ret_count);

/** Publish the probes of the modules that came since vp_guest_arrivals() was @p since
 * (vp_guest_modules_update()). Those of modules that are gone stay in the registry, and match as before.
 * LIMIT: there are too many for one session. */
OT_MUST_CHECK struct ot_err *vp_probes_arrive(struct vp_probes *probes, uint64_t since);

/** Translate another system's name of a probe, if this guest has no probe of that name (or only one of a
 * system call that no 64-bit process can make), and has the counterpart. False: there is none. *ret borrows
 * from @p desc and from constants. */
bool vp_probes_named_here(struct vp_probes *probes, const struct dif_probedesc *desc,
			  struct dif_probedesc *ret);

/** Suggest a correction for a description that matches nothing: the nearest probe, or the form of profile's
 * names. Appended to @p out; false: nothing is near. */
bool vp_probes_hint(const struct vp_probes *probes, const struct dif_probedesc *desc, struct ot_buf *out);

/** Is function @p name a compiler's copy of function @p of, for some of its callers or for all: name.isra.0,
 * name.constprop.0? (name.part.0 and name.cold are only parts of it.) */
bool vp_function_is_copy(const char *name, const char *of);

/** The sites of a probe: one for entry, for return one for each exit. Reads and disassembles the guest's
 * text. *ret is owned by the caller (free()); its fields for sentinels are not set. */
OT_MUST_CHECK struct ot_err *vp_probes_sites(struct vp_probes *probes, const struct vp_probe *probe,
					     struct vp_batch_site **ret, uint32_t *ret_count);

/** The site program of number @p number, as a site's `raw` and `program` have it; NULL: there is none. */
const struct dif_clause *vp_probes_program(const struct vp_probes *probes, uint32_t number);

/* Clauses that a session needs which enables a probe, to keep values from one place to another. */
struct vp_support {
	const struct dif_clause *before; /* they run before the session's own at the same place */
	uint32_t nbefore;
	const struct dif_clause *after;
	uint32_t nafter;
};

/** The clauses that @p probe, which a description has matched, needs; NULL: none. Owned by the registry. */
const struct vp_support *vp_probes_support(const struct vp_probes *probes, const struct vp_probe *probe);

/** The engine's record of a probe, except for its strings and sites, whose fields are 0. */
void vp_probes_fill(const struct vp_probes *probes, const struct vp_probe *probe, struct vp_batch_probe *ret);

/** The same for its events inside the guest, as @p agent reports them; false, with *ret unchanged: the agent
 * does not report them. */
bool vp_probes_inside(const struct vp_probes *probes, const struct vp_probe *probe,
		      const struct vp_guest_agent *agent, struct vp_batch_probe *ret);

/** Interval of the timer that fires the probe, ns; 0: it has no timer. */
uint64_t vp_probes_interval(const struct vp_probes *probes, const struct vp_probe *probe);

/** args[n], as struct dif_world's probe_arg documents it; and the number of arguments (-1: untyped). */
bool vp_probes_arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n,
		   struct dif_probe_arg *ret);

int vp_probes_nargs(struct vp_probes *probes, const struct vp_probe *probe);

/** Append the further lines of -lv about a probe that a description has matched, indented. */
void vp_probes_describe(struct vp_probes *probes, const struct vp_probe *probe, struct ot_buf *out);

/** May @p desc match probes of programs that begin later, or of later mappings of a process? */
bool vp_probes_follow(const struct vp_probes *probes, const struct dif_probedesc *desc);

/** Has a process begun, become another program, or mapped something since a description for which
 * vp_probes_follow() is true was matched? Then matching it again may find new probes. LIMIT: reading takes
 * too much.
 */
OT_MUST_CHECK struct ot_err *vp_probes_have_news(struct vp_probes *probes, bool *ret);

/** The reason why the program skips the probe, although it is enabled, until something in the guest activates
 * it; NULL: it does not. */
const char *vp_probes_asleep(const struct vp_probes *probes, const struct vp_probe *probe);

/** The agent in the guest; NULL: there is none that can be used, and *ret_why (may be NULL) is the reason, or
 * NULL if the guest has no agent at all. */
const struct vp_guest_agent *vp_probes_agent(const struct vp_probes *probes, const char **ret_why);

/** The guest's C types (for struct dif_world's find_type and so on); the registry's. NULL: no guest. */
struct vp_types *vp_probes_types(struct vp_probes *probes);

#endif
