/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Run-time sizes and rates, adjusted to the limits. A size over its limit is halved until it fits, or is an
 * error with -x bufresize=manual; changes are written back to the options, so that the operator sees them.
 */
#include <unistd.h>

#include "vmm-probe/session/internal.h"
#include "vmm-probe/session/memory.h"

#define LEAST_BUFFER     8ull
#define SPEC_LIMIT       (256ull << 20) /* of one engine, as vp_spec_init() has it */
#define DYNVAR_LIMIT     (1ull << 30)   /* every cell is written when the table is made */
#define CLEAN_FASTEST_NS 200000ull
#define CLEAN_SLOWEST_NS 60000000000ull
#define STATUS_MAX_NS    10000000000ull

/* Buffers that another process writes to are allocated whole (memory.c): limited by the free memory, and by
 * this process's limit. */
static uint64_t buffer_limit(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t limit = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 2 : 1ull << 30;
	uint64_t available = vp_memory_available("") / 4 * 3;
	struct vp_memory_room room;

	if (available && available < limit)
		limit = available;
	if (vp_memory_room("", getpid(), &room) && room.room / 4 * 3 < limit)
		limit = room.room / 4 * 3;
	return limit;
}

/* Make *size × @times fit @limit. */
static struct ot_err *fit(const struct dif_options *o, const char *what, uint64_t *size, uint64_t times,
			  uint64_t limit)
{
	uint64_t asked = *size, is = asked;

	while (times && is > limit / times)
		is /= 2;
	if (is == asked)
		return NULL;
	if (o->bufresize_manual || is < LEAST_BUFFER)
		return ot_err_new(OT_ERR_LIMIT, "%s of %llu bytes, %llu times, is more than %llu bytes", what,
				  (unsigned long long)asked, (unsigned long long)times,
				  (unsigned long long)limit);
	*size = is & ~(LEAST_BUFFER - 1);
	return NULL;
}

/* The program's use of buffers. `need`: maximum bytes of a clause in the principal one, keys included. */
struct use {
	bool aggregates, speculates;
	uint64_t need;
};

static struct use use_of(const struct vp_session *s)
{
	struct use use = { 0 };

	for (uint32_t i = 0; i < s->program.prog->nclauses; i++) {
		const struct dif_clause_layout *l = &s->program.layouts[i];
		uint64_t need = l->size;
		use.aggregates |= l->naggs != 0;
		use.speculates |= l->speculates;
		for (uint32_t k = 0; k < l->naggs; k++)
			if (l->size + (uint64_t)l->aggs[k].tuple_size > need)
				need = l->size + (uint64_t)l->aggs[k].tuple_size;
		if (need > use.need)
			use.need = need;
	}
	return use;
}

static void clamp(uint64_t *value, uint64_t least, uint64_t most)
{
	if (*value < least)
		*value = least;
	if (*value > most)
		*value = most;
}

struct ot_err *vp_sizes_fit(struct vp_session *s)
{
	struct dif_options *o = s->options;
	struct use use = use_of(s);
	uint64_t ncpus = 0, most_cpus = 1, limit = buffer_limit() / (use.aggregates ? 2 : 1);

	for (uint32_t i = 0; i < s->nfeeds; i++) {
		ncpus += s->feeds[i].ncpus;
		if (s->feeds[i].ncpus > most_cpus)
			most_cpus = s->feeds[i].ncpus;
	}
	if (o->cpu >= (int64_t)most_cpus)
		return ot_err_new(OT_ERR_NOT_FOUND, "there is no CPU %lld", (long long)o->cpu);
	s->program.aggregates = use.aggregates;
	if (use.aggregates && o->bufsize < use.need)
		o->bufsize = (use.need + LEAST_BUFFER - 1) & ~(LEAST_BUFFER - 1);
	if (o->bufsize < LEAST_BUFFER)
		return ot_err_new(OT_ERR_LIMIT, "Enabling exceeds size of buffer");
	OT_TRY(fit(o, "a principal buffer", &o->bufsize, 2 * ncpus, limit));
	if (use.aggregates)
		OT_TRY(fit(o, "an aggregation buffer", &o->aggsize, 2 * ncpus, limit));
	if (o->nspec > VP_NSPEC_MAX)
		return ot_err_new(OT_ERR_LIMIT, "%llu speculations are more than %u",
				  (unsigned long long)o->nspec, VP_NSPEC_MAX);
	if (use.speculates)
		OT_TRY(fit(o, "a speculation", &o->specsize, o->nspec * most_cpus, SPEC_LIMIT));
	OT_TRY(fit(o, "space for dynamic variables", &o->dynvarsize, s->apart ? s->nfeeds : 1, DYNVAR_LIMIT));
	clamp(&o->cleanrate_ns, CLEAN_FASTEST_NS, CLEAN_SLOWEST_NS);
	clamp(&o->statusrate_ns, 1, STATUS_MAX_NS);
	return NULL;
}

/* The sizes are those of the session by now. */
struct ot_err *vp_sizes_check(const struct vp_session *s, const struct vp_feed *feed)
{
	struct dif_options sizes = *s->options;
	uint64_t limit = buffer_limit() / (s->program.aggregates ? 2 : 1);

	sizes.bufresize_manual = true;
	OT_TRY(fit(&sizes, "a principal buffer", &sizes.bufsize, 2 * (uint64_t)feed->ncpus, limit));
	return s->program.aggregates
		   ? fit(&sizes, "an aggregation buffer", &sizes.aggsize, 2 * (uint64_t)feed->ncpus, limit)
		   : NULL;
}
