/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpftrace names a probe by its kind and its place. The compiler reads the kind as the field in front of the
 * place: the function's, or the module's. Source: bpftrace's manual.
 */
#include "vmm-probe/provider/hint_tracers.h"

#include <ctype.h>
#include <string.h>

#include "base/compiler.h"

struct kind {
	const char *theirs, *provider, *name; /* name NULL: the place is a name */
};

static const struct kind kinds[] = {
	{ "kprobe", "fbt", "entry" },     { "k", "fbt", "entry" },
	{ "kfunc", "fbt", "entry" },      { "fentry", "fbt", "entry" },
	{ "kretprobe", "fbt", "return" }, { "kr", "fbt", "return" },
	{ "kretfunc", "fbt", "return" },  { "fexit", "fbt", "return" },
	{ "tracepoint", "sdt", NULL },    { "t", "sdt", NULL },
	{ "rawtracepoint", "sdt", NULL }, { "rt", "sdt", NULL },
};

static bool is_empty(const char *field)
{
	return !field || !*field;
}

static const struct kind *kind_of(const char *word)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(kinds); i++)
		if (!is_empty(word) && !strcmp(kinds[i].theirs, word))
			return &kinds[i];
	return NULL;
}

/* tracepoint:syscalls:sys_enter_openat is the call's own probe here. */
static bool of_call(const char *event, struct dif_probedesc *ret)
{
	static const struct {
		const char *prefix, *name;
	} ends[] = { { "sys_enter_", "entry" }, { "sys_exit_", "return" } };

	for (size_t i = 0; i < OT_ARRAY_SIZE(ends); i++) {
		size_t len = strlen(ends[i].prefix);
		if (strncmp(event, ends[i].prefix, len) != 0)
			continue;
		ret->provider = "syscall";
		ret->module = "";
		ret->function = event + len;
		ret->name = ends[i].name;
		return true;
	}
	return false;
}

static bool of_kind(const struct dif_probedesc *desc, struct dif_probedesc *ret)
{
	bool has_group = !is_empty(desc->module); /* a tracepoint's category, a function's module */
	const struct kind *kind = kind_of(has_group ? desc->module : desc->function);

	if (!kind || is_empty(desc->name))
		return false;
	ret->provider = kind->provider;
	ret->module = has_group && desc->function ? desc->function : "";
	ret->function = kind->name ? desc->name : "";
	ret->name = kind->name ? kind->name : desc->name;
	if (!kind->name)
		of_call(desc->name, ret);
	return true;
}

/* syscall::read:enter, fbt::vfs_read:exit */
static bool of_word(const struct dif_probedesc *desc, struct dif_probedesc *ret)
{
	static const struct {
		const char *theirs, *ours;
	} words[] = {
		{ "enter", "entry" }, { "begin", "entry" },  { "start", "entry" },   { "call", "entry" },
		{ "exit", "return" }, { "leave", "return" }, { "finish", "return" }, { "done", "return" },
		{ "end", "return" },  { "ret", "return" },
	};

	if (is_empty(desc->name) ||
	    (strcmp(desc->provider, "syscall") != 0 && strcmp(desc->provider, "fbt") != 0))
		return false;
	for (size_t i = 0; i < OT_ARRAY_SIZE(words); i++) {
		if (strcmp(words[i].theirs, desc->name) != 0)
			continue;
		ret->name = words[i].ours;
		return true;
	}
	return false;
}

bool vp_probe_of_tracer(const struct dif_probedesc *desc, struct dif_probedesc *ret)
{
	*ret = *desc;
	return is_empty(desc->provider) ? of_kind(desc, ret) : of_word(desc, ret);
}

bool vp_timer_of_tracer(const struct dif_probedesc *desc, struct ot_buf *out)
{
	bool has_unit = !is_empty(desc->module);
	const char *kind = has_unit ? desc->module : desc->function, *unit = has_unit ? desc->function : "";
	bool samples = !is_empty(kind) && !strcmp(kind, "profile");

	if (!is_empty(desc->provider) || is_empty(kind) || (!samples && strcmp(kind, "interval") != 0) ||
	    !unit || is_empty(desc->name) || !isdigit((unsigned char)*desc->name))
		return false;
	/* D's profile-99 is in hertz */
	ot_buf_printf(out, "did you mean %s-%s%s?", samples ? "profile" : "tick", desc->name,
		      samples && !strcmp(unit, "hz") ? "" : unit);
	return true;
}
