/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the agent's header, catalogue and rings from guest memory. */
#include "vmm-probe/guest/agent.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/guest/guest_internal.h"

#define CPUS_MAX 8192u
#define TRIES    5 /* the catalogue changes when a module with tracepoints is loaded or unloaded */

#define OTHER_VERSION                                                                                  \
	"the guest's agent is of version %u, and this outsight of %u: build the module from the "      \
	"sources of this outsight (`make -C guest-agent KDIR=/lib/modules/VERSION/build`) and load it" \
	" in the guest (`rmmod %s; insmod %s.ko`)"

#define NO_RING                                                                                  \
	"the guest's agent has no ring for any CPU and can report nothing: the guest could not " \
	"allocate them; load it again with smaller ones (`rmmod %s; insmod %s.ko ring_kib=64`)"

#define KERNEL_HALF vp_native_paging.kernel_half

struct ot_err *vp_agent_check_header(const struct ga_header *h)
{
	if (h->magic != GA_MAGIC)
		return h->magic
			   ? ot_err_new(OT_ERR_BAD_DATA, "the guest's module %s is not an agent", GA_MODULE)
			   : ot_err_new(OT_ERR_BUSY, "the guest's agent is being loaded or unloaded");
	if (h->version != GA_VERSION)
		return ot_err_new(OT_ERR_UNSUPPORTED, OTHER_VERSION, h->version, GA_VERSION, GA_MODULE,
				  GA_MODULE);
	if (h->state != GA_LIVE)
		return ot_err_new(OT_ERR_BUSY, "the guest's agent is being loaded or unloaded");
	if (h->size < sizeof(*h) || h->record_size != sizeof(struct ga_record) || h->nslots != GA_SLOTS ||
	    h->control_size < sizeof(struct ga_control) || !h->token || h->token & 0xff ||
	    h->control_gpa % 4096 || h->nrings > CPUS_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "the header of the guest's agent contradicts its version");
	return NULL;
}

static bool is_name(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = name[i];

		if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_')
			return false;
	}
	return len > 0;
}

bool vp_agent_check_entry(const struct ga_entry *entry, uint32_t slot, struct vp_agent_event *ret)
{
	size_t len = strnlen(entry->name, sizeof(entry->name));

	if (slot >= GA_TRACEPOINTS || (entry->address & KERNEL_HALF) != KERNEL_HALF ||
	    len == sizeof(entry->name) || !is_name(entry->name, len))
		return false;
	*ret = (struct vp_agent_event){ .slot = slot, .address = entry->address, .system = "" };
	memcpy(ret->name, entry->name, len);
	return true;
}

struct ot_err *vp_agent_check_rings(const struct ga_ring_place *places, size_t n, struct vp_agent_cpu *ret,
				    size_t *ret_n)
{
	*ret_n = 0;
	for (size_t i = 0; i < n; i++) {
		const struct ga_ring_place *p = &places[i];

		if (!p->gpa || p->gpa % 4096 || !p->records || p->records & (p->records - 1) ||
		    p->records > GA_RECORDS_MAX)
			continue;
		ret[(*ret_n)++] = (struct vp_agent_cpu){ p->percpu, p->gpa, p->records };
	}
	if (!*ret_n)
		return ot_err_new(OT_ERR_UNSUPPORTED, NO_RING, GA_MODULE, GA_MODULE);
	return NULL;
}

static struct ot_err *read_catalogue(struct vp_guest *guest, struct vp_guest_agent *agent,
				     struct vp_gva header)
{
	ot_auto_free struct ga_entry *entries = malloc(GA_TRACEPOINTS * sizeof(*entries));
	struct vp_gva seq_at = { header.v + offsetof(struct ga_header, catalogue_seq) };

	agent->events = malloc(GA_TRACEPOINTS * sizeof(*agent->events));
	if (!entries || !agent->events)
		return ot_err_nomem();
	for (int i = 0; i < TRIES; i++) {
		uint32_t before, after;

		OT_TRY(vp_guest_read_u32(guest, seq_at, &before));
		OT_TRY(vp_guest_read(guest, vp_gva(agent->header.catalogue_gva), entries,
				     GA_TRACEPOINTS * sizeof(*entries)));
		OT_TRY(vp_guest_read_u32(guest, seq_at, &after));
		if (before != after || before & 1)
			continue;
		for (uint32_t slot = 0; slot < GA_TRACEPOINTS; slot++)
			agent->nevents +=
			    vp_agent_check_entry(&entries[slot], slot, &agent->events[agent->nevents]);
		return NULL;
	}
	return ot_err_new(OT_ERR_BUSY, "the catalogue of the guest's agent keeps changing: try again");
}

static struct ot_err *read_rings(struct vp_guest *guest, struct vp_guest_agent *agent)
{
	size_t n = agent->header.nrings;
	ot_auto_free struct ga_ring_place *places = calloc(n + 1, sizeof(*places));

	agent->cpus = calloc(n + 1, sizeof(*agent->cpus));
	if (!places || !agent->cpus)
		return ot_err_nomem();
	OT_TRY(vp_guest_read(guest, vp_gva(agent->header.rings_gva), places, n * sizeof(*places)));
	return vp_agent_check_rings(places, n, agent->cpus, &agent->ncpus);
}

static struct ot_err *read_agent(struct vp_guest *guest, struct vp_gva at, struct vp_guest_agent *agent)
{
	if (at.v % 4096)
		return ot_err_new(OT_ERR_BAD_DATA, "the guest's module %s is not an agent", GA_MODULE);
	OT_TRY(vp_guest_read(guest, at, &agent->header, sizeof(agent->header)));
	OT_TRY(vp_agent_check_header(&agent->header));
	OT_TRY(vp_mmu_translate(vp_guest_phys(guest), vp_guest_mmu(guest), at, &agent->header_gpa, NULL));
	OT_TRY(read_catalogue(guest, agent, at));
	OT_TRY(read_rings(guest, agent));
	OT_TRY(vp_trace_systems_read(guest, &agent->systems));
	for (size_t i = 0; i < agent->nevents; i++)
		agent->events[i].system = vp_trace_systems_find(&agent->systems, agent->events[i].address);
	return NULL;
}

static void destroy_symtab(struct vp_symtab **tab)
{
	vp_symtab_destroy(*tab);
}

/* The symbols of the agent's module only; NULL: it is not loaded. */
static struct ot_err *read_symbols(struct vp_guest *guest, struct vp_symtab **ret)
{
	ot_auto(vp_modules_deinit) struct vp_modules modules = { 0 };
	ot_auto(destroy_symtab) struct vp_symtab *tab = NULL;
	struct vp_mmu *mmu = &guest->kernel.mmu;
	struct vp_gva head;
	size_t skipped = 0;

	*ret = NULL;
	if (!guest->have_layout)
		return NULL;
	OT_TRY(vp_guest_symbol(guest, "modules", &head));
	OT_TRY(vp_guest_walk_modules(guest, head, &modules));
	for (size_t i = 0; i < modules.count; i++) {
		if (strcmp(modules.list[i].name, GA_MODULE) != 0 || !modules.list[i].live)
			continue;
		OT_TRY(vp_symtab_create(&tab));
		OT_TRY(
		    vp_module_add_symbols(guest->phys, mmu, &guest->layout, &modules.list[i], tab, &skipped));
		OT_TRY(vp_symtab_finish(tab));
		*ret = ot_move(tab);
		return NULL;
	}
	return modules.torn ? ot_err_new(OT_ERR_BUSY, "the guest's list of modules keeps changing: try again")
			    : NULL;
}

static uint64_t function_size(const struct vp_symtab *tab, uint64_t gva)
{
	const struct vp_symbol *sym = vp_symtab_find_addr(tab, vp_gva(gva), NULL);

	return sym && sym->addr == gva ? vp_symbol_size(tab, sym) : 0;
}

static struct ot_err *find_agent(struct vp_guest *guest, struct vp_guest_agent *ret)
{
	ot_auto(destroy_symtab) struct vp_symtab *tab = NULL;
	const struct vp_symbol *sym;

	OT_TRY(read_symbols(guest, &tab));
	sym = tab ? vp_symtab_find(tab, GA_MODULE, GA_SYMBOL) : NULL;
	if (!sym)
		return ot_err_new(OT_ERR_NOT_FOUND, "the guest has no agent: its module %s is not loaded",
				  GA_MODULE);
	OT_TRY(read_agent(guest, vp_gva(sym->addr), ret));
	ret->doorbell = ret->header.doorbell_gva;
	ret->doorbell_size = function_size(tab, ret->doorbell);
	ret->mark = ret->header.mark_gva;
	ret->mark_size = function_size(tab, ret->mark);
	return NULL;
}

struct ot_err *vp_guest_agent_read(struct vp_guest *guest, struct vp_guest_agent *ret)
{
	struct vp_budget budget;

	memset(ret, 0, sizeof(*ret));
	vp_guest_budget_begin(guest, &budget, &vp_readings[VP_READ_AGENT]);
	struct ot_err *err = find_agent(guest, ret);

	vp_budget_end(&budget);
	if (err)
		vp_guest_agent_deinit(ret);
	return err;
}

void vp_guest_agent_deinit(struct vp_guest_agent *agent)
{
	free(agent->events);
	free(agent->cpus);
	vp_trace_systems_deinit(&agent->systems);
	memset(agent, 0, sizeof(*agent));
}
