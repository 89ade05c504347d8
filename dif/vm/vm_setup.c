/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Creating and freeing a virtual machine. Separate from the interpreter, which is on the hit path and must
 * not allocate.
 */
#include <stdlib.h>
#include <sys/random.h>

#include "dif/vm/vm.h"
#include "dif/vm/vm_priv.h"

#define STRSIZE_MAX (1u << 20)
#define SCRATCH_MAX (256u << 20)

static struct ot_err *alloc_buffers(struct dif_vm *vm, const struct dif_vm_config *config)
{
	struct dif_vm_priv *p = vm->priv;
	uint32_t locals = config->vars ? config->vars->locals_size : 0;

	p->tmp[0] = calloc(1, config->strsize + 1);
	p->tmp[1] = calloc(1, config->strsize + 1);
	p->strtok = calloc(1, config->strsize + 1);
	p->key_cap = config->dynvars ? dif_dynvars_key_size(config->dynvars) : 0;
	p->key = calloc(1, p->key_cap + 8);
	p->scratch_size = config->scratch_size;
	vm->seg[DIF_SEG_SCRATCH].base = calloc(1, (size_t)config->scratch_size + 8);
	vm->seg[DIF_SEG_LOCALS].base = calloc(1, locals + 8);
	if (!p->tmp[0] || !p->tmp[1] || !p->strtok || !p->key || !vm->seg[DIF_SEG_SCRATCH].base ||
	    !vm->seg[DIF_SEG_LOCALS].base)
		return ot_err_nomem();
	vm->seg[DIF_SEG_SCRATCH].size = config->scratch_size;
	vm->seg[DIF_SEG_LOCALS].size = locals;
	return NULL;
}

struct ot_err *dif_vm_init(struct dif_vm *vm, const struct dif_vm_config *config)
{
	static const struct dif_var_layout no_vars;
	size_t size;

	if (!config->strsize || config->strsize > STRSIZE_MAX || config->scratch_size > SCRATCH_MAX)
		return ot_err_new(OT_ERR_LIMIT, "strsize of %u or scratch of %u bytes", config->strsize,
				  config->scratch_size);
	if (config->vars && config->vars->globals_size && !config->globals)
		return ot_err_new(OT_ERR_INTERNAL, "no memory for global variables");
	*vm = (struct dif_vm){ .ops = config->ops, .env = config->env };
	vm->vars = config->vars ? config->vars : &no_vars;
	vm->dynvars = config->dynvars;
	vm->vcpu = config->vcpu;
	vm->strsize = config->strsize;
	vm->priv = calloc(1, sizeof(struct dif_vm_priv));
	if (!vm->priv)
		return ot_err_nomem();
	struct ot_err *err = alloc_buffers(vm, config);
	if (err) {
		dif_vm_deinit(vm);
		return err;
	}
	vm->seg[DIF_SEG_GLOBALS].base = config->globals;
	vm->seg[DIF_SEG_GLOBALS].size = config->globals ? vm->vars->globals_size : 0;
	if (vm->dynvars) {
		vm->seg[DIF_SEG_DYNVARS].base = dif_dynvars_mem(vm->dynvars, &size);
		vm->seg[DIF_SEG_DYNVARS].size = size;
	}
	for (int seg = 0; seg < DIF_NSEGS; seg++) {
		vm->seg[seg].writable = seg >= DIF_SEG_SCRATCH;
		if (!vm->seg[seg].base)
			vm->seg[seg].base = dif_vm_nothing;
	}
	if (getrandom(vm->rand_state, sizeof(vm->rand_state), 0) != (ssize_t)sizeof(vm->rand_state))
		vm->rand_state[0] = (uintptr_t)vm;
	vm->rand_state[1] |= 1; /* the generator needs one bit set */
	return NULL;
}

void dif_vm_deinit(struct dif_vm *vm)
{
	struct dif_vm_priv *p = vm->priv;

	if (p) {
		free(p->tmp[0]);
		free(p->tmp[1]);
		free(p->strtok);
		free(p->key);
		free(p);
	}
	if (vm->seg[DIF_SEG_SCRATCH].base != dif_vm_nothing)
		free(vm->seg[DIF_SEG_SCRATCH].base);
	if (vm->seg[DIF_SEG_LOCALS].base != dif_vm_nothing)
		free(vm->seg[DIF_SEG_LOCALS].base);
	*vm = (struct dif_vm){ 0 };
}
