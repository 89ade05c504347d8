/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The allocator between a test and libc's. */
#include "tests/unit/nomem.h"

#include <stdlib.h>

/* The linker's names, for --wrap. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);

static unsigned countdown; /* 0: nothing fails */
static bool failed;

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

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(align, size);
}
