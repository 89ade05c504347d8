/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walking the kernel's lists of modules and of modules' types. */
#include "vmm-probe/guest/modules.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/guest/budget.h"

/* enum module_state, include/linux/module.h */
#define STATE_LIVE     0
#define STATE_COMING   1
#define STATE_UNFORMED 3
#define KERNEL_HALF    vp_native_paging.kernel_half

/* A copy of a struct module, up to the last member that is read. */
struct raw {
	uint8_t bytes[VP_MODULE_STRUCT_MAX];
	size_t len;
};

static uint64_t get(const struct raw *raw, uint32_t off, size_t size)
{
	uint64_t v = 0;

	if (off != VP_MODULE_NONE && off + size <= raw->len)
		memcpy(&v, raw->bytes + off, size);
	return v;
}

/* The offset after the last member of struct module that is read. */
static size_t layout_span(const struct vp_module_layout *l)
{
	const uint32_t ends[] = {
		l->list,       l->name + l->name_size,
		l->state,      l->kallsyms,
		l->core_base,  l->core_size,
		l->init_base,  l->init_size,
		l->percpu,     l->percpu_size,
		l->btf_data,   l->btf_data_size,
		l->num_orcs,   l->orc_unwind_ip,
		l->orc_unwind, l->syms,
		l->num_syms,   l->mem == VP_MODULE_NONE ? 0 : l->mem + l->mem_count * l->mem_stride,
	};
	size_t span = 0;

	for (size_t i = 0; i < OT_ARRAY_SIZE(ends); i++) {
		if (ends[i] != VP_MODULE_NONE && ends[i] + 8 > span)
			span = ends[i] + 8;
	}
	return span < VP_MODULE_STRUCT_MAX ? span : VP_MODULE_STRUCT_MAX;
}

static void add_range(struct vp_module *module, uint64_t start, uint64_t size)
{
	if (!start || !size || start < KERNEL_HALF || size > VP_MODULE_SIZE_MAX || start + size < start ||
	    module->nranges == VP_MODULE_RANGES_MAX)
		return;
	module->ranges[module->nranges++] = (struct vp_module_range){ start, start + size };
}

static void parse_ranges(const struct raw *raw, const struct vp_module_layout *l, struct vp_module *module)
{
	if (l->mem != VP_MODULE_NONE) {
		for (uint32_t i = 0; i < l->mem_count; i++) {
			uint32_t at = l->mem + i * l->mem_stride;

			add_range(module, get(raw, at + l->mem_base, 8), get(raw, at + l->mem_size, 4));
		}
		return;
	}
	add_range(module, get(raw, l->core_base, 8), get(raw, l->core_size, 4));
	add_range(module, get(raw, l->init_base, 8), get(raw, l->init_size, 4));
}

/* False: the bytes are not a module with a valid name, or it has no memory yet. */
static bool parse_module(const struct raw *raw, const struct vp_module_layout *l, struct vp_module *module)
{
	uint64_t state = get(raw, l->state, 4);
	size_t len;

	if (l->name > raw->len || l->name_size > raw->len - l->name)
		return false;
	len = strnlen((const char *)raw->bytes + l->name, l->name_size);
	if (!len || len >= l->name_size || state >= STATE_UNFORMED)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!isgraph(raw->bytes[l->name + i]))
			return false;
	}
	memcpy(module->name, raw->bytes + l->name, len);
	module->live = state == STATE_LIVE;
	module->formed = module->live || state == STATE_COMING;
	parse_ranges(raw, l, module);
	module->percpu = get(raw, l->percpu, 8);
	module->percpu_size = get(raw, l->percpu_size, 4);
	module->btf_data = vp_gva(get(raw, l->btf_data, 8));
	module->btf_size = get(raw, l->btf_data_size, 4);
	module->num_orcs = get(raw, l->num_orcs, 4);
	module->orc_ip = vp_gva(get(raw, l->orc_unwind_ip, 8));
	module->orc_unwind = vp_gva(get(raw, l->orc_unwind, 8));
	return module->nranges > 0;
}

bool vp_modules_guests_fault(struct ot_err *err, struct ot_err **ret_err)
{
	enum ot_err_code code = err ? ot_err_code(err) : 0;

	*ret_err = err;
	if (code != OT_ERR_FAULT && code != OT_ERR_BAD_DATA && code != OT_ERR_LIMIT &&
	    code != OT_ERR_NOT_FOUND)
		return false;
	if (code == OT_ERR_LIMIT && vp_budget_is_over()) /* for all that follow too */
		return false;
	ot_err_destroy(err);
	*ret_err = NULL;
	return true;
}

/* Since 5.11 the kernel keeps a list of the modules' types, btf_modules in kernel/bpf/btf.c, and clears
 * btf_data in struct module. */
static struct ot_err *read_btf_list(const struct vp_phys *phys, struct vp_mmu *mmu, uint64_t head,
				    const struct vp_module_layout *l, struct vp_modules *modules)
{
	uint64_t node, total = 0;

	if (!head || l->bm_list == VP_MODULE_NONE || l->bm_btf == VP_MODULE_NONE ||
	    l->bm_module == VP_MODULE_NONE || l->btf_blob == VP_MODULE_NONE ||
	    l->btf_blob_size == VP_MODULE_NONE)
		return NULL;
	OT_TRY(vp_mmu_read(phys, mmu, vp_gva(head), &node, 8));
	for (size_t seen = 0; node != head && seen < VP_SYMTAB_MODULES; seen++) {
		uint64_t entry = node - l->bm_list, btf, module, data;
		uint32_t size;

		OT_TRY(vp_mmu_read(phys, mmu, vp_gva(entry + l->bm_btf), &btf, 8));
		OT_TRY(vp_mmu_read(phys, mmu, vp_gva(entry + l->bm_module), &module, 8));
		OT_TRY(vp_mmu_read(phys, mmu, vp_gva(btf + l->btf_blob), &data, 8));
		OT_TRY(vp_mmu_read(phys, mmu, vp_gva(btf + l->btf_blob_size), &size, 4));
		for (size_t i = 0; i < modules->count; i++) {
			if (modules->list[i].addr.v != module || size > VP_MODULE_BTF_MAX - total)
				continue;
			total += size;
			modules->list[i].btf_data = vp_gva(data);
			modules->list[i].btf_size = size;
		}
		OT_TRY(vp_mmu_read(phys, mmu, vp_gva(node), &node, 8));
	}
	return NULL;
}

struct ot_err *vp_modules_read_btf(const struct vp_phys *phys, struct vp_mmu *mmu, struct vp_gva head,
				   const struct vp_module_layout *layout, struct vp_modules *modules)
{
	struct ot_err *err = read_btf_list(phys, mmu, head.v, layout, modules);

	(void)vp_modules_guests_fault(err, &err); /* those found before a fault are kept */
	return err;
}

/* Ranges in a hostile list may overlap: this bounds the sum of all modules. */
static bool within_total(const struct vp_module *module, uint64_t *total)
{
	uint64_t size = 0;

	for (size_t i = 0; i < module->nranges; i++)
		size += module->ranges[i].end - module->ranges[i].start;
	if (size > VP_MODULES_TOTAL_MAX - *total)
		return false;
	*total += size;
	return true;
}

struct ot_err *vp_modules_read(const struct vp_phys *phys, struct vp_mmu *mmu, struct vp_gva head,
			       const struct vp_module_layout *layout, struct vp_modules *ret)
{
	ot_auto(vp_modules_deinit) struct vp_modules modules = { 0 };
	ot_auto_free struct raw *raw = malloc(sizeof(*raw));
	uint64_t node, total = 0;
	size_t cap = 0;

	if (!raw)
		return ot_err_nomem();
	raw->len = layout_span(layout);
	OT_TRY(vp_mmu_read(phys, mmu, head, &node, sizeof(node)));
	for (size_t seen = 0; node != head.v; seen++) {
		struct vp_module module = { .addr = vp_gva(node - layout->list) };
		struct ot_err *err;

		if (seen == VP_SYMTAB_MODULES - 1)
			return ot_err_new(OT_ERR_BAD_DATA, "the guest's list of modules does not end");
		err = vp_mmu_read(phys, mmu, module.addr, raw->bytes, raw->len);
		if (vp_modules_guests_fault(err, &err)) {
			modules.skipped++;
			modules.torn = true; /* the unreadable node has the link to the next one */
			break;
		}
		OT_TRY(err);
		node = get(raw, layout->list, 8);
		if (!parse_module(raw, layout, &module) || !within_total(&module, &total)) {
			modules.skipped++;
			continue;
		}
		if (!ot_grow(&modules.list, &cap, modules.count + 1, sizeof(module)))
			return ot_err_nomem();
		modules.list[modules.count++] = module;
	}
	*ret = modules;
	memset(&modules, 0, sizeof(modules));
	return NULL;
}

void vp_modules_deinit(struct vp_modules *modules)
{
	free(modules->list);
	memset(modules, 0, sizeof(*modules));
}

uint64_t vp_module_room(const struct vp_module *module, uint64_t addr)
{
	for (size_t i = 0; i < module->nranges; i++) {
		if (addr >= module->ranges[i].start && addr < module->ranges[i].end)
			return module->ranges[i].end - addr;
	}
	return 0;
}
