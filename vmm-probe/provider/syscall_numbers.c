/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the number of a system call's function: see syscall_numbers.h. */
#include "vmm-probe/provider/syscall_numbers.h"

#include <string.h>

#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/guest/readings.h"
#include "vmm-probe/provider/registry.h"
#include "vmm-probe/provider/text.h"
#include "vmm-probe/symbolic/dispatch.h"

static const struct vp_symbol *core_symbol(struct vp_probes *probes, const char *name)
{
	return name ? vp_symtab_find(vp_guest_symtab(vp_probes_guest(probes)), "vmlinux", name) : NULL;
}

/* False: there is no such table. */
static bool read_table(struct vp_probes *probes, const char *name, struct vp_syscall_numbers *ret)
{
	struct vp_guest *guest = vp_probes_guest(probes);
	const struct vp_symbol *sym = core_symbol(probes, name);
	uint64_t n = sym ? vp_symbol_size(vp_guest_symtab(guest), sym) / sizeof(uint64_t) : 0;

	n = n < VP_SYSCALLS_MAX ? n : VP_SYSCALLS_MAX;
	if (!n)
		return false;
	struct ot_err *err = vp_guest_read_once(guest, &vp_readings[VP_READ_LISTS], vp_gva(sym->addr),
						ret->functions, n * sizeof(uint64_t));

	ret->n = err ? 0 : (uint32_t)n;
	ot_err_destroy(err);
	return ret->n != 0;
}

static bool is_any_known(struct vp_probes *probes, const char *const *names)
{
	for (; *names; names++)
		if (core_symbol(probes, *names))
			return true;
	return false;
}

void vp_syscall_numbers_read(struct vp_probes *probes, struct vp_syscall_numbers *ret)
{
	const char *const callers[] = { vp_arch_native.syscall_dispatcher, NULL };

	ret->n = 0;
	ret->read = true;
	if (vp_guest_btf(vp_probes_guest(probes)) && is_any_known(probes, callers))
		read_table(probes, vp_arch_native.syscall_table, ret);
}

/* --- by the code --------------------------------------------------------------------------- */

static unsigned text_at(void *arg, uint64_t gva, uint8_t ret[15])
{
	const uint8_t *bytes;
	struct ot_err *err = vp_text_read(arg, gva, 15, &bytes);

	if (!err)
		memcpy(ret, bytes, 15);
	ot_err_destroy(err);
	return err ? 0 : 15;
}

static struct ot_err *read_code(struct vp_probes *probes, const struct vp_symbol *sym,
				struct vp_syscall_numbers *ret)
{
	const struct vp_code_ops *code;
	struct vp_text *text;
	uint8_t bytes[15];
	struct vp_dispatch d = {
		.text = text_at,
		.start = sym->addr,
		.size = vp_symbol_size(vp_guest_symtab(vp_probes_guest(probes)), sym),
		.reg = vp_arch_native.syscall_switch_32.number,
	};

	OT_TRY(vp_arch_code(&vp_arch_native, &code));
	OT_TRY(vp_probes_text(probes, &text));
	OT_TRY(code->executor_create(&d.executor));
	d.arg = text;
	d.hook = d.start + code->entry(bytes, text_at(text, d.start, bytes));
	for (uint32_t i = 0; i < VP_SYSCALLS_MAX; i++)
		ret->functions[i] = vp_dispatch_target(&d, i);
	ret->n = VP_SYSCALLS_MAX;
	vp_executor_destroy(d.executor);
	return NULL;
}

struct ot_err *vp_syscall_numbers_read_32(struct vp_probes *probes, struct vp_syscall_numbers *ret)
{
	const struct vp_symbol *choice = core_symbol(probes, vp_arch_native.syscall_switch_32.function);

	if (ret->read)
		return NULL;
	ret->n = 0;
	if (vp_guest_btf(vp_probes_guest(probes)) &&
	    is_any_known(probes, vp_arch_native.syscall_dispatchers_32) &&
	    !read_table(probes, vp_arch_native.syscall_table_32, ret) && choice)
		OT_TRY(read_code(probes, choice, ret));
	ret->read = true;
	return NULL;
}

uint32_t vp_syscall_number(const struct vp_syscall_numbers *numbers, uint64_t function)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < numbers->n; i++) {
		if (numbers->functions[i] != function)
			continue;
		if (found)
			return 0;
		found = i + 1;
	}
	return found;
}
