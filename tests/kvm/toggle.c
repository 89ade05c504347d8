/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kvm_toggle SOCKET ROUNDS PROGRAM [VMLINUX [TRAP]]
 *
 * Enables PROGRAM in the guest whose engine listens at SOCKET, and disables it, ROUNDS times, as fast as that
 * goes: the guest is read once, every round is a session of its own over a new connection. Prints
 * "rounds N hits M", M being the sum of all counts.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vmm-probe/session/internal.h"

#define ROUND_NS 1500000 /* that probes stand, on average half of it */
#define SMALL    65536   /* bytes of a buffer */

struct toggle {
	const char *socket, *vmlinux;
	struct vp_session *attached; /* has read the guest */
	struct dif_options options;
	struct dif_program program;
	uint64_t hits;
	unsigned random;
};

static struct ot_err *no_record(void *arg, const struct vp_record *rec)
{
	(void)arg;
	(void)rec;
	return NULL;
}

static struct ot_err *add(void *arg, const struct vp_aggregate *agg)
{
	struct toggle *t = arg;

	t->hits += agg->words[0];
	return NULL;
}

static struct ot_err *on_fault(void *arg, const struct vp_fault_info *fault)
{
	(void)arg;
	return ot_err_new(OT_ERR_INTERNAL, "a fault, %d", (int)fault->fault);
}

static struct ot_err *on_drop(void *arg, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	(void)arg;
	return ot_err_new(OT_ERR_INTERNAL, "%llu drops of kind %d on CPU %u", (unsigned long long)count,
			  (int)kind, cpu);
}

static struct ot_err *on_overload(void *arg, const struct vp_overload_info *overload)
{
	(void)arg;
	(void)overload;
	return NULL;
}

static struct ot_err *compile(struct toggle *t, const char *text)
{
	const struct dif_source src = {
		.kind = DIF_SOURCE_COMMAND_LINE, .name = text, .text = text, .len = strlen(text)
	};
	const struct dif_diag *diag = NULL;
	struct dif_compiler *comp;
	uint32_t first;

	dif_program_init(&t->program);
	OT_TRY(dif_compiler_create(vp_session_world(t->attached, 0), &t->options, &comp));
	struct ot_err *err = dif_compile(comp, &src, &t->program, &first, &diag);
	dif_compiler_destroy(comp);
	return err;
}

static void pause_ns(long ns)
{
	const struct timespec t = { .tv_nsec = ns };

	nanosleep(&t, NULL);
}

static struct ot_err *enable_once(struct toggle *t, struct vp_session *s)
{
	const struct vp_sink sink = { t, no_record, add, on_fault, on_drop, on_overload };

	OT_TRY(vp_session_enable(s, &t->program, &sink));
	OT_TRY(vp_session_start(s));
	t->random = t->random * 1664525u + 1013904223u;
	pause_ns((long)((t->random >> 8) % ROUND_NS));
	return vp_session_stop(s);
}

/* A session on the guest that is attached already: only the connection is new. */
static struct ot_err *round_trip(struct toggle *t)
{
	struct vp_guest_link *link = t->attached->links.items[0];
	const struct vp_session_config config = { .options = &t->options };
	struct vp_client fresh;
	struct vp_session *s;

	OT_TRY(vp_client_connect(&fresh, t->socket));
	int sock = link->client.sock;
	link->client.sock = fresh.sock;
	fresh.sock = sock;
	vp_client_close(&fresh);
	OT_TRY(vp_session_create(&config, &s));
	s->links.items[0] = link;
	s->links.n = 1;
	struct ot_err *err = enable_once(t, s);
	s->links.n = 0; /* it stays attached */
	vp_session_destroy(s);
	return err;
}

static struct ot_err *run(struct toggle *t, unsigned rounds, const char *text)
{
	const struct vp_session_config config = {
		.options = &t->options, .attach = { .vmlinux = t->vmlinux, .no_cache = t->vmlinux }
	};

	OT_TRY(vp_session_create(&config, &t->attached));
	OT_TRY(vp_session_attach(t->attached, t->socket));
	OT_TRY(compile(t, text));
	for (unsigned i = 0; i < rounds; i++)
		OT_TRY(round_trip(t));
	return NULL;
}

int main(int argc, char **argv)
{
	struct toggle t = { .random = 1 };

	if (argc < 4 || argc > 6 || atoi(argv[2]) < 1) {
		fprintf(stderr, "usage: kvm_toggle SOCKET ROUNDS PROGRAM [VMLINUX [TRAP]]\n");
		return 2;
	}
	t.socket = argv[1];
	t.vmlinux = argc > 4 ? argv[4] : NULL;
	signal(SIGPIPE, SIG_IGN);
	dif_options_init(&t.options);
	t.options.maxcost = 0;
	t.options.bufsize = t.options.aggsize = SMALL;
	struct ot_err *err =
	    argc > 5 ? dif_options_set(&t.options, "trap", argv[5], DIF_OPT_COMMAND_LINE) : NULL;
	if (!err)
		err = run(&t, (unsigned)atoi(argv[2]), argv[3]);
	if (err) {
		fprintf(stderr, "kvm_toggle: %s\n", ot_err_message(err));
		return 1;
	}
	printf("rounds %s hits %llu\n", argv[2], (unsigned long long)t.hits);
	vp_session_destroy(t.attached);
	return 0;
}
