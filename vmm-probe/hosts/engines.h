/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engines on this host: the guests that have one, their owners, and each engine's report about its
 * guest. */
#ifndef VP_HOSTS_ENGINES_H
#define VP_HOSTS_ENGINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/engine/wire/facts.h"

/* The rank of a VMM's owner when a guest's name is resolved: any user may start a process of any name.
 */
enum vp_rank {
	VP_RANK_OWN,    /* the operator's own, root's, and domains of the system's libvirt */
	VP_RANK_SYSTEM, /* a service's (uids below 1000) */
	VP_RANK_USER,   /* another user's: its name counts if no higher rank has it */
	VP_RANK_PID,    /* not a known VMM: by its PID only */
};

/* A guest that runs on this host. */
struct vp_guest_info {
	char name[VP_GUEST_NAME];
	uint32_t pid; /* of its VMM, as is uid; both from the kernel */
	uint32_t uid;
	enum vp_rank rank;
	bool far; /* its socket was found through its VMM's environment, not in this user's directories */
	char trouble[256]; /* the reason why its engine sent no HELLO, and the fields are from its VMM's
			      command line; "" */
	uint32_t nvcpus;
	char backend[16];
	char socket[108];  /* as struct sockaddr_un has it */
	char release[128]; /* kernel release when it is known without reading the guest; "" */
	uint32_t nsessions;
	bool paused;      /* by its VMM */
	uint64_t held_ns; /* how long its vCPUs were held, for changes of its text */
};

/** Guests with an engine in them: control sockets that were found and are trusted. Waits at most a second for
 * all of them in ten seconds of repeated calls of a thread, but up to a tenth of a second at each call. Our
 * own sockets without a listener are removed. *ret is owned by the caller. */
OT_MUST_CHECK struct ot_err *vp_guests_list(struct vp_guest_info **ret, size_t *ret_count);

/** The release of the kernel of the guest whose engine listens at @socket. Asks its vCPUs for their
 * registers; each of its answers is waited for @ms at most. */
OT_MUST_CHECK struct ot_err *vp_guest_release(const char *socket, unsigned ms, char *ret, size_t size);

#endif
