/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frame of a provider's definitions: what is read of it, and which mistakes are found where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "vmm-probe/provider/definition.h"
#include "vmm-probe/provider/inlined_place.h"
#include "vmm-probe/provider/providers.h"

static struct ot_arena arena;

static int setup(void **state)
{
	(void)state;
	ot_arena_init(&arena);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ot_arena_deinit(&arena);
	return 0;
}

static void assert_part(const struct vp_text_part *part, const char *text)
{
	assert_non_null(part->text);
	assert_int_equal(part->len, strlen(text));
	assert_memory_equal(part->text, text, part->len);
}

static void everything_is_found(void **state)
{
	static const char text[] = "/* a { */\n"
				   "provider io;\n"
				   "inline int one = 1; struct s { int x; };\n"
				   "/* a firing */\n"
				   "probe wait-done(arg1 struct bio * : bufinfo_t *, int) {\n"
				   "  at { a:::b { trace(\"}\"); /* } */ } }\n"
				   "  with {w}\n"
				   "  after {x}\n"
				   "  or {'}'}\n"
				   "}\n"
				   "inline int two = one + 1;\n"
				   "probe bare() { at {} }\n"
				   "probe f:entry() { at {} } probe mod : f:return(int) { at {} }\n"
				   "probe *:each() { at {} }\n";
	struct vp_definitions defs;
	(void)state;

	assert_null(vp_definitions_parse(text, &arena, &defs));
	assert_string_equal(defs.provider, "io");
	assert_int_equal(defs.count, 5);
	assert_string_equal(defs.list[4].function, "*");
	assert_string_equal(defs.list[4].name, "each");
	assert_string_equal(defs.list[2].module, "");
	assert_string_equal(defs.list[2].function, "f");
	assert_string_equal(defs.list[2].name, "entry");
	assert_string_equal(defs.list[3].module, "mod");
	assert_string_equal(defs.list[3].function, "f");
	assert_string_equal(defs.list[3].name, "return");
	const struct vp_definition *d = &defs.list[0];
	assert_string_equal(d->module, "");
	assert_string_equal(d->function, "");
	assert_string_equal(d->name, "wait-done");
	assert_int_equal(d->nargs, 2);
	assert_string_equal(d->args[0].native, "struct bio *");
	assert_string_equal(d->args[0].translated, "bufinfo_t *");
	assert_int_equal(d->args[0].mapping, 1);
	assert_string_equal(d->args[1].native, "int");
	assert_null(d->args[1].translated);
	assert_int_equal(d->args[1].mapping, 1);
	assert_int_equal(d->nalternatives, 2);
	assert_part(&d->alternatives[0].at, " a:::b { trace(\"}\"); /* } */ } ");
	assert_part(&d->alternatives[0].with, "w");
	assert_part(&d->alternatives[0].after, "x");
	assert_part(&d->alternatives[1].at, "'}'");
	assert_null(d->alternatives[1].with.text);
	assert_string_equal(defs.list[1].name, "bare");
	assert_int_equal(defs.list[1].nargs, 0);
	/* what is left is D, in its lines */
	assert_int_equal(strlen(defs.common), strlen(text));
	assert_ptr_equal(strstr(defs.common, "inline int two") - defs.common,
			 strstr(text, "inline int two") - text);
	assert_null(strstr(defs.common, "probe"));
	assert_null(strstr(defs.common, "provider"));
	assert_non_null(strstr(defs.common, "struct s { int x; };"));
}

/* A return keeps its entry's arguments, of each alternative by itself. */
static void an_entry_and_its_return(void **state)
{
	static const char text[] =
	    "provider p;\n"
	    "probe m:f:entry(struct s *, int) return(int, long : t *) {\n"
	    "  at { a:entry / x(1) /* { */ / { trace(g(arg0)); trace(\")\"); } b:entry { } }\n"
	    "  returns { a:return, b:return { trace(h[(int)arg1]); trace(0); } }\n"
	    "  or { c:entry { trace(2); trace(3); } }\n"
	    "  returns { c:return { } d:return { trace(4); } }\n"
	    "  after { x }\n"
	    "}\n"
	    "probe other() { at {} }\n";
	struct vp_definitions defs;
	(void)state;

	assert_null(vp_definitions_parse(text, &arena, &defs));
	assert_int_equal(defs.count, 3);
	const struct vp_definition *entry = &defs.list[0], *d = &defs.list[1];
	assert_string_equal(entry->name, "entry");
	assert_int_equal(entry->nargs, 2);
	assert_int_equal(entry->nalternatives, 2);
	assert_null(entry->alternatives[0].with.text);
	assert_part(&entry->alternatives[1].after, " x ");
	assert_string_equal(d->module, "m");
	assert_string_equal(d->function, "f");
	assert_string_equal(d->name, "return");
	assert_int_equal(d->nargs, 4);
	assert_string_equal(d->args[0].native, "struct s *");
	assert_string_equal(d->args[3].translated, "t *");
	assert_int_equal(d->args[3].mapping, 3);
	assert_int_equal(d->nalternatives, 2);
	assert_part(&d->alternatives[0].at, " a:return, b:return / self->f_kept / { trace(self->f_kept0); "
					    "trace(self->f_kept1); trace(h[(int)arg1]); trace(0); }");
	assert_part(&d->alternatives[0].with,
		    " a:entry / x(1) /* { */ / { self->f_kept = 1; self->f_kept0 = (uint64_t)(g(arg0)); "
		    "self->f_kept1 = (uint64_t)(\")\"); } b:entry { self->f_kept = 1; }");
	assert_part(&d->alternatives[0].after, " a:return, b:return / self->f_kept / { self->f_kept = 0; "
					       "self->f_kept0 = 0; self->f_kept1 = 0; }");
	assert_part(&d->alternatives[1].after,
		    " c:return / self->f_kept / { self->f_kept = 0; self->f_kept0 = 0; self->f_kept1 = 0; }"
		    " d:return / self->f_kept / { self->f_kept = 0; self->f_kept0 = 0; self->f_kept1 = 0; }");
	assert_string_equal(defs.list[2].name, "other");
	assert_null(strstr(defs.common, "returns"));
}

static void mistakes_are_found(void **state)
{
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{ "", "line 1: provider is expected" },
		{ "provider;", "line 1: a name is expected" },
		{ "provider p", "line 1: ; is expected" },
		{ "provider p;\nprobe", "line 2: a name is expected" },
		{ "provider p;\nprobe x", "line 2: ( is expected" },
		{ "provider p;\nprobe x(int", "line 2: a type is expected" },
		{ "provider p;\nprobe x(,)", "line 2: a type is expected" },
		{ "provider p;\nprobe x(int : )", "line 2: a type is expected" },
		{ "provider p;\nprobe x()", "line 2: { is expected" },
		{ "provider p;\nprobe x() { }", "line 2: a probe without places" },
		{ "provider p;\nprobe x() { or { } }", "line 2: at, or, with, after or } is expected" },
		{ "provider p;\nprobe x() { at { } at { } }",
		  "line 2: at, or, with, after or } is expected" },
		{ "provider p;\nprobe x() {\n at { }\n with { } with { } }",
		  "line 4: at, or, with, after or } is expected" },
		{ "provider p;\nprobe x() { at { { } ", "line 2: } is missing" },
		{ "provider p;\nprobe x() { at {} or {} or {} or {} or {} }",
		  "line 2: too many alternatives" },
		{ "provider p;\nprobe x(a,b,c,d,e,f,g,h,i,j,k) { at {} }", "line 2: too many arguments" },
		{ "provider p;\nprobe f:entry(a,b,c,d,e,f,g,h,i,j) return(k) { at {} returns {} }",
		  "line 2: too many arguments" },
		{ "provider p;\nprobe f:entry() return() { at {} }", "line 2: returns is expected" },
		{ "provider p;\nprobe f:entry() { at {} returns {} }",
		  "line 2: at, or, with, after or } is expected" },
	};
	(void)state;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct vp_definitions defs;
		struct ot_err *err = vp_definitions_parse(wrong[i].text, &arena, &defs);

		assert_non_null(err);
		assert_string_equal(ot_err_message(err), wrong[i].message);
		ot_err_destroy(err);
	}
}

static void check_own(const struct vp_provider *provider)
{
	struct vp_definitions defs;
	struct ot_err *err = vp_definitions_parse(provider->definitions, &arena, &defs);

	if (err)
		fail_msg("%s: %s", provider->name, ot_err_message(err));
	assert_string_equal(defs.provider, provider->name);
	assert_true(defs.count > 0);
	for (size_t i = 0; i < defs.count; i++)
		for (size_t k = 0; k < i; k++)
			assert_false(!strcmp(defs.list[i].name, defs.list[k].name) &&
				     !strcmp(defs.list[i].function, defs.list[k].function));
}

/* Those of this build, whichever they are: they can be read, and no name is twice there. */
static void ours_are_right(void **state)
{
	(void)state;
#define CHECK(name) check_own(&vp_provider_##name);
	VP_DERIVED(CHECK)
#undef CHECK
}

static void check_places(struct vp_symtab *symtab, const char *text, const char *want)
{
	const struct vp_text_part part = { text, strlen(text) };
	struct vp_text_part got;

	assert_true(vp_inlined_places(symtab, &arena, &part, &got));
	assert_part(&got, want);
}

/* A function that is no symbol of the kernel's is another one, if that is. */
static void places_have_substitutes(void **state)
{
	static const char *const functions[] = { "ip_finish_output", "ip_finish_output2",
						 "ip6_finish_output2" };
	struct vp_symtab *symtab;

	(void)state;
	assert_null(vp_symtab_create(&symtab));
	for (size_t i = 0; i < OT_ARRAY_SIZE(functions); i++)
		assert_null(vp_symtab_add(symtab, 0x8100000000 + 64 * i, 't', VP_SYMTAB_VMLINUX, 0,
					  functions[i], strlen(functions[i])));
	assert_null(vp_symtab_finish(symtab));
	check_places(symtab, " fbt::ip_finish_output:entry { } ", " fbt::ip_finish_output:entry { } ");
	check_places(symtab, "fbt::ip6_finish_output:entry, fbt::ip6_finish_output:return { }",
		     "fbt::ip6_finish_output2:entry, fbt::ip6_finish_output2:return { }");
	check_places(symtab, "fbt::ip6_finish_output2:entry { }", "fbt::ip6_finish_output2:entry { }");
	check_places(symtab, "fbt::native_queued_spin_lock_slowpath:entry { }",
		     "fbt::native_queued_spin_lock_slowpath:entry { }");
	vp_symtab_destroy(symtab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(everything_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(an_entry_and_its_return, setup, teardown),
		cmocka_unit_test_setup_teardown(mistakes_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(ours_are_right, setup, teardown),
		cmocka_unit_test_setup_teardown(places_have_substitutes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
