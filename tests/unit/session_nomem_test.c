/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fault loops over the operator's side: the n-th allocation of a session's whole life fails, for n = 1, 2, …
 * until all succeed, without a guest and with the fake backend's engine at the other end of a socket.
 * Whatever fails, the session can be destroyed, nothing leaks (checked by the sanitizer), and the engine is
 * as it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/nomem.h"
#include "vmm-probe/backend/fake/fake.h"
#include "vmm-probe/guest/facts.h"
#include "vmm-probe/session/internal.h"
#include "vmm-probe/session/memory.h"

static const char program[] =
    "BEGIN { x = 1; a[x, \"one\"] = 2; s = speculation(); speculate(s); printf(\"%d\\n\", x); }\n"
    "BEGIN { self->t = timestamp; @[execname, probefunc] = quantize(a[x, \"one\"]); }\n"
    "BEGIN { trace(*(int *)8); }\n"
    "BEGIN { commit(s); }\n"
    "ERROR { printf(\"%d\", arg4); }\n"
    "profile-100 { @c[probename] = count(); @l = lquantize(arg2, 0, 10, 1); trace(execname); }\n"
    "tick-100 { n++; printf(\"%d\", n); }\n"
    "END { printa(@c); }\n";

static char folder[] = "/tmp/outsight-test-XXXXXX", path[sizeof(folder) + 8];

static int make_folder(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/sock", folder);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

/* --- the sink ------------------------------------------------------------------------------------------ */

static struct ot_err *take_record(void *arg, const struct vp_record *rec)
{
	(void)arg;
	(void)rec;
	return NULL;
}

static struct ot_err *take_aggregate(void *arg, const struct vp_aggregate *agg)
{
	(void)arg;
	(void)agg;
	return NULL;
}

static struct ot_err *take_fault(void *arg, const struct vp_fault_info *fault)
{
	(void)fault;
	++*(unsigned *)arg;
	return NULL;
}

static struct ot_err *take_drop(void *arg, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	(void)arg;
	(void)kind;
	(void)cpu;
	(void)count;
	return NULL;
}

static struct ot_err *take_overload(void *arg, const struct vp_overload_info *overload)
{
	(void)arg;
	(void)overload;
	return NULL;
}

/* --- a session ------------------------------------------------------------------------------------------ */

struct life {
	struct dif_options options;
	struct dif_program prog;
	struct dif_compiler *comp;
	struct vp_session *s;
	unsigned faults;
};

/* As vp_session_attach() does for a guest whose kernel was not found. */
static struct ot_err *attach_fake(struct vp_session *s)
{
	struct vp_guest_link *link = calloc(1, sizeof(*link));

	if (!link)
		return ot_err_nomem();
	link->client.sock = link->orc_fd = -1;
	vp_facts_none(&link->facts);
	s->links.items[s->links.n++] = link;
	OT_TRY(vp_client_connect(&link->client, path));
	return vp_probes_create(NULL, &link->probes);
}

static struct ot_err *live(struct life *l, bool guest)
{
	const struct vp_session_config config = { .options = &l->options };
	const struct dif_source src = {
		.kind = DIF_SOURCE_SCRIPT, .name = "test", .text = program, .len = sizeof(program) - 1
	};
	const struct vp_sink sink = { &l->faults, take_record, take_aggregate,
				      take_fault, take_drop,   take_overload };
	const struct dif_diag *diag = NULL;
	enum vp_session_state running;
	uint32_t first;

	OT_TRY(vp_session_create(&config, &l->s));
	OT_TRY(guest ? attach_fake(l->s) : vp_session_attach(l->s, "none"));
	OT_TRY(dif_compiler_create(vp_session_world(l->s, 0), &l->options, &l->comp));
	OT_TRY(dif_compile(l->comp, &src, &l->prog, &first, &diag));
	OT_TRY(vp_session_enable(l->s, &l->prog, &sink));
	OT_TRY(vp_session_start(l->s));
	for (int i = 0; i < 3; i++)
		OT_TRY(vp_session_poll(l->s, -1, &running));
	return vp_session_stop(l->s);
}

static struct ot_err *whole_life(struct life *l, bool guest)
{
	*l = (struct life){ 0 };
	dif_options_init(&l->options);
	l->options.bufsize = l->options.aggsize = 65536;
	l->options.dynvarsize = 8192;
	dif_program_init(&l->prog);
	struct ot_err *err = live(l, guest);
	bool failed = nomem_end(); /* what cleans up has what it needs, or it could not */
	vp_session_destroy(l->s);
	dif_compiler_destroy(l->comp);
	dif_program_deinit(&l->prog);
	dif_options_deinit(&l->options);
	if (failed && !err)
		err = ot_err_nomem(); /* it did without */
	return err;
}

static void check(const struct ot_err *err)
{
	/* the compiler's own message, and the engine's */
	if (ot_err_code(err) != OT_ERR_NO_MEMORY && !strstr(ot_err_message(err), "memory"))
		fail_msg("%s", ot_err_message(err));
}

/* ThreadSanitizer is ten times slower and looks for races only: a sample of the failures runs every thread.
 */
#ifdef __SANITIZE_THREAD__
#define STEP 16
#else
#define STEP 1
#endif

static void each_allocation_fails(bool guest)
{
	struct life l;
	unsigned n = 1;

	for (;; n += STEP) {
		nomem_at(n);
		struct ot_err *err = whole_life(&l, guest);
		if (!err)
			break;
		check(err);
		ot_err_destroy(err);
		assert_true(n < 100000);
	}
	assert_true(n > 100); /* it did count something */
	assert_int_equal(l.faults, 1);
}

static void without_a_guest(void **state)
{
	(void)state;
	each_allocation_fails(false);
}

static void with_an_engine(void **state)
{
	const struct vp_fake_config config = {
		.nvcpus = 2, .ram_size = 1 << 20, .levels = 4, .can_profile = true
	};
	struct vp_fake *fake = NULL;

	(void)state;
	assert_null(vp_fake_create(&config, &fake));
	assert_null(vp_engine_serve(vp_fake_engine(fake), path));
	each_allocation_fails(true);
	assert_int_equal(vp_fake_sites(fake), 0);
	vp_fake_destroy(fake);
}

/* --- requests kept for an engine that is injected later -------------------------------------------------- */

/* It is injected into a VMM that was sampled externally: the rules for engines in VMMs apply. */
static void an_engine_to_come_is_limited(void **state)
{
	struct vp_guest_link link = { .client.nvcpus = 2, .orc_fd = -1 };
	struct vp_feed feeds[2] = { { .ncpus = 1 }, { .ncpus = 2, .link = &link, .has_work = true } };
	struct dif_program prog;
	struct dif_options options;
	struct vp_session s = { .options = &options, .program.prog = &prog, .feeds = feeds, .nfeeds = 2 };
	const struct vp_probe probe = { 0 };
	const struct vp_source_ops beside = { .costless = true };

	(void)state;
	dif_program_init(&prog);
	dif_options_init(&options);
	ot_arena_init(&s.arena);
	s.program.layout_opts.strsize = 256;
	for (int to_come = 0; to_come < 2; to_come++) {
		link.source = (struct vp_source){ .ops = &beside, .handle = &link, .client = "@beside" };
		link.needed_for = to_come ? &probe : NULL;
		assert_null(vp_share_create(&s));
		assert_int_equal(feeds[1].open.maxcost, to_come ? options.maxcost : 0);
		assert_int_equal(feeds[1].memory.taken != 0, to_come);
		vp_share_destroy(&s);
	}
	assert_true(options.maxcost != 0);
	ot_arena_deinit(&s.arena);
	dif_options_deinit(&options);
	dif_program_deinit(&prog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_guest),
		cmocka_unit_test(with_an_engine),
		cmocka_unit_test(an_engine_to_come_is_limited),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
