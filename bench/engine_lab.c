/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest that benchmarks of the engine trace, and their sessions. */
#include "bench/engine_lab.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "dif/obj/layout.h"

#define TASK_SIZE 2048u

static const uint8_t fentry[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 }; /* the nop of function tracing */

/* --- the guest ------------------------------------------------------------------------------------------ */

static void make_tasks(struct bench_lab *lab)
{
	uint64_t root = vp_fake_root(lab->fake);

	for (unsigned i = 0; i < 4; i++)
		vp_fake_map(lab->fake, root, BENCH_DIRECT + i * 0x200000ull, i * 0x200000ull, 0, 21);
	vp_fake_map(lab->fake, root, BENCH_TEXT, 0x200000, 0, 21);
	for (uint32_t i = 0; i < lab->nvcpus; i++) {
		uint64_t task = BENCH_TASK + i * TASK_SIZE;
		const uint32_t ids[2] = { BENCH_PID, BENCH_PID + i };
		lab->facts.percpu_base[i] = BENCH_PERCPU + i * VP_FAKE_PAGE;
		vp_fake_write(lab->fake, root, lab->facts.percpu_base[i] + 8, &task, sizeof(task));
		vp_fake_write(lab->fake, root, task + 64, ids, sizeof(ids));
		vp_fake_write(lab->fake, root, task + 1600, "getppid_loop", 13);
		vp_fake_set_reg(lab->fake, i, VP_RDI, task);
	}
	lab->facts.kernel_root = root;
}

void bench_lab_open(struct bench_lab *lab, uint32_t nvcpus, const struct vp_resident_room *room)
{
	const struct vp_fake_config config = {
		.nvcpus = nvcpus, .ram_size = 8u << 20, .levels = 4, .room = room
	};
	struct vp_facts *k = &lab->facts;

	lab->nvcpus = nvcpus;
	bench_must(vp_fake_create(&config, &lab->fake));
	memset(k, 0xff, sizeof(*k));
	k->size = sizeof(*k);
	memset(k->guest_name, 0, sizeof(k->guest_name));
	make_tasks(lab);
	k->levels = 4;
	k->current_task = 8;
	k->task_tgid = 64;
	k->task_pid = 68;
	k->task_comm = 1600;
	k->task_comm_size = 16;
	k->mappings = (struct vp_mapping_facts){ 0 };
	k->resident = (struct vp_resident_facts){ .image_end = BENCH_TEXT + (4u << 20),
						  .task_size = TASK_SIZE,
						  .percpu_size = 64 };
}

void bench_lab_close(struct bench_lab *lab)
{
	vp_fake_destroy(lab->fake);
}

/* --- sessions ------------------------------------------------------------------------------------------- */

static void make_dynvars(struct bench_session *s, const struct dif_program *prog)
{
	const struct dif_layout_opts opts = { .strsize = s->open.strsize };
	uint8_t *mem = s->shared + s->open.dynvars_offset;
	uint32_t key_size, value_size;
	struct dif_var_layout vars;
	struct ot_arena arena;

	ot_arena_init(&arena);
	bench_must(dif_var_layout(prog, &opts, &arena, &vars));
	bench_must(dif_dynvar_sizes(prog, &opts, &vars, &key_size, &value_size));
	ot_arena_deinit(&arena);
	bench_must(dif_dynvars_format(mem, s->open.dynvars_size, s->open.nvcpus, key_size, value_size));
	bench_must(dif_dynvars_open(mem, s->open.dynvars_size, &s->dynvars));
}

static void share(struct bench_session *s, const struct dif_program *prog)
{
	bench_must(vp_shared_layout(&s->open, &s->size));
	void *mem =
	    mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED)
		bench_must(ot_err_os(errno, "mapping %llu bytes", (unsigned long long)s->size));
	s->shared = mem;
	if (s->open.dynvars_size)
		make_dynvars(s, prog);
}

void bench_session_open(struct bench_lab *lab, const struct dif_program *prog,
			const struct bench_sizes *sizes, struct bench_session *ret)
{
	struct ot_buf dof;

	*ret = (struct bench_session){ .open = {
					   .bufsize = sizes->bufsize,
					   .aggsize = sizes->aggsize,
					   .globals_size = 4096,
					   .dynvars_size = sizes->dynvars,
					   .strsize = 256,
					   .stackframes = 20,
					   .nvcpus = lab->nvcpus,
					   .bufpolicy = VP_BUF_SWITCH,
					   .maxcost =
					       20, /* the default: the guard's accounting is part of a hit */
					   .flags = sizes->flags,
				       } };
	share(ret, prog);
	ot_buf_init(&dof);
	bench_must(dif_dof_write(prog, &dof));
	bench_must(vp_engine_session_open(vp_fake_engine(lab->fake), &ret->open, dof.data, dof.len,
					  &lab->facts, ret->shared, ret->size, NULL, 0, &ret->es));
	ot_buf_deinit(&dof);
}

void bench_session_close(struct bench_session *s)
{
	vp_engine_session_close(s->es);
	dif_dynvars_close(s->dynvars);
	munmap(s->shared, s->size);
}

void bench_session_trace(struct bench_session *s, const struct ot_buf *batch)
{
	bench_must(vp_engine_session_enable(s->es, batch->data, batch->len));
	bench_must(vp_engine_session_start(s->es));
}

void bench_session_switch(struct bench_session *s)
{
	struct vp_msg_switch_reply reply;

	bench_must(vp_engine_session_switch(s->es, &reply));
}

struct bench_counts bench_session_counts(const struct bench_session *s)
{
	const struct vp_vcpu_status *status = (const void *)(s->shared + s->open.status_offset);
	struct dif_dynvar_drops drops = { 0 };
	struct bench_counts ret = { 0 };

	for (uint32_t i = 0; i < s->open.nvcpus; i++) {
		ret.fired += status[i].hits;
		for (unsigned half = 0; half < 2; half++)
			ret.dropped +=
			    status[i].principal[half].dropped + status[i].aggregation[half].dropped;
	}
	if (s->dynvars)
		dif_dynvars_drops(s->dynvars, &drops);
	ret.dropped += drops.drops + drops.rinsing_drops + drops.dirty_drops;
	return ret;
}

/* --- a batch -------------------------------------------------------------------------------------------- */

static void add_probes(struct ot_buf *out, struct ot_buf *strings, uint32_t n)
{
	ot_buf_append(strings, "\0fbt\0vmlinux\0entry", 19);
	for (uint32_t i = 0; i < n; i++) {
		const struct vp_batch_probe probe = {
			10 + i, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, 1, 5, (uint32_t)strings->len, 13, i, 1, 0, 0
		};
		ot_buf_append(out, &probe, sizeof(probe));
		ot_buf_printf(strings, "some_kernel_function_%u", i);
		ot_buf_putc(strings, 0);
	}
}

static void add_sites(struct bench_lab *lab, struct ot_buf *out, uint32_t n, bool resident)
{
	for (uint32_t i = 0; i < n; i++) {
		struct vp_batch_site site = { .gva = bench_function(i), .length = 1, .room = 1 };
		if (resident) {
			site.length = site.room = sizeof(fentry);
			memcpy(site.bytes, fentry, sizeof(fentry));
		}
		vp_fake_write(lab->fake, lab->facts.kernel_root, site.gva, site.bytes, site.length);
		ot_buf_append(out, &site, sizeof(site));
	}
}

static void add_ecbs(struct ot_buf *out, uint32_t n, uint32_t necbs)
{
	for (uint32_t i = 0; i < n * necbs; i++) {
		const struct vp_batch_ecb ecb = { 1 + i, i % necbs, i / necbs, 0 };
		ot_buf_append(out, &ecb, sizeof(ecb));
	}
}

void bench_batch(struct bench_lab *lab, uint32_t n, uint32_t necbs, bool resident, struct ot_buf *out)
{
	struct vp_batch h = { .nprobes = n, .nsites = n, .necbs = n * necbs };
	struct ot_buf strings;

	ot_buf_init(&strings);
	h.probes_offset = (sizeof(h) + 7) & ~7u;
	h.sites_offset = h.probes_offset + n * (uint32_t)sizeof(struct vp_batch_probe);
	h.ecbs_offset = h.sites_offset + n * (uint32_t)sizeof(struct vp_batch_site);
	h.strings_offset = h.ecbs_offset + h.necbs * (uint32_t)sizeof(struct vp_batch_ecb);
	ot_buf_append(out, &h, sizeof(h));
	ot_buf_align(out, 8);
	add_probes(out, &strings, n);
	add_sites(lab, out, n, resident);
	add_ecbs(out, n, necbs);
	ot_buf_append(out, strings.data, strings.len);
	h.strings_size = (uint32_t)strings.len;
	h.size = (uint32_t)out->len;
	memcpy(out->data, &h, sizeof(h));
	ot_buf_deinit(&strings);
}

/* --- figures -------------------------------------------------------------------------------------------- */

double bench_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int bench_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}
