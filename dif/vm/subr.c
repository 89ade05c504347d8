/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calling subroutines: the body in dif/vm, or the environment. */
#include "dif/vm/vm_priv.h"

bool dif_arg_string(struct dif_vm *vm, unsigned i, struct dif_str *ret)
{
	struct dif_vm_priv *p = vm->priv;

	return dif_mem_string(vm, p->tuple[i].value, vm->strsize, false, p->tmp[i & 1], ret);
}

/* Call a subroutine that only the guest or the session can evaluate. */
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
		/* The first argument is the address. */
		dif_vm_raise(vm, fault, fault == DIF_FAULT_BADADDR ? args[0] : 0);
		return 0;
	}
	if (!text)
		return value;
	return dif_scratch_string(vm, p->tmp[0], (uint32_t)strnlen(p->tmp[0], vm->strsize - 1));
}

/* Dispatch by number: own calls the body, ask the environment. */
uint64_t dif_subr_call(struct dif_vm *vm, uint32_t subr)
{
	uint64_t value = 0;

	if (!dif_vm_burn(vm, 0))
		return 0;
	switch (subr) {
#define CALL_own(name) dif_subr_##name(vm)
#define CALL_ask(name) ask_environment(vm, DIF_SUBR_##name)
#define X(num, name, result, required, optional, since, stability, trait, evaluation, lowering) \
	case num:                                                                               \
		if (dif_nargs(vm) < sizeof(required) - 1)                                       \
			break;                                                                  \
		value = CALL_##evaluation(name);                                                \
		return vm->fault ? 0 : value;
		DIF_SUBRS(X)
#undef X
	}
	dif_vm_raise(vm, DIF_FAULT_ILLOP, 0);
	return 0;
}
