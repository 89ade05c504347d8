/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names that every D program starts with: built-in variables, functions, NULL. */
#include <stddef.h>
#include <string.h>

#include "dif/lang/types/ident.h"

/*
 * Parameters of functions, a letter each; `?` in front of the first optional one, `.` any more:
 *   s string     p pointer   u user address, pointer or integer   c character   * anything
 *   l lock, a pointer that is no string   a a pointer, no string or array
 *   integers, told apart in messages only: i int   z size_t   h, w, x uint16_t, uint32_t, uint64_t
 *   q int64_t   t pid_t   d dev_t
 * Results are D type names.
 */
static const struct dif_function subrs[] = {
/* clang-format off */
#define S(name, result, params) { #name, DIF_ID_SUBR, DIF_SUBR_##name, result, params }
	/* clang-format on */
	S(alloca, "void *", "z"),        S(basename, "string", "s"),
	S(bcopy, "void", "ppz"),         S(cleanpath, "string", "s"),
	S(copyin, "void *", "uz"),       S(copyinstr, "string", "u?z"),
	S(copyinto, "void", "uzp"),      S(copyout, "void", "puz"),
	S(copyoutstr, "void", "suz"),    S(d_path, "string", "p"),
	S(ddi_pathname, "string", "pq"), S(dirname, "string", "s"),
	S(getf, "void *", "i"),          S(getmajor, "uint32_t", "d"),
	S(getminor, "uint32_t", "d"),    S(htonl, "uint32_t", "w"),
	S(htonll, "uint64_t", "x"),      S(htons, "uint16_t", "h"),
	S(index, "int", "ss?i"),         S(inet_ntoa, "string", "a"),
	S(inet_ntoa6, "string", "a"),    S(inet_ntop, "string", "ip"),
	S(json, "string", "ss"),         S(link_ntop, "string", "ip"),
	S(lltostr, "string", "q?i"),     S(memref, "uintptr_t *", "pz"),
	S(memstr, "string", "pcz"),      S(msgdsize, "size_t", "l"),
	S(msgsize, "size_t", "l"),       S(mutex_owned, "int", "l"),
	S(mutex_owner, "void *", "l"),   S(mutex_type_adaptive, "int", "l"),
	S(mutex_type_spin, "int", "l"),  S(ntohl, "uint32_t", "w"),
	S(ntohll, "uint64_t", "x"),      S(ntohs, "uint16_t", "h"),
	S(progenyof, "int", "t"),        S(rand, "int", ""),
	S(rindex, "int", "ss?i"),        S(rw_iswriter, "int", "l"),
	S(rw_read_held, "int", "l"),     S(rw_write_held, "int", "l"),
	S(speculation, "int", ""),       S(strchr, "string", "sc"),
	S(strjoin, "string", "ss"),      S(strlen, "size_t", "s"),
	S(strrchr, "string", "sc"),      S(strstr, "string", "ss"),
	S(strtok, "string", "ss"),       S(strtoll, "int64_t", "s?i"),
	S(substr, "string", "si?i"),     S(sx_exclusive_held, "int", "l"),
	S(sx_isexclusive, "int", "l"),   S(sx_shared_held, "int", "l"),
	S(tolower, "string", "s"),       S(toupper, "string", "s"),
#undef S
};

/* What an action does with its arguments stands in act*.c. */
static const struct dif_function actions[] = {
/* clang-format off */
#define A(name, id, params) { #name, DIF_ID_ACTION, id, "void", params }
	/* clang-format on */
	A(breakpoint, DIF_ACT_breakpoint, ""),
	A(chill, DIF_ACT_chill, "*"),
	A(clear, DIF_ACT_libact | DIF_LIBACT_CLEAR << 16, "."),
	A(commit, DIF_ACT_commit, "*"),
	A(denormalize, DIF_ACT_libact | DIF_LIBACT_DENORMALIZE << 16, "."),
	A(discard, DIF_ACT_discard, "*"),
	A(exit, DIF_ACT_exit, "*"),
	A(freopen, DIF_ACT_freopen, "*."),
	A(ftruncate, DIF_ACT_libact | DIF_LIBACT_FTRUNCATE << 16, ""),
	A(func, DIF_ACT_sym, "*"),
	A(jstack, DIF_ACT_jstack, "."),
	A(mod, DIF_ACT_mod, "*"),
	A(normalize, DIF_ACT_libact | DIF_LIBACT_NORMALIZE << 16, "."),
	A(panic, DIF_ACT_panic, ""),
	A(print, DIF_ACT_print, "*"),
	A(printa, DIF_ACT_printa, "*."),
	A(printf, DIF_ACT_printf, "*."),
	A(printm, DIF_ACT_printm, "**"),
	A(raise, DIF_ACT_raise, "*"),
	A(setopt, DIF_ACT_libact | DIF_LIBACT_SETOPT << 16, "*?*"),
	A(speculate, DIF_ACT_speculate, "*"),
	A(stack, DIF_ACT_stack, "."),
	A(stop, DIF_ACT_stop, ""),
	A(sym, DIF_ACT_sym, "*"),
	A(system, DIF_ACT_system, "*."),
	A(trace, DIF_ACT_difexpr, "*"),
	A(tracemem, DIF_ACT_tracemem, "**."),
	A(trunc, DIF_ACT_libact | DIF_LIBACT_TRUNC << 16, "."),
	A(uaddr, DIF_ACT_uaddr, "*"),
	A(ufunc, DIF_ACT_usym, "*"),
	A(umod, DIF_ACT_umod, "*"),
	A(ustack, DIF_ACT_ustack, "."),
	A(usym, DIF_ACT_usym, "*"),
#undef A
};

static const struct dif_function aggfuncs[] = {
/* clang-format off */
#define G(name) { #name, DIF_ID_AGGFUNC, DIF_AGG_##name, "void", "." }
	/* clang-format on */
	G(avg), G(count), G(llquantize), G(lquantize), G(max), G(min), G(quantize), G(stddev), G(sum),
#undef G
};

/* Built-in variables and their D types; ~: not on Linux guests (D_VAR_UNSUP). */
static const struct {
	uint32_t id;
	const char *type;
} vars[] = {
	{ DIF_VAR_args, "" }, /* by probe */
	{ DIF_VAR_regs, "uint64_t[]" },
	{ DIF_VAR_uregs, "uint64_t[]" },
	{ DIF_VAR_vmregs, "uint64_t[]" },
	{ DIF_VAR_curthread, "struct task_struct *" },
	{ DIF_VAR_timestamp, "uint64_t" },
	{ DIF_VAR_vtimestamp, "uint64_t" },
	{ DIF_VAR_ipl, "uint_t" },
	{ DIF_VAR_epid, "uint_t" },
	{ DIF_VAR_id, "uint_t" },
	{ DIF_VAR_arg0, "int64_t" },
	{ DIF_VAR_arg1, "int64_t" },
	{ DIF_VAR_arg2, "int64_t" },
	{ DIF_VAR_arg3, "int64_t" },
	{ DIF_VAR_arg4, "int64_t" },
	{ DIF_VAR_arg5, "int64_t" },
	{ DIF_VAR_arg6, "int64_t" },
	{ DIF_VAR_arg7, "int64_t" },
	{ DIF_VAR_arg8, "int64_t" },
	{ DIF_VAR_arg9, "int64_t" },
	{ DIF_VAR_stackdepth, "uint32_t" },
	{ DIF_VAR_caller, "uintptr_t" },
	{ DIF_VAR_probeprov, "string" },
	{ DIF_VAR_probemod, "string" },
	{ DIF_VAR_probefunc, "string" },
	{ DIF_VAR_probename, "string" },
	{ DIF_VAR_pid, "pid_t" },
	{ DIF_VAR_tid, "id_t" },
	{ DIF_VAR_execname, "string" },
	{ DIF_VAR_zonename, "string" },
	{ DIF_VAR_walltimestamp, "int64_t" },
	{ DIF_VAR_ustackdepth, "uint32_t" },
	{ DIF_VAR_ucaller, "uint64_t" },
	{ DIF_VAR_ppid, "pid_t" },
	{ DIF_VAR_uid, "uint32_t" },
	{ DIF_VAR_gid, "uint32_t" },
	{ DIF_VAR_errno, "int" },
	{ DIF_VAR_execargs, "string" },
	{ DIF_VAR_jid, "int" },
	{ DIF_VAR_jailname, "string" },
	{ DIF_VAR_cpu, "int" },
	{ DIF_VAR_vcpu, "int" },
	{ DIF_VAR_guest, "string" },
	{ DIF_VAR_guestid, "uint32_t" },
	{ DIF_VAR_view, "string" },
	{ DIF_VAR_errprov, "string" },
	{ DIF_VAR_errmod, "string" },
	{ DIF_VAR_errfunc, "string" },
	{ DIF_VAR_errname, "string" },
	{ DIF_VAR_percpubase, "uint64_t" },
};

/* Those that are newer than 1.0. */
static const struct {
	const char *name;
	uint8_t minor;
} newer[] = {
	{ "freopen", 1 }, { "index", 1 },      { "memref", 1 },      { "rindex", 1 },      { "strchr", 1 },
	{ "strrchr", 1 }, { "strstr", 1 },     { "strtok", 1 },      { "substr", 1 },      { "func", 2 },
	{ "mod", 2 },     { "setopt", 2 },     { "sym", 2 },         { "uaddr", 2 },       { "ucaller", 2 },
	{ "ufunc", 2 },   { "umod", 2 },       { "ustackdepth", 2 }, { "usym", 2 },        { "htonl", 3 },
	{ "htonll", 3 },  { "htons", 3 },      { "ntohl", 3 },       { "ntohll", 3 },      { "ntohs", 3 },
	{ "d_path", 5 },  { "inet_ntoa", 5 },  { "inet_ntoa6", 5 },  { "inet_ntop", 5 },   { "link_ntop", 5 },
	{ "stddev", 6 },  { "llquantize", 7 }, { "vmregs", 7 },      { "tolower", 8 },     { "toupper", 8 },
	{ "print", 9 },   { "getf", 10 },      { "json", 11 },       { "strtoll", 11 },    { "jailname", 13 },
	{ "jid", 13 },    { "guest", 13 },     { "guestid", 13 },    { "percpubase", 13 }, { "vcpu", 13 },
	{ "view", 13 },
};

/* Those that are Evolving/Evolving/Common: they go with the kernel, or are ours. */
static const char *const evolving[] = {
	"ddi_pathname",
	"getmajor",
	"getminor",
	"htonl",
	"htonll",
	"htons",
	"ntohl",
	"ntohll",
	"ntohs",
	"mutex_owned",
	"mutex_owner",
	"mutex_type_adaptive",
	"mutex_type_spin",
	"rw_iswriter",
	"rw_read_held",
	"rw_write_held",
	"sx_isexclusive",
	"sx_shared_held",
	"sx_exclusive_held",
	"guest",
	"guestid",
	"percpubase",
	"vcpu",
	"view",
};

static void set_stability(struct dif_ident *id)
{
	id->version = DIF_VERSION(1, 0, 0);
	for (size_t i = 0; i < OT_ARRAY_SIZE(newer); i++)
		if (!strcmp(newer[i].name, id->name))
			id->version = DIF_VERSION(1, newer[i].minor, 0);
	for (size_t i = 0; i < OT_ARRAY_SIZE(evolving); i++)
		if (!strcmp(evolving[i], id->name))
			id->attr.name = id->attr.data = DIF_STABILITY_EVOLVING;
	/* the name is here to stay, what it points to is the kernel's own */
	if (!strcmp(id->name, "curthread"))
		id->attr.data = DIF_STABILITY_PRIVATE;
}

/* curthread's type is looked up when somebody looks into it: most programs do not. Without a definition
 * it stays declared only. */
static struct ot_err *find_task(struct dif_type_source *src, struct dif_type *type)
{
	struct dif_typetab *tab =
	    (struct dif_typetab *)((char *)src - offsetof(struct dif_typetab, task_source));
	struct dif_compiler *c = tab->owner;
	struct dif_type *task = dif_tag_find(c, DIF_C_STRUCT, "task_struct");

	if (!task)
		task = dif_type_new(c, DIF_C_FORWARD, "task_struct", 0);
	if (!task)
		return ot_err_nomem();
	type->ref = task;
	type->complete = true;
	return NULL;
}

/* kthread_t, as other systems call it: what curthread points to. */
static bool add_task_type(struct dif_compiler *c)
{
	struct dif_type *task = dif_type_new(c, DIF_C_TYPEDEF, "struct task_struct", 0);

	if (!task)
		return false;
	c->types->task_source.complete = find_task;
	task->source = &c->types->task_source;
	task->complete = false;
	return ot_map_puts(&c->types->typedefs, "kthread_t", task) || dif_fail_memory(c);
}

struct dif_type *dif_builtin_type(struct dif_compiler *c, uint32_t id)
{
	if (id == DIF_VAR_curthread)
		return dif_type_pointer(c, ot_map_gets(&c->types->typedefs, "kthread_t"));
	for (size_t i = 0; i < OT_ARRAY_SIZE(vars); i++) {
		if (vars[i].id != id)
			continue;
		if (strstr(vars[i].type, "[]"))
			return c->types->uint64;
		return *vars[i].type ? ot_map_gets(&c->types->typedefs, vars[i].type) : c->types->dynamic;
	}
	return c->types->int64;
}

static bool add_functions(struct dif_compiler *c, const struct dif_function *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct dif_ident *id = dif_ident_add(c, DIF_NAME_GLOBAL, list[i].name, list[i].kind);
		if (!id)
			return false;
		id->func = &list[i];
		set_stability(id);
	}
	return true;
}

bool dif_builtins_init(struct dif_compiler *c)
{
	if (!add_task_type(c))
		return false;
	for (size_t i = 0; i < OT_ARRAY_SIZE(vars); i++) {
		struct dif_ident *id =
		    dif_ident_add(c, DIF_NAME_GLOBAL, dif_var_name(vars[i].id), DIF_ID_BUILTIN);
		if (!id)
			return false;
		id->id = vars[i].id;
		id->is_array = vars[i].id <= DIF_VAR_ARRAY_MAX;
		id->is_assigned = true;
		set_stability(id);
	}
	struct dif_ident *null = dif_ident_add(c, DIF_NAME_GLOBAL, "NULL", DIF_ID_CONST);
	if (!null)
		return false;
	null->type = c->types->int_;
	return add_functions(c, subrs, OT_ARRAY_SIZE(subrs)) &&
	       add_functions(c, actions, OT_ARRAY_SIZE(actions)) &&
	       add_functions(c, aggfuncs, OT_ARRAY_SIZE(aggfuncs));
}
