/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HotSpot, OpenJDK's virtual machine, in a process: the layouts of its structures, by its own description for
 * debuggers (gHotSpotVMStructs and its like, which libjvm.so exports), independent of its version; and the
 * names of frames of Java methods. All data is the process's, and hostile: each count and length has a bound,
 * and inconsistent data has no name.
 */
#ifndef VP_SESSION_USER_HOTSPOT_H
#define VP_SESSION_USER_HOTSPOT_H

#include "base/buf.h"
#include "base/compiler.h"
#include "vmm-probe/engine/wire/runtimes.h"
#include "vmm-probe/session/user_reader.h"

/* The variables by which libjvm.so describes itself: the three tables, the size of an entry of each, and
 * where in an entry its members are. */
/* clang-format off */
#define VP_HOTSPOT_SYMBOLS(X) \
	X(STRUCTS,         "gHotSpotVMStructs") \
	X(STRUCT_SIZE,     "gHotSpotVMStructEntryArrayStride") \
	X(STRUCT_TYPE,     "gHotSpotVMStructEntryTypeNameOffset") \
	X(STRUCT_FIELD,    "gHotSpotVMStructEntryFieldNameOffset") \
	X(STRUCT_OFFSET,   "gHotSpotVMStructEntryOffsetOffset") \
	X(STRUCT_ADDRESS,  "gHotSpotVMStructEntryAddressOffset") \
	X(TYPES,           "gHotSpotVMTypes") \
	X(TYPE_SIZE,       "gHotSpotVMTypeEntryArrayStride") \
	X(TYPE_NAME,       "gHotSpotVMTypeEntryTypeNameOffset") \
	X(TYPE_BYTES,      "gHotSpotVMTypeEntrySizeOffset") \
	X(CONSTANTS,       "gHotSpotVMIntConstants") \
	X(CONSTANT_SIZE,   "gHotSpotVMIntConstantEntryArrayStride") \
	X(CONSTANT_NAME,   "gHotSpotVMIntConstantEntryNameOffset") \
	X(CONSTANT_VALUE,  "gHotSpotVMIntConstantEntryValueOffset")
/* clang-format on */

enum vp_hotspot_symbol {
#define VP_HOTSPOT_SYMBOL_ID(name, text) VP_HOTSPOT_##name,
	VP_HOTSPOT_SYMBOLS(VP_HOTSPOT_SYMBOL_ID)
#undef VP_HOTSPOT_SYMBOL_ID
	    VP_HOTSPOT_NSYMBOLS
};

/* Their addresses in a file as it was linked. */
struct vp_hotspot_file {
	uint64_t symbols[VP_HOTSPOT_NSYMBOLS]; /* all, or 0: it is not HotSpot */
};

/* The layout for reading names, besides that for a hit: offsets, and sizes of structures. */
struct vp_hotspot_layout {
	struct vp_hotspot walk;
	uint32_t blob_name;
	uint32_t nmethod_method, nmethod_scopes, nmethod_pcs, nmethod_pcs_end, nmethod_metadata;
	uint32_t pc_size, pc_offset, pc_scope;
	uint32_t method_const;
	uint32_t const_size, const_pool, const_flags, const_code_size, const_name, const_signature;
	uint32_t has_lines; /* of const_flags */
	uint32_t pool_size, pool_holder, pool_file;
	uint32_t class_name;
	uint32_t symbol_length, symbol_body;
};

enum vp_hotspot_found {
	VP_HOTSPOT_FOUND,
	VP_HOTSPOT_EARLY,   /* it is just starting, and has no code yet */
	VP_HOTSPOT_MISSING, /* its description is not in the guest's memory */
	VP_HOTSPOT_UNKNOWN, /* its description lacks something */
};

/** The layout of the machine that a process has mapped at @p bias. @p ret is set with FOUND; *ret_lacks with
 * UNKNOWN: what is missing, constant. */
enum vp_hotspot_found vp_hotspot_find(const struct vp_user_reader *m, const struct vp_hotspot_file *file,
				      uint64_t bias, struct vp_hotspot_layout *ret, const char **ret_lacks);

/* --- names --------------------------------------------------------------------------------------------- */

/** Append the text of a frame at @p pc by its note (engine/wire/notes.h): a line for each method that is
 * inlined there, the innermost one first, with '\n' between them. False: it has none, because the note is not
 * HotSpot's, or its objects can't be read or have been replaced; the appended text is invalid. */
OT_MUST_CHECK bool vp_hotspot_text(const struct vp_user_reader *m, const struct vp_hotspot_layout *l,
				   uint64_t pc, const char *note, struct ot_buf *out);

/* Between the files of it: */
/** Append the name of the method at address @p method, and the line of its bytecode @p index, negative: none;
 * @p mark is put behind its signature. False: it is no method; the appended text is invalid. */
OT_MUST_CHECK bool vp_hotspot_method(const struct vp_user_reader *m, const struct vp_hotspot_layout *l,
				     uint64_t method, int64_t index, const char *mark, struct ot_buf *out);
/** The index of the bytecode at address @p bytecode in that method, -1: a native method has none. False: it
 * is none of its bytecodes, or it is no method. */
OT_MUST_CHECK bool vp_hotspot_bytecode(const struct vp_user_reader *m, const struct vp_hotspot_layout *l,
				       uint64_t method, uint64_t bytecode, int64_t *ret);
/** Take a number from HotSpot's compressed data at *at, and advance behind it. False: it can't be read. */
bool vp_hotspot_number(const struct vp_user_reader *m, uint64_t *at, uint32_t *ret);

/** A string of the process, cut to @p size bytes with its NUL. False: its beginning can't be read. */
bool vp_user_read_string(const struct vp_user_reader *m, uint64_t at, char *buf, size_t size);

#endif
