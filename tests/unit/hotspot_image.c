/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing HotSpot's tables, code and methods. */
#include "tests/unit/hotspot_image.h"

#include <assert.h>
#include <string.h>

#include "vmm-probe/engine/hit/texts.h"

enum {
	STRUCT_SIZE = 48,
	TYPE_SIZE = 24,
	CONSTANT_SIZE = 16,
	PC_SIZE = 16,
	HAS_LINES = 4,
	BLOCK = 16,
	CODE_SIZE = 0x1000,
};

static const struct {
	const char *type, *field;
	uint64_t offset; /* of a member */
} entries[] = {
	{ "Wrong", "_heaps", 7 },
	{ "CodeCache", "_heaps", 0 },
	{ "AbstractInterpreter", "_code", 0 },
	{ "GrowableArrayBase", "_max", 0 },
	{ "GrowableArrayBase", "_len", HI_ARRAY_LENGTH },
	{ "GrowableArray<int>", "_data", 16 },
	{ "CodeHeap", "_memory", HI_HEAP_MEMORY },
	{ "CodeHeap", "_segmap", 48 },
	{ "CodeHeap", "_log2_segment_size", HI_HEAP_SHIFT },
	{ "VirtualSpace", "_low", HI_SPACE_LOW },
	{ "VirtualSpace", "_high_boundary", 16 },
	{ "StubQueue", "_stub_buffer", 0 },
	{ "StubQueue", "_buffer_limit", 12 },
	{ "CodeBlob", "_name", HI_BLOB_NAME },
	{ "CodeBlob", "_code_begin", 16 },
	{ "CodeBlob", "_frame_size", 24 },
	{ "CodeBlob", "_frame_complete_offset", 28 },
	{ "CompiledMethod", "_method", HI_NMETHOD_METHOD },
	{ "CompiledMethod", "_scopes_data_begin", HI_NMETHOD_SCOPES },
	{ "CompiledMethod", "_deopt_handler_begin", 48 },
	{ "CompiledMethod", "_deopt_mh_handler_begin", 56 },
	{ "nmethod", "_compile_id", HI_NMETHOD_ID },
	{ "nmethod", "_orig_pc_offset", 68 },
	{ "nmethod", "_scopes_pcs_offset", HI_NMETHOD_PCS },
	{ "nmethod", "_dependencies_offset", HI_NMETHOD_PCS_END },
	{ "nmethod", "_metadata_offset", 80 },
	{ "PcDesc", "_pc_offset", 4 },
	{ "PcDesc", "_scope_decode_offset", 8 },
	{ "Method", "_constMethod", HI_METHOD_CONST },
	{ "ConstMethod", "_constants", HI_CONST_POOL },
	{ "ConstMethod", "_flags", HI_CONST_FLAGS },
	{ "ConstMethod", "_code_size", HI_CONST_CODE_SIZE },
	{ "ConstMethod", "_name_index", HI_CONST_NAME },
	{ "ConstMethod", "_signature_index", 14 },
	{ "ConstantPool", "_pool_holder", HI_POOL_HOLDER },
	{ "ConstantPool", "_source_file_name_index", HI_POOL_FILE },
	{ "Klass", "_name", 24 },
	{ "Symbol", "_length", HI_SYMBOL_LENGTH },
	{ "Symbol", "_body", HI_SYMBOL_BODY },
};

static const struct {
	const char *name;
	uint64_t value;
} sizes[] = { { "Method", 5 },
	      { "HeapBlock", BLOCK },
	      { "PcDesc", PC_SIZE },
	      { "ConstMethod", HI_CONST_SIZE },
	      { "ConstantPool", HI_POOL_SIZE } },
  constants[] = { { "ConstMethod::_has_linenumber_table", HAS_LINES },
		  { "frame::interpreter_frame_sender_sp_offset", (uint32_t)-1 },
		  { "frame::interpreter_frame_last_sp_offset", (uint32_t)-2 } };

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* --- memory -------------------------------------------------------------------------------------------- */

bool hotspot_image_read(void *image, uint64_t at, void *dst, size_t len)
{
	const struct hotspot_image *m = image;

	if (at < HI_BASE || len > HI_SIZE || at - HI_BASE > HI_SIZE - len ||
	    (at < m->hole_end && at + len > m->hole))
		return false;
	memcpy(dst, m->bytes + (at - HI_BASE), len);
	return true;
}

static void write_at(struct hotspot_image *m, uint64_t at, const void *src, size_t len)
{
	assert(at >= HI_BASE && at - HI_BASE <= HI_SIZE - len);
	if (len)
		memcpy(m->bytes + (at - HI_BASE), src, len);
}

void hotspot_image_put(struct hotspot_image *m, uint64_t at, uint64_t value, size_t size)
{
	write_at(m, at, &value, size);
}

static void put8(struct hotspot_image *m, uint64_t at, uint64_t value)
{
	write_at(m, at, &value, sizeof(value));
}

static void put4(struct hotspot_image *m, uint64_t at, uint64_t value)
{
	write_at(m, at, &value, 4);
}

static void put2(struct hotspot_image *m, uint64_t at, uint64_t value)
{
	write_at(m, at, &value, 2);
}

uint64_t hotspot_image_get(const struct hotspot_image *m, uint64_t at)
{
	uint64_t value;

	memcpy(&value, m->bytes + (at - HI_BASE), sizeof(value));
	return value;
}

uint64_t hotspot_image_room(struct hotspot_image *m, size_t size)
{
	uint64_t at = m->free;

	m->free += (size + 7) & ~7ull;
	assert(m->free <= HI_CODE);
	return at;
}

static uint64_t string(struct hotspot_image *m, const char *text)
{
	uint64_t at = hotspot_image_room(m, strlen(text) + 1);

	write_at(m, at, text, strlen(text) + 1);
	return at;
}

uint64_t hotspot_image_symbol(struct hotspot_image *m, const char *text, size_t len)
{
	uint64_t at = hotspot_image_room(m, HI_SYMBOL_BODY + len);

	put2(m, at + HI_SYMBOL_LENGTH, len);
	write_at(m, at + HI_SYMBOL_BODY, text, len);
	return at;
}

/* --- tables -------------------------------------------------------------------------------------------- */

static void set_variable(struct hotspot_image *m, enum vp_hotspot_symbol symbol, uint64_t value)
{
	uint64_t at = hotspot_image_room(m, 8);

	put8(m, at, value);
	m->file.symbols[symbol] = at - HI_BASE; /* as linked */
}

static void make_structs(struct hotspot_image *m, uint64_t heaps, uint64_t interpreter)
{
	uint64_t last = 0;

	m->structs = hotspot_image_room(m, STRUCT_SIZE * (COUNT(entries) + 1));
	for (size_t i = 0; i < COUNT(entries); i++) {
		uint64_t at = m->structs + STRUCT_SIZE * i;

		if (!i || strcmp(entries[i].type, entries[i - 1].type))
			last = string(m, entries[i].type);
		put8(m, at, last);
		put8(m, at + 8, string(m, entries[i].field));
		put8(m, at + 32, entries[i].offset);
		if (!strcmp(entries[i].type, "CodeCache"))
			put8(m, at + 40, heaps);
		if (!strcmp(entries[i].type, "AbstractInterpreter"))
			put8(m, at + 40, interpreter);
	}
	set_variable(m, VP_HOTSPOT_STRUCTS, m->structs);
	set_variable(m, VP_HOTSPOT_STRUCT_SIZE, STRUCT_SIZE);
	set_variable(m, VP_HOTSPOT_STRUCT_TYPE, 0);
	set_variable(m, VP_HOTSPOT_STRUCT_FIELD, 8);
	set_variable(m, VP_HOTSPOT_STRUCT_OFFSET, 32);
	set_variable(m, VP_HOTSPOT_STRUCT_ADDRESS, 40);
}

static void make_sizes(struct hotspot_image *m)
{
	uint64_t at = hotspot_image_room(m, TYPE_SIZE * (COUNT(sizes) + 1));

	for (size_t i = 0; i < COUNT(sizes); i++) {
		put8(m, at + TYPE_SIZE * i, string(m, sizes[i].name));
		put8(m, at + TYPE_SIZE * i + 16, sizes[i].value);
	}
	set_variable(m, VP_HOTSPOT_TYPES, at);
	set_variable(m, VP_HOTSPOT_TYPE_SIZE, TYPE_SIZE);
	set_variable(m, VP_HOTSPOT_TYPE_NAME, 0);
	set_variable(m, VP_HOTSPOT_TYPE_BYTES, 16);
}

static void make_constants(struct hotspot_image *m)
{
	uint64_t at = hotspot_image_room(m, CONSTANT_SIZE * (COUNT(constants) + 1));

	for (size_t i = 0; i < COUNT(constants); i++) {
		put8(m, at + CONSTANT_SIZE * i, string(m, constants[i].name));
		put8(m, at + CONSTANT_SIZE * i + 8, constants[i].value | 0xabcdull << 32); /* an int */
	}
	set_variable(m, VP_HOTSPOT_CONSTANTS, at);
	set_variable(m, VP_HOTSPOT_CONSTANT_SIZE, CONSTANT_SIZE);
	set_variable(m, VP_HOTSPOT_CONSTANT_NAME, 0);
	set_variable(m, VP_HOTSPOT_CONSTANT_VALUE, 8);
}

size_t hotspot_image_entries(void)
{
	return COUNT(entries);
}

const char *hotspot_image_entry(size_t i, const char **ret_field)
{
	*ret_field = entries[i].field;
	return entries[i].type;
}

void hotspot_image_hide(struct hotspot_image *m, size_t i)
{
	put8(m, m->structs + STRUCT_SIZE * i + 8, string(m, "_other"));
}

/* --- methods ------------------------------------------------------------------------------------------- */

static uint64_t make_pool(struct hotspot_image *m, const char *class, const char *const names[3])
{
	uint64_t pool = hotspot_image_room(m, HI_POOL_SIZE + 4 * 8), holder = hotspot_image_room(m, 32);

	put8(m, holder + 24, hotspot_image_symbol(m, class, strlen(class)));
	put8(m, pool + HI_POOL_HOLDER, holder);
	for (unsigned i = 0; i < 3; i++)
		if (names[i]) /* with a mark, as some have */
			put8(m, pool + HI_POOL_SIZE + 8 * (i + 1),
			     hotspot_image_symbol(m, names[i], strlen(names[i])) | (i & 1));
	put2(m, pool + HI_POOL_FILE, names[2] ? 3 : 0);
	return pool;
}

uint64_t hotspot_image_method(struct hotspot_image *m, const char *class, const char *name,
			      const char *signature, const char *file, uint16_t code_size,
			      const uint8_t *lines, size_t nlines)
{
	uint64_t method = hotspot_image_room(m, 16),
		 constant = hotspot_image_room(m, HI_CONST_SIZE + code_size + nlines + 1);

	put8(m, method + HI_METHOD_CONST, constant);
	put8(m, constant + HI_CONST_POOL,
	     make_pool(m, class, (const char *const[]){ name, signature, file }));
	put2(m, constant + HI_CONST_FLAGS, 0x8000 | (nlines ? HAS_LINES : 0));
	put2(m, constant + HI_CONST_CODE_SIZE, code_size);
	put2(m, constant + HI_CONST_NAME, 1);
	put2(m, constant + 14, 2);
	write_at(m, constant + HI_CONST_SIZE + code_size, lines, nlines);
	return method;
}

uint64_t hotspot_image_bytecodes(const struct hotspot_image *m, uint64_t method)
{
	return hotspot_image_get(m, method + HI_METHOD_CONST) + HI_CONST_SIZE;
}

/* --- code ---------------------------------------------------------------------------------------------- */

/* A piece of @n segments from @first on. */
static uint64_t make_piece(struct hotspot_image *m, unsigned first, unsigned n, const char *name)
{
	uint64_t blob = HI_CODE + ((uint64_t)first << HI_SHIFT) + BLOCK;

	for (unsigned i = 0; i < n; i++) /* in one step, or in two */
		hotspot_image_put(m, m->segments + first + i, i < 3 ? i : 3, 1);
	put8(m, blob + HI_BLOB_NAME, string(m, name));
	return blob;
}

/* The compiled method: records for two places, between two that are none. */
static void make_compiled(struct hotspot_image *m)
{
	static const uint8_t scopes[] = { 0xff, 0, 1, 3 + 1, 1, 2, 2 + 1 };
	static const int32_t pcs[][2] = { { -1, 0 }, { HI_BOTH, 4 }, { HI_ONE, 1 }, { INT32_MAX, 0 } };
	uint64_t blob = m->compiled = make_piece(m, 8, 8, "nmethod");

	m->code = blob + 0x200;
	m->scopes = blob + 0x180;
	put8(m, blob + 16, m->code);
	put4(m, blob + 24, 4);
	put4(m, blob + 28, 8);
	put8(m, blob + HI_NMETHOD_METHOD, m->outer);
	put8(m, blob + HI_NMETHOD_SCOPES, m->scopes);
	put4(m, blob + HI_NMETHOD_ID, HI_ID);
	put4(m, blob + HI_NMETHOD_PCS, 0x100);
	put4(m, blob + HI_NMETHOD_PCS_END, 0x100 + PC_SIZE * COUNT(pcs));
	put4(m, blob + 80, 0xc0);
	put8(m, blob + 0xc0, m->outer);
	put8(m, blob + 0xc8, m->leaf);
	write_at(m, m->scopes, scopes, sizeof(scopes));
	for (size_t i = 0; i < COUNT(pcs); i++) {
		put4(m, blob + 0x100 + PC_SIZE * i + 4, (uint32_t)pcs[i][0]);
		put4(m, blob + 0x100 + PC_SIZE * i + 8, (uint32_t)pcs[i][1]);
	}
}

static void make_code(struct hotspot_image *m)
{
	make_piece(m, 0, 8, "Interpreter");
	make_compiled(m);
	m->stub = make_piece(m, 16, 2, "StubRoutines (1)");
	m->wrapper = make_piece(m, 20, 2, "native nmethod");
	put8(m, m->wrapper + 16, m->wrapper + 0x60);
	put8(m, m->wrapper + HI_NMETHOD_METHOD, m->native);
	put4(m, m->wrapper + HI_NMETHOD_ID, HI_ID + 1);
}

static void make_heap(struct hotspot_image *m)
{
	uint64_t data = hotspot_image_room(m, 8);

	m->heaps = hotspot_image_room(m, 24);
	m->heap = hotspot_image_room(m, 96);
	m->queue = hotspot_image_room(m, 16);
	m->segments = hotspot_image_room(m, CODE_SIZE >> HI_SHIFT);
	memset(m->bytes + (m->segments - HI_BASE), 0xff, CODE_SIZE >> HI_SHIFT);
	put4(m, m->heaps + HI_ARRAY_LENGTH, 1);
	put8(m, m->heaps + 16, data);
	put8(m, data, m->heap);
	put8(m, m->heap + HI_HEAP_MEMORY + HI_SPACE_LOW, HI_CODE);
	put8(m, m->heap + HI_HEAP_MEMORY + 16, HI_CODE + CODE_SIZE);
	put8(m, m->heap + 48 + HI_SPACE_LOW, m->segments);
	put4(m, m->heap + HI_HEAP_SHIFT, HI_SHIFT);
	put8(m, m->queue, HI_CODE);
	put4(m, m->queue + 12, 8 << HI_SHIFT);
}

void hotspot_image_init(struct hotspot_image *m)
{
	/* Line 10 from the first bytecode on, 12 from the third; 20 from the first. */
	static const uint8_t leaf[] = { 0xff, 0, 20, 2 << 3 | 2 }, outer[] = { 0xff, 0, 40 };

	memset(m, 0, sizeof(*m));
	m->free = HI_BASE + 0x100;
	make_heap(m);
	uint64_t heaps = hotspot_image_room(m, 8), interpreter = hotspot_image_room(m, 8);

	put8(m, heaps, m->heaps);
	put8(m, interpreter, m->queue);
	make_structs(m, heaps, interpreter);
	make_sizes(m);
	make_constants(m);
	m->leaf = hotspot_image_method(m, "shop/Price", "leaf", "(I)J", "Price.java", 6, leaf, sizeof(leaf));
	m->outer =
	    hotspot_image_method(m, "shop/Order", "outer", "()V", "Order.java", 9, outer, sizeof(outer));
	m->native = hotspot_image_method(m, "java/lang/Thread", "sleep", "(J)V", "Thread.java", 0, NULL, 0);
	make_code(m);
}

/* --- notes --------------------------------------------------------------------------------------------- */

void hotspot_image_method_note(uint64_t method, uint64_t bytecode, char note[HI_NOTE])
{
	struct vp_texts t = { .at = note, .size = HI_NOTE };

	memset(note, 0, HI_NOTE);
	vp_texts_byte(&t, VP_NOTE_HOTSPOT_METHOD);
	vp_texts_note_number(&t, method);
	vp_texts_note_number(&t, vp_note_difference(method, bytecode));
}

void hotspot_image_code_note(uint64_t id, char note[HI_NOTE])
{
	struct vp_texts t = { .at = note, .size = HI_NOTE };

	memset(note, 0, HI_NOTE);
	vp_texts_byte(&t, VP_NOTE_HOTSPOT_CODE);
	vp_texts_note_number(&t, id);
}
