/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The layout of HotSpot's structures, from the tables that it exports. */
#include "vmm-probe/session/user_hotspot.h"

#include <string.h>

#define ENTRIES_MAX 8192u /* of a table: JDK 17 has 788, 768, 398 */
#define ENTRY_MAX   256u  /* bytes */
#define NAME_BYTES  64u   /* of a required type, field or constant, with its NUL */
#define OFFSET_MAX  (1u << 20)
#define SHIFT_MAX   16u

bool vp_user_read_string(const struct vp_user_reader *m, uint64_t at, char *buf, size_t size)
{
	size_t n = size - 1;

	/* The bytes after it may be on a missing page. */
	while (n && !vp_user_read(m, at, buf, n))
		n /= 2;
	buf[n] = '\0';
	return n != 0;
}

/* --- the tables ---------------------------------------------------------------------------------------- */

/* The requirements: a member's offset, a variable's address, a type's size, a constant's value. */
/* clang-format off */
#define WANTED(X) \
	X(CODE_HEAPS,      VARIABLE, "CodeCache", "_heaps") \
	X(INTERPRETER,     VARIABLE, "AbstractInterpreter", "_code") \
	X(ARRAY_LENGTH,    MEMBER, "GrowableArrayBase", "_len") \
	X(ARRAY_DATA,      MEMBER, "GrowableArray<int>", "_data") \
	X(HEAP_MEMORY,     MEMBER, "CodeHeap", "_memory") \
	X(HEAP_SEGMENTS,   MEMBER, "CodeHeap", "_segmap") \
	X(HEAP_SHIFT,      MEMBER, "CodeHeap", "_log2_segment_size") \
	X(SPACE_LOW,       MEMBER, "VirtualSpace", "_low") \
	X(SPACE_END,       MEMBER, "VirtualSpace", "_high_boundary") \
	X(QUEUE_BEGIN,     MEMBER, "StubQueue", "_stub_buffer") \
	X(QUEUE_SIZE,      MEMBER, "StubQueue", "_buffer_limit") \
	X(BLOB_NAME,       MEMBER, "CodeBlob", "_name") \
	X(BLOB_CODE,       MEMBER, "CodeBlob", "_code_begin") \
	X(BLOB_FRAME,      MEMBER, "CodeBlob", "_frame_size") \
	X(BLOB_COMPLETE,   MEMBER, "CodeBlob", "_frame_complete_offset") \
	X(COMPILED_METHOD, MEMBER, "CompiledMethod", "_method") \
	X(COMPILED_SCOPES, MEMBER, "CompiledMethod", "_scopes_data_begin") \
	X(COMPILED_DEOPT,  MEMBER, "CompiledMethod", "_deopt_handler_begin") \
	X(COMPILED_MH,     MEMBER, "CompiledMethod", "_deopt_mh_handler_begin") \
	X(NMETHOD_ID,      MEMBER, "nmethod", "_compile_id") \
	X(NMETHOD_PC,      MEMBER, "nmethod", "_orig_pc_offset") \
	X(NMETHOD_PCS,     MEMBER, "nmethod", "_scopes_pcs_offset") \
	X(NMETHOD_PCS_END, MEMBER, "nmethod", "_dependencies_offset") \
	X(NMETHOD_DATA,    MEMBER, "nmethod", "_metadata_offset") \
	X(PC_OFFSET,       MEMBER, "PcDesc", "_pc_offset") \
	X(PC_SCOPE,        MEMBER, "PcDesc", "_scope_decode_offset") \
	X(METHOD_CONST,    MEMBER, "Method", "_constMethod") \
	X(CONST_POOL,      MEMBER, "ConstMethod", "_constants") \
	X(CONST_FLAGS,     MEMBER, "ConstMethod", "_flags") \
	X(CONST_CODE,      MEMBER, "ConstMethod", "_code_size") \
	X(CONST_NAME,      MEMBER, "ConstMethod", "_name_index") \
	X(CONST_SIGNATURE, MEMBER, "ConstMethod", "_signature_index") \
	X(POOL_HOLDER,     MEMBER, "ConstantPool", "_pool_holder") \
	X(POOL_FILE,       MEMBER, "ConstantPool", "_source_file_name_index") \
	X(CLASS_NAME,      MEMBER, "Klass", "_name") \
	X(SYMBOL_LENGTH,   MEMBER, "Symbol", "_length") \
	X(SYMBOL_BODY,     MEMBER, "Symbol", "_body") \
	X(BLOCK_SIZE,      SIZE, "HeapBlock", "") \
	X(PC_SIZE,         SIZE, "PcDesc", "") \
	X(CONST_SIZE,      SIZE, "ConstMethod", "") \
	X(POOL_SIZE,       SIZE, "ConstantPool", "") \
	X(HAS_LINES,       CONSTANT, "ConstMethod::_has_linenumber_table", "") \
	X(FRAME_CALLER,    CONSTANT, "frame::interpreter_frame_sender_sp_offset", "") \
	X(FRAME_LAST,      CONSTANT, "frame::interpreter_frame_last_sp_offset", "")
/* clang-format on */

enum kind { MEMBER, VARIABLE, SIZE, CONSTANT };

enum wanted_id {
#define ID(name, kind, type, field) name,
	WANTED(ID)
#undef ID
	    NWANTED
};

static const struct wanted {
	enum kind kind;
	const char *type, *field; /* of a constant its name, and "" */
	const char *text;
} wanted[NWANTED] = {
#define RECORD(name, kind, type, field) { kind, type, field, type " " field },
	WANTED(RECORD)
#undef RECORD
};

struct search {
	const struct vp_user_reader *m;
	uint64_t symbols[VP_HOTSPOT_NSYMBOLS]; /* values of the variables */
	uint64_t values[NWANTED];
	bool found[NWANTED];
	bool missing;  /* a name could not be read */
	uint64_t last; /* the type's name that was read last, … */
	char type[NAME_BYTES];
};

static bool is_wanted_type(const struct search *s)
{
	for (size_t i = 0; i < NWANTED; i++)
		if (!strcmp(wanted[i].type, s->type))
			return true;
	return false;
}

/* Entries of one type are adjacent and share its name's string. False: the type is not required. */
static bool take_type(struct search *s, uint64_t at)
{
	if (at != s->last) {
		s->last = at;
		if (!vp_user_read_string(s->m, at, s->type, sizeof(s->type))) {
			s->missing = true;
			s->type[0] = '\0';
		}
	}
	return is_wanted_type(s);
}

static void set(struct search *s, const char *field, enum kind kind, uint64_t value)
{
	for (size_t i = 0; i < NWANTED; i++)
		if (wanted[i].kind == kind && !s->found[i] && !strcmp(wanted[i].type, s->type) &&
		    !strcmp(wanted[i].field, field)) {
			s->found[i] = true;
			s->values[i] = value;
		}
}

static uint64_t member(const uint8_t *entry, uint64_t offset)
{
	uint64_t value;

	memcpy(&value, entry + offset, sizeof(value));
	return value;
}

static void take_struct(struct search *s, const uint8_t *entry)
{
	char field[NAME_BYTES];
	uint64_t address;

	if (!take_type(s, member(entry, s->symbols[VP_HOTSPOT_STRUCT_TYPE])))
		return;
	if (!vp_user_read_string(s->m, member(entry, s->symbols[VP_HOTSPOT_STRUCT_FIELD]), field,
				 sizeof(field))) {
		s->missing = true;
		return;
	}
	address = member(entry, s->symbols[VP_HOTSPOT_STRUCT_ADDRESS]);
	if (address)
		set(s, field, VARIABLE, address);
	else
		set(s, field, MEMBER, member(entry, s->symbols[VP_HOTSPOT_STRUCT_OFFSET]));
}

static void take_size(struct search *s, const uint8_t *entry)
{
	if (take_type(s, member(entry, s->symbols[VP_HOTSPOT_TYPE_NAME])))
		set(s, "", SIZE, member(entry, s->symbols[VP_HOTSPOT_TYPE_BYTES]));
}

static void take_constant(struct search *s, const uint8_t *entry)
{
	if (take_type(s, member(entry, s->symbols[VP_HOTSPOT_CONSTANT_NAME])))
		set(s, "", CONSTANT, member(entry, s->symbols[VP_HOTSPOT_CONSTANT_VALUE]) & UINT32_MAX);
}

/* Up to an entry without a name. False: the table can't be read, or is invalid. */
static bool read_table(struct search *s, enum vp_hotspot_symbol table, enum vp_hotspot_symbol size,
		       enum vp_hotspot_symbol first, unsigned nmembers,
		       void (*take)(struct search *s, const uint8_t *entry))
{
	uint64_t at = s->symbols[table], bytes = s->symbols[size];
	uint8_t entry[ENTRY_MAX];

	if (bytes > sizeof(entry))
		return false;
	for (unsigned i = 0; i < nmembers; i++)
		if (s->symbols[first + i] > bytes || bytes - s->symbols[first + i] < sizeof(uint64_t))
			return false;
	for (unsigned i = 0; i < ENTRIES_MAX; i++, at += bytes) {
		if (!vp_user_read(s->m, at, entry, bytes))
			return false;
		if (!member(entry, s->symbols[first]))
			return true;
		take(s, entry);
	}
	return true;
}

static bool read_tables(struct search *s, const struct vp_hotspot_file *file, uint64_t bias)
{
	for (unsigned i = 0; i < VP_HOTSPOT_NSYMBOLS; i++)
		if (!vp_user_read_u64(s->m, file->symbols[i] + bias, &s->symbols[i]))
			return false;
	return read_table(s, VP_HOTSPOT_STRUCTS, VP_HOTSPOT_STRUCT_SIZE, VP_HOTSPOT_STRUCT_TYPE, 4,
			  take_struct) &&
	       read_table(s, VP_HOTSPOT_TYPES, VP_HOTSPOT_TYPE_SIZE, VP_HOTSPOT_TYPE_NAME, 2, take_size) &&
	       read_table(s, VP_HOTSPOT_CONSTANTS, VP_HOTSPOT_CONSTANT_SIZE, VP_HOTSPOT_CONSTANT_NAME, 2,
			  take_constant);
}

/* --- the layout ---------------------------------------------------------------------------------------- */

/* NULL: everything required was found and is plausible. */
static const char *lacks(const struct search *s)
{
	for (size_t i = 0; i < NWANTED; i++)
		if (!s->found[i] ||
		    ((wanted[i].kind == MEMBER || wanted[i].kind == SIZE) && s->values[i] > OFFSET_MAX))
			return wanted[i].text;
	return NULL;
}

static bool read_heap(const struct search *s, uint64_t at, struct vp_hotspot_heap *ret)
{
	const uint64_t *v = s->values;
	struct vp_hotspot_heap h = { 0 };

	if (!vp_user_read_u64(s->m, at + v[HEAP_MEMORY] + v[SPACE_LOW], &h.start) ||
	    !vp_user_read_u64(s->m, at + v[HEAP_MEMORY] + v[SPACE_END], &h.end) ||
	    !vp_user_read_u64(s->m, at + v[HEAP_SEGMENTS] + v[SPACE_LOW], &h.segments) ||
	    !vp_user_read_u32(s->m, at + v[HEAP_SHIFT], &h.shift))
		return false;
	*ret = h;
	return h.start && h.start < h.end && h.segments && h.shift <= SHIFT_MAX;
}

/* The place of its code. False: none yet. */
static bool read_places(const struct search *s, struct vp_hotspot *walk)
{
	const uint64_t *v = s->values;
	uint64_t heaps, data, queue, at;
	uint32_t n, size;

	if (!vp_user_read_u64(s->m, v[CODE_HEAPS], &heaps) || !heaps ||
	    !vp_user_read_u32(s->m, heaps + v[ARRAY_LENGTH], &n) || !n || n > VP_HOTSPOT_HEAPS ||
	    !vp_user_read_u64(s->m, heaps + v[ARRAY_DATA], &data) ||
	    !vp_user_read_u64(s->m, v[INTERPRETER], &queue) || !queue ||
	    !vp_user_read_u64(s->m, queue + v[QUEUE_BEGIN], &walk->interpreter_start) ||
	    !vp_user_read_u32(s->m, queue + v[QUEUE_SIZE], &size))
		return false;
	walk->interpreter_end = walk->interpreter_start + size;
	walk->nheaps = n;
	for (uint32_t i = 0; i < n; i++)
		if (!vp_user_read_u64(s->m, data + 8ull * i, &at) || !read_heap(s, at, &walk->heaps[i]))
			return false;
	return true;
}

static void fill_walk(const uint64_t *v, struct vp_hotspot *walk)
{
	/* The guest's values may be anything: an offset that overflows finds nothing. */
	uint32_t caller = (uint32_t)v[FRAME_CALLER], last = (uint32_t)v[FRAME_LAST];

	walk->block_head = (uint32_t)v[BLOCK_SIZE];
	walk->blob_frame_size = (uint32_t)v[BLOB_FRAME];
	walk->blob_frame_complete = (uint32_t)v[BLOB_COMPLETE];
	walk->blob_code = (uint32_t)v[BLOB_CODE];
	walk->nmethod_id = (uint32_t)v[NMETHOD_ID];
	walk->nmethod_deopt = (uint32_t)v[COMPILED_DEOPT];
	walk->nmethod_deopt_mh = (uint32_t)v[COMPILED_MH];
	walk->nmethod_original_pc = (uint32_t)v[NMETHOD_PC];
	/* Offsets in words. The description ends with the last stack pointer; the method follows, then its
	 * class, its profile, its cache, its variables, then the bytecode, since JDK 9. Names are read only
	 * if the bytecode is one of the method's. */
	walk->frame_caller = (int32_t)(8 * caller);
	walk->frame_method = (int32_t)(8 * (last - 1));
	walk->frame_bytecode = (int32_t)(8 * (last - 6));
}

static void fill(const uint64_t *v, struct vp_hotspot_layout *l)
{
	const struct {
		uint32_t *to;
		enum wanted_id from;
	} members[] = {
		{ &l->blob_name, BLOB_NAME },
		{ &l->nmethod_method, COMPILED_METHOD },
		{ &l->nmethod_scopes, COMPILED_SCOPES },
		{ &l->nmethod_pcs, NMETHOD_PCS },
		{ &l->nmethod_pcs_end, NMETHOD_PCS_END },
		{ &l->nmethod_metadata, NMETHOD_DATA },
		{ &l->pc_size, PC_SIZE },
		{ &l->pc_offset, PC_OFFSET },
		{ &l->pc_scope, PC_SCOPE },
		{ &l->method_const, METHOD_CONST },
		{ &l->const_size, CONST_SIZE },
		{ &l->const_pool, CONST_POOL },
		{ &l->const_flags, CONST_FLAGS },
		{ &l->const_code_size, CONST_CODE },
		{ &l->const_name, CONST_NAME },
		{ &l->const_signature, CONST_SIGNATURE },
		{ &l->has_lines, HAS_LINES },
		{ &l->pool_size, POOL_SIZE },
		{ &l->pool_holder, POOL_HOLDER },
		{ &l->pool_file, POOL_FILE },
		{ &l->class_name, CLASS_NAME },
		{ &l->symbol_length, SYMBOL_LENGTH },
		{ &l->symbol_body, SYMBOL_BODY },
	};

	fill_walk(v, &l->walk);
	for (size_t i = 0; i < OT_ARRAY_SIZE(members); i++)
		*members[i].to = (uint32_t)v[members[i].from];
}

enum vp_hotspot_found vp_hotspot_find(const struct vp_user_reader *m, const struct vp_hotspot_file *file,
				      uint64_t bias, struct vp_hotspot_layout *ret, const char **ret_lacks)
{
	struct search s = { .m = m };
	struct vp_hotspot_layout l = { 0 };

	if (!read_tables(&s, file, bias))
		return VP_HOTSPOT_MISSING;
	*ret_lacks = lacks(&s);
	if (*ret_lacks)
		return s.missing ? VP_HOTSPOT_MISSING : VP_HOTSPOT_UNKNOWN;
	if (!read_places(&s, &l.walk))
		return VP_HOTSPOT_EARLY;
	fill(s.values, &l);
	*ret = l;
	return VP_HOTSPOT_FOUND;
}
