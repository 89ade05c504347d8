/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interpreter: threaded dispatch over the encoded instructions, whose fields are cheap to extract. Simple
 * instructions use only registers; those that can fault check vm->fault afterwards.
 *
 * Registers, tables and the program counter are not checked here, because the verifier has checked them.
 */
#include "dif/vm/vm.h"

#include "dif/vm/vm_priv.h"

uint8_t dif_vm_nothing[8];

void dif_vm_begin(struct dif_vm *vm, uint64_t fuel)
{
	struct dif_vm_priv *p = vm->priv;

	vm->fuel = fuel;
	vm->strtok_at = 0;
	p->thread_known = false;
	dif_vm_begin_clause(vm);
}

void dif_vm_begin_clause(struct dif_vm *vm)
{
	struct dif_vm_priv *p = vm->priv;

	vm->scratch_used = 0;
	p->clause++;
}

/* --- slower instructions ----------------------------------------------------------------- */

static uint64_t load_array(struct dif_vm *vm, uint32_t id, uint64_t index)
{
	enum dif_fault fault = DIF_FAULT_NONE;
	uint64_t value = vm->ops->array(vm->env, id, index, &fault);

	if (ot_likely(!fault))
		return value;
	dif_vm_raise(vm, fault, 0);
	return 0;
}

/* Loads from the window are inline in the loop; this is for guest memory, and for errors. */
static uint64_t load_guest(struct dif_vm *vm, uint64_t addr, uint32_t size, bool user)
{
	uint64_t value = 0;

	if (!dif_window_has(addr) && vm->ops->load(vm->env, addr, &value, size, user))
		return value;
	dif_vm_raise(vm, DIF_FAULT_BADADDR, addr);
	return 0;
}

static void store(struct dif_vm *vm, uint64_t addr, uint64_t value, uint32_t size)
{
	uint8_t *dst = dif_mem_writable(vm, addr, size);

	if (!dst)
		dif_vm_raise(vm, DIF_FAULT_BADADDR, addr);
	else if (addr & (size - 1))
		dif_vm_raise(vm, DIF_FAULT_BADALIGN, addr);
	else
		memcpy(dst, &value, size);
}

/* NULL counts as the empty string. */
static bool compare_operand(struct dif_vm *vm, uint64_t addr, char *buf, struct dif_str *ret)
{
	if (addr)
		return dif_mem_string(vm, addr, vm->strsize, false, buf, ret);
	*ret = (struct dif_str){ "", 0 };
	return true;
}

/* Compare as unsigned bytes: <0, 0, >0; 0 if vm->fault is set. */
static int compare_strings(struct dif_vm *vm, uint64_t a, uint64_t b)
{
	struct dif_vm_priv *p = vm->priv;
	struct dif_str x, y;

	if (!compare_operand(vm, a, p->tmp[0], &x) || !compare_operand(vm, b, p->tmp[1], &y))
		return 0;
	int d = memcmp(x.s, y.s, x.len < y.len ? x.len : y.len);
	return d ? d : (x.len > y.len) - (x.len < y.len);
}

static uint64_t alloc_scratch(struct dif_vm *vm, uint64_t size)
{
	uint64_t addr;
	void *mem = dif_scratch_alloc(vm, size, &addr);

	if (!mem || !dif_vm_burn(vm, size))
		return 0;
	memset(mem, 0, size);
	return addr;
}

/* --- the loop ------------------------------------------------------------------------------ */

/* The condition codes of the published model: n is the sign of the wrapped difference, and v is always 0, so
 * INT64_MIN < 1 is false. */
struct cond {
	bool n, z, c;
};

#define R1 r[dif_insn_r1(insn)]
#define R2 r[dif_insn_r2(insn)]
#define RD r[dif_insn_rd(insn)]

#define NEXT()                                   \
	do {                                     \
		insn = text[++pc];               \
		goto *labels[dif_insn_op(insn)]; \
	} while (0)
#define NEXT_IF_OK()                        \
	do {                                \
		if (ot_unlikely(vm->fault)) \
			goto fault;         \
		NEXT();                     \
	} while (0)
#define BRANCH_IF(cond)                                      \
	do {                                                 \
		pc = (cond) ? dif_insn_label(insn) : pc + 1; \
		insn = text[pc];                             \
		goto *labels[dif_insn_op(insn)];             \
	} while (0)
#define DIVIDE(expr)                                            \
	do {                                                    \
		if (ot_unlikely(!R2)) {                         \
			dif_vm_raise(vm, DIF_FAULT_DIVZERO, 0); \
			goto fault;                             \
		}                                               \
		RD = (expr);                                    \
		NEXT();                                         \
	} while (0)
#define LOAD(type, user)                                                                                    \
	do {                                                                                                \
		uint64_t load_addr = R1;                                                                    \
		const uint8_t *load_at;                                                                     \
		if (dif_window_has(load_addr) && (load_at = dif_mem_window(vm, load_addr, sizeof(type)))) { \
			type load_value;                                                                    \
			memcpy(&load_value, load_at, sizeof(type));                                         \
			RD = (uint64_t)(int64_t)load_value;                                                 \
			NEXT();                                                                             \
		}                                                                                           \
		RD = (uint64_t)(int64_t)(type)load_guest(vm, load_addr, sizeof(type), user);                \
		NEXT_IF_OK();                                                                               \
	} while (0)
#define STORE(size)                      \
	do {                             \
		store(vm, RD, R1, size); \
		NEXT_IF_OK();            \
	} while (0)
/* Shift counts are modulo 64, as in the processor. */
#define SHIFT (R2 & 63)

enum dif_fault dif_vm_eval(struct dif_vm *vm, const struct dif_object *obj, uint64_t *ret)
{
	static const void *const labels[] = {
#define X(num, name, class) [num] = &&op_##name,
		DIF_OPCODES(X)
#undef X
	};
	struct dif_vm_priv *p = vm->priv;
	const uint32_t *text = obj->text;
	uint64_t r[DIF_NREGS] = { 0 };
	struct cond f = { false, false, false };
	uint32_t pc = 0, insn;
	int order;

	*ret = 0;
	vm->fault = DIF_FAULT_NONE;
	vm->fault_addr = 0;
	p->ntuple = 0;
	vm->seg[DIF_SEG_STRTAB] =
	    (struct dif_seg){ obj->strs ? (uint8_t *)obj->strs : dif_vm_nothing, obj->str_len, false };
	/* All branches are forward, so the length bounds the number of instructions executed. */
	if (ot_unlikely(vm->fuel < obj->text_len)) {
		vm->fuel = 0;
		dif_vm_raise(vm, DIF_FAULT_ILLOP, 0);
		goto fault;
	}
	vm->fuel -= obj->text_len;
	insn = text[0];
	goto *labels[dif_insn_op(insn)];

op_or:
	RD = R1 | R2;
	NEXT();
op_xor:
	RD = R1 ^ R2;
	NEXT();
op_and:
	RD = R1 & R2;
	NEXT();
op_sll:
	RD = R1 << SHIFT;
	NEXT();
op_srl:
	RD = R1 >> SHIFT;
	NEXT();
op_sra:
	RD = (uint64_t)((int64_t)R1 >> SHIFT);
	NEXT();
op_sub:
	RD = R1 - R2;
	NEXT();
op_add:
	RD = R1 + R2;
	NEXT();
op_mul:
	RD = R1 * R2;
	NEXT();
op_sdiv: /* division by -1 is a negation, because INT64_MIN / -1 traps on the host */
	DIVIDE(R2 == UINT64_MAX ? -R1 : (uint64_t)((int64_t)R1 / (int64_t)R2));
op_udiv:
	DIVIDE(R1 / R2);
op_srem:
	DIVIDE(R2 == UINT64_MAX ? 0 : (uint64_t)((int64_t)R1 % (int64_t)R2));
op_urem:
	DIVIDE(R1 % R2);
op_not:
	RD = ~R1;
	NEXT();
op_mov:
	RD = R1;
	NEXT();
op_cmp : {
	uint64_t a = R1, b = R2;
	f = (struct cond){ (int64_t)(a - b) < 0, a == b, a < b };
	NEXT();
}
op_tst:
	f = (struct cond){ false, R1 == 0, false };
	NEXT();
op_ba:
	BRANCH_IF(true);
op_be:
	BRANCH_IF(f.z);
op_bne:
	BRANCH_IF(!f.z);
op_bg:
	BRANCH_IF(!(f.z | f.n));
op_bgu:
	BRANCH_IF(!(f.c | f.z));
op_bge:
	BRANCH_IF(!f.n);
op_bgeu:
	BRANCH_IF(!f.c);
op_bl:
	BRANCH_IF(f.n);
op_blu:
	BRANCH_IF(f.c);
op_ble:
	BRANCH_IF(f.z | f.n);
op_bleu:
	BRANCH_IF(f.c | f.z);
op_ldsb:
op_rldsb:
	LOAD(int8_t, false);
op_ldsh:
op_rldsh:
	LOAD(int16_t, false);
op_ldsw:
op_rldsw:
	LOAD(int32_t, false);
op_ldub:
op_rldub:
	LOAD(uint8_t, false);
op_lduh:
op_rlduh:
	LOAD(uint16_t, false);
op_lduw:
op_rlduw:
	LOAD(uint32_t, false);
op_ldx:
op_rldx:
	LOAD(uint64_t, false);
op_uldsb:
	LOAD(int8_t, true);
op_uldsh:
	LOAD(int16_t, true);
op_uldsw:
	LOAD(int32_t, true);
op_uldub:
	LOAD(uint8_t, true);
op_ulduh:
	LOAD(uint16_t, true);
op_ulduw:
	LOAD(uint32_t, true);
op_uldx:
	LOAD(uint64_t, true);
op_ret:
	*ret = RD;
	return DIF_FAULT_NONE;
op_nop:
	NEXT();
op_setx:
	RD = obj->ints[dif_insn_idx(insn)];
	NEXT();
op_sets:
	RD = dif_window_addr(DIF_SEG_STRTAB, dif_insn_idx(insn));
	NEXT();
op_scmp:
	order = compare_strings(vm, R1, R2);
	f = (struct cond){ order < 0, order == 0, false };
	NEXT_IF_OK();
op_ldga:
	RD = load_array(vm, dif_insn_r1(insn), R2);
	NEXT_IF_OK();
op_ldgs:
	RD = dif_insn_idx(insn) < DIF_VAR_USER_MIN
		 ? dif_var_builtin(vm, dif_insn_idx(insn))
		 : dif_var_load_static(vm, DIF_SCOPE_GLOBAL, dif_insn_idx(insn));
	NEXT_IF_OK();
op_stgs:
	dif_var_store_static(vm, DIF_SCOPE_GLOBAL, dif_insn_idx(insn), RD);
	NEXT_IF_OK();
op_ldls:
	RD = dif_var_load_static(vm, DIF_SCOPE_LOCAL, dif_insn_idx(insn));
	NEXT_IF_OK();
op_stls:
	dif_var_store_static(vm, DIF_SCOPE_LOCAL, dif_insn_idx(insn), RD);
	NEXT_IF_OK();
op_ldts:
	RD = dif_var_load_dynamic(vm, DIF_SCOPE_THREAD, dif_insn_idx(insn), false);
	NEXT_IF_OK();
op_stts:
	dif_var_store_dynamic(vm, DIF_SCOPE_THREAD, dif_insn_idx(insn), false, RD);
	NEXT_IF_OK();
op_ldgaa:
	RD = dif_var_load_dynamic(vm, DIF_SCOPE_GLOBAL, dif_insn_idx(insn), true);
	NEXT_IF_OK();
op_ldtaa:
	RD = dif_var_load_dynamic(vm, DIF_SCOPE_THREAD, dif_insn_idx(insn), true);
	NEXT_IF_OK();
op_stgaa:
	dif_var_store_dynamic(vm, DIF_SCOPE_GLOBAL, dif_insn_idx(insn), true, RD);
	NEXT_IF_OK();
op_sttaa:
	dif_var_store_dynamic(vm, DIF_SCOPE_THREAD, dif_insn_idx(insn), true, RD);
	NEXT_IF_OK();
op_call:
	RD = dif_subr_call(vm, dif_insn_idx(insn));
	NEXT_IF_OK();
op_pushtr:
	dif_tuple_push(vm, dif_insn_r1(insn), RD, R2, true);
	NEXT_IF_OK();
op_pushtv:
	dif_tuple_push(vm, dif_insn_r1(insn), RD, R2, false);
	NEXT_IF_OK();
op_popts:
	p->ntuple -= p->ntuple > 0;
	NEXT();
op_flushts:
	p->ntuple = 0;
	NEXT();
op_allocs:
	RD = alloc_scratch(vm, R1);
	NEXT_IF_OK();
op_copys:
	dif_mem_copy(vm, R1, RD, R2, false);
	NEXT_IF_OK();
op_stb:
	STORE(1);
op_sth:
	STORE(2);
op_stw:
	STORE(4);
op_stx:
	STORE(8);
op_ldta:  /* reserved in the published model */
op_xlate: /* not in verified objects, nor is xlarg */
op_xlarg:
	dif_vm_raise(vm, DIF_FAULT_ILLOP, 0);
fault:
	vm->fault_offset = pc * 4;
	return vm->fault;
}

/* The address of a constant of the object that was evaluated is good for that object only. */
static void keep_constant(struct dif_vm *vm, uint64_t *addr)
{
	struct dif_str text;

	if (!dif_window_has(*addr) || (*addr >> 40 & 0xff) != DIF_SEG_STRTAB)
		return;
	if (dif_mem_string(vm, *addr, vm->strsize, false, NULL, &text))
		*addr = dif_scratch_string(vm, text.s, text.len);
	if (vm->fault)
		*addr = 0;
}

enum dif_fault dif_vm_eval_within(struct dif_vm *vm, const struct dif_object *obj, uint64_t *ret)
{
	struct dif_vm_priv *p = vm->priv;
	const struct dif_seg strtab = vm->seg[DIF_SEG_STRTAB];
	const unsigned ntuple = p->ntuple;
	struct dif_tuple tuple[DIF_NTUPLE];

	memcpy(tuple, p->tuple, ntuple * sizeof(tuple[0]));
	enum dif_fault fault = dif_vm_eval(vm, obj, ret);
	if (fault == DIF_FAULT_NONE && obj->ret.flags & DIF_TF_BYREF) {
		keep_constant(vm, ret);
		fault = vm->fault;
	}
	memcpy(p->tuple, tuple, ntuple * sizeof(tuple[0]));
	p->ntuple = ntuple;
	vm->seg[DIF_SEG_STRTAB] = strtab;
	return fault;
}
