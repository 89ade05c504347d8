/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process with HotSpot, made up: its description of itself, with offsets that no JDK has, a
 * heap of code, and some methods. For tests and the fuzzer of session/user_hotspot*.c.
 */
#ifndef TESTS_UNIT_HOTSPOT_IMAGE_H
#define TESTS_UNIT_HOTSPOT_IMAGE_H

#include "vmm-probe/session/user_hotspot.h"

#define HI_BASE  0x7f0000000000ull /* where the library is mapped */
#define HI_SIZE  0x10000u
#define HI_CODE  (HI_BASE + 0x8000) /* the heap of code */
#define HI_SHIFT 7u

/* Members that tests change; the others are in hotspot_image.c. */
enum {
	HI_ARRAY_LENGTH = 4,
	HI_HEAP_MEMORY = 16,
	HI_HEAP_SHIFT = 80,
	HI_SPACE_LOW = 8,
	HI_BLOB_NAME = 8,
	HI_NMETHOD_METHOD = 32,
	HI_NMETHOD_SCOPES = 40,
	HI_NMETHOD_ID = 64,
	HI_NMETHOD_PCS = 72,
	HI_NMETHOD_PCS_END = 76,
	HI_METHOD_CONST = 8,
	HI_CONST_POOL = 0,
	HI_CONST_FLAGS = 8,
	HI_CONST_CODE_SIZE = 10,
	HI_CONST_NAME = 12,
	HI_CONST_SIZE = 40,
	HI_POOL_HOLDER = 8,
	HI_POOL_FILE = 16,
	HI_POOL_SIZE = 32,
	HI_SYMBOL_LENGTH = 2,
	HI_SYMBOL_BODY = 8,
};

struct hotspot_image {
	uint8_t bytes[HI_SIZE];
	uint64_t free; /* where the next thing goes */
	struct vp_hotspot_file file;
	uint64_t hole, hole_end; /* [hole, hole_end) can't be read */
	uint64_t heaps, heap, queue, segments;
	uint64_t structs; /* the table of members and variables */
	/* Methods: inlined into another, that one, a native one. */
	uint64_t leaf, outer, native;
	uint64_t compiled, code; /* the piece of the compiled `outer`, and its code */
	uint64_t wrapper;        /* of the native one */
	uint64_t stub;
	uint64_t scopes;
};

#define HI_ID         77u   /* of the compilation */
#define HI_LEAF_LINE  12u   /* at the record for HI_BOTH */
#define HI_OUTER_LINE 20u   /* … and at both */
#define HI_BOTH       0x10u /* into the code: in the leaf, inlined */
#define HI_ONE        0x30u /* in `outer` itself */

void hotspot_image_init(struct hotspot_image *m);
/** What it describes, besides the sizes and constants: how many members and variables; entry @p i. */
size_t hotspot_image_entries(void);
const char *hotspot_image_entry(size_t i, const char **ret_field);
/** Call it something else. */
void hotspot_image_hide(struct hotspot_image *m, size_t i);

/** The function of a struct vp_user_reader, with a struct hotspot_image. */
bool hotspot_image_read(void *image, uint64_t at, void *dst, size_t len);

void hotspot_image_put(struct hotspot_image *m, uint64_t at, uint64_t value, size_t size);
uint64_t hotspot_image_room(struct hotspot_image *m, size_t size);
uint64_t hotspot_image_symbol(struct hotspot_image *m, const char *text, size_t len);
/** A method of a class of its own; @p file NULL: it does not say. */
uint64_t hotspot_image_method(struct hotspot_image *m, const char *class, const char *name,
			      const char *signature, const char *file, uint16_t code_size,
			      const uint8_t *lines, size_t nlines);
/** The address of its bytecodes. */
uint64_t hotspot_image_bytecodes(const struct hotspot_image *m, uint64_t method);
/** Of a member of 8 bytes. */
uint64_t hotspot_image_get(const struct hotspot_image *m, uint64_t at);

/** The notes of a frame of the interpreter, and of code. */
#define HI_NOTE 32
void hotspot_image_method_note(uint64_t method, uint64_t bytecode, char note[HI_NOTE]);
void hotspot_image_code_note(uint64_t id, char note[HI_NOTE]);

#endif
