/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/provider: the registry, dtrace, profile; without a guest. And names of profile probes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "vmm-probe/provider/hint_systems.h"
#include "vmm-probe/provider/profile_name.h"
#include "vmm-probe/provider/providers.h"
#include "vmm-probe/provider/registry_internal.h"

static void assert_ok(struct ot_err *err)
{
	if (err)
		fail_msg("%s", ot_err_message(err));
}

static int setup(void **state)
{
	struct vp_probes *probes;

	assert_ok(vp_probes_create(NULL, &probes));
	*state = probes;
	return 0;
}

static int teardown(void **state)
{
	vp_probes_destroy(*state);
	return 0;
}

struct found {
	uint32_t ids[64];
	unsigned n, stop_after;
};

static bool note(void *arg, const struct vp_probe *probe)
{
	struct found *f = arg;

	assert_true(f->n < 64);
	f->ids[f->n++] = probe->id;
	return f->n != f->stop_after;
}

static uint64_t match_with(struct vp_probes *probes, struct dif_probedesc desc, bool refused,
			   struct found *ret)
{
	uint64_t n;
	struct found f = { .stop_after = ret ? ret->stop_after : 0 };

	desc.guest = "";
	assert_ok(vp_probes_match(probes, &desc, refused, note, &f, &n));
	assert_int_equal(n, f.n);
	for (unsigned i = 1; i < f.n; i++)
		assert_true(f.ids[i - 1] < f.ids[i]);
	if (ret)
		*ret = f;
	return n;
}

static uint64_t match(struct vp_probes *probes, const char *provider, const char *module,
		      const char *function, const char *name)
{
	struct dif_probedesc desc = {
		.provider = provider, .module = module, .function = function, .name = name
	};

	return match_with(probes, desc, false, NULL);
}

static void ids_and_kinds(void **state)
{
	static const struct {
		const char *name;
		enum vp_probe_kind kind;
		enum vp_args args;
	} want[] = {
		{ "BEGIN", VP_PROBE_HOST, VP_ARGS_NONE },
		{ "END", VP_PROBE_HOST, VP_ARGS_NONE },
		{ "ERROR", VP_PROBE_ERROR, VP_ARGS_ERROR },
		{ "profile-97", VP_PROBE_PROFILE, VP_ARGS_PROFILE },
	};
	struct vp_probes *probes = *state;

	for (uint32_t i = 0; i < 4; i++) {
		const struct vp_probe *p = vp_probes_get(probes, i + 1);

		assert_int_equal(p->id, i + 1);
		assert_string_equal(p->name, want[i].name);
		assert_string_equal(p->provider, i < 3 ? "dtrace" : "profile");
		assert_string_equal(p->module, "");
		assert_string_equal(p->function, "");
		assert_int_equal(p->kind, want[i].kind);
		assert_int_equal(p->args, want[i].args);
		assert_int_equal(vp_probes_nargs(probes, p), 0);
	}
	assert_null(vp_probes_get(probes, 0));
	assert_null(vp_probes_get(probes, vp_probes_count(probes) + 1));
	assert_int_equal(vp_probes_count(probes), 16);
	assert_null(vp_probes_types(probes));
}

static void descriptions_match(void **state)
{
	struct vp_probes *probes = *state;
	struct found f = { .stop_after = 2 };
	uint64_t n;

	assert_int_equal(match(probes, "", "", "", ""), 16);
	assert_int_equal(match(probes, "dtrace", "", "", ""), 3);
	assert_int_equal(match(probes, "d*", "", "", "E[NR]*"), 2);
	assert_int_equal(match(probes, "", "", "", "BEGIN"), 1);
	assert_int_equal(match(probes, "", "", "", "begin"), 0);
	assert_int_equal(match(probes, "", "m", "", "BEGIN"), 0);
	assert_int_equal(match(probes, "", "", "f", "BEGIN"), 0);
	assert_int_equal(match(probes, "", "*", "*", "tick-*"), 6);
	assert_int_equal(match_with(probes, (struct dif_probedesc){ .id = 3 }, false, NULL), 1);
	match_with(probes, (struct dif_probedesc){ .provider = "", .module = "", .function = "", .name = "" },
		   false, &f);
	assert_int_equal(f.n, 2); /* as often as the caller wants */
	struct dif_probedesc unknown = { .id = 999999 };
	struct ot_err *err = vp_probes_match(probes, &unknown, false, note, &f, &n);

	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_NOT_FOUND);
	ot_err_destroy(err);
}

static void profile_probes_come_on_demand(void **state)
{
	struct vp_probes *probes = *state;
	uint32_t count = vp_probes_count(probes);

	assert_int_equal(match(probes, "", "", "", "tick-3sec"), 1);
	assert_int_equal(vp_probes_count(probes), count + 1);
	const struct vp_probe *p = vp_probes_get(probes, count + 1);

	assert_int_equal(p->kind, VP_PROBE_HOST);
	assert_true(vp_probes_interval(probes, p) == 3000000000ull);
	assert_int_equal(match(probes, "profile", "", "", "tick-3sec"), 1); /* not made twice */
	assert_int_equal(vp_probes_count(probes), count + 1);
	assert_int_equal(match(probes, "prof*", "*", "", "profile-1234"), 1);
	assert_int_equal(vp_probes_get(probes, count + 2)->kind, VP_PROBE_PROFILE);
	/* Not for others, not with a function, not what can't be. */
	assert_int_equal(match(probes, "fbt", "", "", "tick-4sec"), 0);
	assert_int_equal(match(probes, "", "", "main", "tick-4sec"), 0);
	assert_int_equal(match(probes, "", "vmlinux", "", "tick-4sec"), 0);
	assert_int_equal(match(probes, "", "", "", "tick-5001"), 0);
	assert_int_equal(vp_probes_count(probes), count + 2);
	/* Pointers stay valid when probes are added. */
	for (int i = 1; i < 3000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "tick-%dms", i + 5000);
		assert_int_equal(match(probes, "", "", "", name), 1);
	}
	assert_string_equal(p->name, "tick-3sec");
	assert_string_equal(vp_probes_get(probes, count + 3)->name, "tick-5001ms");
}

/* Functions by hand, as a provider would: many of one name, some refused. */
static void functions_are_found_by_exact_name(void **state)
{
	struct vp_probes *probes = *state;
	static char names[500][16];

	for (unsigned i = 0; i < 500; i++) {
		snprintf(names[i], sizeof(names[i]), "fn_%u", i % 100);
		struct vp_probe p = {
			.kind = VP_PROBE_SITE,
			.args = VP_ARGS_FBT_ENTRY,
			.module = i < 400 ? "vmlinux" : "ext4",
			.function = names[i],
			.name = "entry",
			.refused = i == 107 ? "because" : NULL,
		};

		assert_ok(vp_probes_add(probes, &vp_provider_dtrace, &p));
		p.name = "return";
		assert_ok(vp_probes_add(probes, &vp_provider_dtrace, &p));
		/* The index is built in the middle: probes added later are found too. */
		if (i == 250)
			assert_int_equal(match(probes, "", "", "fn_8", "entry"), 3);
	}
	assert_int_equal(match(probes, "", "", "fn_8", "entry"), 5);
	assert_int_equal(match(probes, "", "", "fn_8", ""), 10);
	assert_int_equal(match(probes, "", "ext4", "fn_8", ""), 2);
	assert_int_equal(match(probes, "", "", "fn_7", ""), 8);
	assert_int_equal(
	    match_with(probes,
		       (struct dif_probedesc){ .provider = "", .module = "", .function = "fn_7", .name = "" },
		       true, NULL),
	    10);
	assert_int_equal(match(probes, "", "", "fn_?", "return"), 49);
	assert_int_equal(match(probes, "", "", "fn_777", ""), 0);
	assert_int_equal(match(probes, "", "", "", "BEGIN"), 1);
	struct found f = { 0 };
	struct vp_batch_site *sites;
	uint32_t n;

	match_with(probes,
		   (struct dif_probedesc){
		       .provider = "", .module = "vmlinux", .function = "fn_7", .name = "entry" },
		   true, &f);
	struct ot_err *err = vp_probes_sites(probes, vp_probes_get(probes, f.ids[1]), &sites, &n);

	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_UNSUPPORTED);
	assert_string_equal(ot_err_message(err), "dtrace:vmlinux:fn_7:entry: because");
	ot_err_destroy(err);
}

static void add_functions(struct vp_probes *probes, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct vp_probe probe = {
			.kind = VP_PROBE_SITE, .module = "vmlinux", .function = names[i], .name = "entry"
		};
		assert_ok(vp_probes_add(probes, &vp_provider_fbt, &probe));
		probe.name = "return";
		assert_ok(vp_probes_add(probes, &vp_provider_fbt, &probe));
	}
}

/* What the compiler made of a function is found by the function's name, unless there is one of that name. */
static void copies_are_found_without_suffix(void **state)
{
	static const char *const names[] = {
		"vfs_read",    "shrink.isra.0", "shrink.constprop.0", "shrink.isra.0.constprop.1",
		"both",        "both.isra.0",   "piece.part.0",       "piece.cold",
		"lone.isra.7", "odd.isra.",     "odd.isra.0x",        "shrinker.isra.0",
	};
	struct vp_probes *probes = *state;

	add_functions(probes, names, OT_ARRAY_SIZE(names));
	assert_int_equal(match(probes, "fbt", "", "shrink", "entry"), 3);
	assert_int_equal(match(probes, "", "", "shrink", ""), 6);
	assert_int_equal(match(probes, "syscall", "", "shrink", ""), 0);
	assert_int_equal(match(probes, "", "", "shrink.isra.0", "entry"), 1);
	assert_int_equal(match(probes, "", "", "both", "entry"), 1);
	assert_int_equal(match(probes, "", "", "piece", ""), 0);
	assert_int_equal(match(probes, "", "", "odd", ""), 0);
	assert_int_equal(match(probes, "", "", "vfs_read", ""), 2);
	/* as the guest's list has a name */
	assert_int_equal(match(probes, "fbt", "", "vfs_read.llvm.87", "entry"), 1);
	assert_int_equal(match(probes, "fbt", "", "vfs_read.llvm.*", "entry"), 1);
	assert_int_equal(match(probes, "fbt", "", "vfs_*.llvm.*", ""), 2);
	assert_int_equal(match(probes, "fbt", "", "vfs_read.llvm.x", ""), 0);
	assert_int_equal(match(probes, "fbt", "", ".llvm.87", ""), 0);
}

/* How many probes a description is compared with. */
static uint64_t compared(struct vp_probes *probes, const char *provider, const char *function,
			 const char *name, uint64_t found)
{
	uint64_t before = probes->compared;

	assert_int_equal(match(probes, provider, "", function, name), found);
	return probes->compared - before;
}

/* A description that names a provider, or a function, does not look at the probes of a whole kernel: a script
 * may have thousands of these. */
static void only_probes_of_the_provider_are_compared(void **state)
{
	enum { FUNCTIONS = 3000, PROCESSES = 3 };
	struct vp_probes *probes = *state;
	static char names[FUNCTIONS][16];
	const char *list[FUNCTIONS];
	uint32_t others = vp_probes_count(probes);

	for (unsigned i = 0; i < FUNCTIONS; i++) {
		snprintf(names[i], sizeof(names[i]), "fn_%u", i);
		list[i] = names[i];
	}
	add_functions(probes, list, FUNCTIONS);
	assert_true(compared(probes, "fbt", "fn_77", "entry", 1) <= 2);
	assert_true(compared(probes, "fbt", "fn_77", "", 2) <= 2);
	assert_true(compared(probes, "dtrace", "", "BEGIN", 1) <= others);
	assert_true(compared(probes, "tick", "", "tick-1s", 0) <= others);
	assert_true(compared(probes, "profile", "", "tick-7s", 1) <= others + 1);
	assert_true(compared(probes, "nowhere", "fn_77*", "", 0) <= others);
	assert_true(compared(probes, "nowhere", "fn_none", "", 0) <= others);
	assert_true(compared(probes, "fbt", "fn_7?", "return", 10) >= FUNCTIONS);
	/* After the index was built, functions and other providers' probes in turn: nothing is missed. */
	for (unsigned i = 0; i < PROCESSES; i++) {
		static const char *const more[] = { "fn_77", "later" };
		char tick[16];

		add_functions(probes, more, OT_ARRAY_SIZE(more));
		snprintf(tick, sizeof(tick), "tick-%us", 20 + i);
		assert_int_equal(match(probes, "profile", "", "", tick), 1);
	}
	assert_int_equal(compared(probes, "fbt", "fn_77", "entry", 1 + PROCESSES), 2 + 4 * PROCESSES);
	assert_true(compared(probes, "prof*", "", "tick-2?s", PROCESSES) <= others + 1 + PROCESSES);
	assert_int_equal(match(probes, "", "", "later", ""), 2 * PROCESSES);
	assert_int_equal(match(probes, "f*", "", "l*", "return"), PROCESSES);
}

static void assert_hint(struct vp_probes *probes, struct dif_probedesc desc, const char *want)
{
	struct ot_buf hint = { 0 };
	bool any;

	desc.guest = "";
	any = vp_probes_hint(probes, &desc, &hint);
	assert_int_equal(any, want != NULL);
	assert_string_equal(ot_buf_str(&hint), want ? want : "");
	ot_buf_deinit(&hint);
}

#define DESC(p, m, f, n)                                              \
	(struct dif_probedesc)                                        \
	{                                                             \
		.provider = p, .module = m, .function = f, .name = n, \
	}

static void nearest_probe_is_named(void **state)
{
	static const char *const names[] = { "vfs_read", "vfs_write", "tcp_sendmsg" };
	struct vp_probes *probes = *state;

	add_functions(probes, names, OT_ARRAY_SIZE(names));
	assert_hint(probes, DESC("fbt", "", "vfs_raed", "entry"), "did you mean fbt::vfs_read:entry?");
	assert_hint(probes, DESC("fbtt", "", "vfs_write", "return"), "did you mean fbt::vfs_write:return?");
	assert_hint(probes, DESC("fbt", "vmlinx", "tcp_sendmg", ""),
		    "did you mean fbt:vmlinux:tcp_sendmsg:?");
	assert_hint(probes, DESC("fbt", "", "vfs_*", "enrty"), "did you mean fbt::vfs_*:entry?");
	assert_hint(probes, DESC("", "", "VFS_READ", "entry"), "did you mean ::vfs_read:entry?");
	assert_hint(probes, DESC("", "", "", "vfs_read"),
		    "vfs_read is a function: did you mean fbt::vfs_read:entry?");
	assert_hint(probes, DESC("fbt", "", "do_exit", "entry"), NULL);
	assert_hint(probes, DESC("pid1", "", "vfs_read", "entry"), NULL);
	assert_hint(probes, DESC("tcp", "", "", "vfs_read"), NULL);
	assert_hint(probes, DESC("syscall", "", "open", "entry"),
		    "syscall's probes need a guest: name one with -g");
	assert_hint(probes, DESC("sched", "", "", "on-cpu"), "sched's probes need a guest: name one with -g");
	assert_hint(probes, DESC("", "", "", "tcp_sendmsgg"), "did you mean fbt::tcp_sendmsg:entry?");
	assert_hint(probes, DESC("", "fbt", "", "vfs_read"),
		    "vfs_read is a function: did you mean fbt::vfs_read:entry?");
	assert_hint(probes, DESC("", "fbt", "", "vfs_reda"), "did you mean fbt::vfs_read:entry?");
	assert_hint(probes, DESC("", "", "", "nonesuch"), NULL);
}

/* Calls, static probes and places as other systems name them. */
static void other_systems_names_are_translated(void **state)
{
	static const struct {
		const struct vp_provider *provider;
		struct vp_probe probe;
	} there[] = {
		{ &vp_provider_syscall, { .module = "vmlinux", .function = "execve", .name = "return" } },
		{ &vp_provider_sdt, { .module = "vmlinux", .function = "", .name = "irq_handler_entry" } },
		{ &vp_provider_proc, { .module = "vmlinux", .function = "do_exit", .name = "exit" } },
	};
	static const char *const functions[] = { "up_read", "vfs_read" };
	struct vp_probes *probes = *state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(there); i++)
		assert_ok(vp_probes_add(probes, there[i].provider, &there[i].probe));
	assert_hint(probes, DESC("syscall", "", "exece", "return"), "did you mean syscall::execve:return?");
	assert_hint(probes, DESC("syscall", "", "exece", "entry"), NULL);
	assert_hint(probes, DESC("sdt", "", "", "interrupt-start"), "did you mean sdt:::irq_handler_entry?");
	assert_hint(probes, DESC("sdt", "", "", "interrupt-complete"), NULL);
	assert_hint(probes, DESC("proc", "", "proc_exit", "exit"), "did you mean proc:::exit?");
	add_functions(probes, functions, OT_ARRAY_SIZE(functions));
	assert_hint(probes, DESC("fbt", "genunix", "fop_read", "entry"), "did you mean fbt::vfs_read:entry?");
	assert_hint(probes, DESC("fbt", "", "proc_exit", "exit"), NULL);
}

/* bpftrace's kinds of probes, other words for entry and return, and a provider in the next field. */
static void other_tracers_forms_are_translated(void **state)
{
	static const struct {
		const struct vp_provider *provider;
		struct vp_probe probe;
	} there[] = {
		{ &vp_provider_syscall, { .module = "vmlinux", .function = "openat", .name = "entry" } },
		{ &vp_provider_syscall, { .module = "vmlinux", .function = "openat", .name = "return" } },
		{ &vp_provider_sdt, { .module = "sched", .function = "", .name = "sched_switch" } },
	};
	static const char *const functions[] = { "vfs_read" };
	struct vp_probes *probes = *state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(there); i++)
		assert_ok(vp_probes_add(probes, there[i].provider, &there[i].probe));
	add_functions(probes, functions, OT_ARRAY_SIZE(functions));
	assert_hint(probes, DESC("", "", "kprobe", "vfs_read"), "did you mean fbt::vfs_read:entry?");
	assert_hint(probes, DESC("", "", "kretprobe", "vfs_raed"), "did you mean fbt::vfs_read:return?");
	assert_hint(probes, DESC("", "", "k", "vfs_*"), "did you mean fbt::vfs_*:entry?");
	assert_hint(probes, DESC("", "fexit", "vmlinux", "vfs_read"),
		    "did you mean fbt:vmlinux:vfs_read:return?");
	assert_hint(probes, DESC("", "", "kprobe", "nonesuch"), NULL);
	assert_hint(probes, DESC("", "", "kprobe", ""), NULL);
	assert_hint(probes, DESC("", "tracepoint", "syscalls", "sys_enter_openat"),
		    "did you mean syscall::openat:entry?");
	assert_hint(probes, DESC("", "t", "syscalls", "sys_exit_*"), "did you mean syscall::*:return?");
	assert_hint(probes, DESC("", "tracepoint", "sched", "sched_switch"),
		    "did you mean sdt:sched::sched_switch?");
	assert_hint(probes, DESC("", "", "rawtracepoint", "sched_switch"),
		    "did you mean sdt:::sched_switch?");
	assert_hint(probes, DESC("", "interval", "s", "5"), "did you mean tick-5s?");
	assert_hint(probes, DESC("", "", "interval", "10ms"), "did you mean tick-10ms?");
	assert_hint(probes, DESC("", "profile", "hz", "99"), "did you mean profile-99?");
	assert_hint(probes, DESC("", "profile", "ms", "10"), "did you mean profile-10ms?");
	assert_hint(probes, DESC("", "interval", "s", "x"), NULL);
	assert_hint(probes, DESC("syscall", "", "openat", "enter"), "did you mean syscall::openat:entry?");
	assert_hint(probes, DESC("fbt", "", "vfs_read", "exit"), "did you mean fbt::vfs_read:return?");
	assert_hint(probes, DESC("proc", "", "vfs_read", "enter"),
		    "proc's probes need a guest: name one with -g");
	assert_hint(probes, DESC("", "syscall", "openat", "entry"), "did you mean syscall::openat:entry?");
	assert_hint(probes, DESC("", "fbt", "vfs_raed", "entry"), "did you mean fbt::vfs_read:entry?");
	assert_hint(probes, DESC("", "fbt", "nonesuch", "entry"), NULL);
	assert_hint(probes, DESC("sdt", "sched", "sched_switch", ""),
		    "did you mean sdt:sched::sched_switch?");
	assert_hint(probes, DESC("sdt", "sched", "nonesuch", ""), NULL);
	assert_hint(probes, DESC("fbt", "", "sys_openat", "entry"), "did you mean syscall::openat:entry?");
	assert_hint(probes, DESC("fbt", "", "SyS_openat", "return"), "did you mean syscall::openat:return?");
	assert_hint(probes, DESC("rawfbt", "", "vfs_read", "entry"), "did you mean fbt::vfs_read:entry?");
}

static void assert_same(const char *want, struct dif_probedesc desc)
{
	struct dif_probedesc here;

	desc.guest = "";
	if (!vp_probe_same_of_linux(&desc, &here)) {
		assert_null(want);
		return;
	}
	assert_non_null(want);
	assert_string_equal(*here.name && strcmp(here.name, desc.name) != 0 ? here.name : here.function,
			    want);
}

/* Whoever describes only the end of a call asks for its result, else for its parameters too. */
static void the_same_is_told_from_the_similar(void **state)
{
	(void)state;
	assert_same("execve", DESC("syscall", "", "exece", "entry"));
	assert_same("newstat", DESC("syscall", "", "stat64", ""));
	assert_same("read", DESC("syscall", "", "read_nocancel", "return"));
	assert_same("clone", DESC("syscall", "", "forksys", "return"));
	assert_same(NULL, DESC("syscall", "", "forksys", "entry"));
	assert_same(NULL, DESC("syscall", "", "forksys", ""));
	assert_same(NULL, DESC("syscall", "", "kevent", "return"));
	assert_same(NULL, DESC("syscall", "", "*stat64", "entry"));
	assert_same(NULL, DESC("syscall", "", "openat", "entry"));
	assert_same(NULL, DESC("fbt", "", "exece", "entry"));
	assert_same("udpInDatagrams", DESC("mib", "ip", "", "udpHCInDatagrams"));
	assert_same(NULL, DESC("mib", "", "", "udpInDatagrams"));
	assert_same("", DESC("sched", "", "resume", "on-cpu"));
	assert_same("", DESC("rawtp", "sched", "", "sched_switch"));
	assert_same(NULL, DESC("rawtp", "sched", "", ""));
	assert_same(NULL, DESC("sched", "", "resume", "off-cpu"));
	assert_same(NULL, DESC("sched", "", "setbackdq", "enqueue"));
}

/* A probe of that name is what is meant; without one, what it is here, if that is there. */
static void what_is_here_has_its_own_name(void **state)
{
	static const struct vp_provider proc = { .name = "proc" };
	const struct vp_probe exits = { .module = "vmlinux", .function = "do_exit", .name = "exit" };
	const struct vp_probe named = { .module = "vmlinux", .function = "proc_exit", .name = "exit" };
	struct dif_probedesc desc = DESC("proc", "", "proc_exit", "exit"), here;
	struct vp_probes *probes = *state;

	desc.guest = "";
	assert_false(vp_probes_named_here(probes, &desc, &here));
	assert_ok(vp_probes_add(probes, &proc, &exits));
	assert_true(vp_probes_named_here(probes, &desc, &here));
	assert_string_equal(here.function, "");
	assert_string_equal(here.name, "exit");
	assert_ok(vp_probes_add(probes, &proc, &named));
	assert_false(vp_probes_named_here(probes, &desc, &here));
}

/* A timer's probe is created when a description names it, so an invalid name is an error. */
static void timers_are_explained(void **state)
{
	struct vp_probes *probes = *state;

	assert_hint(probes, DESC("", "", "", "tick-10us"),
		    "the shortest interval is 200us, which is 5000hz: tick-200us");
	assert_hint(probes, DESC("profile", "", "", "profile-9999"),
		    "the shortest interval is 200us, which is 5000hz: profile-200us");
	assert_hint(probes, DESC("", "", "", "tick-5sc"),
		    "a number's unit is hz, ns, us, ms, s, m, h or d: tick-10ms");
	assert_hint(probes, DESC("", "", "", "tick-0"), "0 is no interval: tick-1s is one");
	assert_hint(probes, DESC("", "", "", "profle-99"), "did you mean profile-99?");
	assert_hint(probes, DESC("", "", "", "tikc-5s"), "did you mean tick-5s?");
	assert_hint(probes, DESC("", "", "", "nonesuch-5s"), NULL);
}

static void intervals(void **state)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} good[] = {
		{ "tick-1", 1000000000 },      { "tick-5000", 200000 },
		{ "tick-5000hz", 200000 },     { "tick-97Hz", 10309278 },
		{ "tick-200000ns", 200000 },   { "tick-200000nsec", 200000 },
		{ "tick-200us", 200000 },      { "tick-200usec", 200000 },
		{ "tick-1ms", 1000000 },       { "tick-7msec", 7000000 },
		{ "tick-1s", 1000000000 },     { "tick-1sec", 1000000000 },
		{ "tick-2m", 120000000000 },   { "tick-2min", 120000000000 },
		{ "tick-1h", 3600000000000 },  { "tick-1hour", 3600000000000 },
		{ "tick-1d", 86400000000000 }, { "tick-1day", 86400000000000 },
		{ "tick-010", 100000000 },
	};
	static const char *const bad[] = {
		"tick",
		"tick-",
		"tick-0",
		"tick-5001",
		"tick-199us",
		"tick-199999ns",
		"tick--1",
		"tick-+1",
		"tick-1x",
		"tick-1 s",
		"tick-s",
		"tick-1sec ",
		"tick-0x10",
		"Tick-1",
		"tick-18446744073709551616",
		"tick-99999999999999999999999d",
		"tick-200000000000d",
		"profile",
		"BEGIN",
		"",
	};
	bool tick;
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (!vp_profile_parse(good[i].name, &tick, &ns))
			fail_msg("%s is refused", good[i].name);
		assert_true(tick && ns == good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (vp_profile_parse(bad[i], &tick, &ns))
			fail_msg("%s is taken", bad[i]);
	assert_true(vp_profile_parse("profile-997", &tick, &ns));
	assert_true(!tick && ns == 1003009);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ids_and_kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(descriptions_match, setup, teardown),
		cmocka_unit_test_setup_teardown(profile_probes_come_on_demand, setup, teardown),
		cmocka_unit_test_setup_teardown(functions_are_found_by_exact_name, setup, teardown),
		cmocka_unit_test_setup_teardown(copies_are_found_without_suffix, setup, teardown),
		cmocka_unit_test_setup_teardown(only_probes_of_the_provider_are_compared, setup, teardown),
		cmocka_unit_test_setup_teardown(nearest_probe_is_named, setup, teardown),
		cmocka_unit_test_setup_teardown(other_systems_names_are_translated, setup, teardown),
		cmocka_unit_test_setup_teardown(other_tracers_forms_are_translated, setup, teardown),
		cmocka_unit_test_setup_teardown(the_same_is_told_from_the_similar, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_here_has_its_own_name, setup, teardown),
		cmocka_unit_test_setup_teardown(timers_are_explained, setup, teardown),
		cmocka_unit_test(intervals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
