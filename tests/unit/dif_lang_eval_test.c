/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * D programs compiled and evaluated: what trace() would record, in order. A guest task_struct
 * lies at FX_KERNEL, a string at FX_USER.
 */
#include "tests/unit/dif_fixture.h"
#include "tests/unit/dif_lang_fixture.h"

static uint64_t scalar(void *env, uint32_t id, enum dif_fault *fault)
{
	(void)env;
	(void)fault;
	switch (id) {
	case DIF_VAR_curthread:
		return FX_KERNEL;
	case DIF_VAR_pid:
		return 42;
	case DIF_VAR_percpubase: /* so that `nr_running lies at FX_KERNEL + 8 */
		return FX_KERNEL + 8 - LX_PERCPU;
	case DIF_VAR_arg0:
		return FX_USER;
	case DIF_VAR_arg1:
		return (uint64_t)-5;
	default:
		return id;
	}
}

static void fill_guest(struct fx_world *w)
{
	uint32_t pid = 77, state = 64;
	uint64_t parent = FX_KERNEL + 4096, name = FX_KERNEL + 256;

	memcpy(w->kernel, &pid, 4);
	w->kernel[4] = (uint8_t)(5 | 0x1d << 3); /* flags 5, sflags -3 */
	memcpy(w->kernel + 8, &parent, 8);
	strcpy((char *)w->kernel + 16, "csh");
	memcpy(w->kernel + 32, &state, 4);
	memcpy(w->kernel + 40, &name, 8);
	strcpy((char *)w->kernel + 256, "a name");
	pid = 1;
	memcpy(w->kernel + 4096, &pid, 4);
	strcpy((char *)w->kernel + 4096 + 16, "init");
	strcpy((char *)w->user, "user text");
}

struct machine {
	struct fx_world world;
	struct dif_vm vm;
	struct dif_var_layout vars;
	struct ot_arena arena;
	void *globals, *dyn_mem;
	struct dif_dynvars *dynvars;
	struct dif_vm_ops ops;
};

static void machine_init(struct machine *m, const struct dif_program *prog)
{
	struct dif_layout_opts opts = fx_opts();

	memset(m, 0, sizeof(*m));
	ot_arena_init(&m->arena);
	fill_guest(&m->world);
	m->ops = fx_ops;
	m->ops.scalar = scalar;
	fx_no_error(dif_var_layout(prog, &opts, &m->arena, &m->vars));
	m->globals = calloc(1, m->vars.globals_size + 8);
	m->dyn_mem = calloc(1, FX_DYN_SIZE);
	fx_no_error(dif_dynvars_format(m->dyn_mem, FX_DYN_SIZE, 1, 400, FX_STRSIZE + 1));
	fx_no_error(dif_dynvars_open(m->dyn_mem, FX_DYN_SIZE, &m->dynvars));
	struct dif_vm_config config = { .ops = &m->ops,
					.env = &m->world,
					.vars = &m->vars,
					.globals = m->globals,
					.dynvars = m->dynvars,
					.strsize = FX_STRSIZE,
					.scratch_size = FX_SCRATCH };
	fx_no_error(dif_vm_init(&m->vm, &config));
	dif_vm_begin(&m->vm, DIF_FUEL_DEFAULT);
}

static void machine_deinit(struct machine *m)
{
	dif_vm_deinit(&m->vm);
	dif_dynvars_close(m->dynvars);
	free(m->globals);
	free(m->dyn_mem);
	ot_arena_deinit(&m->arena);
}

/* The value as text: strings as they are, integers by size, signed. False: a fault. */
static bool record(struct machine *m, const struct dif_object *obj, struct ot_buf *out)
{
	char text[FX_STRSIZE];
	uint64_t value;
	enum dif_fault fault = dif_vm_eval(&m->vm, obj, &value);

	if (!fault && obj->ret.flags & DIF_TF_BYREF) {
		fault =
		    dif_vm_copy(&m->vm, &obj->ret, value, text, obj->ret.size ? obj->ret.size : FX_STRSIZE);
		text[sizeof(text) - 1] = '\0';
		if (!fault)
			ot_buf_printf(out, "%s ", text);
	} else if (!fault && obj->ret.size) {
		unsigned shift = 64 - obj->ret.size * 8;
		ot_buf_printf(out, "%lld ", (long long)((int64_t)(value << shift) >> shift));
	}
	if (fault)
		ot_buf_printf(out, "fault:%s ", dif_fault_text(fault));
	return !fault;
}

static void run(struct machine *m, const struct dif_program *prog, struct ot_buf *out)
{
	for (uint32_t i = 0; i < prog->nclauses; i++) {
		const struct dif_clause *cl = &prog->clauses[i];
		uint64_t value = 1;
		dif_vm_begin_clause(&m->vm);
		if (cl->predicate && (dif_vm_eval(&m->vm, cl->predicate, &value) || !value))
			continue;
		for (uint32_t k = 0; k < cl->nactions; k++)
			if (cl->actions[k].object && !record(m, cl->actions[k].object, out))
				break;
	}
}

static const struct {
	const char *text, *expected;
} programs[] = {
	/* arithmetic and its types */
	{ "BEGIN { trace(6 * 7); trace(7 / 2); trace(-7 / 2); trace(-7 % 3); trace(1 << 5); trace(-8 >> 1); "
	  "}",
	  "42 3 -3 -1 32 -4 " },
	{ "BEGIN { x = 6; y = 7; trace(x * y); trace(y / 2); trace(y % 4); trace(x - y); trace(x | y); "
	  "trace(x & y); trace(x ^ y); }",
	  "42 3 3 -1 7 6 1 " },
	{ "BEGIN { x = -9; trace(x / 2); trace(x >> 1); trace((unsigned)x >> 1); trace(~x); trace(-x); "
	  "trace(+x); }",
	  "-4 -5 2147483643 8 9 -9 " },
	{ "BEGIN { c = (char)100; trace(c + c); }", "-56 " },
	{ "BEGIN { x = (uint8_t)300; trace(x); y = (int8_t)200; trace((int)y); trace((uint32_t)-1 == "
	  "0xffffffff); }",
	  "44 -56 1 " },
	{ "BEGIN { u = (uint32_t)0; trace(u - 1 > 0 ? 1 : 0); z = (uint64_t)(uint32_t)(u - 1); trace(z); }",
	  "1 4294967295 " },
	{ "BEGIN { x = 1; x += 4; x *= 3; x -= 1; x /= 2; x %= 4; trace(x); x <<= 3; x >>= 1; x |= 3; x &= "
	  "14; x ^= 1; trace(x); }",
	  "3 15 " },
	{ "BEGIN { x = 5; trace(x++); trace(++x); trace(x--); trace(--x); trace(n++); trace(n); }",
	  "5 7 7 5 0 1 " },
	{ "BEGIN { trace(1 + 2 * 3 - 4 / 2); trace((1 + 2) * 3); trace(1 < 2 == 1); trace(1 ? 2 : 3 ? 4 : "
	  "5); trace((1, 2)); }",
	  "5 9 1 2 2 " },
	{ "BEGIN { trace('a'); trace('ab'); trace(0x10); trace(010); trace(4294967295); trace(0xffffffff); }",
	  "97 24930 16 8 4294967295 -1 " },
	{ "BEGIN { trace(sizeof(int)); trace(sizeof(curthread->comm)); trace(sizeof(struct task_struct)); "
	  "trace(sizeof(\"abc\")); trace(sizeof(string)); }",
	  "4 16 48 4 256 " },
	{ "BEGIN { trace(offsetof(struct task_struct, comm)); trace(offsetof(struct task_struct, state)); }",
	  "16 32 " },
	/* comparisons and logic */
	{ "BEGIN { x = 3; trace(x == 3); trace(x != 3); trace(x < 4); trace(x <= 2); trace(x > 2); trace(x "
	  ">= 4); }",
	  "1 0 1 0 1 0 " },
	{ "BEGIN { x = -1; y = (unsigned)1; trace(x < 1); trace((unsigned)x < y); trace(arg1 < 0); }",
	  "1 0 1 " },
	{ "BEGIN { x = 0; y = 1; trace(x && y); trace(x || y); trace(x ^^ y); trace(!x); trace(!y); trace(y "
	  "^^ y); }",
	  "0 1 1 1 0 0 " },
	{ "BEGIN { x = 0; y = x != 0 && 1 / x; trace(y); y = x == 0 || 1 / x; trace(y); trace(x ? 1 / x : "
	  "9); }",
	  "0 1 9 " },
	{ "BEGIN { x = 0; trace(1 / x); }", "fault:divide-by-zero " },
	/* strings */
	{ "BEGIN { trace(execname); trace(execname == \"csh\"); trace(execname < \"d\"); trace(execname != "
	  "\"csh\"); trace(strlen(execname)); }",
	  "csh 1 1 0 3 " },
	{ "BEGIN { s = \"abc\"; trace(s); trace(strjoin(strjoin(s, \"-\"), substr(s, 1))); trace(s[1]); "
	  "trace(s == \"abc\" ? \"yes\" : \"no\"); }",
	  "abc abc-bc 98 yes " },
	{ "BEGIN { trace(index(\"hello\", \"l\")); trace(strchr(\"hello\", 'l')); trace(strtok(\"a,b\", "
	  "\",\")); trace(strtok(NULL, \",\")); }",
	  "2 llo a b " },
	{ "BEGIN { this->t = strtok(\"\", \",\"); trace(this->t == NULL); trace(lltostr(-5)); "
	  "trace(strtoll(\"12\") + 1); }",
	  "1 -5 13 " },
	{ "BEGIN { trace(copyinstr(arg0)); trace(stringof((userland char *)arg0)); trace(strlen((userland "
	  "char *)arg0)); trace(*(userland char *)arg0); }",
	  "user text user text 9 117 " },
	{ "BEGIN { p = (char *)copyin(arg0, 10); trace(p[0]); trace(stringof(p)); }", "117 user text " },
	/* variables */
	{ "BEGIN { x = 1; self->x = 2; this->x = 3; trace(x); trace(self->x); trace(this->x); } BEGIN { "
	  "trace(self->x + this->x); self->x = 0; trace(self->x); }",
	  "1 2 3 5 0 " },
	{ "BEGIN { a[1, \"x\"] = 10; a[1, \"x\"]++; a[2, \"x\"] += 5; trace(a[1, \"x\"]); trace(a[2, "
	  "\"x\"]); trace(a[3, \"x\"]); a[1, \"x\"] = 0; trace(a[1, \"x\"]); }",
	  "11 5 0 0 " },
	{ "BEGIN { self->a[\"k\"] = \"v\"; trace(self->a[\"k\"]); s[curthread->comm] = 4; "
	  "trace(s[curthread->comm]); }",
	  "v 4 " },
	{ "int g[3]; BEGIN { g[0] = 5; g[2] = 7; trace(g[0] + g[1] + g[2]); i = 2; trace(g[i]); }", "12 7 " },
	{ "BEGIN { m[1] = 2; m[m[1]] = 3; trace(m[m[m[1] - 1]]); t[strlen(\"abc\"), strjoin(\"a\", \"b\")] = "
	  "6; trace(t[3, \"ab\"]); }",
	  "3 6 " },
	{ "BEGIN { x = (int64_t)1 << 40; trace(x); x = 3; y = x = 4; trace(y); }", "1099511627776 4 " },
	{ "BEGIN { k[1, 2, 3, 4, 5, 6, 7, 8] = 9; trace(k[1, 2, 3, 4, 5, 6, 7, 8]); }", "9 " },
	{ "BEGIN { trace(`nr_running & 0xffff); trace(*(int16_t *)&`nr_running); trace(&`nr_running - "
	  "(long *)curthread); }",
	  "4096 4096 1 " },
	/* the guest's structures */
	{ "BEGIN { trace(curthread->pid); trace(curthread->comm); trace(curthread->parent->pid); "
	  "trace(curthread->parent->comm); }",
	  "77 csh 1 init " },
	{ "BEGIN { trace(curthread->flags); trace(curthread->sflags); trace(curthread->state); "
	  "trace(stringof(curthread->name)); }",
	  "5 -3 64 a name " },
	{ "BEGIN { trace(((struct task_struct *)curthread)->pid); t = curthread->parent; trace(t->pid); "
	  "trace((*t).comm); trace(t->comm[1]); }",
	  "77 1 init 110 " },
	{ "BEGIN { trace(curthread->state == TASK_DEAD); trace(curthread->comm == \"csh\"); "
	  "trace(&curthread->comm[2] - &curthread->comm[0]); }",
	  "1 1 2 " },
	{ "BEGIN { t = *curthread; trace(t.pid); trace(t.comm); p = &curthread->pid; trace(*p); trace(*(p + "
	  "1) & 7); }",
	  "77 csh 77 5 " },
	{ "fbt::do_exit:entry { trace(args[0]); trace(args[1]); }", "0 1 " },
	{ "inline int two = args[0] + 2; fbt::do_exit:entry { trace(two); }", "2 " },
	/* an argument that a translator makes of the native one */
	{ "typedef struct { long at; int nine; } lxinfo_t; translator lxinfo_t < struct task_struct *T > { "
	  "at = "
	  "(long)T; nine = 9; }; io:::start { trace(args[0]->at); trace(args[0]->nine); }",
	  "1 9 " },
	/* structures of D */
	{ "struct s { int a; char b; short c:3; unsigned d:5; long e[2]; }; struct s v; struct s w;"
	  "BEGIN { v.a = 1; v.b = 'x'; v.c = -2; v.d = 17; v.e[1] = 6; w = v; trace(w.a); trace(w.b); "
	  "trace(w.c); trace(w.d); trace(w.e[1]); trace(sizeof(struct s)); }",
	  "1 120 -2 17 6 24 " },
	{ "union u { int i; char c[4]; }; union u v; BEGIN { v.i = 0x41424344; trace(v.c[0]); "
	  "trace(sizeof(union u)); }",
	  "68 4 " },
	{ "struct s { int a; struct { int b; union { int c; char d; }; }; }; this struct s v; BEGIN { "
	  "this->v.c = 9; trace(this->v.d); trace(offsetof(struct s, c)); }",
	  "9 8 " },
	{ "enum color { RED, GREEN = 5, BLUE }; BEGIN { trace(RED); trace(BLUE); x = (enum color)5; trace(x "
	  "== GREEN); }",
	  "0 6 1 " },
	{ "typedef struct { int a[2][3]; } m_t; m_t v; BEGIN { v.a[1][2] = 8; trace(v.a[1][2]); "
	  "trace(sizeof(v.a[0])); trace(sizeof(m_t)); }",
	  "8 12 24 " },
	{ "BEGIN { p = (int *)alloca(8); *p = 3; p[1] = 4; trace(*p + p[1]); *p += 5; p++; trace(*p); "
	  "(*p)++; trace(*p); }",
	  "7 4 5 " },
	{ "BEGIN { this->p = alloca(6); bcopy(curthread->comm, this->p, 4); trace(stringof(this->p)); }",
	  "csh " },
	/* inlines, translators */
	{ "inline int two = 2; inline string who[int n] = n == 1 ? \"one\" : \"many\"; BEGIN { trace(two + "
	  "1); trace(who[1]); trace(who[5]); }",
	  "3 one many " },
	{ "inline int f[int a, int b] = a * 10 + b; BEGIN { trace(f[1, 2] + f[f[0, 3], 4]); }", "46 " },
	{ "struct o { int id; string who; }; translator struct o < struct task_struct *t > { id = t->pid; "
	  "who = stringof(t->comm); };"
	  "inline struct o *cur = xlate <struct o *> (curthread); BEGIN { trace(xlate <struct o> "
	  "(curthread).id); trace(cur->who); }",
	  "77 csh " },
	/* what this kernel has */
	{ "#pragma D depends_on struct task_struct\n"
	  "BEGIN { trace(__has_member(struct task_struct, pid) ? curthread->pid : curthread->absent); "
	  "trace(__has_member(struct task_struct, absent) ? curthread->absent : 8); "
	  "trace(__has_symbol(`jiffies)); trace(__has_symbol(`absent) ? `absent : 9); "
	  "trace(__has_symbol(vmlinux`untyped)); }",
	  "77 8 1 9 1 " },
	/* if and else */
	{ "BEGIN { x = 3; if (x > 2) { trace(1); if (x > 5) trace(2); else trace(3); trace(4); } else { "
	  "trace(5); } trace(6); }",
	  "1 3 4 6 " },
	{ "BEGIN /0/ { if (1) trace(1); trace(2); } BEGIN { trace(3); }", "3 " },
	{ "BEGIN { x = 0; if (1) { trace(1); trace(1 / x); } trace(2); } BEGIN { trace(3); }",
	  "1 fault:divide-by-zero 3 " },
	{ "BEGIN { if (0) { trace(1); } else if (1) { trace(2); } else { trace(3); } }", "2 " },
	/* predicates */
	{ "BEGIN /execname == \"csh\" && pid == 42/ { trace(1); } BEGIN /pid / 2 == 21/ { trace(2); } BEGIN "
	  "/!pid/ { trace(3); }",
	  "1 2 " },
	/* macros */
	{ "BEGIN { trace($pid); trace($$target); }", "1234 1234 " },
};

static void test_programs(void **state)
{
	bool ok = true;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(programs); i++) {
		struct ot_buf out = { 0 };
		struct machine *m = calloc(1, sizeof(*m));
		struct lx lx;
		lx_init(&lx);
		if (!lx_compile(&lx, programs[i].text)) {
			print_message("%s\n  %s: %s\n", programs[i].text, lx.diag->tag, lx.diag->message);
			ok = false;
		} else {
			machine_init(m, &lx.prog);
			run(m, &lx.prog, &out);
			machine_deinit(m);
			if (strcmp(ot_buf_str(&out), programs[i].expected)) {
				print_message("%s\n  expected %s\n       got %s\n", programs[i].text,
					      programs[i].expected, ot_buf_str(&out));
				ok = false;
			}
		}
		ot_buf_deinit(&out);
		lx_deinit(&lx);
		free(m);
	}
	assert_true(ok);
}

/* --- exact code ------------------------------------------------------------------------------------ */

static void check_text(const struct dif_object *obj, const uint32_t *expected, size_t n)
{
	assert_int_equal(obj->text_len, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(obj->text[i], expected[i]);
}

static void test_classic_listing(void **state)
{
	static const uint32_t predicate[] = { 0x29011801, 0x26000102, 0x27010200, 0x12000006,
					      0x0e000001, 0x11000007, 0x25000001, 0x23000001 };
	static const uint32_t trace[] = { 0x29010601, 0x23000001 };
	struct lx lx;
	(void)state;

	lx_init(&lx);
	assert_true(lx_compile(&lx, "fbt::do_exit:entry /execname == \"csh\"/ { trace(arg0); }"));
	check_text(lx.prog.clauses[0].predicate, predicate, OT_ARRAY_SIZE(predicate));
	check_text(lx.prog.clauses[0].actions[0].object, trace, OT_ARRAY_SIZE(trace));
	assert_int_equal(lx.prog.clauses[0].predicate->ints[0], 1);
	assert_string_equal(lx.prog.clauses[0].predicate->strs + 1, "csh");
	lx_deinit(&lx);
}

/* --- actions ------------------------------------------------------------------------------------------ */

static void test_actions(void **state)
{
	struct lx lx;
	(void)state;

	lx_init(&lx);
	assert_true(
	    lx_compile(&lx,
		       "BEGIN { printf(\"%d %i %d %s%%\\n\", 1, (unsigned)2, (uint64_t)3, execname); exit(7);"
		       " @a[1, \"x\", stack(5)] = quantize(arg0, 4); @b = lquantize(1, -5, 10, 3);"
		       " printa(\"%d %@d\\n\", @c); }"
		       "END { @c[1] = count(); }") == false);
	assert_string_equal(lx.diag->tag, "D_PRINTA_AGGBAD");
	lx_deinit(&lx);

	lx_init(&lx);
	assert_true(lx_compile(
	    &lx,
	    "BEGIN { printf(\"%d %i %d %s%%\\n\", 1, (unsigned)2, (uint64_t)3, execname); exit(7);"
	    " @a[1, \"x\", stack(5)] = quantize(arg0, 4); @b = lquantize(1, -5, 10, 3); printa(@a, @a); }"));
	const struct dif_clause *cl = &lx.prog.clauses[0];
	const struct dif_action *a = cl->actions;
	assert_int_equal(cl->nactions, 4 + 1 + 5 + 1 + 2);
	assert_string_equal(a[0].format, "%d %i %u %s%%\n");
	assert_true(a[0].uarg && a[0].uarg == a[3].uarg && a[4].uarg != a[0].uarg);
	assert_int_equal(a[4].kind, DIF_ACT_exit);
	assert_true(a[5].is_key && a[6].is_key && a[7].kind == DIF_ACT_stack && a[7].arg == 5 &&
		    a[8].is_increment);
	assert_int_equal(a[9].kind, DIF_AGG_quantize);
	assert_int_equal(a[9].ntuple, 5);
	assert_int_equal(a[9].aggid, 1);
	assert_int_equal(a[10].arg, (uint64_t)3 << 48 | (uint64_t)5 << 32 | (uint32_t)-5);
	assert_int_equal(lx.prog.naggs, 2);
	assert_string_equal(lx.prog.aggs[0].name, "a");
	assert_int_equal(lx.prog.aggs[0].nkeys, 3);
	lx_deinit(&lx);
}

static void test_print_layout(void **state)
{
	struct lx lx;
	(void)state;

	lx_init(&lx);
	assert_true(lx_compile(&lx, "BEGIN { print(*curthread); }"));
	assert_string_equal(
	    lx.prog.clauses[0].actions[0].format,
	    "struct task_struct\nS48{0:pid:int:i4s;32.3:flags:unsigned int:i4u;35.5:sflags:int:i4s;"
	    "64:parent:struct task_struct *:p;128:comm:char [16]:a16:char:i1sc;"
	    "256:state:enum task_state:e4u{TASK_RUNNING=0,TASK_DEAD=64,};320:name:char *:p;}");
	lx_deinit(&lx);
}

/* --- descriptions --------------------------------------------------------------------------------------- */

static void test_descriptions(void **state)
{
	static const struct {
		enum dif_spec spec;
		const char *text, *expected;
	} cases[] = {
		{ DIF_SPEC_NAME, "BEGIN ", ":::BEGIN" },
		{ DIF_SPEC_NAME, "do_exit:entry", "::do_exit:entry" },
		{ DIF_SPEC_NAME, "fbt:vm*:do_[!f]*:", "fbt:vm*:do_[!f]*:" },
		{ DIF_SPEC_FUNCTION, "do_exit", "::do_exit:" },
		{ DIF_SPEC_MODULE, "fbt:vmlinux", "fbt:vmlinux::" },
		{ DIF_SPEC_PROVIDER, "fbt", "fbt:::" },
		{ DIF_SPEC_NAME, "4", "4" },
		{ DIF_SPEC_PROVIDER, "fbt { trace(1); }", "fbt:::" },
	};
	struct ot_buf out = { 0 };
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		struct dif_source src = { .kind = DIF_SOURCE_COMMAND_LINE,
					  .spec = cases[i].spec,
					  .name = "x",
					  .text = cases[i].text,
					  .len = strlen(cases[i].text) };
		struct lx lx;
		lx_init(&lx);
		fx_no_error(dif_compile(lx.comp, &src, &lx.prog, &lx.first, &lx.diag));
		ot_buf_clear(&out);
		dif_probedesc_print(&lx.prog.clauses[0].probe, &out);
		assert_string_equal(ot_buf_str(&out), cases[i].expected);
		assert_true(dif_compiler_matched(lx.comp) > 0);
		lx_deinit(&lx);
	}
	ot_buf_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),     cmocka_unit_test(test_classic_listing),
		cmocka_unit_test(test_actions),      cmocka_unit_test(test_print_layout),
		cmocka_unit_test(test_descriptions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
