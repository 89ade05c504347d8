/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guests that are attached: each link is one guest, with the connection to its engine, the source by which it
 * is read if there is no engine, its kernel, and its probes.
 */
#ifndef VP_ATTACH_LINK_H
#define VP_ATTACH_LINK_H

#include "vmm-probe/attach/attach.h"
#include "vmm-probe/backend/source.h"
#include "vmm-probe/client/client.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/inject/inject.h"
#include "vmm-probe/provider/provider.h"

struct vp_guest_link {
	struct vp_client client; /* sock -1: nothing runs in this guest, or its VMM is being entered */
	struct vp_source source; /* ops NULL: the engine is in the VMM */
	struct vp_phys *phys;    /* RAM as reported by the engine; NULL: the source's */
	bool tentative;          /* by peek until a probe needs an engine in the VMM */
	const struct vp_probe *needed_for; /* the first such probe; NULL: none */
	char *no_engine;                   /* the reason why an engine could not work there; NULL: it could */
	char *unread;                      /* the reason why no kernel was found; NULL: it was */
	bool unread_fault;                 /* … because some memory could not be read */
	char *fell_back;                   /* the reason why no engine was injected; NULL: none was needed */
	bool file_fault;        /* its kernel could not be read because of --vmlinux or --symbols */
	bool starts;            /* its kernel was not read because it does not run yet */
	struct vp_guest *guest; /* NULL: no kernel was found */
	struct vp_probes *probes;
	struct vp_facts facts;
	int orc_fd;   /* unwind table; -1: none, or not made yet */
	bool unwinds; /* it was made, if there is one */
	bool may_end; /* it matches a pattern, so its end does not count as an error of the session */
	bool hooked;  /* the engine is in another VMM, and reported … */
	struct vp_inject_states states; /* … these when the guest was attached */
};

struct vp_links {
	struct vp_attach_opts opts;
	struct vp_guest_link *items[VP_GUESTS_MAX];
	uint32_t n;
};

/* NULL: no kernel was found in this guest. */
static inline const struct vp_symtab *vp_link_symtab(const struct vp_guest_link *link)
{
	return link->guest ? vp_guest_symtab(link->guest) : NULL;
}

/* False: a dump, in which nothing runs. */
static inline bool vp_link_runs(const struct vp_guest_link *link)
{
	return !link->source.ops || link->source.client;
}

/* The engine is in the VMM, or will be once the session is enabled. */
static inline bool vp_link_engine_is_away(const struct vp_guest_link *link)
{
	return !link->source.ops || link->needed_for;
}

/* The engine costs the guest time, so the overload guard applies. */
static inline bool vp_link_costs(const struct vp_guest_link *link)
{
	return vp_link_engine_is_away(link) || !link->source.ops->costless;
}

/**
 * Attach guest @p name (see vp_session_attach()) and append it to @p links. The guest does not change, except
 * that an engine is injected into its VMM if the guest can't be read otherwise and links->opts.entry allows
 * it.
 */
OT_MUST_CHECK struct ot_err *vp_links_attach(struct vp_links *links, const char *name);

/** Make the kernel's unwind rules, once, in a memfd for the engine: link->orc_fd. It takes a tenth of what
 * attaching takes, so that it is left until a program has stacks. Nothing is made of a guest that does not
 * run or whose kernel was not found; a kernel without rules is unwound by frame pointers, and vp_guest_note()
 * says so if they could not be read. */
OT_MUST_CHECK struct ot_err *vp_link_unwind_table(struct vp_guest_link *link);

/** Accept a probe of an attached guest that is being enabled, and note whether it needs an engine in the VMM,
 * for vp_links_enter(). UNSUPPORTED: it can't fire there. */
OT_MUST_CHECK struct ot_err *vp_link_take(const struct vp_links *links, struct vp_guest_link *link,
					  const struct vp_probe *probe);

/** Inject an engine into the VMM of each guest with an enabled probe that needs one. */
OT_MUST_CHECK struct ot_err *vp_links_enter(struct vp_links *links);
/** The same of one of them. */
OT_MUST_CHECK struct ot_err *vp_link_enter(const struct vp_links *links, struct vp_guest_link *link);

/** Has the VMM's process ended? Waits that long for it. */
bool vp_vmm_has_ended(const struct vp_guest_link *link, int wait_ms);

/** NULL is fine. */
void vp_link_destroy(struct vp_guest_link *link);

#endif
