/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the notes of static probes, and finding their places in a process. */
#include "vmm-probe/provider/usdt_places.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/elf/notes.h"

#define PAGE_SIZE    4096u
#define BUDGET_STEPS 4096u

/* While the notes of one object are read. */
struct reading {
	const struct vp_usdt_reader *r;
	struct vp_pid_object *object;
	struct vp_usdt_place *list; /* owned */
	size_t count, cap;
	struct ot_err *err;
};

/* --- notes -------------------------------------------------------------------------------------------- */

/* Characters that D can name without quoting. */
static bool is_name(const char *name)
{
	size_t n = 0;

	for (; name[n]; n++)
		if (!isalnum((unsigned char)name[n]) && !strchr("_-.", name[n]))
			return false;
	return n && n <= VP_USDT_NAME_MAX;
}

static char *with_dashes(struct ot_arena *arena, const char *name)
{
	char *copy = ot_arena_strdup(arena, name), *to = copy;

	for (const char *from = name; copy && *from; from++) {
		bool pair = from[0] == '_' && from[1] == '_';

		*to++ = pair ? '-' : *from;
		from += pair;
	}
	if (copy)
		*to = '\0';
	return copy;
}

static struct ot_err *add_note(struct reading *g, const struct vp_stapsdt *note)
{
	struct ot_arena *arena = &g->r->exprs->arena;
	struct vp_usdt_place *p;

	if (!vp_budget_take_or_end(3 * sizeof(*p) + strlen(note->arguments)))
		return vp_budget_check();
	if (!ot_grow(&g->list, &g->cap, g->count + 1, sizeof(*g->list)))
		return ot_err_nomem();
	p = &g->list[g->count++];
	*p = (struct vp_usdt_place){
		.provider = ot_arena_strdup(arena, note->provider),
		.name = with_dashes(arena, note->name),
		.text = ot_arena_strdup(arena, note->arguments),
		.addr = note->pc,
		.semaphore = note->semaphore, /* as linked, until find_semaphore() */
	};
	return p->provider && p->name && p->text ? NULL : ot_err_nomem();
}

static bool take_note(void *arg, const struct vp_stapsdt *note)
{
	struct reading *g = arg;

	if (is_name(note->provider) && is_name(note->name))
		g->err = add_note(g, note);
	return !g->err;
}

/* --- a place ------------------------------------------------------------------------------------------ */

static struct ot_err *find_function(struct reading *g, struct vp_usdt_place *p)
{
	struct vp_pid_object *o = g->object;
	const struct vp_elf_symbol *s = vp_elf_symbols_find(&o->symbols, p->addr);
	uint64_t start, end;

	p->function = "";
	if (s && s->type == STT_FUNC && s->size) {
		p->function = vp_elf_symbol_name(&o->symbols, s);
		start = s->addr;
	} else if (vp_elf_function_at(&o->elf, p->addr, &start, &end)) {
		p->function = ot_arena_printf(&g->r->exprs->arena, "sub_%llx", (unsigned long long)start);
	} else {
		return NULL;
	}
	if (p->addr - start <= UINT32_MAX)
		p->site.offset = (uint32_t)(p->addr - start);
	return p->function ? NULL : ot_err_nomem();
}

/* The bytes from the instruction to its page's end, at most a site's maximum. A page that the process has not
 * used yet is missing, but the note's text is known: then only the nop. */
static void read_text(const struct reading *g, struct vp_usdt_place *p, uint64_t gva, uint64_t left)
{
	const struct vp_code_ops *code = g->r->code;
	uint64_t in_page = PAGE_SIZE - gva % PAGE_SIZE, len = sizeof(p->site.bytes);

	len = len < left ? len : left;
	len = len < in_page ? len : in_page;
	if (len < code->nop_len || !vp_pid_object_text(g->object, p->addr, p->site.bytes, len)) {
		len = code->nop_len;
		if (!vp_pid_object_text(g->object, p->addr, p->site.bytes, len))
			memcpy(p->site.bytes, code->nop, len);
	}
	p->site.gva = gva;
	p->site.length = code->nop_len;
	p->site.room = (uint8_t)len;
	p->site.args = VP_ARGS_NONE;
}

static const char *find_site(const struct reading *g, struct vp_usdt_place *p)
{
	const struct vp_code_ops *code = g->r->code;
	uint64_t left, gva = vp_pid_object_gva(g->r->process, g->object, p->addr, &left);

	if (isdigit((unsigned char)p->provider[strlen(p->provider) - 1]))
		return "its provider's name ends with a digit, so the process's number could not be "
		       "distinguished from it";
	if (!gva)
		return "its address is not in the code that the process has mapped of the file";
	read_text(g, p, gva, left);
	return memcmp(p->site.bytes, code->nop, code->nop_len) ? "no nop is at its address" : NULL;
}

/* Only in the writable mappings of that very file, and at an even address: a note may name any address. */
static void find_semaphore(const struct reading *g, struct vp_usdt_place *p)
{
	const struct vp_pid_process *process = g->r->process;
	uint64_t gva = p->semaphore + g->object->bias;
	const struct vp_map *m = p->semaphore ? vp_maps_find(&process->maps, gva) : NULL;
	uint16_t value;

	p->semaphore = 0;
	if (!m || m->file != g->object->file || !(m->flags & VP_VMA_WRITE) || m->flags & VP_VMA_SHARED ||
	    gva % sizeof(value) || m->end - gva < sizeof(value))
		return;
	struct ot_err *err = vp_guest_process_read(g->r->processes->ps, &process->maps.process, vp_gva(gva),
						   &value, sizeof(value));
	p->semaphore = gva;
	p->raised = err ? VP_USDT_NOT_READ : value;
	ot_err_destroy(err);
}

/* The one symbol of that name. A file has few arguments by name, so that there is no index; the budget bounds
 * long ones. */
static bool find_symbol(void *arg, const char *name, size_t len, uint64_t *ret)
{
	const struct vp_pid_object *o = arg;
	const struct vp_elf_symbol *found = NULL;

	for (size_t i = 0; i < o->symbols.count; i++) {
		const struct vp_elf_symbol *s = &o->symbols.items[i];
		const char *text = vp_elf_symbol_name(&o->symbols, s);

		if (!(i % BUDGET_STEPS) && vp_budget_is_over())
			return false;
		if (strncmp(text, name, len) != 0 || text[len] || (found && found->addr == s->addr))
			continue;
		if (found)
			return false;
		found = s;
	}
	if (found)
		*ret = found->addr + o->bias;
	return found != NULL;
}

static struct ot_err *complete(struct reading *g, struct vp_usdt_place *p)
{
	const struct vp_usdt_symbols symbols = { g->object, find_symbol, 0 };

	OT_TRY(vp_budget_check());
	OT_TRY(find_function(g, p));
	p->refused = find_site(g, p);
	find_semaphore(g, p);
	return vp_usdt_args_read(p->text, g->r->code, &symbols, g->r->exprs, &p->args);
}

/* --- all of them -------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const struct vp_usdt_place *x = a, *y = b;
	int order = strcmp(x->provider, y->provider);

	if (!order)
		order = strcmp(x->name, y->name);
	if (!order)
		order = strcmp(x->function, y->function);
	return order ? order : x->addr < y->addr ? -1 : x->addr > y->addr;
}

static struct ot_err *keep(struct reading *g, struct vp_usdt_places *ret)
{
	ret->items = ot_arena_alloc(&g->r->exprs->arena, (g->count + 1) * sizeof(*ret->items));
	if (!ret->items)
		return ot_err_nomem();
	qsort(g->list, g->count, sizeof(*g->list), compare);
	for (size_t i = 0; i < g->count; i++)
		if (!i || compare(&g->list[i - 1], &g->list[i]))
			ret->items[ret->count++] = g->list[i];
	return NULL;
}

static struct ot_err *read_places(struct reading *g, struct vp_usdt_places *ret)
{
	struct vp_pid_object *o = g->object;

	OT_TRY(vp_pid_object_open(g->r->processes, g->r->process, o));
	if (!o->has_elf)
		return NULL;
	ret->whole = vp_elf_stapsdt(&o->elf, take_note, g);
	if (g->err)
		return ot_move(g->err);
	OT_TRY(vp_budget_check());
	if (!g->count)
		return NULL;
	OT_TRY(vp_pid_object_read(g->r->processes, g->r->process, o));
	for (size_t i = 0; i < g->count; i++)
		OT_TRY(complete(g, &g->list[i]));
	return keep(g, ret);
}

struct ot_err *vp_usdt_places_read(const struct vp_usdt_reader *reader, struct vp_pid_object *object,
				   struct vp_usdt_places *ret)
{
	struct reading g = { .r = reader, .object = object };

	*ret = (struct vp_usdt_places){ .whole = true };
	struct ot_err *err = read_places(&g, ret);
	free(g.list);
	return err;
}

struct ot_err *vp_usdt_place_of_file(const struct vp_usdt_reader *reader, struct vp_pid_object *object,
				     struct vp_usdt_place *place, bool *ret)
{
	const struct vp_usdt_symbols symbols = { object, find_symbol, place->site.gva };
	uint64_t offset;

	*ret = vp_elf_offset(&object->elf, place->addr, 1, &offset);
	if (!*ret)
		return NULL;
	place->site.gva = offset;
	if (!place->semaphore ||
	    !vp_elf_offset(&object->elf, place->semaphore - object->bias, 2, &place->semaphore) ||
	    place->semaphore % 2)
		place->semaphore = 0;
	return vp_usdt_args_read(place->text, reader->code, &symbols, reader->exprs, &place->args);
}
