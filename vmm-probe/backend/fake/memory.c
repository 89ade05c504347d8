/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fake guest's RAM and page tables. */
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/backend/fake/internal.h"

#define P_W 3ull /* present, writable */

void *vp_fake_ram(struct vp_fake *fake, uint64_t gpa)
{
	return gpa < fake->config.ram_size ? fake->ram + gpa : NULL;
}

/* Only tests get here: a test that runs out of fake RAM is wrong. */
uint64_t vp_fake_page(struct vp_fake *fake)
{
	uint64_t gpa = fake->next_page;

	if (gpa + VP_FAKE_PAGE > fake->config.ram_size)
		abort();
	fake->next_page += VP_FAKE_PAGE;
	return gpa;
}

uint64_t vp_fake_root(struct vp_fake *fake)
{
	return vp_fake_page(fake);
}

static uint64_t *entry(struct vp_fake *fake, uint64_t table, uint64_t va, unsigned shift)
{
	return (uint64_t *)vp_fake_ram(fake, table) + (va >> shift & 511);
}

void vp_fake_map(struct vp_fake *fake, uint64_t root, uint64_t va, uint64_t gpa, uint64_t flags,
		 unsigned shift)
{
	uint64_t table = root;

	for (unsigned at = 12 + 9 * (fake->config.levels - 1); at > shift; at -= 9) {
		uint64_t *e = entry(fake, table, va, at);
		if (!*e)
			*e = vp_fake_page(fake) | P_W;
		*e |= flags & 4; /* a user page needs the bit on each level */
		table = *e & ~0xfffull;
	}
	*entry(fake, table, va, shift) = gpa | flags | P_W | (shift > 12 ? 0x80 : 0);
}

uint64_t *vp_fake_entry(struct vp_fake *fake, uint64_t root, uint64_t va)
{
	uint64_t table = root;

	for (unsigned at = 12 + 9 * (fake->config.levels - 1); at > 12; at -= 9)
		table = *entry(fake, table, va, at) & ~0xfffull;
	return entry(fake, table, va, 12);
}

static uint8_t *find(struct vp_fake *fake, uint64_t root, uint64_t va)
{
	uint64_t table = root;

	for (unsigned at = 12 + 9 * (fake->config.levels - 1);; at -= 9) {
		uint64_t e = *entry(fake, table, va, at);
		if (!(e & 1))
			abort();
		if (at == 12 || e & 0x80)
			return vp_fake_ram(fake,
					   (e & ~0xfffull & ~((1ull << at) - 1)) | (va & ((1ull << at) - 1)));
		table = e & ~0xfffull;
	}
}

void vp_fake_write(struct vp_fake *fake, uint64_t root, uint64_t va, const void *src, size_t len)
{
	const uint8_t *from = src;

	for (size_t i = 0; i < len; i++)
		*find(fake, root, va + i) = from[i];
}
