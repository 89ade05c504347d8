/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a hostile client can send an engine: OPEN, a program, a batch; then the probes fire, the halves are
 * exchanged and the session closes. The shared memory is one heap block of the declared size, so the
 * sanitizer sees any byte beside it.
 *
 *   input: struct vp_msg_open | u32 length of the program | u32 0 | program (DOF) | batch
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/seed.h"
#include "tests/unit/engine_fixture.h"

#define SHARED_SIZE (256u << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool started; /* by the last input */

bool fuzz_seed_reached(void)
{
	return started;
}

/* Every function of the fixture's guest, its returns, and the probes that the engine fires by itself. */
static void run(struct ef *f, struct vp_engine_session *es)
{
	const uint64_t args[10] = { 0 };
	struct vp_msg_switch_reply reply;

	for (unsigned i = 0; i < 4; i++) {
		uint32_t cpu = i % f->config.nvcpus;
		for (uint64_t function = EF_FUNC_A; function <= EF_FUNC_C;
		     function += EF_FUNC_B - EF_FUNC_A) {
			vp_fake_hit(f->fake, cpu, function);
			vp_fake_hit(f->fake, cpu, EF_RET(function));
		}
		vp_fake_overflow(f->fake, cpu, i, i);
		vp_engine_session_fire(es, 1 + i, args);
		EF_OK(vp_engine_session_switch(es, &reply));
	}
}

/* Is this too much work for a fuzzer? Strings above this size only make it slower. */
static bool is_slow(const struct vp_msg_open *open)
{
	return open->strsize > 4096 || (uint64_t)open->nspec * open->specsize > 1u << 20;
}

/* An honest client formats the dynamic variables; where it declares them elsewhere they stay zeros. */
static void format_dynvars(uint8_t *shared, const struct vp_msg_open *open)
{
	uint64_t at = open->dynvars_offset, size = open->dynvars_size;

	if (size && !(at & 63) && at <= SHARED_SIZE && size <= SHARED_SIZE - at)
		ot_err_destroy(dif_dynvars_format(shared + at, size, open->nvcpus, 128, 64));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ef *f;
	static uint8_t *shared;
	struct vp_msg_open open;
	struct vp_engine_session *es = NULL;
	uint32_t dof_len;

	if (!f) {
		f = ef_create();
		shared = aligned_alloc(4096, SHARED_SIZE);
		assert_non_null(shared);
	}
	started = false;
	if (size < sizeof(open) + 8)
		return 0;
	memcpy(&open, data, sizeof(open));
	memcpy(&dof_len, data + sizeof(open), sizeof(dof_len));
	data += sizeof(open) + 8;
	size -= sizeof(open) + 8;
	if (dof_len > size || is_slow(&open))
		return 0;
	open.flags &= ~(uint32_t)VP_OPEN_DESTRUCTIVE; /* chill() takes its time */
	memset(shared, 0, SHARED_SIZE);
	format_dynvars(shared, &open);
	struct ot_err *err = vp_engine_session_open(vp_fake_engine(f->fake), &open, data, dof_len, &f->facts,
						    shared, SHARED_SIZE, NULL, 0, &es);
	if (!err)
		err = vp_engine_session_enable(es, data + dof_len, size - dof_len);
	if (!err)
		err = vp_engine_session_start(es);
	started = !err;
	if (started)
		run(f, es);
	ot_err_destroy(err);
	vp_engine_session_close(es);
	if (vp_fake_sites(f->fake))
		abort(); /* a site stayed behind */
	return 0;
}
