/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sentinels: sites in the functions with which Linux reads or patches its own text. Static calls have none:
 * they only write to places of their own, where the planner allows no trap. All functions here are called
 * only from other files, so no compiler can have inlined them.
 *
 * Static keys are toggled often, and only write to their own branches. Their sentinels are sent only with
 * traps on such branches, and their ENTER is where the function's first parameter, the branch's entry in the
 * jump table, is still in its register.
 *
 * The ENTER site follows the function's fentry nop, which the guest may itself be tracing, in the
 * straight-line code at its beginning, where the distance to the return address is known. Each exit has a
 * LEAVE site. A tail jump is no exit: its target has the same return address, and the target's exits count.
 */
#include "vmm-probe/provider/sentinels.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/compiler.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/arch/x86/insn/insn.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/fbt_sites.h"
#include "vmm-probe/provider/registry.h"
#include "vmm-probe/provider/sites.h"
#include "vmm-probe/provider/text.h"

#define BEGINNING 96u /* bytes of a function in which its ENTER site must be found */
#define FENTRY    5u  /* bytes of function tracing at its beginning */
#define REG_RSP   4u
#define REG_RDI   7u
#define TAILS_MAX 4u /* consecutive tail jumps that are followed */

enum need {
	MUST, /* if the kernel has it, it must be watched */
	MAY,  /* the sweep detects its changes too, or it never returns */
};

struct patcher {
	const char *name;
	const char *feature; /* a kernel with this function must have NAME; NULL: NAME is optional */
	enum need need;
	bool never_leaves;
	enum vp_sentinel kind; /* of its beginning; NONE: ENTER */
};

/* kernel/module calls the first when a module's text is complete and before its initialisation, the second
 * before it frees the module. The module is the parameter of both. */
#define MODULE_COMES "do_init_module"
#define MODULE_GOES  "free_module"

/* The kernel calls it for each mapping that mmap(), exec(), brk() or mprotect() has made or changed, in the
 * process that has it, with the mapping as its parameter. */
#define MAPS "perf_event_mmap"

static const struct patcher patchers[] = {
	/* function tracing: compares, then patches fentry sites */
	{ "ftrace_modify_all_code", "ftrace_set_filter", MUST, false },
	/* kprobes: decode the function up to the probe and copy the instruction; write int3 and the byte back
	 */
	{ "arch_prepare_kprobe", "register_kprobe", MUST, false },
	{ "arch_arm_kprobe", "register_kprobe", MUST, false },
	{ "arch_disarm_kprobe", "register_kprobe", MUST, false },
	/* … those with a jump: decode the whole function, copy and write five bytes */
	{ "arch_prepare_optimized_kprobe", NULL, MUST, false },
	{ "arch_optimize_kprobes", "arch_prepare_optimized_kprobe", MUST, false },
	{ "arch_unoptimize_kprobe", "arch_prepare_optimized_kprobe", MUST, false },
	{ "arch_unoptimize_kprobes", "arch_prepare_optimized_kprobe", MUST, false },
	/* BPF trampolines: compare, then patch */
	{ "bpf_arch_text_poke", NULL, MUST, false },
	{ "__bpf_arch_text_poke", NULL, MAY, false },
	/* the kernel's debugger: saves bytes and restores them */
	{ "kgdb_arch_set_breakpoint", NULL, MUST, false },
	{ "kgdb_arch_remove_breakpoint", NULL, MUST, false },
	/* a second CPU: lock prefixes are restored */
	{ "alternatives_enable_smp", NULL, MAY, false },
	/* text that is freed, or written to a disk */
	{ MODULE_GOES, NULL, MAY, false, VP_SENTINEL_MODULE_GOES },
	{ "hibernation_snapshot", NULL, MAY, false },
	{ "machine_kexec", NULL, MAY, true },
};

/* kernel/jump_label.c calls the first for each branch of a key, which compares it and puts it into a queue,
 * and then the second, which patches all that are in it. */
#define KEY_QUEUE "arch_jump_label_transform_queue"
#define KEY_APPLY "arch_jump_label_transform_apply"
#define KEY_LOCK  "jump_label_mutex" /* see struct vp_facts */
#define KEY_TABLE "__start___jump_table"

struct finder {
	struct vp_probes *probes;
	struct vp_guest *guest;
	struct vp_text *text;
	uint32_t traps;
	struct vp_batch_site *sites;
	size_t count, cap;
};

static const struct vp_symbol *function(const struct finder *f, const char *name)
{
	const struct vp_symbol *sym = vp_symtab_find(vp_guest_symtab(f->guest), "vmlinux", name);

	return sym && vp_symbol_is_function(sym) && vp_symbol_size(vp_guest_symtab(f->guest), sym) ? sym
												   : NULL;
}

static struct ot_err *add(struct finder *f, const struct vp_batch_site *site)
{
	if (!ot_grow(&f->sites, &f->cap, f->count + 1, sizeof(*f->sites)))
		return ot_err_nomem();
	f->sites[f->count++] = *site;
	return NULL;
}

/* --- ENTER ---------------------------------------------------------------------------------- */

static bool is_rsp(const struct vp_operand *o)
{
	return o->kind == VP_OPERAND_REG && o->reg == REG_RSP;
}

/* Does control fall through the instruction, with a known distance to the return address (*pushed, updated)?
 */
static bool goes_on(const struct vp_insn *insn, uint16_t *pushed)
{
	switch (insn->op) {
	case VP_INSN_PUSH:
		*pushed = (uint16_t)(*pushed + 8);
		return true;
	case VP_INSN_SUB:
		if (!is_rsp(&insn->dst))
			return true;
		*pushed = (uint16_t)(*pushed + insn->src.value);
		return insn->src.kind == VP_OPERAND_IMM && insn->size == 8 && insn->src.value > 0 &&
		       insn->src.value < 4096;
	case VP_INSN_NOP: /* may be patched */
	case VP_INSN_POP:
	case VP_INSN_LEAVE:
	case VP_INSN_JMP:
	case VP_INSN_JCC:
	case VP_INSN_CALL:
	case VP_INSN_RET:
		return false;
	default:
		return !is_rsp(&insn->dst);
	}
}

/* The offset after the fentry nop, or after the call that replaces it while the guest traces this function.
 */
static uint32_t behind_fentry(const uint8_t *bytes, uint64_t len)
{
	uint32_t at = vp_entry_offset(bytes, len);

	return at + FENTRY <= len && vp_native_is_fentry(bytes + at) ? at + FENTRY : at;
}

/* At least two bytes, for an `out`; without GS, which every exit would otherwise synchronise.
 */
static bool can_enter(const struct vp_insn *insn, const struct vp_exits *exits, uint32_t at)
{
	return insn->len >= 2 && !vp_insn_uses_gs(insn) && !vp_exits_has_target(exits, at, at + insn->len);
}

/* May it change the first parameter's register? */
static bool changes_rdi(const struct vp_insn *insn)
{
	return insn->op != VP_INSN_PUSH && insn->op != VP_INSN_CMP && insn->op != VP_INSN_TEST &&
	       insn->dst.kind == VP_OPERAND_REG && insn->dst.reg == REG_RDI;
}

static struct ot_err *find_enter(struct finder *f, const struct vp_probe *fn, enum vp_sentinel kind,
				 struct vp_exits *exits, bool *ret)
{
	uint32_t size = (uint32_t)fn->size, len = size < BEGINNING ? size : BEGINNING;
	struct vp_batch_site site = { .sentinel = (uint8_t)kind };
	const uint8_t *bytes;
	struct vp_insn insn;

	*ret = false;
	OT_TRY(vp_text_read(f->text, fn->gva, size, &bytes));
	exits->want_targets = true;
	OT_TRY(vp_exits_find(fn->gva, bytes, size, exits));
	for (uint32_t at = behind_fentry(bytes, len); at < len; at += insn.len) {
		uint16_t pushed = site.pushed;
		if (!vp_insn_decode(bytes + at, len - at, fn->gva + at, &insn) || !goes_on(&insn, &pushed))
			return NULL;
		if (!can_enter(&insn, exits, at)) {
			if (kind != VP_SENTINEL_ENTER && changes_rdi(&insn))
				return NULL;
			site.pushed = pushed;
			continue;
		}
		site.gva = fn->gva + at;
		site.offset = at;
		site.length = site.room = insn.len;
		memcpy(site.bytes, bytes + at, insn.len);
		*ret = true;
		return add(f, &site);
	}
	return NULL;
}

/* --- LEAVE ---------------------------------------------------------------------------------- */

static bool is_patcher(const char *name)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(patchers); i++)
		if (!strcmp(patchers[i].name, name) && !patchers[i].never_leaves)
			return true;
	return false;
}

/* Functions that a patcher may tail-call and that do not touch text. Their exits are not watched: they are
 * called all the time. */
static bool is_harmless(const char *name)
{
	static const char *const names[] = { "mutex_unlock", "kfree",   "kvfree", "vfree",
					     "up_write",     "_printk", "printk" };

	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return strstr(name, "return_thunk") != NULL;
}

enum way_out { WAY_OUT, GOES_ON, FOLLOW, CANT };

/* *ret_to: the target, for FOLLOW. */
static enum way_out classify(const struct finder *f, const struct vp_batch_site *site,
			     const struct vp_symbol **ret_to)
{
	const struct vp_symtab *tab = vp_guest_symtab(f->guest);
	enum way_out here = site->room >= 2 || f->traps & VP_TRAPS_INT3 ? WAY_OUT : CANT;
	struct vp_insn insn;
	uint64_t offset = 0;

	if (!vp_insn_decode(site->bytes, site->length, site->gva, &insn))
		return CANT;
	if (insn.op != VP_INSN_JMP)
		return insn.op == VP_INSN_RET ? here : CANT;
	if (insn.src.kind != VP_OPERAND_IMM)
		return CANT; /* unknown target */
	*ret_to = vp_symtab_find_addr(tab, vp_gva((uint64_t)insn.src.value), &offset);
	const char *name = *ret_to && !offset ? vp_symbol_name(tab, *ret_to) : NULL;
	if (!name || !strncmp(name, "__SCT__", 7)) /* a static call: patched */
		return CANT;
	if (is_patcher(name))
		return GOES_ON;
	return is_harmless(name) ? here : FOLLOW;
}

/* A tail-called function continues the work, so its exits count. Its other callers reach them too; their
 * return addresses distinguish them. A KEY_LEAVE is not distinguished, so it must be reached by its function
 * only. */
static struct ot_err *find_leaves(struct finder *f, const struct vp_probe *fn, enum vp_sentinel kind,
				  unsigned depth, bool *ret)
{
	ot_auto_free struct vp_batch_site *sites = NULL;
	uint32_t n = 0;

	*ret = false;
	if (depth == TAILS_MAX)
		return NULL;
	OT_TRY(vp_function_return_sites(f->probes, fn, NULL, &sites, &n));
	for (uint32_t i = 0; i < n; i++) {
		const struct vp_symbol *to = NULL;
		struct vp_probe next = { .kind = VP_PROBE_SITE };
		bool covered = true;
		enum way_out way = classify(f, &sites[i], &to);
		if (way == CANT || (way == FOLLOW && kind == VP_SENTINEL_KEY_LEAVE))
			return NULL;
		sites[i].sentinel = (uint8_t)kind;
		if (way == WAY_OUT)
			OT_TRY(add(f, &sites[i]));
		if (way == FOLLOW && to) {
			next.function = vp_symbol_name(vp_guest_symtab(f->guest), to);
			next.gva = to->addr;
			next.size = vp_symbol_size(vp_guest_symtab(f->guest), to);
			OT_TRY(find_leaves(f, &next, kind, depth + 1, &covered));
		}
		if (!covered)
			return NULL;
	}
	*ret = n || depth; /* a panic does not return */
	return NULL;
}

/* --- a function ------------------------------------------------------------------------------ */

static struct vp_probe probe_of(const struct finder *f, const struct vp_symbol *sym)
{
	const struct vp_symtab *tab = vp_guest_symtab(f->guest);

	return (struct vp_probe){
		.kind = VP_PROBE_SITE,
		.function = vp_symbol_name(tab, sym),
		.gva = sym->addr,
		.size = vp_symbol_size(tab, sym),
	};
}

static struct ot_err *find_first(struct finder *f, const struct vp_probe *fn, enum vp_sentinel kind,
				 bool *ret)
{
	struct vp_exits exits = { 0 };
	struct ot_err *err = find_enter(f, fn, kind, &exits, ret);

	vp_exits_deinit(&exits);
	return err;
}

static struct ot_err *cover(struct finder *f, const struct patcher *p, const struct vp_symbol *sym, bool *ret)
{
	struct vp_probe fn = probe_of(f, sym);

	fn.function = p->name;
	*ret = false;
	struct ot_err *err = p->kind ? find_first(f, &fn, p->kind, ret) : NULL;
	if (!err && !*ret)
		err = find_first(f, &fn, VP_SENTINEL_ENTER, ret);
	if (err || !*ret || p->never_leaves)
		return err;
	return find_leaves(f, &fn, VP_SENTINEL_LEAVE, 0, ret);
}

static struct ot_err *unwatchable(const struct patcher *p, const char *why)
{
	return ot_err_new(
	    OT_ERR_UNSUPPORTED,
	    "the guest's kernel may patch its own text, and %s() %s: nothing in its text can be probed "
	    "(-x trap=hw can)",
	    p->name, why);
}

static struct ot_err *add_patcher(struct finder *f, const struct patcher *p)
{
	const struct vp_symbol *sym = function(f, p->name);
	size_t before = f->count;
	bool covered;

	if (!sym)
		return p->feature && function(f, p->feature) ? unwatchable(p, "is not among its symbols")
							     : NULL;
	struct ot_err *err = cover(f, p, sym, &covered);
	if (err && ot_err_code(err) != OT_ERR_UNSUPPORTED)
		return ot_err_prefix(err, "%s", p->name);
	covered &= !err;
	ot_err_destroy(err);
	if (covered)
		return NULL;
	f->count = before;
	return p->need == MUST ? unwatchable(p, "can't be watched") : NULL;
}

/* --- static keys ------------------------------------------------------------------------------- */

static struct ot_err *keys_unwatchable(const char *name, const char *why)
{
	return ot_err_new(OT_ERR_UNSUPPORTED, "a static key is patched there, and %s %s", name, why);
}

static struct ot_err *add_key_enter(struct finder *f)
{
	const struct vp_symbol *sym = function(f, KEY_QUEUE);
	bool found = false;

	if (!sym)
		return keys_unwatchable(KEY_QUEUE "()", "is not among the guest's symbols");
	struct vp_probe fn = probe_of(f, sym);
	struct ot_err *err = find_first(f, &fn, VP_SENTINEL_KEY_ENTER, &found);
	return err || found ? err : keys_unwatchable(KEY_QUEUE "()", "can't be watched");
}

static struct ot_err *add_key_leaves(struct finder *f)
{
	const struct vp_symbol *sym = function(f, KEY_APPLY);
	bool found = false;

	if (!sym)
		return keys_unwatchable(KEY_APPLY "()", "is not among the guest's symbols");
	struct vp_probe fn = probe_of(f, sym);
	OT_TRY(find_leaves(f, &fn, VP_SENTINEL_KEY_LEAVE, 0, &found));
	return found ? NULL : keys_unwatchable(KEY_APPLY "()", "can't be watched");
}

static struct ot_err *add_keys(struct finder *f)
{
	if (!vp_symtab_find(vp_guest_symtab(f->guest), "vmlinux", KEY_LOCK))
		return keys_unwatchable(KEY_LOCK, "is not among the guest's symbols");
	OT_TRY(add_key_enter(f));
	return add_key_leaves(f);
}

/* --- modules and mappings --------------------------------------------------------------------------------- */

/* In a kernel where it is not found, these events are not seen. */
static struct ot_err *add_event(struct finder *f, const char *name, enum vp_sentinel kind, bool *ret)
{
	const struct vp_symbol *sym = function(f, name);

	*ret = false;
	if (!sym)
		return NULL;
	struct vp_probe fn = probe_of(f, sym);
	struct ot_err *err = find_first(f, &fn, kind, ret);
	if (!err || ot_err_code(err) != OT_ERR_UNSUPPORTED)
		return err;
	ot_err_destroy(err);
	return NULL;
}

static bool has_kind(const struct finder *f, enum vp_sentinel kind)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->sites[i].sentinel == kind)
			return true;
	return false;
}

/* Both or none: a module whose unloading is not reported must not be traced. */
static struct ot_err *add_modules(struct finder *f)
{
	bool goes = has_kind(f, VP_SENTINEL_MODULE_GOES), comes = false;
	size_t before = f->count;

	if (!goes)
		OT_TRY(add_event(f, MODULE_GOES, VP_SENTINEL_MODULE_GOES, &goes));
	if (goes)
		OT_TRY(add_event(f, MODULE_COMES, VP_SENTINEL_MODULE_COMES, &comes));
	if (!comes)
		f->count = before;
	return NULL;
}

/* A kernel that lists no variables (built without KALLSYMS_ALL) does not show which of its instructions it
 * patches. */
static struct ot_err *check_tables(const struct finder *f)
{
	if (!function(f, KEY_APPLY) || vp_symtab_find(vp_guest_symtab(f->guest), "vmlinux", KEY_TABLE))
		return NULL;
	return ot_err_new(OT_ERR_UNSUPPORTED,
			  "the guest's kernel patches its own text, and " KEY_TABLE
			  ", its list of these places, is not among its symbols: nothing in its text can be "
			  "probed (--vmlinux FILE or --symbols FILE names it; -x trap=hw can)");
}

static struct ot_err *add_all(struct finder *f, const struct vp_sentinels_wish *wish)
{
	OT_TRY(vp_probes_text(f->probes, &f->text));
	if (wish->text)
		OT_TRY(check_tables(f));
	for (size_t i = 0; wish->text && i < OT_ARRAY_SIZE(patchers); i++)
		OT_TRY(add_patcher(f, &patchers[i]));
	if (wish->keys)
		OT_TRY(add_keys(f));
	if (wish->maps)
		OT_TRY(add_event(f, MAPS, VP_SENTINEL_MAPS, &(bool){ false }));
	return wish->modules ? add_modules(f) : NULL;
}

struct ot_err *vp_sentinels_find(struct vp_probes *probes, uint32_t traps,
				 const struct vp_sentinels_wish *wish, struct vp_batch_site **ret,
				 uint32_t *ret_count)
{
	struct finder f = { .probes = probes, .guest = vp_probes_guest(probes), .traps = traps };
	struct ot_err *err = add_all(&f, wish);

	if (err) {
		free(f.sites);
		return err;
	}
	*ret = f.sites;
	*ret_count = (uint32_t)f.count;
	return NULL;
}

struct ot_err *vp_sentinels_check_keys(struct vp_probes *probes, uint32_t traps)
{
	struct finder f = { .probes = probes, .guest = vp_probes_guest(probes), .traps = traps };

	OT_TRY(vp_probes_text(probes, &f.text));
	struct ot_err *err = add_keys(&f);
	free(f.sites);
	return err;
}
