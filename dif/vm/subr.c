/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subroutines: who does which. Their meaning is in the file that each group names. */
#include "dif/vm/vm_priv.h"

bool dif_arg_string(struct dif_vm *vm, unsigned i, struct dif_str *ret)
{
	struct dif_vm_priv *p = vm->priv;

	return dif_mem_string(vm, p->tuple[i].value, vm->strsize, false, p->tmp[i & 1], ret);
}

/* What only the guest or the session can answer. */
static uint64_t ask_environment(struct dif_vm *vm, uint32_t subr)
{
	enum dif_fault fault = DIF_FAULT_NONE;
	struct dif_vm_priv *p = vm->priv;
	bool text = subr == DIF_SUBR_ddi_pathname;
	uint64_t args[DIF_NTUPLE] = { 0 };

	if (!vm->ops->subr) {
		dif_vm_raise(vm, DIF_FAULT_ILLOP, 0);
		return 0;
	}
	for (unsigned i = 0; i < p->ntuple; i++)
		args[i] = p->tuple[i].value;
	p->tmp[0][0] = 0;
	uint64_t value =
	    vm->ops->subr(vm->env, subr, args, p->ntuple, text ? p->tmp[0] : NULL, vm->strsize, &fault);
	if (fault) {
		/* what is asked about stands first */
		dif_vm_raise(vm, fault, fault == DIF_FAULT_BADADDR ? args[0] : 0);
		return 0;
	}
	if (!text)
		return value;
	return dif_scratch_string(vm, p->tmp[0], (uint32_t)strnlen(p->tmp[0], vm->strsize - 1));
}

static uint64_t dispatch(struct dif_vm *vm, enum dif_subr subr)
{
	switch (subr) {
	case DIF_SUBR_strlen:
	case DIF_SUBR_strjoin:
	case DIF_SUBR_strchr:
	case DIF_SUBR_strrchr:
	case DIF_SUBR_strstr:
	case DIF_SUBR_strtok:
	case DIF_SUBR_substr:
	case DIF_SUBR_index:
	case DIF_SUBR_rindex:
	case DIF_SUBR_toupper:
	case DIF_SUBR_tolower:
		return dif_subr_string(vm, subr);
	case DIF_SUBR_basename:
	case DIF_SUBR_dirname:
	case DIF_SUBR_cleanpath:
		return dif_subr_path(vm, subr);
	case DIF_SUBR_d_path:
		return dif_subr_dpath(vm);
	case DIF_SUBR_rand:
	case DIF_SUBR_lltostr:
	case DIF_SUBR_strtoll:
	case DIF_SUBR_getmajor:
	case DIF_SUBR_getminor:
	case DIF_SUBR_htons:
	case DIF_SUBR_htonl:
	case DIF_SUBR_htonll:
	case DIF_SUBR_ntohs:
	case DIF_SUBR_ntohl:
	case DIF_SUBR_ntohll:
		return dif_subr_number(vm, subr);
	case DIF_SUBR_inet_ntop:
	case DIF_SUBR_inet_ntoa:
	case DIF_SUBR_inet_ntoa6:
	case DIF_SUBR_link_ntop:
		return dif_subr_net(vm, subr);
	case DIF_SUBR_copyin:
	case DIF_SUBR_copyinstr:
	case DIF_SUBR_copyinto:
	case DIF_SUBR_copyout:
	case DIF_SUBR_copyoutstr:
	case DIF_SUBR_alloca:
	case DIF_SUBR_bcopy:
	case DIF_SUBR_memref:
	case DIF_SUBR_memstr:
		return dif_subr_mem(vm, subr);
	case DIF_SUBR_json:
		return dif_subr_json(vm);
	case DIF_SUBR_mutex_owned:
	case DIF_SUBR_mutex_owner:
	case DIF_SUBR_mutex_type_adaptive:
	case DIF_SUBR_mutex_type_spin:
	case DIF_SUBR_rw_read_held:
	case DIF_SUBR_rw_write_held:
	case DIF_SUBR_rw_iswriter:
	case DIF_SUBR_speculation:
	case DIF_SUBR_progenyof:
	case DIF_SUBR_msgdsize:
	case DIF_SUBR_msgsize:
	case DIF_SUBR_ddi_pathname:
	case DIF_SUBR_sx_shared_held:
	case DIF_SUBR_sx_exclusive_held:
	case DIF_SUBR_sx_isexclusive:
	case DIF_SUBR_getf:
		return ask_environment(vm, subr);
	}
	dif_vm_raise(vm, DIF_FAULT_ILLOP, 0);
	return 0;
}

uint64_t dif_subr_call(struct dif_vm *vm, uint32_t subr)
{
	unsigned min = 0, max = 0;

	if (!dif_subr_nargs(subr, &min, &max) || dif_nargs(vm) < min || !dif_vm_burn(vm, 0)) {
		dif_vm_raise(vm, DIF_FAULT_ILLOP, 0);
		return 0;
	}
	uint64_t value = dispatch(vm, (enum dif_subr)subr);
	return vm->fault ? 0 : value;
}
