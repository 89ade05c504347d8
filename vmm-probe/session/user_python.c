/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding CPython in a process, and the layout of its structures. */
#include "vmm-probe/session/user_python.h"

#include <string.h>

#include "vmm-probe/engine/wire/facts.h"
#include "vmm-probe/guest/elf/symbols.h"

#define OFFSET_MAX (1u << 20)

/* --- layouts ----------------------------------------------------------------------------------------- */

/* By the offsets that its headers give on x86-64; `interpreters` is from _PyRuntime. */
static const struct vp_python python_3_11 = {
	.interpreters = 40,
	.runs = VP_PYTHON_RECORDS,
	.thread_record = 56,
	.thread_frame = VP_NO_OFFSET,
	.record_frame = 8,
	.record_previous = 16,
	.interpreter_next = 0,
	.interpreter_threads = 16,
	.thread_next = 8,
	.thread_id = 152,
	.frame_code = 32,
	.frame_previous = 48,
	.frame_instruction = 56,
	.frame_mark = 68,
	.object_type = 8,
	.code_filename = 112,
	.code_name = 120,
	.code_first_line = 72,
	.code_lines = 136,
	.code_instructions = 184,
	.string_length = 16,
	.string_state = 32,
	.string_ascii = 48,
	.string_wide = 72,
	.bytes_size = 16,
	.bytes_data = 32,
};

static const struct vp_python python_3_12 = {
	.interpreters = 40,
	.runs = VP_PYTHON_SHIMS,
	.thread_record = 56,
	.thread_frame = VP_NO_OFFSET,
	.record_frame = 0,
	.record_previous = VP_NO_OFFSET,
	.interpreter_next = 0,
	.interpreter_threads = 72,
	.thread_next = 8,
	.thread_id = 136,
	.frame_code = 0,
	.frame_previous = 8,
	.frame_instruction = 56,
	.frame_mark = 70,
	.object_type = 8,
	.code_filename = 112,
	.code_name = 120,
	.code_first_line = 68,
	.code_lines = 136,
	.code_instructions = 192,
	.string_length = 16,
	.string_state = 32,
	.string_ascii = 40,
	.string_wide = 56,
	.bytes_size = 16,
	.bytes_data = 32,
};

bool vp_python_by_version(uint64_t version, struct vp_python *ret)
{
	switch (version >> 16) {
	case 0x030b:
		*ret = python_3_11;
		return true;
	case 0x030c:
		*ret = python_3_12;
		return true;
	default:
		return false;
	}
}

/* Words of _Py_DebugOffsets in 3.13, from its beginning. */
enum {
	COOKIE = 0,
	VERSION = 1,
	FREE_THREADED = 2,
	INTERPRETERS = 5,
	INTERPRETER_NEXT = 8,
	INTERPRETER_THREADS = 9,
	THREAD_NEXT = 21,
	THREAD_FRAME = 23,
	THREAD_ID = 24,
	FRAME_PREVIOUS = 29,
	FRAME_CODE = 30,
	FRAME_INSTRUCTION = 31,
	FRAME_OWNER = 33,
	CODE_FILENAME = 35,
	CODE_NAME = 36,
	CODE_LINES = 38,
	CODE_FIRST_LINE = 39,
	CODE_INSTRUCTIONS = 43,
	OBJECT_TYPE = 45,
	BYTES_SIZE = 65,
	BYTES_DATA = 66,
	STRING_STATE = 68,
	STRING_LENGTH = 69,
	STRING_ASCII = 70,
};

/* Between the head of an ASCII string and that of another: the length and address of its UTF-8. */
#define STRING_UTF8 16u

static bool has_cookie(const uint64_t *words)
{
	return !memcmp(&words[COOKIE], "xdebugpy", 8);
}

bool vp_python_by_offsets(const uint64_t words[VP_PYTHON_OFFSETS], struct vp_python *ret)
{
	struct vp_python p = { .runs = VP_PYTHON_SHIMS, .thread_record = VP_NO_OFFSET };
	const struct {
		uint32_t *offset;
		unsigned word;
	} members[] = {
		{ &p.interpreter_next, INTERPRETER_NEXT },
		{ &p.interpreter_threads, INTERPRETER_THREADS },
		{ &p.thread_next, THREAD_NEXT },
		{ &p.thread_frame, THREAD_FRAME },
		{ &p.thread_id, THREAD_ID },
		{ &p.frame_previous, FRAME_PREVIOUS },
		{ &p.frame_code, FRAME_CODE },
		{ &p.frame_instruction, FRAME_INSTRUCTION },
		{ &p.frame_mark, FRAME_OWNER },
		{ &p.object_type, OBJECT_TYPE },
		{ &p.code_filename, CODE_FILENAME },
		{ &p.code_name, CODE_NAME },
		{ &p.code_lines, CODE_LINES },
		{ &p.code_first_line, CODE_FIRST_LINE },
		{ &p.code_instructions, CODE_INSTRUCTIONS },
		{ &p.bytes_size, BYTES_SIZE },
		{ &p.bytes_data, BYTES_DATA },
		{ &p.string_state, STRING_STATE },
		{ &p.string_length, STRING_LENGTH },
		{ &p.string_ascii, STRING_ASCII },
	};

	if (!has_cookie(words) || words[VERSION] >> 16 != 0x030d || words[FREE_THREADED] ||
	    words[INTERPRETERS] > OFFSET_MAX)
		return false;
	for (size_t i = 0; i < OT_ARRAY_SIZE(members); i++) {
		if (words[members[i].word] > OFFSET_MAX)
			return false;
		*members[i].offset = (uint32_t)words[members[i].word];
	}
	p.interpreters = words[INTERPRETERS];
	p.string_wide = p.string_ascii + STRING_UTF8;
	*ret = p;
	return true;
}

/* --- a file ------------------------------------------------------------------------------------------ */

/* Valid parts are kept. */
static struct ot_err *forgive(struct ot_err *err)
{
	if (err && ot_err_code(err) == OT_ERR_NO_MEMORY)
		return err;
	ot_err_destroy(err);
	return NULL;
}

static struct ot_err *find_symbols(struct vp_elf *elf, struct vp_python_file *ret)
{
	const struct {
		const char *name;
		uint64_t *addr;
	} wanted[] = {
		{ "_PyRuntime", &ret->runtime },
		{ "PyCode_Type", &ret->code_type },
		{ "Py_Version", &ret->version_at },
	};
	struct vp_elf_symbols symbols = { 0 };
	struct ot_err *err =
	    vp_elf_symbols_add(elf, &elf->dynsym, VP_PART_DYNAMIC, VP_PART_DYNAMIC, &symbols);

	for (size_t i = 0; i < symbols.count; i++)
		for (size_t k = 0; k < OT_ARRAY_SIZE(wanted); k++)
			if (!strcmp(vp_elf_symbol_name(&symbols, &symbols.items[i]), wanted[k].name))
				*wanted[k].addr = symbols.items[i].addr;
	vp_elf_symbols_deinit(&symbols);
	return forgive(err);
}

/* Also of a copy, which is linked as the guest's file is. */
static struct ot_err *read_version(void *arg, struct vp_elf *elf)
{
	struct vp_python_file *f = arg;
	uint64_t offset;

	if (!f->version && vp_elf_offset(elf, f->version_at, sizeof(f->version), &offset) &&
	    !vp_elf_image_read(elf->image, VP_PART_TEXT, offset, &f->version, sizeof(f->version)))
		f->version = 0;
	return NULL;
}

struct ot_err *vp_python_file_read(struct vp_elf *elf, const struct vp_user_wanted *wanted,
				   struct vp_python_file *ret)
{
	struct vp_python_file f = { 0 };

	OT_TRY(find_symbols(elf, &f));
	if (!f.runtime || !f.code_type)
		f = (struct vp_python_file){ 0 };
	if (f.version_at)
		OT_TRY(read_version(&f, elf));
	if (f.version_at && !f.version)
		OT_TRY(vp_user_files_each(wanted, read_version, &f));
	*ret = f;
	return NULL;
}

/* --- a process --------------------------------------------------------------------------------------- */

/* From its own memory: each process has its copy. */
static bool read_offsets(struct vp_processes *ps, const struct vp_guest_process *process, uint64_t at,
			 uint64_t words[VP_PYTHON_OFFSETS])
{
	struct ot_err *err =
	    vp_guest_process_read(ps, process, vp_gva(at), words, VP_PYTHON_OFFSETS * sizeof(*words));
	bool read = !err;

	ot_err_destroy(err);
	return read && has_cookie(words);
}

/* NULL: it is known. */
static const char *find_layout(struct vp_processes *ps, const struct vp_guest_process *process,
			       const struct vp_python_file *f, uint64_t bias, struct vp_python *ret)
{
	uint64_t words[VP_PYTHON_OFFSETS];

	if (read_offsets(ps, process, f->runtime + bias, words))
		return vp_python_by_offsets(words, ret) ? NULL
							: "jstack() shows the programs of CPython 3.11, 3.12 "
							  "and 3.13 with their global lock; "
							  "this is another one";
	if (f->version_at && !f->version)
		return "its version (Py_Version) is not in the guest's memory, so that jstack() has "
		       "no "
		       "frames of its program; --sysroot DIR, with the file below DIR, helps";
	return vp_python_by_version(f->version, ret)
		   ? NULL
		   : "jstack() shows the programs of CPython 3.11, 3.12 and 3.13; this is another one";
}

bool vp_python_find(struct vp_processes *ps, const struct vp_guest_process *process,
		    const struct vp_python_file *f, uint64_t bias, struct vp_runtime *ret,
		    const char **ret_why)
{
	*ret = (struct vp_runtime){ .kind = VP_RUNTIME_PYTHON };
	*ret_why = find_layout(ps, process, f, bias, &ret->python);
	ret->python.interpreters += f->runtime + bias;
	ret->python.code_type = f->code_type + bias;
	return !*ret_why;
}
