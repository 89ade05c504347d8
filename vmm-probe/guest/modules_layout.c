/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Offsets of members of struct module and related structures, by presence in the kernel's BTF. */
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/modules.h"

struct member {
	const char *type, *path;
	size_t field; /* in struct vp_module_layout */
};

#define MEMBER(t, p, f)                                    \
	{                                                  \
		t, p, offsetof(struct vp_module_layout, f) \
	}

static const struct member indispensable[] = {
	MEMBER("module", "list", list),
	MEMBER("module", "name", name),
	MEMBER("module", "state", state),
};

static const struct member optional[] = {
	MEMBER("module", "kallsyms", kallsyms),
	MEMBER("module", "core_kallsyms", core_kallsyms),
	MEMBER("module", "mem", mem),
	MEMBER("module_memory", "base", mem_base),
	MEMBER("module_memory", "size", mem_size),
	MEMBER("module", "core_layout.base", core_base),
	MEMBER("module", "core_layout.size", core_size),
	MEMBER("module", "init_layout.base", init_base),
	MEMBER("module", "init_layout.size", init_size),
	MEMBER("module", "percpu", percpu),
	MEMBER("module", "percpu_size", percpu_size),
	MEMBER("module", "btf_data", btf_data),
	MEMBER("module", "btf_data_size", btf_data_size),
	MEMBER("btf_module", "list", bm_list),
	MEMBER("btf_module", "btf", bm_btf),
	MEMBER("btf_module", "module", bm_module),
	MEMBER("btf", "data", btf_blob),
	MEMBER("btf", "data_size", btf_blob_size),
	MEMBER("module", "arch.num_orcs", num_orcs),
	MEMBER("module", "arch.orc_unwind_ip", orc_unwind_ip),
	MEMBER("module", "arch.orc_unwind", orc_unwind),
	MEMBER("mod_kallsyms", "symtab", ks_symtab),
	MEMBER("mod_kallsyms", "num_symtab", ks_num_symtab),
	MEMBER("mod_kallsyms", "strtab", ks_strtab),
	MEMBER("mod_kallsyms", "typetab", ks_typetab),
	MEMBER("module", "syms", syms),
	MEMBER("module", "num_syms", num_syms),
	MEMBER("kernel_symbol", "name_offset", export_name),
};

static bool find_member(const struct vp_btf *btf, const struct member *m, struct vp_module_layout *layout)
{
	uint32_t *field = (uint32_t *)((char *)layout + m->field);
	uint32_t off;

	*field = VP_MODULE_NONE;
	if (!vp_btf_member_offset(btf, m->type, m->path, &off, NULL) || off > VP_MODULE_STRUCT_MAX - 8)
		return false;
	*field = off;
	return true;
}

struct ot_err *vp_module_layout_from_btf(const struct vp_btf *btf, struct vp_module_layout *ret)
{
	struct vp_module_layout layout = { 0 };
	uint64_t stride = vp_btf_sizeof(btf, "module_memory");

	for (size_t i = 0; i < OT_ARRAY_SIZE(indispensable); i++) {
		if (!find_member(btf, &indispensable[i], &layout))
			return ot_err_new(OT_ERR_NOT_FOUND, "the guest's BTF has no struct %s.%s",
					  indispensable[i].type, indispensable[i].path);
	}
	for (size_t i = 0; i < OT_ARRAY_SIZE(optional); i++)
		find_member(btf, &optional[i], &layout);

	layout.name_size = vp_btf_array_length(btf, "module", "name");
	if (!layout.name_size || layout.name_size > VP_MODULE_NAME_MAX)
		layout.name_size = VP_MODULE_NAME_MAX;
	layout.mem_count = vp_btf_array_length(btf, "module", "mem");
	if (layout.mem_count > VP_MODULE_RANGES_MAX)
		layout.mem_count = VP_MODULE_RANGES_MAX;
	/* In older kernels `mem` is absent or something else. */
	if (!layout.mem_count || !stride || layout.mem_base == VP_MODULE_NONE ||
	    layout.mem_size == VP_MODULE_NONE ||
	    layout.mem + layout.mem_count * stride > VP_MODULE_STRUCT_MAX)
		layout.mem = VP_MODULE_NONE;
	else
		layout.mem_stride = (uint32_t)stride;
	layout.export_stride = (uint32_t)vp_btf_sizeof(btf, "kernel_symbol");
	if (layout.mem == VP_MODULE_NONE && layout.core_base == VP_MODULE_NONE)
		return ot_err_new(OT_ERR_NOT_FOUND, "the guest's BTF has no address of a module's memory");
	*ret = layout;
	return NULL;
}
