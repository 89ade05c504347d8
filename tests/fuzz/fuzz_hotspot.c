/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process with HotSpot, written over: three bytes of the input are a place in its memory and a byte that is
 * put there. The invariant: reading ends, and a text is of bounded length and printable lines.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/seed.h"
#include "tests/unit/hotspot_image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATCH    3u
#define TEXT_MAX (64u << 10)

static struct hotspot_image image;
static unsigned named;

static void check(const struct vp_user_reader *m, const struct vp_hotspot_layout *l, uint64_t pc,
		  const char *note)
{
	struct ot_buf out;

	ot_buf_init(&out);
	if (vp_hotspot_text(m, l, pc, note, &out)) {
		named++;
		if (!out.len || out.len > TEXT_MAX)
			abort();
		for (size_t i = 0; i < out.len; i++)
			if ((uint8_t)out.data[i] < ' ' && out.data[i] != '\n')
				abort();
	}
	ot_buf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct vp_user_reader m = { hotspot_image_read, &image };
	struct vp_hotspot_layout l;
	const char *lacks;
	char note[HI_NOTE];

	hotspot_image_init(&image);
	for (size_t i = 0; i + PATCH <= size; i += PATCH)
		image.bytes[(data[i] | data[i + 1] << 8) % HI_SIZE] = data[i + 2];
	named = 0;
	if (vp_hotspot_find(&m, &image.file, HI_BASE, &l, &lacks) != VP_HOTSPOT_FOUND)
		return 0;
	hotspot_image_code_note(HI_ID, note);
	check(&m, &l, image.code + HI_BOTH, note);
	check(&m, &l, image.code + HI_ONE, note);
	check(&m, &l, image.stub + 0x40, note);
	hotspot_image_method_note(image.leaf, hotspot_image_bytecodes(&image, image.leaf) + 5, note);
	check(&m, &l, HI_CODE, note);
	if (size < sizeof(note)) /* a note of the input's */
		memcpy(note, data, size);
	note[sizeof(note) - 1] = '\0';
	check(&m, &l, image.code, note);
	return 0;
}

bool fuzz_seed_reached(void)
{
	return named > 0;
}
