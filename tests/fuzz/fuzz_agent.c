/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a hostile guest can put where its agent has things. In the operator's process: the header and the
 * catalogue. In the engine: records, the ring's words and the clock's marks, with a session that asks for all
 * that a record says. What must hold: nothing is touched but the guest's own memory, and each visit ends.
 *
 *   input: struct ga_header | struct ga_entry, as much as there is of it; and the same bytes as records, and
 * as what its walks tell
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "guest-agent/agent_abi.h"
#include "tests/unit/engine_fixture.h"
#include "vmm-probe/engine/service/agent.h"
#include "vmm-probe/guest/agent.h"
#include "vmm-probe/guest/agent_pass.h"

#define TOKEN   0x5500ull
#define RECORDS 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- the operator's process -------------------------------------------------------------------------- */

static void check_header(const uint8_t *data, size_t size)
{
	struct ga_header h = { .magic = GA_MAGIC };

	/* The magic is valid, so that the fields after it are read. */
	if (size)
		memcpy((uint8_t *)&h + 8, data, size < sizeof(h) - 8 ? size : sizeof(h) - 8);
	struct ot_err *err = vp_agent_check_header(&h);

	if (!err && (h.version != GA_VERSION || h.nslots != GA_SLOTS || h.token & 0xff))
		abort();
	ot_err_destroy(err);
}

static void check_entry(const uint8_t *data, size_t size)
{
	struct ga_entry e = { 0 };
	struct vp_agent_event event;

	memcpy(&e, data, size < sizeof(e) ? size : sizeof(e));
	if (!vp_agent_check_entry(&e, (uint32_t)size, &event))
		return;
	if (!memchr(event.name, 0, sizeof(event.name)) || !*event.name || event.slot >= GA_TRACEPOINTS)
		abort();
}

/* Events of a walk, of any pass and order: one byte says which, and which of the numbers are small. */
static void check_walk(const uint8_t *data, size_t size, enum ga_pass what)
{
	struct vp_census census = { 0 };
	struct vp_agent_pass pass;
	uint64_t words[5], error;
	bool whole = false;

	vp_agent_pass_init(&pass, what);
	for (; size > sizeof(words); data += 1 + sizeof(words), size -= 1 + sizeof(words)) {
		memcpy(words, data + 1, sizeof(words));
		for (unsigned i = 0; i < 4; i++)
			if (*data & 2u << i)
				words[i] %= i == 1 ? 1024 : 8;
		ot_err_destroy(vp_agent_pass_add(&pass, *data & 1, words));
		ot_err_destroy(vp_agent_pass_take(&pass, 8, &census, &whole, &error));
		if (whole && !error)
			vp_census_join(&census);
		for (size_t i = 0; i < census.count; i++)
			if (strlen(census.items[i].name) > GA_NAME_PARTS * GA_NAME_WORDS * 8)
				abort();
		vp_census_deinit(&census);
	}
	vp_agent_pass_deinit(&pass);
}

/* --- the engine ---------------------------------------------------------------------------------------- */

struct world {
	struct ef *f;
	struct ga_header *header;
	struct ga_control *control;
	struct ga_ring *ring;
	uint64_t head;
};

static void *obey(void *arg)
{
	struct world *w = arg;
	const struct timespec pause = { .tv_nsec = 1000000 };

	for (;;) {
		__atomic_store_n(&w->header->applied,
				 __atomic_load_n(&w->control->generation, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static uint64_t pages(struct ef *f, size_t size)
{
	uint64_t first = vp_fake_page(f->fake);

	for (size_t done = VP_FAKE_PAGE; done < size; done += VP_FAKE_PAGE)
		vp_fake_page(f->fake);
	return first;
}

static void enable(struct ef *f, uint32_t slot, uint32_t args, uint32_t want, uint32_t clause)
{
	uint32_t probe = ef_probe(f, VP_PROBE_AGENT, args, "", "event");

	ef_agent_probe(f, probe, slot, EF_FUNC_A, GA_ARGS, want);
	ef_ecb(f, probe, clause);
}

/* About the task that a word of the event names, arguments from as far behind as can be. */
static void enable_other(struct ef *f, uint32_t slot, uint32_t clause)
{
	enable(f, slot, VP_ARGS_AGENT, GA_TRACEPOINT, clause);
	struct vp_batch_probe *p = (struct vp_batch_probe *)(void *)f->probes.data + f->nprobes - 1;

	p->agent.flags = GA_TASK_FLAGS(7);
	p->agent.skip = VP_AGENT_SKIP_MAX;
	p->agent.when = VP_WHEN_WORD;
	p->agent.when_word = GA_ARGS - 1;
}

static struct world *make_world(void)
{
	static struct world w;
	static struct vp_batch_agent place = { .token = TOKEN, .tsc_khz = 1000000 };
	pthread_t thread;
	struct ef *f = ef_create();

	w.f = f;
	place.header_gpa = pages(f, sizeof(*w.header));
	place.control_gpa = pages(f, sizeof(*w.control));
	place.rings[0].gpa = pages(f, sizeof(*w.ring) + RECORDS * sizeof(struct ga_record));
	place.rings[0].records = RECORDS;
	w.header = vp_fake_ram(f->fake, place.header_gpa);
	w.control = vp_fake_ram(f->fake, place.control_gpa);
	w.ring = vp_fake_ram(f->fake, place.rings[0].gpa);
	w.header->magic = GA_MAGIC;
	w.header->state = GA_LIVE;
	w.control->owner = TOKEN;
	f->agent = &place;
	uint32_t c = ef_clause(f, NULL);
	ef_key(f, c, ef_string_var(f, DIF_VAR_execname));
	ef_key(f, c, ef_var(f, DIF_VAR_uid));
	ef_key(f, c, ef_var(f, DIF_VAR_ipl));
	ef_key(f, c, ef_var(f, DIF_VAR_timestamp));
	ef_key(f, c, ef_var(f, DIF_VAR_arg7));
	ef_agg(f, c, DIF_AGG_count, NULL, 5);
	ef_open(f);
	enable(f, 0, VP_ARGS_AGENT, GA_TRACEPOINT, c);
	enable(f, 1, VP_ARGS_SYSCALL_ENTRY, GA_TRACEPOINT, c);
	enable(f, 2, VP_ARGS_SYSCALL_RETURN, GA_TRACEPOINT, c);
	enable_other(f, 3, c);
	enable(f, GA_TRACEPOINTS, VP_ARGS_FBT_RETURN, GA_KRETPROBE, c);
	ef_enable(f);
	if (pthread_create(&thread, NULL, obey, &w))
		abort();
	ef_start(f);
	/* No time call is trapped here: records would wait for a mark that never arrives. */
	__atomic_store_n(&vp_fake_engine(f->fake)->agent->hold_until, 0, __ATOMIC_RELEASE);
	return &w;
}

static void put_record(struct world *w, const uint8_t *data, size_t size)
{
	struct ga_record *at = &w->ring->records[w->head % RECORDS];

	memcpy((uint8_t *)at + 8, data, size < sizeof(*at) - 8 ? size : sizeof(*at) - 8);
	if (size & 1) /* else whatever slot the bytes name */
		at->slot = size & 2 ? GA_TRACEPOINTS : size >> 2 & 3;
	__atomic_store_n(&at->seq, ++w->head, __ATOMIC_RELEASE);
}

static void run_engine(struct world *w, const uint8_t *data, size_t size)
{
	struct vp_engine *engine = vp_fake_engine(w->f->fake);
	size_t step = sizeof(struct ga_record) - 8;

	w->ring->lost += size;
	if (size >= 24) {
		memcpy(&w->header->clock_before, data, 8);
		memcpy(&w->header->clock_after, data + 8, 8);
		w->header->clock_seq += data[16] & 3;
	}
	for (size_t i = 0; i < RECORDS / 2 && i * step < size; i++)
		put_record(w, data + i * step, size - i * step);
	vp_engine_visit(engine, 0);
	if (__atomic_load_n(&w->ring->tail, __ATOMIC_ACQUIRE) != w->head)
		abort();
	ef_switch(w->f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world *w;

	if (!w)
		w = make_world();
	check_header(data, size);
	check_entry(data, size);
	check_walk(data, size, GA_PASS_TASKS);
	check_walk(data, size, GA_PASS_MODULES);
	run_engine(w, data, size);
	return 0;
}
