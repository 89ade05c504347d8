/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fake guest of the engine tests: memory, tasks, registers and the facts about them. */
#include "tests/unit/engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFSIZE 4096

static void map_pages(struct ef *f, uint64_t va, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		vp_fake_map(f->fake, f->kernel_root, va + i * VP_FAKE_PAGE, vp_fake_page(f->fake), 0, 12);
}

static void poke(struct ef *f, uint64_t va, uint64_t value, size_t len)
{
	vp_fake_write(f->fake, f->kernel_root, va, &value, len);
}

static void make_text(struct ef *f)
{
	static const uint8_t nop[5] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	uint64_t gpa = 0x200000;

	vp_fake_map(f->fake, f->kernel_root, EF_TEXT, gpa, 0, 21);
	for (unsigned i = 0; i < 3; i++) {
		vp_fake_write(f->fake, f->kernel_root, EF_FUNC_A + i * 0x100, nop, sizeof(nop));
		poke(f, EF_RET(EF_FUNC_A + i * 0x100), 0xc3, 1);
	}
}

static void make_task(struct ef *f, uint32_t cpu)
{
	uint64_t task = EF_TASKS + cpu * VP_FAKE_PAGE, percpu = EF_PERCPU + cpu * VP_FAKE_PAGE;
	uint64_t cred = task + 0x800, stack = EF_STACKS + cpu * 0x4000ull;
	char comm[24]; /* a task has 16 of them */

	map_pages(f, task, 1);
	map_pages(f, percpu, 1);
	map_pages(f, stack, 1);
	poke(f, percpu + EF_PERCPU_CURRENT, task, 8);
	poke(f, percpu + EF_PERCPU_RQ + EF_RQ_CLOCK, 5000, 8);
	snprintf(comm, sizeof(comm), "swapper/%u", cpu);
	vp_fake_write(f->fake, f->kernel_root, task + EF_TASK_COMM, comm, 16);
	poke(f, task + EF_TASK_PID, 100 + cpu, 4);
	poke(f, task + EF_TASK_TGID, 90 + cpu, 4);
	poke(f, task + EF_TASK_PARENT, EF_TASKS, 8); /* the first task is everyone's parent, its own too */
	poke(f, task + EF_TASK_CRED, cred, 8);
	poke(f, cred + EF_CRED_UID, 1000 + cpu, 4);
	poke(f, cred + EF_CRED_GID, 2000 + cpu, 4);
	poke(f, task + EF_TASK_START, 77 + cpu, 8);
	poke(f, task + EF_TASK_RUNTIME, 10000, 8);
	poke(f, task + EF_TASK_EXEC_START, 4000, 8);
	poke(f, task + EF_TASK_STACK, stack, 8);
	poke(f, task + EF_TASK_MM, 1, 8);
	vp_fake_set_reg(f->fake, cpu, VP_RSP, stack + 0x800);
	vp_fake_set_reg(f->fake, cpu, VP_CS, 0x10);
	vp_fake_set_reg(f->fake, cpu, VP_CR3, f->user_root | 0x1000);
}

static void make_user(struct ef *f)
{
	for (unsigned i = 0; i < 2; i++)
		vp_fake_map(f->fake, f->user_root, EF_USER + i * VP_FAKE_PAGE, vp_fake_page(f->fake), 4, 12);
}

static void make_facts(struct ef *f)
{
	struct vp_facts *k = &f->facts;

	memset(k, 0xff, sizeof(*k)); /* this kernel lacks all features but those that a test sets */
	k->size = sizeof(*k);
	k->guest_id = 7;
	memset(k->guest_name, 0, sizeof(k->guest_name));
	memcpy(k->guest_name, "fake", 5);
	k->kernel_root = f->kernel_root;
	k->levels = f->config.levels;
	k->nvcpus = f->config.nvcpus;
	k->user_pgd_mask = ~0x1fffull;
	memset(k->percpu_base, 0, sizeof(k->percpu_base));
	for (uint32_t i = 0; i < f->config.nvcpus; i++)
		k->percpu_base[i] = EF_PERCPU + i * VP_FAKE_PAGE;
	k->current_task = EF_PERCPU_CURRENT;
	k->preempt_count = EF_PERCPU_PREEMPT;
	k->nmi_mask = 0xf00000;
	k->hardirq_mask = 0xf0000;
	k->softirq_mask = 0xff00;
	k->task_comm = EF_TASK_COMM;
	k->task_comm_size = 16;
	k->task_pid = EF_TASK_PID;
	k->task_tgid = EF_TASK_TGID;
	k->task_real_parent = EF_TASK_PARENT;
	k->task_cred = EF_TASK_CRED;
	k->task_start_time = EF_TASK_START;
	k->task_sum_exec_runtime = EF_TASK_RUNTIME;
	k->task_exec_start = EF_TASK_EXEC_START;
	k->task_stack = EF_TASK_STACK;
	k->task_mm = EF_TASK_MM;
	k->cred_uid = EF_CRED_UID;
	k->cred_gid = EF_CRED_GID;
	k->ptregs_args[0] = EF_PTREGS_DI * 8;
	k->ptregs_args[1] = EF_PTREGS_SI * 8;
	k->ptregs_args[2] = EF_PTREGS_DX * 8;
	k->ptregs_args[3] = EF_PTREGS_R10 * 8;
	k->ptregs_args[4] = EF_PTREGS_R8 * 8;
	k->ptregs_pc = EF_PTREGS_IP * 8;
	k->ptregs_sp = EF_PTREGS_SP * 8;
	k->ptregs_fp = EF_PTREGS_BP * 8;
	k->ptregs_mode = EF_PTREGS_CS * 8;
	k->ptregs_size = EF_PTREGS_WORDS * 8;
	k->runqueues = EF_PERCPU_RQ;
	k->rq_clock_task = EF_RQ_CLOCK;
	k->text_start = EF_TEXT;
	k->text_end = EF_TEXT + 0x200000;
	k->modules_start = k->modules_end = 0;
	k->stack_size = EF_STACK_SIZE;
	k->stack_padding = 0;
	k->families = (struct vp_family_facts){ 0 };
	k->mappings = (struct vp_mapping_facts){ 0 };
	k->resident = (struct vp_resident_facts){ .image_end = EF_TEXT + 0x200000,
						  .task_size = 2048,
						  .percpu_size = 64 };
}

struct ef *ef_create_with(const struct vp_fake_config *config)
{
	struct ef *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->config = *config;
	EF_OK(vp_fake_create(config, &f->fake));
	f->kernel_root = vp_fake_root(f->fake);
	f->user_root = vp_fake_root(f->fake);
	/* The mask takes PTI's bit 12 away too, so a root must be 8 KiB aligned, as Linux has it. */
	while (f->user_root & 0x1000)
		f->user_root = vp_fake_root(f->fake);
	make_text(f);
	make_user(f);
	for (uint32_t i = 0; i < config->nvcpus; i++)
		make_task(f, i);
	make_facts(f);
	dif_program_init(&f->prog);
	f->prog.clauses = ot_arena_alloc(&f->prog.arena, EF_CLAUSES_MAX * sizeof(*f->prog.clauses));
	f->prog.aggs = ot_arena_alloc(&f->prog.arena, EF_AGGS_MAX * sizeof(*f->prog.aggs));
	f->open = (struct vp_msg_open){
		.bufsize = BUFSIZE,
		.aggsize = BUFSIZE,
		.globals_size = 4096,
		.strsize = 32,
		.stackframes = 8,
		.ustackframes = 8,
		.jstackframes = 8,
		.nspec = 2,
		.specsize = 1024,
		.nvcpus = config->nvcpus,
		.bufpolicy = VP_BUF_SWITCH,
	};
	f->next_epid = 1;
	f->next_probe_id = 10;
	ef_batch_clear(f);
	return f;
}

struct ef *ef_create(void)
{
	const struct vp_fake_config config = {
		.nvcpus = 2,
		.ram_size = 8u << 20,
		.levels = 4,
		.can_profile = true,
		.can_count = true,
	};

	return ef_create_with(&config);
}

void ef_destroy(struct ef *f)
{
	ef_close(f);
	vp_fake_destroy(f->fake);
	free(f->shared);
	dif_program_deinit(&f->prog);
	ot_buf_deinit(&f->probes);
	ot_buf_deinit(&f->sites);
	ot_buf_deinit(&f->ecbs);
	ot_buf_deinit(&f->strings);
	free(f);
}
