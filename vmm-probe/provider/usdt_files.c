/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The providers of a file's notes, by file. */
#include "vmm-probe/provider/usdt_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "dif/obj/program.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/elf/notes.h"

#define PROVIDERS_MAX 64u /* of one file; glibc's and a program's own are one each */

/* Names, each with its NUL; the last one is empty. */
struct names {
	struct ot_buf text;
	uint32_t n;
};

static bool has(const char *names, const char *name)
{
	for (; *names; names += strlen(names) + 1)
		if (!strcmp(names, name))
			return true;
	return false;
}

static bool add_name(void *arg, const struct vp_stapsdt *note)
{
	struct names *names = arg;

	if (!*note->provider || strlen(note->provider) > VP_USDT_NAME_MAX)
		return true;
	if (names->n && has(ot_buf_str(&names->text), note->provider))
		return true;
	ot_buf_append(&names->text, note->provider, strlen(note->provider) + 1);
	return ++names->n < PROVIDERS_MAX && !names->text.failed;
}

/* In the memory of the registry's expressions; NULL: none. */
static char *keep(const struct vp_usdt_reader *reader, struct names *names)
{
	ot_buf_append(&names->text, "", 1);
	return names->text.failed
		   ? NULL
		   : ot_arena_strndup(&reader->exprs->arena, names->text.data, names->text.len);
}

static struct ot_err *read_names(const struct vp_usdt_reader *reader, struct vp_pid_object *object,
				 const char **ret, bool *ret_whole)
{
	struct names names = { 0 };

	*ret_whole = true;
	OT_TRY(vp_pid_object_open(reader->processes, reader->process, object));
	ot_buf_init(&names.text);
	if (object->has_elf)
		*ret_whole = vp_elf_stapsdt(&object->elf, add_name, &names) || names.n == PROVIDERS_MAX;
	*ret = keep(reader, &names);
	ot_buf_deinit(&names.text);
	if (object->pages)
		vp_elf_pages_forget(object->pages);
	return *ret ? vp_budget_check() : ot_err_nomem();
}

static bool matches_any(const char *names, uint32_t pid, const char *pattern)
{
	char name[VP_USDT_NAME_MAX + 16];

	for (; *names; names += strlen(names) + 1) {
		snprintf(name, sizeof(name), "%s%" PRIu32, names, pid);
		if (dif_glob_match(pattern, name))
			return true;
	}
	return false;
}

bool vp_usdt_file_pass_over(const struct vp_usdt_reader *reader, const struct vp_pid_object *object)
{
	const struct vp_file_id *id = &reader->process->maps.files[object->file].id;

	return ot_map_put(&reader->processes->noted, id, sizeof(*id), (void *)(uintptr_t) "");
}

struct ot_err *vp_usdt_file_has(const struct vp_usdt_reader *reader, struct vp_pid_object *object,
				const char *pattern, bool *ret)
{
	const struct vp_file_id *id = &reader->process->maps.files[object->file].id;
	struct ot_map *known = &reader->processes->noted;
	const char *names = ot_map_get(known, id, sizeof(*id));
	bool whole = true;

	if (!names) {
		OT_TRY(read_names(reader, object, &names, &whole));
		if (whole && !ot_map_put(known, id, sizeof(*id), (void *)(uintptr_t)names))
			return ot_err_nomem();
	}
	*ret = matches_any(names, reader->process->id.pid, pattern);
	return NULL;
}
