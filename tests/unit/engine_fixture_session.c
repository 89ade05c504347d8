/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions of the engine tests: opening one, batches of probes, enabling them. */
#include "tests/unit/engine_fixture.h"

#include <stdlib.h>
#include <string.h>

struct ot_err *ef_try_open(struct ef *f)
{
	struct ot_buf dof;
	struct ot_err *err;

	EF_OK(vp_shared_layout(&f->open, &f->shared_size));
	free(f->shared);
	f->shared = aligned_alloc(4096, f->shared_size);
	assert_non_null(f->shared);
	memset(f->shared, 0, f->shared_size);
	if (f->open.dynvars_size)
		EF_OK(dif_dynvars_format(f->shared + f->open.dynvars_offset, f->open.dynvars_size,
					 f->open.nvcpus, 128, 64));
	ot_buf_init(&dof);
	EF_OK(dif_dof_write(&f->prog, &dof));
	err = vp_engine_session_open(vp_fake_engine(f->fake), &f->open, dof.data, dof.len, &f->facts,
				     f->shared, f->shared_size, f->orc, f->orc_size, &f->es);
	ot_buf_deinit(&dof);
	return err;
}

void ef_open(struct ef *f)
{
	EF_OK(ef_try_open(f));
}

void ef_close(struct ef *f)
{
	vp_engine_session_close(f->es);
	f->es = NULL;
}

static uint32_t add_string(struct ef *f, const char *s)
{
	uint32_t at = (uint32_t)f->strings.len;

	ot_buf_append(&f->strings, s, strlen(s) + 1);
	return at;
}

uint32_t ef_probe(struct ef *f, uint32_t kind, uint32_t args, const char *function, const char *name)
{
	struct vp_batch_probe p = {
		.id = f->next_probe_id++,
		.kind = kind,
		.args = args,
		.provider = add_string(f, "fbt"),
		.module = add_string(f, "vmlinux"),
		.function = add_string(f, function),
		.name = add_string(f, name),
		.first_site = f->nsites,
	};

	ot_buf_append(&f->probes, &p, sizeof(p));
	return f->nprobes++;
}

static struct vp_batch_probe *probe_at(struct ef *f, uint32_t i)
{
	assert_true(i < f->nprobes);
	return (struct vp_batch_probe *)(void *)f->probes.data + i;
}

void ef_probe_id(struct ef *f, uint32_t probe, uint32_t id)
{
	probe_at(f, probe)->id = id;
}

void ef_event(struct ef *f, uint32_t probe, uint32_t event)
{
	((struct vp_batch_probe *)(void *)f->probes.data)[probe].event = event;
}

void ef_cpc(struct ef *f, uint32_t probe, const struct vp_cpc_event *event)
{
	probe_at(f, probe)->cpc = *event;
}

void ef_interval(struct ef *f, uint32_t probe, uint64_t ns)
{
	probe_at(f, probe)->interval_ns = ns;
}

void ef_agent_probe(struct ef *f, uint32_t probe, uint32_t slot, uint64_t address, uint32_t nargs,
		    uint32_t want)
{
	struct vp_batch_probe *p = probe_at(f, probe);

	p->agent.slot = slot;
	p->agent.address = address;
	p->agent.nargs = nargs;
	p->agent.want = want;
}

void ef_site(struct ef *f, uint64_t gva, uint64_t function)
{
	struct vp_batch_site s = {
		.gva = gva,
		.offset = (uint32_t)(gva - function),
		.length = gva == function ? 5 : 1,
		.room = gva == function ? 5 : 1,
	};

	memcpy(s.bytes, (uint8_t *)vp_fake_ram(f->fake, 0x200000) + (gva - EF_TEXT), s.length);
	ot_buf_append(&f->sites, &s, sizeof(s));
	f->nsites++;
	probe_at(f, f->nprobes - 1)->nsites++;
}

uint32_t ef_ecb(struct ef *f, uint32_t probe, uint32_t clause)
{
	struct vp_batch_ecb e = { .epid = f->next_epid++, .clause = clause, .probe = probe };

	assert_true(e.epid < OT_ARRAY_SIZE(f->clause_of));
	f->clause_of[e.epid] = clause;
	ot_buf_append(&f->ecbs, &e, sizeof(e));
	f->necbs++;
	return e.epid;
}

void ef_batch_clear(struct ef *f)
{
	ot_buf_clear(&f->probes);
	ot_buf_clear(&f->sites);
	ot_buf_clear(&f->ecbs);
	ot_buf_clear(&f->strings);
	ot_buf_append(&f->strings, "", 1);
	f->nprobes = f->nsites = f->necbs = 0;
}

void *ef_batch(struct ef *f, size_t *ret_size)
{
	struct vp_batch h = { .nprobes = f->nprobes, .nsites = f->nsites, .necbs = f->necbs };
	struct ot_buf out;

	ot_buf_init(&out);
	ot_buf_append(&out, &h, sizeof(h));
	ot_buf_align(&out, 8);
	h.probes_offset = (uint32_t)out.len;
	ot_buf_append(&out, f->probes.data, f->probes.len);
	ot_buf_align(&out, 8);
	h.sites_offset = (uint32_t)out.len;
	ot_buf_append(&out, f->sites.data, f->sites.len);
	ot_buf_align(&out, 8);
	h.ecbs_offset = (uint32_t)out.len;
	ot_buf_append(&out, f->ecbs.data, f->ecbs.len);
	if (f->agent) {
		ot_buf_align(&out, 8);
		h.nagents = 1;
		h.agent_offset = (uint32_t)out.len;
		ot_buf_append(&out, f->agent, sizeof(*f->agent));
	}
	if (f->dof) {
		h.dof_offset = (uint32_t)out.len;
		h.dof_size = (uint32_t)f->dof->len;
		ot_buf_append(&out, f->dof->data, f->dof->len);
	}
	h.strings_offset = (uint32_t)out.len;
	h.strings_size = (uint32_t)f->strings.len;
	ot_buf_append(&out, f->strings.data, f->strings.len);
	h.size = (uint32_t)out.len;
	memcpy(out.data, &h, sizeof(h));
	*ret_size = out.len;
	void *batch = ot_buf_take(&out);
	assert_non_null(batch);
	return batch;
}

struct ot_err *ef_try_enable(struct ef *f)
{
	size_t size;
	void *batch = ef_batch(f, &size);
	struct ot_err *err = vp_engine_session_enable(f->es, batch, size);

	free(batch);
	return err;
}

void ef_enable(struct ef *f)
{
	EF_OK(ef_try_enable(f));
	ef_batch_clear(f);
}

void ef_start(struct ef *f)
{
	EF_OK(vp_engine_session_start(f->es));
}

uint32_t ef_enable_entry(struct ef *f, uint32_t clause, uint64_t function)
{
	uint32_t probe = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "func", "entry");

	ef_site(f, function, function);
	uint32_t epid = ef_ecb(f, probe, clause);
	ef_enable(f);
	return epid;
}

uint32_t ef_trace(struct ef *f, uint32_t clause)
{
	ef_open(f);
	uint32_t epid = ef_enable_entry(f, clause, EF_FUNC_A);
	ef_start(f);
	return epid;
}
