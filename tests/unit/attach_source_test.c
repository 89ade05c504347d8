/* SPDX-License-Identifier: GPL-2.0-or-later */
/* attach/source_table, attach/source: which source a name means, and which probes fire in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "dif/obj/names.h"
#include "vmm-probe/attach/internal.h"
#include "vmm-probe/provider/registry.h"

static const struct vp_source_ops *source(const char *name)
{
	const char *where = NULL;
	const struct vp_source_ops *ops = vp_source_find(name, &where);

	assert_non_null(ops);
	assert_non_null(ops->open);
	assert_non_null(ops->close);
	assert_string_equal(where, name + strlen(ops->prefix));
	return ops;
}

static void a_prefix_means_its_source(void **state)
{
	const char *where;

	(void)state;
	assert_string_equal(source("dump:/tmp/x")->prefix, "dump:");
	assert_string_equal(source("gdb:localhost:1234")->prefix, "gdb:");
	assert_string_equal(source("peek:")->prefix, "peek:");
	assert_ptr_equal(source("peek:web01"), &vp_peek_source);
	assert_null(vp_source_find("web01", &where));
	assert_null(vp_source_find("peek", &where));
	assert_null(vp_source_find("xgdb:1", &where));
	assert_null(vp_source_find("", &where));
}

static struct ot_err *take(const struct vp_links *links, struct vp_guest_link *link, enum vp_probe_kind kind)
{
	const struct vp_probe probe = { .id = DIF_PROBE_BEGIN,
					.kind = kind,
					.provider = "p",
					.module = "m",
					.function = "f",
					.name = "n" };
	struct ot_err *err;

	assert_null(vp_probes_create(NULL, &link->probes));
	err = vp_link_take(links, link, &probe);
	vp_probes_destroy(link->probes);
	link->probes = NULL;
	link->needed_for = link->needed_for ? (const void *)link : NULL; /* the probe is gone */
	return err;
}

static void assert_refused(struct ot_err *err, const char *text)
{
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_UNSUPPORTED);
	assert_string_equal(ot_err_message(err), text);
	ot_err_destroy(err);
}

static void only_samples_fire_beside_a_vmm(void **state)
{
	struct vp_links links = { .opts.entry = VP_ENTRY_AS_NEEDED };
	struct vp_guest_link link = { .client.guest_name = "web", .source.ops = source("peek:web") };

	(void)state;
	assert_null(take(&links, &link, VP_PROBE_PROFILE));
	assert_null(take(&links, &link, VP_PROBE_ERROR));
	assert_null(vp_peek_source.suffices(VP_PROBE_VM, VP_VM_EVENT(VP_VM_STAT, 3)));
	assert_non_null(vp_peek_source.suffices(VP_PROBE_VM, VP_VM_EVENT(VP_VM_EXIT, 0)));
	assert_refused(take(&links, &link, VP_PROBE_SITE),
		       "web is only sampled from outside its VMM: dtrace:::, profile:::, tick and vm:::stat "
		       "probes fire, p:m:f:n does not");
	assert_false(vp_link_engine_is_away(&link));
	assert_false(vp_link_costs(&link));
	link.tentative = true;
	assert_null(take(&links, &link, VP_PROBE_SITE));
	assert_non_null(link.needed_for);
	assert_true(vp_link_engine_is_away(&link));
	assert_true(vp_link_costs(&link));
	links.opts.entry = VP_ENTRY_REFUSED;
	assert_refused(take(&links, &link, VP_PROBE_SITE),
		       "p:m:f:n needs an engine in the VMM of guest web (PID 0), which -x noattach forbids");
}

static void nothing_fires_in_a_dump(void **state)
{
	const struct vp_links links = { .opts.entry = VP_ENTRY_AS_NEEDED };
	struct vp_guest_link link = { .client.guest_name = "core", .source.ops = source("dump:core") };

	(void)state;
	assert_false(vp_link_runs(&link));
	assert_refused(
	    take(&links, &link, VP_PROBE_SITE),
	    "core is a dump, in which nothing runs: only dtrace::: and tick probes fire, p:m:f:n does "
	    "not");
}

static void everything_fires_behind_a_stub_and_in_a_vmm(void **state)
{
	const struct vp_links links = { .opts.entry = VP_ENTRY_AS_NEEDED };
	struct vp_guest_link stub = { .source = { .ops = source("gdb:x"), .client = "@x" } }, vmm = { 0 };

	(void)state;
	assert_true(vp_link_runs(&stub) && vp_link_runs(&vmm));
	assert_true(vp_link_costs(&stub) && vp_link_costs(&vmm));
	assert_false(vp_link_engine_is_away(&stub));
	assert_true(vp_link_engine_is_away(&vmm));
	assert_null(take(&links, &stub, VP_PROBE_SITE));
	assert_null(take(&links, &vmm, VP_PROBE_SITE));
	assert_null(vmm.needed_for);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_prefix_means_its_source),
		cmocka_unit_test(only_samples_fire_beside_a_vmm),
		cmocka_unit_test(nothing_fires_in_a_dump),
		cmocka_unit_test(everything_fires_behind_a_stub_and_in_a_vmm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
