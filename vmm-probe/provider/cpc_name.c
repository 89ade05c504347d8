/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * EVENT-MODE-COUNT. An event is one of the table, or r and the CPU's own number of it in hexadecimal, as
 * perf(1) spells it. The names are those of Linux, in lower case and with underscores, as its DTrace has
 * them, and those of PAPI, as the first DTraces have them, where the host's kernel has an event that means
 * the same.
 */
#include "vmm-probe/provider/cpc_name.h"

#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/near.h"
#include "vmm-probe/provider/parsed_name.h"

struct event {
	const char *name;
	uint32_t type;
	uint64_t config;
};

#define HARDWARE(name, what)                                    \
	{                                                       \
#name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##what \
	}
#define SOFTWARE(name, what)                                    \
	{                                                       \
#name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##what \
	}
#define CACHE(name, what, op, result)                                               \
	{                                                                           \
#name, PERF_TYPE_HW_CACHE,                                          \
		    PERF_COUNT_HW_CACHE_##what | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
			PERF_COUNT_HW_CACHE_RESULT_##result << 16                   \
	}

static const struct event events[] = {
	HARDWARE(cpu_cycles, CPU_CYCLES),
	HARDWARE(cycles, CPU_CYCLES),
	HARDWARE(PAPI_tot_cyc, CPU_CYCLES),
	HARDWARE(instructions, INSTRUCTIONS),
	HARDWARE(PAPI_tot_ins, INSTRUCTIONS),
	HARDWARE(cache_references, CACHE_REFERENCES),
	HARDWARE(PAPI_l3_tca, CACHE_REFERENCES),
	HARDWARE(cache_misses, CACHE_MISSES),
	HARDWARE(PAPI_l3_tcm, CACHE_MISSES),
	HARDWARE(branch_instructions, BRANCH_INSTRUCTIONS),
	HARDWARE(branches, BRANCH_INSTRUCTIONS),
	HARDWARE(PAPI_br_ins, BRANCH_INSTRUCTIONS),
	HARDWARE(branch_misses, BRANCH_MISSES),
	HARDWARE(PAPI_br_msp, BRANCH_MISSES),
	HARDWARE(bus_cycles, BUS_CYCLES),
	HARDWARE(stalled_cycles_frontend, STALLED_CYCLES_FRONTEND),
	HARDWARE(idle_cycles_frontend, STALLED_CYCLES_FRONTEND),
	HARDWARE(stalled_cycles_backend, STALLED_CYCLES_BACKEND),
	HARDWARE(idle_cycles_backend, STALLED_CYCLES_BACKEND),
	HARDWARE(PAPI_res_stl, STALLED_CYCLES_BACKEND),
	HARDWARE(ref_cycles, REF_CPU_CYCLES),
	HARDWARE(PAPI_ref_cyc, REF_CPU_CYCLES),
	SOFTWARE(cpu_clock, CPU_CLOCK),
	SOFTWARE(task_clock, TASK_CLOCK),
	SOFTWARE(page_faults, PAGE_FAULTS),
	SOFTWARE(faults, PAGE_FAULTS),
	SOFTWARE(context_switches, CONTEXT_SWITCHES),
	SOFTWARE(cs, CONTEXT_SWITCHES),
	SOFTWARE(cpu_migrations, CPU_MIGRATIONS),
	SOFTWARE(migrations, CPU_MIGRATIONS),
	SOFTWARE(minor_faults, PAGE_FAULTS_MIN),
	SOFTWARE(page_faults_min, PAGE_FAULTS_MIN),
	SOFTWARE(major_faults, PAGE_FAULTS_MAJ),
	SOFTWARE(page_faults_maj, PAGE_FAULTS_MAJ),
	SOFTWARE(alignment_faults, ALIGNMENT_FAULTS),
	SOFTWARE(emulation_faults, EMULATION_FAULTS),
	CACHE(l1_dcache_loads, L1D, READ, ACCESS),
	CACHE(l1_dcache_load_misses, L1D, READ, MISS),
	CACHE(PAPI_l1_ldm, L1D, READ, MISS),
	CACHE(l1_dcache_stores, L1D, WRITE, ACCESS),
	CACHE(l1_dcache_store_misses, L1D, WRITE, MISS),
	CACHE(PAPI_l1_stm, L1D, WRITE, MISS),
	CACHE(l1_dcache_prefetches, L1D, PREFETCH, ACCESS),
	CACHE(l1_dcache_prefetch_misses, L1D, PREFETCH, MISS),
	CACHE(l1_icache_loads, L1I, READ, ACCESS),
	CACHE(l1_icache_load_misses, L1I, READ, MISS),
	CACHE(PAPI_l1_icm, L1I, READ, MISS),
	CACHE(l1_icache_prefetches, L1I, PREFETCH, ACCESS),
	CACHE(l1_icache_prefetch_misses, L1I, PREFETCH, MISS),
	CACHE(llc_loads, LL, READ, ACCESS),
	CACHE(llc_load_misses, LL, READ, MISS),
	CACHE(PAPI_l3_ldm, LL, READ, MISS),
	CACHE(llc_stores, LL, WRITE, ACCESS),
	CACHE(llc_store_misses, LL, WRITE, MISS),
	CACHE(PAPI_l3_stm, LL, WRITE, MISS),
	CACHE(llc_prefetches, LL, PREFETCH, ACCESS),
	CACHE(llc_prefetch_misses, LL, PREFETCH, MISS),
	CACHE(dtlb_loads, DTLB, READ, ACCESS),
	CACHE(dtlb_load_misses, DTLB, READ, MISS),
	CACHE(PAPI_tlb_dm, DTLB, READ, MISS),
	CACHE(dtlb_stores, DTLB, WRITE, ACCESS),
	CACHE(dtlb_store_misses, DTLB, WRITE, MISS),
	CACHE(dtlb_prefetches, DTLB, PREFETCH, ACCESS),
	CACHE(dtlb_prefetch_misses, DTLB, PREFETCH, MISS),
	CACHE(itlb_loads, ITLB, READ, ACCESS),
	CACHE(itlb_load_misses, ITLB, READ, MISS),
	CACHE(PAPI_tlb_im, ITLB, READ, MISS),
	CACHE(branch_loads, BPU, READ, ACCESS),
	CACHE(branch_load_misses, BPU, READ, MISS),
	CACHE(node_loads, NODE, READ, ACCESS),
	CACHE(node_load_misses, NODE, READ, MISS),
	CACHE(node_stores, NODE, WRITE, ACCESS),
	CACHE(node_store_misses, NODE, WRITE, MISS),
	CACHE(node_prefetches, NODE, PREFETCH, ACCESS),
	CACHE(node_prefetch_misses, NODE, PREFETCH, MISS),
};

static const char *const modes[] = {
	[VP_CPC_ALL] = "all", [VP_CPC_USER] = "user", [VP_CPC_KERNEL] = "kernel"
};

const char *vp_cpc_event_name(size_t i)
{
	return i < OT_ARRAY_SIZE(events) ? events[i].name : NULL;
}

/* --- a name's parts --------------------------------------------------------------------------------------- */

static bool is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(text, word, len);
}

/* r and 1 to 16 hexadecimal digits. */
static bool parse_raw(const char *text, size_t len, struct vp_cpc_event *ret)
{
	uint64_t config = 0;

	if (len < 2 || len > 17 || text[0] != 'r')
		return false;
	for (size_t i = 1; i < len; i++) {
		const char *digits = "0123456789abcdef", *at = strchr(digits, text[i]);
		if (!at)
			return false;
		config = config << 4 | (uint64_t)(at - digits);
	}
	ret->type = PERF_TYPE_RAW;
	ret->config = config;
	return true;
}

/* The names of the kernel's header have these before what perf(1) lists. */
static size_t prefix_length(const char *text, size_t len)
{
	static const char *const prefixes[] = { "perf_count_hw_", "perf_count_sw_" };

	for (size_t i = 0; i < OT_ARRAY_SIZE(prefixes); i++)
		if (len > strlen(prefixes[i]) && !memcmp(text, prefixes[i], strlen(prefixes[i])))
			return strlen(prefixes[i]);
	return 0;
}

static bool parse_event(const char *text, size_t len, struct vp_cpc_event *ret)
{
	size_t prefix = prefix_length(text, len);

	text += prefix;
	len -= prefix;
	for (size_t i = 0; i < OT_ARRAY_SIZE(events); i++) {
		if (!is_word(text, len, events[i].name))
			continue;
		ret->type = events[i].type;
		ret->config = events[i].config;
		return true;
	}
	return parse_raw(text, len, ret);
}

static bool parse_mode(const char *text, size_t len, struct vp_cpc_event *ret)
{
	for (uint32_t i = 0; i < OT_ARRAY_SIZE(modes); i++) {
		if (!is_word(text, len, modes[i]))
			continue;
		ret->mode = i;
		return true;
	}
	return false;
}

/* The first error in a name. */
enum fault { FINE, NO_EVENT, NO_MODE, NO_COUNT, BAD_COUNT };

struct parts {
	const char *event, *mode, *count;
	size_t event_len, mode_len;
};

static enum fault parse(const char *name, struct parts *p, struct vp_cpc_event *ret)
{
	*p = (struct parts){ .event = name, .event_len = strcspn(name, "-") };
	*ret = (struct vp_cpc_event){ 0 };
	if (!parse_event(name, p->event_len, ret))
		return NO_EVENT;
	name += p->event_len;
	p->mode = name + (*name == '-');
	p->mode_len = strcspn(p->mode, "-");
	if (!parse_mode(p->mode, p->mode_len, ret))
		return NO_MODE;
	name = p->mode + p->mode_len;
	p->count = name + (*name == '-');
	name = p->count;
	if (!vp_parsed_name_number(&name, &ret->period) || *name)
		return NO_COUNT;
	return vp_cpc_is_valid(ret) ? FINE : BAD_COUNT;
}

bool vp_cpc_parse(const char *name, struct vp_cpc_event *ret)
{
	struct vp_cpc_event event;
	struct parts p;

	if (parse(name, &p, &event) != FINE)
		return false;
	*ret = event;
	return true;
}

/* --- what is wrong ---------------------------------------------------------------------------------------- */

static const char *nearest(const struct parts *p)
{
	struct ot_near near;
	char word[40];

	if (!p->event_len || p->event_len >= sizeof(word))
		return NULL;
	snprintf(word, sizeof(word), "%.*s", (int)p->event_len, p->event);
	ot_near_init(&near, word);
	for (size_t i = 0; i < OT_ARRAY_SIZE(events); i++)
		ot_near_offer(&near, events[i].name);
	return ot_near_best(&near);
}

bool vp_cpc_hint(const char *name, struct ot_buf *out)
{
	struct vp_cpc_event event;
	struct parts p;
	const char *near;

	switch (parse(name, &p, &event)) {
	case NO_EVENT:
		near = nearest(&p);
		if (near)
			ot_buf_printf(out, "did you mean the event %s? ", near);
		ot_buf_printf(out, "`outsight -lv -P cpc` lists them, and a raw one is r1c2");
		return true;
	case NO_MODE:
		ot_buf_printf(out, "a mode is user, kernel or all: cpc:::%.*s-all-1000000", (int)p.event_len,
			      p.event);
		return true;
	case NO_COUNT:
		ot_buf_printf(out, "a count is a decimal number: cpc:::%.*s-%.*s-1000000", (int)p.event_len,
			      p.event, (int)p.mode_len, p.mode);
		return true;
	case BAD_COUNT:
		ot_buf_printf(
		    out, "the count is too %s, %llu is the %s: cpc:::%.*s-%.*s-%llu",
		    event.period > VP_CPC_MOST ? "large" : "small",
		    (unsigned long long)(event.period > VP_CPC_MOST ? VP_CPC_MOST : vp_cpc_least(&event)),
		    event.period > VP_CPC_MOST ? "largest" : "smallest", (int)p.event_len, p.event,
		    (int)p.mode_len, p.mode,
		    (unsigned long long)(event.period > VP_CPC_MOST ? VP_CPC_MOST : vp_cpc_least(&event)));
		return true;
	case FINE:
		break;
	}
	return false;
}
