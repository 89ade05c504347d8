/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The allocator between a test and libc's. */
#include "tests/unit/nomem.h"

#include <malloc.h>
#include <stdlib.h>

/* The linker's names, for --wrap. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void __wrap_free(void *p);

/* Only allocations of the thread that requested it fail, not those of others, such as an engine's. */
static _Thread_local unsigned countdown; /* 0: nothing fails */
static _Thread_local bool failed;

void nomem_at(unsigned n)
{
	countdown = n;
	failed = false;
}

bool nomem_end(void)
{
	countdown = 0;
	return failed;
}

static bool fails(void)
{
	if (!countdown || --countdown)
		return false;
	failed = true;
	return true;
}

/* By what each takes of the heap. */
static _Thread_local ptrdiff_t live, most;

void nomem_count(void)
{
	live = most = 0;
}

size_t nomem_most(void)
{
	return (size_t)most;
}

static void *counted(void *p)
{
	live += p ? (ptrdiff_t)malloc_usable_size(p) : 0;
	most = live > most ? live : most;
	return p;
}

static void uncount(void *p)
{
	live -= p ? (ptrdiff_t)malloc_usable_size(p) : 0;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	if (fails())
		return NULL;
	uncount(p);
	return counted(__real_realloc(p, size));
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return fails() ? NULL : counted(__real_aligned_alloc(align, size));
}

void __wrap_free(void *p)
{
	uncount(p);
	__real_free(p);
}
