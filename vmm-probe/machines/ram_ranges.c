/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of ranges of guest RAM. */
#include <stdlib.h>

#include "vmm-probe/machines/ram_ranges.h"

#define PAGE 4096ull

/* Video memory, firmware and its shadow, up to 1 MiB: not RAM to a kernel. */
#define SHADOW     0xa0000ull
#define SHADOW_END 0x100000ull

bool vp_ram_is_kernels(uint64_t gpa, uint64_t end)
{
	return gpa < SHADOW || end > SHADOW_END;
}

static uint32_t add(struct vp_ram_range *list, uint32_t n, uint32_t max, uint64_t gpa, uint64_t end,
		    uint64_t host)
{
	uint64_t first = (gpa + PAGE - 1) & ~(PAGE - 1);

	end &= ~(PAGE - 1);
	if (first >= gpa && first < end && n < max)
		list[n++] = (struct vp_ram_range){
			.gpa = first, .size = end - first, .host = host + (first - gpa), .fd_index = -1
		};
	return n;
}

uint32_t vp_ram_add(struct vp_ram_range *list, uint32_t n, uint32_t max, uint64_t gpa, uint64_t end,
		    uint64_t host)
{
	uint64_t low_end = end < SHADOW ? end : SHADOW, high = gpa > SHADOW_END ? gpa : SHADOW_END;

	n = add(list, n, max, gpa, low_end, host);
	return add(list, n, max, high, end, host + (high - gpa));
}

static int by_gpa(const void *a, const void *b)
{
	const struct vp_ram_range *x = a, *y = b;

	return (x->gpa > y->gpa) - (x->gpa < y->gpa);
}

uint32_t vp_ram_join(struct vp_ram_range *list, uint32_t n)
{
	uint32_t k = 0;

	if (n)
		qsort(list, n, sizeof(*list), by_gpa);
	for (uint32_t i = 1; i < n; i++) {
		struct vp_ram_range *a = &list[k], *b = &list[i];
		if (a->gpa + a->size == b->gpa && a->host + a->size == b->host)
			a->size += b->size;
		else
			list[++k] = *b;
	}
	return n ? k + 1 : 0;
}

bool vp_ram_same(const struct vp_ram_range *a, uint32_t na, const struct vp_ram_range *b, uint32_t nb)
{
	if (na != nb)
		return false;
	for (uint32_t i = 0; i < na; i++)
		if (a[i].gpa != b[i].gpa || a[i].size != b[i].size || a[i].host != b[i].host)
			return false;
	return true;
}
