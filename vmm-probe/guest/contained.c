/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readings of a guest as jobs of a confined child: its input, its possible requests, and the use of its
 * answer. */
#include "vmm-probe/guest/contained.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmm-probe/guest/contained_internal.h"
#include "vmm-probe/guest/orc.h"

#define WHAT       "the guest"
#define RESULT_MIB 512u
#define SLACK_MIB  64u /* libraries, and the overhead of allocations */
#define SLACK_S    2u  /* of processor time */
#define WAIT_S     60u /* for a child that the host does not schedule, or that hangs */
#define DAY_S      86400u

/* --- what a child asks ----------------------------------------------------------------------------------- */

enum asks {
	ASKS_MEMORY,     /* `len` bytes at `at`, for memory that is not read through a descriptor */
	ASKS_STEP,       /* step `at` of opening begins */
	ASKS_FILE_FAULT, /* the operator's file causes the failure */
};

struct question {
	uint64_t kind; /* enum asks */
	uint64_t at, len;
};

static const char *const steps[] = { "locating the kernel", "reading symbols", "reading types" };

/* A job's data in the child and its parent. */
struct reading {
	struct vp_guest *guest;
	const struct vp_guest_opts *opts; /* of opening; NULL: it is open */
};

static struct ot_err *read_by_parent(void *arg, uint64_t gpa, void *dst, size_t len)
{
	uint8_t *to = dst;

	(void)arg;
	while (len) {
		size_t n = len < VP_CONFINED_ANSWER ? len : VP_CONFINED_ANSWER;
		const struct question q = { .kind = ASKS_MEMORY, .at = gpa, .len = n };

		OT_TRY(vp_confined_ask(&q, sizeof(q), to, n));
		to += n;
		gpa += n;
		len -= n;
	}
	return NULL;
}

/* In the child: send the parent a message without a reply. */
static void report(enum asks kind, uint64_t at)
{
	const struct question q = { .kind = kind, .at = at };

	ot_err_destroy(vp_confined_ask(&q, sizeof(q), NULL, 0));
}

static void report_step(void *arg, const char *step)
{
	(void)arg;
	for (size_t i = 0; i < OT_ARRAY_SIZE(steps); i++)
		if (!strcmp(steps[i], step))
			report(ASKS_STEP, i);
}

static struct ot_err *give_memory(const struct vp_guest *guest, const struct question *q, struct ot_buf *ret)
{
	uint8_t bytes[VP_CONFINED_ANSWER];

	if (q->len > sizeof(bytes))
		return ot_err_new(OT_ERR_BAD_DATA, "too much memory at once");
	OT_TRY(vp_phys_read(guest->phys, vp_gpa(q->at), bytes, q->len));
	ot_buf_append(ret, bytes, q->len);
	return NULL;
}

static struct ot_err *answer(void *arg, const void *question, size_t len, struct ot_buf *ret)
{
	const struct reading *r = arg;
	const struct vp_guest_opts *o = r->opts;
	struct question q;

	if (len != sizeof(q))
		return ot_err_new(OT_ERR_BAD_DATA, "a question of %zu bytes", len);
	memcpy(&q, question, sizeof(q));
	switch (q.kind) {
	case ASKS_MEMORY:
		return give_memory(r->guest, &q, ret);
	case ASKS_STEP:
		if (o && o->progress && q.at < OT_ARRAY_SIZE(steps))
			o->progress(o->progress_ctx, steps[q.at]);
		return NULL;
	case ASKS_FILE_FAULT:
		if (o && o->ret_file_fault)
			*o->ret_file_fault = true;
		return NULL;
	default:
		return ot_err_new(OT_ERR_BAD_DATA, "an unknown question");
	}
}

/* --- a job ----------------------------------------------------------------------------------------------- */

/* The kernel's limits are larger than the budget's, which end a reading with a better message. */
static struct vp_confined_limits limits_of(const struct vp_guest *guest, const enum vp_reading_id *readings,
					   size_t n, uint64_t files)
{
	struct vp_confined_limits l = { .memory_mib = SLACK_MIB + (uint32_t)(files >> 20),
					.result_mib = RESULT_MIB };
	uint64_t cpu_ms = 0, wall_ms = 0;

	for (size_t i = 0; i < n; i++) {
		l.memory_mib += vp_readings[readings[i]].memory_mib;
		cpu_ms += vp_readings[readings[i]].cpu_ms;
		wall_ms += vp_readings[readings[i]].wall_ms;
	}
	l.cpu_s = guest->patient ? DAY_S : (uint32_t)(cpu_ms * vp_budget_slowness() / 1000) + SLACK_S;
	l.wall_s = guest->patient ? DAY_S : (uint32_t)(wall_ms * vp_budget_slowness() / 1000) + WAIT_S;
	return l;
}

static struct ot_err *run(struct reading *r, struct ot_err *(*child)(void *arg, struct ot_buf *out),
			  const struct vp_confined_limits *limits, struct vp_confined_result *ret)
{
	const struct vp_guest_files *files = r->opts ? r->opts->files : NULL;
	ot_auto_free int *fds = NULL;
	unsigned n = 0;
	ot_auto_free int *all = NULL;

	OT_TRY(vp_phys_fds(r->guest->phys, &fds, &n));
	all = calloc(n + 2, sizeof(*all));
	if (!all)
		return ot_err_nomem();
	memcpy(all, fds, n * sizeof(*all));
	if (files && files->vmlinux >= 0)
		all[n++] = files->vmlinux;
	if (files && files->symbols >= 0)
		all[n++] = files->symbols;
	const struct vp_confined_job job = {
		.what = WHAT,
		.names_itself = true,
		.codes = 1u << OT_ERR_GUEST_GONE | 1u << OT_ERR_BUSY | 1u << OT_ERR_SYNTAX,
		.run = child,
		.arg = r,
		.fds = all,
		.nfds = n,
		.limits = *limits,
		.answer = answer,
		.answer_arg = r,
	};

	return vp_confined_run(&job, ret);
}

/* In the child. Memory that is not read through descriptors is this process's, or must be requested. */
static void enter(struct reading *r)
{
	vp_budget_leave_wall();
	vp_phys_set_reader((struct vp_phys *)(uintptr_t)r->guest->phys, read_by_parent, NULL);
}

/* --- opening --------------------------------------------------------------------------------------------- */

static struct ot_err *read_core(void *arg, struct ot_buf *out)
{
	struct reading *r = arg;
	struct vp_guest_opts opts = *r->opts;
	bool file_fault = false;
	struct vp_budget budget;

	enter(r);
	opts.progress = report_step;
	opts.ret_file_fault = &file_fault;
	vp_guest_budget_begin(r->guest, &budget, &vp_readings[VP_READ_IMAGE]);
	struct ot_err *err = vp_guest_read_core(r->guest, &opts);
	vp_budget_end(&budget);
	if (file_fault)
		report(ASKS_FILE_FAULT, 0);
	OT_TRY(err);
	vp_answer_put_core(r->guest, out);
	return NULL;
}

static struct ot_err *take_core(struct vp_guest *guest, const struct vp_confined_result *result)
{
	const uint8_t *btf = NULL;
	size_t btf_size = 0;
	struct vp_budget budget;

	vp_guest_budget_begin(guest, &budget, &vp_readings[VP_READ_SYMBOLS]);
	struct ot_err *err = vp_answer_take_core(result->data, result->len, guest, &btf, &btf_size);
	if (!err) {
		vp_budget_part(&vp_readings[VP_READ_TYPES]);
		err = vp_guest_index_types(guest, btf, btf_size);
	}
	vp_budget_end(&budget);
	return err;
}

static struct ot_err *open_core(struct reading *r)
{
	const enum vp_reading_id readings[] = { VP_READ_IMAGE,
						r->opts->vmlinux ? VP_READ_VMLINUX : VP_READ_SYMBOLS,
						VP_READ_TYPES };
	ot_auto(vp_confined_result_deinit) struct vp_confined_result result = { 0 };
	uint64_t files = 0;
	struct stat st;

	if (r->opts->files && r->opts->files->vmlinux >= 0 && !fstat(r->opts->files->vmlinux, &st))
		files = (uint64_t)st.st_size; /* libelf maps it */
	const struct vp_confined_limits limits =
	    limits_of(r->guest, readings, OT_ARRAY_SIZE(readings), files);
	OT_TRY(run(r, read_core, &limits, &result));
	return take_core(r->guest, &result);
}

/* --- modules --------------------------------------------------------------------------------------------- */

static struct ot_err *read_modules(struct reading *r, bool opening, struct ot_buf *out)
{
	struct vp_arrivals found = { 0 };
	struct vp_budget budget;

	enter(r);
	vp_guest_budget_begin(r->guest, &budget, &vp_readings[opening ? VP_READ_MODULES : VP_READ_ARRIVALS]);
	struct ot_err *err = vp_guest_find_modules(r->guest, opening, &found);
	vp_budget_end(&budget);
	if (!err)
		vp_answer_put_modules(&found, out);
	vp_arrivals_deinit(&found);
	return err;
}

static struct ot_err *read_first_modules(void *arg, struct ot_buf *out)
{
	return read_modules(arg, true, out);
}

static struct ot_err *read_more_modules(void *arg, struct ot_buf *out)
{
	return read_modules(arg, false, out);
}

static struct ot_err *take_modules(struct vp_guest *guest, bool opening,
				   const struct vp_confined_result *result)
{
	ot_auto(vp_arrivals_deinit) struct vp_arrivals found = { 0 };
	struct vp_budget budget;

	vp_guest_budget_begin(guest, &budget, &vp_readings[opening ? VP_READ_MODULES : VP_READ_ARRIVALS]);
	struct ot_err *err = vp_answer_take_modules(result->data, result->len, &found);
	if (!err)
		err = vp_guest_take_modules(guest, opening, &found);
	vp_budget_end(&budget);
	return err;
}

static struct ot_err *find_modules(struct reading *r, bool opening)
{
	ot_auto(vp_confined_result_deinit) struct vp_confined_result result = { 0 };
	const enum vp_reading_id reading = opening ? VP_READ_MODULES : VP_READ_ARRIVALS;
	const struct vp_confined_limits limits = limits_of(r->guest, &reading, 1, 0);

	OT_TRY(run(r, opening ? read_first_modules : read_more_modules, &limits, &result));
	return take_modules(r->guest, opening, &result);
}

struct ot_err *vp_contained_modules_update(struct vp_guest *guest)
{
	struct reading r = { .guest = guest };

	return guest->have_layout ? find_modules(&r, false) : NULL;
}

/* --- stack tables ---------------------------------------------------------------------------------------- */

static struct ot_err *read_orc(void *arg, struct ot_buf *out)
{
	struct reading *r = arg;

	enter(r);
	return vp_orc_table(r->guest, out);
}

/* Engines take nothing in it for granted (engine/wire/orc_table.h): it need only be one. */
static bool is_orc_table(const struct vp_confined_result *t)
{
	struct vp_orc_header h;

	if (t->len < sizeof(h))
		return false;
	memcpy(&h, t->data, sizeof(h));
	return h.magic == VP_ORC_MAGIC &&
	       t->len == sizeof(h) + h.nentries * (sizeof(uint64_t) + sizeof(struct vp_orc_rule));
}

struct ot_err *vp_contained_orc_table(struct vp_guest *guest, struct vp_confined_result *ret)
{
	static const enum vp_reading_id reading = VP_READ_STACKS;
	struct reading r = { .guest = guest };
	const struct vp_confined_limits limits = limits_of(guest, &reading, 1, 0);

	OT_TRY(run(&r, read_orc, &limits, ret));
	if (is_orc_table(ret))
		return NULL;
	vp_confined_result_deinit(ret);
	return ot_err_new(OT_ERR_BAD_DATA, "the table of unwind rules is broken");
}

/* --- the whole ------------------------------------------------------------------------------------------- */

static struct ot_err *open_file(const char *path, bool *ret_fault, int *ret)
{
	*ret = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (!path || *ret >= 0)
		return NULL;
	struct ot_err *err = ot_err_os(errno, "cannot open %s", path);
	if (ret_fault)
		*ret_fault = true;
	return err;
}

static void close_files(struct vp_guest_files *files)
{
	if (files->vmlinux >= 0)
		close(files->vmlinux);
	if (files->symbols >= 0)
		close(files->symbols);
}

static struct ot_err *read_all(struct vp_guest *guest, const struct vp_guest_opts *opts)
{
	ot_auto(close_files) struct vp_guest_files files = { -1, -1 };
	struct vp_guest_opts with_files = *opts;
	struct reading r = { .guest = guest, .opts = &with_files };

	with_files.files = &files;
	OT_TRY(open_file(opts->vmlinux, opts->ret_file_fault, &files.vmlinux));
	OT_TRY(open_file(opts->symbols, opts->ret_file_fault, &files.symbols));
	OT_TRY(open_core(&r));
	if (!guest->have_layout)
		return NULL;
	if (opts->progress)
		opts->progress(opts->progress_ctx, "reading modules");
	return vp_guest_note_missing(guest, "no modules", find_modules(&r, true));
}

struct ot_err *vp_contained_open(const struct vp_guest_opts *opts, struct vp_guest **ret)
{
	struct vp_guest *guest = vp_guest_new(opts);

	if (!guest)
		return ot_err_nomem();
	struct ot_err *err = vp_guest_file_set(guest, opts);
	if (!err)
		err = read_all(guest, opts);
	if (err) {
		vp_guest_destroy(guest);
		return err;
	}
	*ret = guest;
	return NULL;
}
