/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbol table: a sorted array with a hash table of names; ranges of modules; flags of core symbols. */
#include "vmm-probe/guest/symtab.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/search.h"
#include "vmm-probe/guest/budget.h"

#define RANGES_MAX    (VP_SYMTAB_MODULES * 16u)
#define POOL_MAX      (256u << 20)
#define CHUNK_SIZE    (256u << 10) /* of names */
#define CHUNKS_MAX    (POOL_MAX / CHUNK_SIZE)
#define CHECK_SYMBOLS 4096u
#define NO_SYMBOL     UINT32_MAX
#define NUMBERS_END   (1ull << 32) /* kernel addresses are above */

struct range {
	uint64_t start, end;
	uint16_t module;
};

/* Heads of chains, by a name's hash. */
struct names {
	uint32_t *buckets;
	size_t n; /* a power of two */
};

struct vp_symtab {
	struct vp_symbol *syms;
	size_t count, cap;
	/* Names. A chunk never moves, so that a name's pointer stays valid while symbols are added. */
	char *chunks[CHUNKS_MAX];
	uint32_t pool_used;                  /* of all chunks */
	uint32_t modules[VP_SYMTAB_MODULES]; /* names, in the pool */
	size_t nmodules;
	struct range *ranges; /* by address once finished */
	size_t nranges, ranges_cap;
	/* Names: two hash tables with chains, each in order of address. */
	struct names core, others;
	uint32_t *chain;     /* of both; by number of symbol */
	size_t core_indexed; /* so many symbols, which are the first, are the core kernel's and in its table;
				0: that is to be made */
};

/* ot_grow(), charged to the budget in force. */
static struct ot_err *grow(void *array, size_t *cap, size_t count, size_t size)
{
	size_t before = *cap;

	if (!ot_grow(array, cap, count, size))
		return ot_err_nomem();
	return vp_budget_take((*cap - before) * size);
}

static const char *text_at(const struct vp_symtab *symtab, uint32_t at)
{
	return symtab->chunks[at / CHUNK_SIZE] + at % CHUNK_SIZE;
}

/* A name is in one chunk. */
static struct ot_err *pool_add(struct vp_symtab *symtab, const char *name, size_t len, uint32_t *ret)
{
	uint32_t at = symtab->pool_used, left = CHUNK_SIZE - at % CHUNK_SIZE;

	if (len >= left)
		at += left;
	if (len >= CHUNK_SIZE || at >= POOL_MAX)
		return ot_err_new(OT_ERR_LIMIT, "symbol names take more than %u MiB", POOL_MAX >> 20);
	char **chunk = &symtab->chunks[at / CHUNK_SIZE];
	if (!*chunk) {
		OT_TRY(vp_budget_take(CHUNK_SIZE));
		*chunk = malloc(CHUNK_SIZE);
		if (!*chunk)
			return ot_err_nomem();
	}
	memcpy(*chunk + at % CHUNK_SIZE, name, len);
	(*chunk)[at % CHUNK_SIZE + len] = '\0';
	symtab->pool_used = at + (uint32_t)len + 1;
	*ret = at;
	return NULL;
}

struct ot_err *vp_symtab_create(struct vp_symtab **ret)
{
	struct vp_symtab *symtab = calloc(1, sizeof(*symtab));
	struct ot_err *err;
	uint16_t module;

	if (!symtab)
		return ot_err_nomem();
	err = vp_symtab_add_module(symtab, "vmlinux", &module);
	if (err) {
		vp_symtab_destroy(symtab);
		return err;
	}
	*ret = symtab;
	return NULL;
}

void vp_symtab_destroy(struct vp_symtab *symtab)
{
	if (!symtab)
		return;
	for (size_t i = 0; i < CHUNKS_MAX; i++)
		free(symtab->chunks[i]);
	free(symtab->syms);
	free(symtab->ranges);
	free(symtab->core.buckets);
	free(symtab->others.buckets);
	free(symtab->chain);
	free(symtab);
}

struct ot_err *vp_symtab_add_module(struct vp_symtab *symtab, const char *name, uint16_t *ret_module)
{
	if (symtab->nmodules == VP_SYMTAB_MODULES)
		return ot_err_new(OT_ERR_LIMIT, "more than %u modules", VP_SYMTAB_MODULES);
	OT_TRY(pool_add(symtab, name, strlen(name), &symtab->modules[symtab->nmodules]));
	*ret_module = (uint16_t)symtab->nmodules++;
	return NULL;
}

struct ot_err *vp_symtab_add_range(struct vp_symtab *symtab, uint16_t module, uint64_t start, uint64_t end)
{
	if (start >= end || module >= symtab->nmodules)
		return ot_err_new(OT_ERR_BAD_DATA, "a module's range ends before it starts");
	if (symtab->nranges == RANGES_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %u ranges of modules", RANGES_MAX);
	OT_TRY(grow(&symtab->ranges, &symtab->ranges_cap, symtab->nranges + 1, sizeof(*symtab->ranges)));
	symtab->ranges[symtab->nranges++] = (struct range){ start, end, module };
	return NULL;
}

size_t vp_symbol_without_hash(char ret[VP_SYM_NAME_MAX], const char *name, size_t len, const char *digits)
{
	static const char mark[] = ".llvm.";
	const char *at = memmem(name, len, mark, sizeof(mark) - 1);
	size_t begin = at ? (size_t)(at - name) : len, end = at ? begin + sizeof(mark) - 1 : len;

	while (end < len && name[end] && strchr(digits, name[end]))
		end++;
	if (!begin || (end < len && name[end] != '.')) /* no name is left, or it is no hash */
		begin = end;
	memcpy(ret, name, begin);
	memcpy(ret + begin, name + end, len - end);
	return begin + len - end;
}

struct ot_err *vp_symtab_add(struct vp_symtab *symtab, uint64_t addr, char type, uint16_t module,
			     uint8_t flags, const char *name, size_t len)
{
	char text[VP_SYM_NAME_MAX];
	uint32_t off;

	if (module >= symtab->nmodules || len > VP_SYM_NAME_MAX)
		return ot_err_new(OT_ERR_BAD_DATA, "a symbol of module %u with a name of %zu bytes", module,
				  len);
	if (symtab->count == VP_SYMTAB_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %u symbols", VP_SYMTAB_MAX);
	if (symtab->count % CHECK_SYMBOLS == 0)
		OT_TRY(vp_budget_check());
	OT_TRY(grow(&symtab->syms, &symtab->cap, symtab->count + 1, sizeof(*symtab->syms)));
	len = vp_symbol_without_hash(text, name, len, "0123456789");
	OT_TRY(pool_add(symtab, text, len, &off));
	symtab->syms[symtab->count++] = (struct vp_symbol){ addr, off, module, type, flags };
	if (module == VP_SYMTAB_VMLINUX)
		symtab->core_indexed = 0;
	return NULL;
}

/* Equal addresses are in the order of addition, which is the order of names in the pool. */
static int by_address(const void *a, const void *b)
{
	const struct vp_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static int range_by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static uint32_t *bucket_of(const struct names *names, const char *name)
{
	return &names->buckets[ot_hash(name, strlen(name)) & (names->n - 1)];
}

static bool is_core(const struct vp_symbol *sym)
{
	return sym->module == VP_SYMTAB_VMLINUX;
}

static struct ot_err *empty_names(struct names *names, size_t count)
{
	free(names->buckets);
	names->buckets = NULL;
	for (names->n = 1024; names->n < count;)
		names->n *= 2;
	OT_TRY(vp_budget_take(names->n * sizeof(*names->buckets)));
	names->buckets = malloc(names->n * sizeof(*names->buckets));
	if (!names->buckets)
		return ot_err_nomem();
	memset(names->buckets, 0xff, names->n * sizeof(*names->buckets));
	return NULL;
}

/* The symbols from @from on that are in that table. They become heads of chains, so in reverse. */
static void index_names(struct vp_symtab *symtab, struct names *names, size_t from)
{
	for (size_t i = symtab->count; i-- > from;) {
		const struct vp_symbol *sym = &symtab->syms[i];
		uint32_t *bucket;

		if (is_core(sym) != (names == &symtab->core))
			continue;
		bucket = bucket_of(names, text_at(symtab, sym->name));
		symtab->chain[i] = *bucket;
		*bucket = (uint32_t)i;
	}
}

/* The core kernel's symbols that are before all others, which are all of them where modules are mapped above
 * it. 0: others are among them. */
static size_t count_core(const struct vp_symtab *symtab)
{
	size_t n = 0;

	while (n < symtab->count && is_core(&symtab->syms[n]))
		n++;
	for (size_t i = n; i < symtab->count; i++)
		if (is_core(&symtab->syms[i]))
			return 0;
	return n;
}

static struct ot_err *make_chain(struct vp_symtab *symtab)
{
	size_t size = (symtab->count + 1) * sizeof(*symtab->chain);
	uint32_t *chain;

	OT_TRY(vp_budget_take(size));
	chain = realloc(symtab->chain, size);
	if (!chain)
		return ot_err_nomem();
	symtab->chain = chain;
	return NULL;
}

/* Modules come and go; the core kernel's symbols stay where they are, and are in its table already.
 * *ret_same: they were. */
static struct ot_err *index_all(struct vp_symtab *symtab, bool *ret_same)
{
	size_t core = count_core(symtab);

	*ret_same = symtab->core_indexed && symtab->core_indexed == core;
	symtab->core_indexed = 0;
	OT_TRY(make_chain(symtab));
	OT_TRY(empty_names(&symtab->others, symtab->count - core));
	index_names(symtab, &symtab->others, core);
	if (!*ret_same) {
		OT_TRY(empty_names(&symtab->core, symtab->count));
		index_names(symtab, &symtab->core, 0);
	}
	symtab->core_indexed = core;
	return NULL;
}

/* Two core symbols that delimit a section; NULL if the kernel lacks one. */
struct marks {
	const struct vp_symbol *start, *end;
};

static struct marks core_marks(const struct vp_symtab *symtab, const char *start, const char *end)
{
	return (struct marks){ vp_symtab_find(symtab, "vmlinux", start),
			       vp_symtab_find(symtab, "vmlinux", end) };
}

static bool is_between(const struct marks *marks, uint64_t addr)
{
	return marks->start && marks->end && addr >= marks->start->addr && addr < marks->end->addr;
}

/* Flag core symbols that are not addresses: per-CPU variables are between two marks (from 0 on, in kernels
 * before 6.15), other small values are numbers. And flag data, since its type letter may be that of text: if
 * a kernel's data section is marked executable, all its variables have it. */
static void classify_core(struct vp_symtab *symtab)
{
	const struct marks percpu = core_marks(symtab, "__per_cpu_start", "__per_cpu_end");
	const struct marks data = core_marks(symtab, "_sdata", "_edata");

	for (size_t i = 0; i < symtab->count; i++) {
		struct vp_symbol *sym = &symtab->syms[i];

		if (sym->module != VP_SYMTAB_VMLINUX)
			continue;
		if (is_between(&data, sym->addr))
			sym->flags |= VP_SYM_DATA;
		if (is_between(&percpu, sym->addr))
			sym->flags |= VP_SYM_PERCPU;
		else if (sym->addr < NUMBERS_END)
			sym->flags |= VP_SYM_ABSOLUTE;
	}
}

void vp_symtab_drop(struct vp_symtab *symtab, int module, uint64_t start, uint64_t end)
{
	size_t nsyms = 0, nranges = 0;

	for (size_t i = 0; i < symtab->count; i++) {
		const struct vp_symbol *s = &symtab->syms[i];
		if (s->module == VP_SYMTAB_VMLINUX ||
		    (s->module != module && (s->addr < start || s->addr >= end)))
			symtab->syms[nsyms++] = *s;
	}
	for (size_t i = 0; i < symtab->nranges; i++) {
		const struct range *r = &symtab->ranges[i];
		if (r->module == VP_SYMTAB_VMLINUX ||
		    (r->module != module && (r->end <= start || r->start >= end)))
			symtab->ranges[nranges++] = *r;
	}
	symtab->count = nsyms;
	symtab->nranges = nranges;
}

/* A table that was finished before is in order, except for later additions. */
static struct ot_err *sort(struct vp_symtab *symtab)
{
	struct vp_symbol *syms = symtab->syms;
	size_t n = symtab->count, head = n ? 1 : 0;

	while (head < n && by_address(&syms[head - 1], &syms[head]) < 0)
		head++;
	size_t left = n - head, to = n;
	if (!left)
		return NULL;
	if (left > head) {
		qsort(syms, n, sizeof(*syms), by_address);
		return NULL;
	}
	struct vp_symbol *tail = malloc(left * sizeof(*tail));
	if (!tail)
		return ot_err_nomem();
	memcpy(tail, syms + head, left * sizeof(*tail));
	qsort(tail, left, sizeof(*tail), by_address);
	while (left)
		syms[--to] =
		    head && by_address(&syms[head - 1], &tail[left - 1]) > 0 ? syms[--head] : tail[--left];
	free(tail);
	return NULL;
}

struct ot_err *vp_symtab_finish(struct vp_symtab *symtab)
{
	bool same;

	OT_TRY(sort(symtab));
	if (symtab->nranges)
		qsort(symtab->ranges, symtab->nranges, sizeof(*symtab->ranges), range_by_start);
	OT_TRY(index_all(symtab, &same));
	if (!same)
		classify_core(symtab);
	return NULL;
}

size_t vp_symtab_count(const struct vp_symtab *symtab)
{
	return symtab->count;
}

const struct vp_symbol *vp_symtab_at(const struct vp_symtab *symtab, size_t i)
{
	return &symtab->syms[i];
}

const char *vp_symbol_name(const struct vp_symtab *symtab, const struct vp_symbol *sym)
{
	return text_at(symtab, sym->name);
}

static const char *module_name(const struct vp_symtab *symtab, size_t module)
{
	return text_at(symtab, symtab->modules[module]);
}

const char *vp_symbol_module(const struct vp_symtab *symtab, const struct vp_symbol *sym)
{
	return module_name(symtab, sym->module);
}

bool vp_symbol_is_function(const struct vp_symbol *sym)
{
	return !sym->flags && (sym->type == 't' || sym->type == 'T' || sym->type == 'w' || sym->type == 'W');
}

/* The range that contains an address, or NULL. Ranges of a hostile guest may overlap: only the last one that
 * starts at or before the address is considered. */
static const struct range *range_of(const struct vp_symtab *symtab, uint64_t addr)
{
	size_t n = OT_COUNT_BEFORE(symtab->nranges, i, symtab->ranges[i].start <= addr);

	return n && addr < symtab->ranges[n - 1].end ? &symtab->ranges[n - 1] : NULL;
}

/* The index of the first symbol above @p addr. */
static size_t upper_bound(const struct vp_symtab *symtab, uint64_t addr)
{
	return OT_COUNT_BEFORE(symtab->count, i, symtab->syms[i].addr <= addr);
}

uint64_t vp_symbol_size(const struct vp_symtab *symtab, const struct vp_symbol *sym)
{
	size_t next = upper_bound(symtab, sym->addr);
	const struct range *range = range_of(symtab, sym->addr);
	uint64_t end = range ? range->end : sym->addr;

	/* Outside all ranges (per-CPU variables, numbers) only a following symbol of the same kind bounds
	 * it. */
	if (next < symtab->count &&
	    (range ? symtab->syms[next].addr < end
		   : symtab->syms[next].flags == sym->flags && symtab->syms[next].module == sym->module))
		end = symtab->syms[next].addr;
	return end - sym->addr;
}

const struct vp_symbol *vp_symtab_find_addr(const struct vp_symtab *symtab, struct vp_gva gva,
					    uint64_t *ret_offset)
{
	const struct range *range = range_of(symtab, gva.v);
	size_t at = upper_bound(symtab, gva.v);
	uint64_t addr;

	if (!range || !at || symtab->syms[at - 1].addr < range->start)
		return NULL;
	addr = symtab->syms[at - 1].addr;
	while (at > 1 && symtab->syms[at - 2].addr == addr)
		at--;
	if (ret_offset)
		*ret_offset = gva.v - addr;
	return &symtab->syms[at - 1];
}

static const struct vp_symbol *chain_find(const struct vp_symtab *symtab, uint32_t at, const char *module,
					  const char *name)
{
	for (; at != NO_SYMBOL; at = symtab->chain[at]) {
		const struct vp_symbol *sym = &symtab->syms[at];

		if (strcmp(text_at(symtab, sym->name), name) == 0 &&
		    (!module || strcmp(vp_symbol_module(symtab, sym), module) == 0))
			return sym;
	}
	return NULL;
}

const struct vp_symbol *vp_symtab_find(const struct vp_symtab *symtab, const char *module, const char *name)
{
	const struct vp_symbol *sym =
	    name ? chain_find(symtab, *bucket_of(&symtab->core, name), module, name) : NULL;

	return sym || !name ? sym : chain_find(symtab, *bucket_of(&symtab->others, name), module, name);
}

int vp_symtab_find_module(const struct vp_symtab *symtab, const char *name)
{
	for (size_t i = 0; i < symtab->nmodules; i++) {
		if (strcmp(module_name(symtab, i), name) == 0)
			return (int)i;
	}
	return -1;
}
