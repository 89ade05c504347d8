/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds a process's runtime, and reports why one is not shown. */
#include "vmm-probe/session/user_runtime.h"

#include <stdio.h>
#include <string.h>

#include "vmm-probe/guest/elf/symbols.h"
#include "vmm-probe/guest/process/maps.h"
#include "vmm-probe/session/user_memory.h"

/* Without room for texts only HotSpot's is needed, as its code has no other rules; it is a library of its
 * own. */
#define HOTSPOT_NAME "libjvm"

/* By the variables that it exports. */
static struct ot_err *read_hotspot(struct vp_elf *elf, struct vp_hotspot_file *ret)
{
	static const char *const names[] = {
#define NAME(name, text) text,
		VP_HOTSPOT_SYMBOLS(NAME)
#undef NAME
	};
	struct vp_hotspot_file f = { 0 };
	struct vp_elf_symbols symbols = { 0 };
	struct ot_err *err =
	    vp_elf_symbols_add(elf, &elf->dynsym, VP_PART_DYNAMIC, VP_PART_DYNAMIC, &symbols);
	size_t found = 0;

	for (size_t i = 0; i < symbols.count; i++) {
		const char *name = vp_elf_symbol_name(&symbols, &symbols.items[i]);

		for (size_t k = 0; !strncmp(name, "gHotSpot", 8) && k < VP_HOTSPOT_NSYMBOLS; k++)
			if (!strcmp(name, names[k]) && !f.symbols[k]) {
				f.symbols[k] = symbols.items[i].addr;
				found += f.symbols[k] != 0;
			}
	}
	vp_elf_symbols_deinit(&symbols);
	if (err && ot_err_code(err) == OT_ERR_NO_MEMORY)
		return err;
	ot_err_destroy(err); /* an invalid file has no symbols */
	*ret = found == VP_HOTSPOT_NSYMBOLS ? f : (struct vp_hotspot_file){ 0 };
	return NULL;
}

struct ot_err *vp_runtime_file_read(struct vp_elf *elf, const struct vp_user_wanted *wanted, bool texts,
				    struct vp_runtime_file *ret)
{
	struct vp_runtime_file f = { 0 };

	if (texts)
		OT_TRY(vp_python_file_read(elf, wanted, &f.python));
	if (texts)
		OT_TRY(vp_beam_file_read(elf, wanted, &f.beam));
	if (texts || !strncmp(vp_path_name(wanted->path), HOTSPOT_NAME, strlen(HOTSPOT_NAME)))
		OT_TRY(read_hotspot(elf, &f.hotspot));
	*ret = f;
	return NULL;
}

/* Once for each file. */
static void say(const struct vp_user_symbols *us, const struct vp_user_object *o,
		struct vp_runtime_file *file, const char *why)
{
	char text[512];

	if (file->reported || !us->say)
		return;
	file->reported = true;
	snprintf(text, sizeof(text), "%.200s: %s", vp_user_object_name(o), why);
	us->say(us->say_arg, text);
}

/* --- HotSpot ------------------------------------------------------------------------------------------- */

struct attempt {
	struct vp_user_memory memory;
	const struct vp_hotspot_file *file;
	uint64_t bias;
	struct vp_hotspot_layout layout;
	const char *lacks;
	enum vp_hotspot_found found;
};

/* A copy supplies the parts of its description that the guest's memory lacks. */
static struct ot_err *try_copy(void *arg, struct vp_elf *elf)
{
	struct attempt *a = arg;
	const struct vp_user_reader reader = { vp_user_memory_read, &a->memory };

	a->memory.copy = elf;
	if (a->found == VP_HOTSPOT_MISSING && !a->memory.over)
		a->found = vp_hotspot_find(&reader, a->file, a->bias, &a->layout, &a->lacks);
	a->memory.copy = NULL;
	return NULL;
}

static void say_hotspot(const struct vp_user_symbols *us, const struct vp_user_object *o,
			struct vp_runtime_file *file, const struct attempt *a)
{
	char why[256];

	if (a->found == VP_HOTSPOT_UNKNOWN)
		snprintf(why, sizeof(why),
			 "ustack() ends at Java's frames, and jstack() does not show them: this is not "
			 "OpenJDK 17, or it does not export \"%s\"",
			 a->lacks);
	else
		snprintf(
		    why, sizeof(why),
		    "its layout of Java's frames (gHotSpotVMStructs) is not in the guest's memory, so that "
		    "ustack() and jstack() end there; --sysroot DIR, with the file below DIR, helps");
	say(us, o, file, why);
}

static struct ot_err *find_hotspot(struct vp_user_symbols *us, const struct vp_maps *maps,
				   struct vp_user_object *o, const struct vp_user_wanted *wanted,
				   struct vp_runtime_file *file, uint64_t bias, struct vp_runtime *ret,
				   enum vp_runtime_found *ret_found)
{
	struct attempt a = { .memory = { .us = us, .maps = maps, .copy_bias = bias },
			     .file = &file->hotspot,
			     .bias = bias };
	const struct vp_user_reader reader = { vp_user_memory_read, &a.memory };

	a.found = vp_hotspot_find(&reader, a.file, bias, &a.layout, &a.lacks);
	if (a.found == VP_HOTSPOT_MISSING && !a.memory.over)
		OT_TRY(vp_user_files_each(wanted, try_copy, &a));
	vp_user_memory_end(&a.memory);
	*ret_found = a.memory.over                 ? VP_RUNTIME_LATER
		     : a.found == VP_HOTSPOT_EARLY ? VP_RUNTIME_EARLY
		     : a.found == VP_HOTSPOT_FOUND ? VP_RUNTIME_FOUND
						   : VP_RUNTIME_ABSENT;
	if (*ret_found == VP_RUNTIME_ABSENT)
		say_hotspot(us, o, file, &a);
	if (*ret_found != VP_RUNTIME_FOUND)
		return NULL;
	*ret = (struct vp_runtime){ .kind = VP_RUNTIME_HOTSPOT, .hotspot = a.layout.walk };
	return vp_user_notes_hotspot(&us->notes, &maps->process, &a.layout);
}

/* --- BEAM ---------------------------------------------------------------------------------------------- */

static enum vp_runtime_found find_beam(struct vp_user_symbols *us, const struct vp_maps *maps,
				       const struct vp_user_object *o, struct vp_runtime_file *file,
				       uint64_t bias, struct vp_runtime *ret)
{
	struct vp_user_memory memory = { .us = us, .maps = maps };
	const struct vp_user_reader reader = { vp_user_memory_read, &memory };
	const char *why;

	*ret = (struct vp_runtime){ .kind = VP_RUNTIME_BEAM };
	enum vp_beam_found found = vp_beam_find(&reader, &file->beam, bias, &ret->beam, &why);

	vp_user_memory_end(&memory);
	if (found == VP_BEAM_FOUND)
		return VP_RUNTIME_FOUND;
	if (memory.over)
		return VP_RUNTIME_LATER;
	if (found == VP_BEAM_EARLY)
		return VP_RUNTIME_EARLY;
	say(us, o, file, why);
	return VP_RUNTIME_ABSENT;
}

struct ot_err *vp_runtime_find(struct vp_user_symbols *us, const struct vp_maps *maps,
			       struct vp_user_object *o, const struct vp_user_wanted *wanted,
			       struct vp_runtime_file *file, uint64_t bias, struct vp_runtime *ret,
			       enum vp_runtime_found *ret_found)
{
	const char *why;

	*ret_found = VP_RUNTIME_ABSENT;
	if (file->hotspot.symbols[0])
		return find_hotspot(us, maps, o, wanted, file, bias, ret, ret_found);
	if (file->beam.is_beam)
		*ret_found = find_beam(us, maps, o, file, bias, ret);
	if (!file->python.runtime)
		return NULL;
	if (vp_python_find(us->ps, &maps->process, &file->python, bias, ret, &why))
		*ret_found = VP_RUNTIME_FOUND;
	else
		say(us, o, file, why);
	return NULL;
}
