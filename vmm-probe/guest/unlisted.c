/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of exports, found by its entry of init_task, and tables that are recognised by their shape: the
 * list of modules and the stack tables (ORC).
 *
 * An entry (struct kernel_symbol, include/linux/export-internal.h) begins with two distances of 32 bits, each
 * from its own place: to the variable and to its name. Since 5.4 a third follows, to a namespace.
 */
#include "vmm-probe/guest/unlisted.h"

#include <ctype.h>
#include <string.h>

#include "base/compiler.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/modules.h"

#define ANCHOR      "init_task"
#define PLACES_MAX  64u     /* of the anchor's text in the image: types and messages have it too */
#define EXPORTS_MAX 100000u /* either way from the anchor */
#define NEIGHBOURS  8u      /* entries that must follow each other for a table */
#define CHECK_WORDS (1u << 20)
#define NUMBERS_END (1ull << 32) /* per-CPU offsets are below */

/* struct module begins with its state; the list's node and the name follow (include/linux/module.h). */
#define NODE_NAME    16u
#define NODE_STATE   (-8)
#define STATES       3u
#define MODULES_LESS (VP_SYMTAB_MODULES - 1)

#define ORC_MIN   4096u /* rules of the smallest kernel: those of 500 functions */
#define ORC_ENTRY 6u    /* bytes of struct orc_entry */
#define NEAR      4096  /* size of the surroundings of a word without code: rules begin with small words */
#define SAME_MAX  16u   /* rules for instructions of four bytes in a row */

struct search {
	const struct vp_image *image;
	const struct vp_phys *phys;
	struct vp_mmu *mmu;
	struct vp_symtab *symtab;
	size_t added;
};

static int32_t distance_at(const struct vp_image *image, size_t off)
{
	int32_t v;

	memcpy(&v, image->data + off, sizeof(v));
	return v;
}

/* --- exports --------------------------------------------------------------------------------------------- */

/* The name of the entry at @off; NULL: there is no entry. */
static const char *name_at(const struct vp_image *image, size_t off, size_t *ret_len)
{
	size_t at, max, len = 0;

	if (off > image->size || image->size - off < 8)
		return NULL;
	at = off + 4 + (size_t)(int64_t)distance_at(image, off + 4);
	if (at >= image->size)
		return NULL;
	max = image->size - at < VP_SYM_NAME_MAX ? image->size - at : VP_SYM_NAME_MAX;
	while (len < max && (isalnum(image->data[at + len]) || image->data[at + len] == '_'))
		len++;
	if (len < 2 || len == max || image->data[at + len])
		return NULL;
	*ret_len = len;
	return (const char *)image->data + at;
}

/* Entries of @stride bytes, one of which is at @off: is it a table? */
static bool is_table(const struct vp_image *image, size_t off, size_t stride)
{
	size_t len, n = 0;

	for (size_t at = off; n < NEIGHBOURS && name_at(image, at, &len); at += stride)
		n++;
	for (size_t at = off; n < NEIGHBOURS && at >= stride && name_at(image, at - stride, &len);
	     at -= stride)
		n++;
	return n == NEIGHBOURS;
}

/* The address of the anchor's text. */
static unsigned int find_text(const struct vp_image *image, size_t places[PLACES_MAX])
{
	const uint8_t *at = image->data, *end = image->data + image->size;
	unsigned int n = 0;

	while (n < PLACES_MAX && (at = memmem(at, (size_t)(end - at), ANCHOR, sizeof(ANCHOR))) != NULL)
		places[n++] = (size_t)(at++ - image->data);
	return n;
}

/* The anchor's entry and the table's stride; *ret_stride 0: not found. */
static struct ot_err *find_table(const struct vp_image *image, size_t *ret_off, size_t *ret_stride)
{
	static const size_t strides[] = { 12, 8 };
	size_t places[PLACES_MAX];
	unsigned int n = find_text(image, places);

	*ret_stride = 0;
	for (size_t at = 4; n && at + 4 <= image->size; at += 4) {
		size_t target = at + (size_t)(int64_t)distance_at(image, at);

		if (at % CHECK_WORDS == 0)
			OT_TRY(vp_budget_check());
		if (target < places[0] || target > places[n - 1])
			continue;
		for (unsigned int i = 0; i < n; i++)
			for (size_t k = 0; target == places[i] && k < OT_ARRAY_SIZE(strides); k++)
				if (is_table(image, at - 4, strides[k])) {
					*ret_off = at - 4;
					*ret_stride = strides[k];
					return NULL;
				}
	}
	return NULL;
}

static struct ot_err *add(struct search *s, uint64_t addr, const char *name, size_t len)
{
	char text[VP_SYM_NAME_MAX + 1];

	memcpy(text, name, len);
	text[len] = '\0';
	if (vp_symtab_find(s->symtab, "vmlinux", text))
		return NULL;
	s->added++;
	return vp_symtab_add(s->symtab, addr, 'D', VP_SYMTAB_VMLINUX, 0, text, len);
}

/* A per-CPU variable's address is an offset in older kernels: all others are in the image. */
static struct ot_err *add_entry(struct search *s, size_t off, const char *name, size_t len)
{
	uint64_t addr = s->image->base.v + off + (uint64_t)(int64_t)distance_at(s->image, off);

	if (addr >= NUMBERS_END && !vp_image_at(s->image, vp_gva(addr), 1))
		return NULL;
	return add(s, addr, name, len);
}

static struct ot_err *add_exports(struct search *s)
{
	size_t off, stride, len, at;
	const char *name;

	OT_TRY(find_table(s->image, &off, &stride));
	if (!stride)
		return NULL;
	at = off;
	for (unsigned int i = 0; i < EXPORTS_MAX && (name = name_at(s->image, at, &len)); i++) {
		OT_TRY(add_entry(s, at, name, len));
		at += stride;
	}
	at = off;
	for (unsigned int i = 0; i < EXPORTS_MAX && at >= stride; i++) {
		at -= stride;
		name = name_at(s->image, at, &len);
		if (!name)
			break;
		OT_TRY(add_entry(s, at, name, len));
	}
	return NULL;
}

/* --- the list of modules --------------------------------------------------------------------------------- */

struct node {
	uint64_t next, prev;
	char name[VP_MODULE_NAME_MAX];
};

/* False: unreadable. */
static struct ot_err *read_at(const struct search *s, uint64_t gva, void *dst, size_t len, bool *ret)
{
	struct ot_err *err = vp_mmu_read(s->phys, s->mmu, vp_gva(gva), dst, len);

	*ret = !err;
	return vp_modules_guests_fault(err, &err) ? NULL : err;
}

static bool is_in_modules(const struct vp_image *image, uint64_t gva)
{
	return gva >= image->base.v + image->size && gva < VP_MODULES_END && !(gva & 7);
}

static bool is_name(const char *name)
{
	size_t len = 0;

	while (len < VP_MODULE_NAME_MAX && (isalnum((unsigned char)name[len]) || name[len] == '_'))
		len++;
	return len && len < VP_MODULE_NAME_MAX && !name[len];
}

/* Is the node at @gva in a module's structure? *ret_next: the next one. */
static struct ot_err *check_node(const struct search *s, uint64_t gva, uint64_t before, uint64_t *ret_next,
				 bool *ret)
{
	uint32_t state;
	struct node node;

	*ret = false;
	if (!is_in_modules(s->image, gva))
		return NULL;
	OT_TRY(read_at(s, gva + (uint64_t)(int64_t)NODE_STATE, &state, sizeof(state), ret));
	if (*ret)
		OT_TRY(read_at(s, gva, &node, sizeof(node), ret));
	if (!*ret)
		return NULL;
	*ret = state < STATES && node.prev == before && is_name(node.name);
	*ret_next = node.next;
	return NULL;
}

/* Does the word at @head begin the list of modules? */
static struct ot_err *check_head(const struct search *s, uint64_t head, uint64_t first, uint64_t last,
				 bool *ret)
{
	uint64_t at = first, before = head, next;

	for (unsigned int n = 0; n < MODULES_LESS; n++) {
		OT_TRY(check_node(s, at, before, &next, ret));
		if (!*ret)
			return NULL;
		if (next == head) {
			*ret = at == last;
			return NULL;
		}
		before = at;
		at = next;
	}
	*ret = false;
	return NULL;
}

static struct ot_err *add_modules(struct search *s)
{
	static const char name[] = "modules";
	const struct vp_image *image = s->image;

	_Static_assert(offsetof(struct node, name) == NODE_NAME, "the name follows the node");
	for (size_t off = 0; off + 16 <= image->size; off += 8) {
		uint64_t words[2];
		bool found = false;

		if (off % CHECK_WORDS == 0)
			OT_TRY(vp_budget_check());
		memcpy(words, image->data + off, sizeof(words));
		if (!is_in_modules(image, words[0]) || !is_in_modules(image, words[1]))
			continue;
		OT_TRY(vp_budget_check()); /* a guest may have many */
		OT_TRY(check_head(s, image->base.v + off, words[0], words[1], &found));
		if (found)
			return add(s, image->base.v + off, name, sizeof(name) - 1);
	}
	return NULL;
}

/* --- stack tables ---------------------------------------------------------------------------------------- */

/* The addresses that the rules are for: each a distance from its own place, in ascending order; the rules
 * themselves follow (ORC_UNWIND_TABLE, include/asm-generic/vmlinux.lds.h). Nothing else in an image has so
 * many. */
struct run {
	size_t off, n;
	size_t last;       /* its last address */
	int32_t word;      /* its last word */
	unsigned int same; /* words like the last one: many are no table */
};

/* Continue @p run with the word at @p at, or begin another. */
static void take_word(const struct vp_image *image, size_t at, struct run *run)
{
	int32_t word = distance_at(image, at);
	size_t target = at + (size_t)(int64_t)word;

	run->same = run->n && word == run->word ? run->same + 1 : 0;
	if (target >= image->size || (word > -NEAR && word < NEAR) || run->same == SAME_MAX) {
		run->n = 0;
		return;
	}
	if (!run->n || target < run->last)
		*run = (struct run){ .off = at };
	run->n++;
	run->last = target;
	run->word = word;
}

static struct ot_err *find_longest(const struct vp_image *image, struct run *ret)
{
	struct run run = { 0 };

	for (size_t at = 0; at + 4 <= image->size; at += 4) {
		if (at % CHECK_WORDS == 0)
			OT_TRY(vp_budget_check());
		take_word(image, at, &run);
		if (run.n > ret->n)
			*ret = run;
	}
	return NULL;
}

static struct ot_err *add_orc(struct search *s)
{
	struct run run = { 0 };

	OT_TRY(find_longest(s->image, &run));
	uint64_t ip = s->image->base.v + run.off, rules = ip + 4 * run.n, end = rules + ORC_ENTRY * run.n;

	if (run.n < ORC_MIN || end > s->image->base.v + s->image->size)
		return NULL;
	OT_TRY(add(s, ip, "__start_orc_unwind_ip", strlen("__start_orc_unwind_ip")));
	OT_TRY(add(s, rules, "__stop_orc_unwind_ip", strlen("__stop_orc_unwind_ip")));
	OT_TRY(add(s, rules, "__start_orc_unwind", strlen("__start_orc_unwind")));
	return add(s, end, "__stop_orc_unwind", strlen("__stop_orc_unwind"));
}

struct ot_err *vp_unlisted_add(const struct vp_image *image, const struct vp_phys *phys, struct vp_mmu *mmu,
			       struct vp_symtab *symtab, size_t *ret_added)
{
	struct search s = { image, phys, mmu, symtab, 0 };

	*ret_added = 0;
	if (vp_symtab_find(symtab, "vmlinux", ANCHOR))
		return NULL;
	OT_TRY(add_exports(&s));
	OT_TRY(add_modules(&s));
	OT_TRY(add_orc(&s));
	*ret_added = s.added;
	return NULL;
}
