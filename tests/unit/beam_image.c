/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing an Erlang machine's variables and modules. */
#include "tests/unit/beam_image.h"

#include <assert.h>
#include <string.h>

#define FUNCTIONS 96u /* of a module's code, from its beginning */

bool beam_image_read(void *image, uint64_t at, void *dst, size_t len)
{
	struct beam_image *m = image;
	uint64_t offset = at - BI_BASE;

	m->reads++;
	if (at < BI_BASE || len > BI_SIZE || offset > BI_SIZE - len ||
	    (offset < m->hole_end && offset + len > m->hole))
		return false;
	memcpy(dst, m->bytes + offset, len);
	return true;
}

void beam_image_put(struct beam_image *m, uint64_t offset, uint64_t value)
{
	assert(offset <= BI_SIZE - sizeof(value));
	memcpy(m->bytes + offset, &value, sizeof(value));
}

/* Those of one kind; their number is @number_at behind each. */
static uint64_t put_schedulers(struct beam_image *m, unsigned kind, uint64_t at, unsigned n,
			       unsigned number_at)
{
	beam_image_put(m, BI_NORMAL + 16 * kind, BI_BASE + at);
	beam_image_put(m, BI_NORMAL + 16 * kind + 8, n);
	for (unsigned i = 0; i < n; i++)
		beam_image_put(m, at + BI_SCHEDULER * i + number_at, i + 1);
	return at + BI_SCHEDULER * n;
}

/* A module of @n functions of 64 bytes. */
static uint64_t put_module(struct beam_image *m, uint64_t at, unsigned n)
{
	uint64_t code = at + FUNCTIONS + 8 * (n + 1);

	beam_image_put(m, at, n);
	for (unsigned i = 0; i <= n; i++)
		beam_image_put(m, at + FUNCTIONS + 8 * i, BI_BASE + code + 64 * i);
	return code + 64 * n;
}

static void put_pair(struct beam_image *m, unsigned i, uint64_t start, uint64_t end)
{
	beam_image_put(m, BI_ARRAY + 16 * i, BI_BASE + start);
	beam_image_put(m, BI_ARRAY + 16 * i + 8, BI_BASE + end);
}

/* The table in use is the third; the others are what it was before, and nothing yet. */
static void put_tables(struct beam_image *m, uint64_t at)
{
	const uint64_t words[] = { BI_BASE + 0x8000,       2, 3, 7, 0, 0, 0, 0, BI_BASE + BI_ARRAY, 3, 4,
				   BI_BASE + BI_ARRAY + 16 };

	memcpy(m->bytes + at, words, sizeof(words));
}

void beam_image_init(struct beam_image *m)
{
	static const uint64_t symbols[VP_BEAM_NSYMBOLS] = {
		[VP_BEAM_EMULATOR] = 0x20000000,      [VP_BEAM_DIRTY] = 0x20010000,
		[VP_BEAM_NORMAL] = BI_NORMAL,         [VP_BEAM_NNORMAL] = BI_NORMAL + 8,
		[VP_BEAM_DIRTY_CPU] = BI_NORMAL + 16, [VP_BEAM_NDIRTY_CPU] = BI_NORMAL + 24,
		[VP_BEAM_DIRTY_IO] = BI_NORMAL + 32,  [VP_BEAM_NDIRTY_IO] = BI_NORMAL + 40,
		[VP_BEAM_CURRENT] = BI_CURRENT,       [VP_BEAM_ATOMS] = 0x200,
		[VP_BEAM_STAGING] = 0x20020000,       [VP_BEAM_RELEASE] = 0x30000000,
		[VP_BEAM_COMPILES] = 0x30000010,
	};

	memset(m, 0, sizeof(*m));
	m->file = (struct vp_beam_file){ .is_beam = true,
					 .places = { BI_TABLES - 8, BI_TABLES },
					 .nplaces = 2,
					 .has_release = true,
					 .release = "25",
					 .has_registers = true,
					 .registers = { VP_R13, VP_RBX } };
	memcpy(m->file.symbols, symbols, sizeof(symbols));
	m->file.sizes[VP_BEAM_EMULATOR] = 0x8000;
	m->file.sizes[VP_BEAM_DIRTY] = 0x100;
	m->bytes[BI_CURRENT] = 2;
	put_schedulers(m, 2, put_schedulers(m, 1, put_schedulers(m, 0, BI_SCHEDULERS, 2, 184), 1, 192), 1,
		       192);
	put_tables(m, BI_TABLES);
	put_pair(m, 0, 0x4f00, 0x4f00); /* was unloaded */
	put_pair(m, 1, BI_FIRST, put_module(m, BI_FIRST, 3));
	put_pair(m, 2, BI_SECOND, put_module(m, BI_SECOND, 1));
}
