/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The name of an Erlang frame: atoms of its function, and the line from its module's table. There each
 * function has a range of addresses, sorted, and each address a place: eight bits for the file, 24 for the
 * line. A file's name is a list of characters. Hit path.
 */
#include "vmm-probe/engine/hit/beam.h"

#define WORD       8u
#define NAME_MAX   255u /* bytes of an atom that are shown */
#define FILE_MAX   255u /* characters of a file's name */
#define ARITY_MAX  255u
#define FILE_SHIFT 24u

/* Tags of terms: the low bits. */
#define LIST(term)      (((term)&3) == 1)
#define CHARACTER(term) (((term)&15) == 15)

static uint64_t word(struct vp_beam_walk *w, uint64_t at)
{
	uint64_t value;

	return at && vp_beam_load(w, at, &value, sizeof(value)) ? value : 0;
}

/* --- names ---------------------------------------------------------------------------------------------- */

/* The size of a character whose first byte is @byte; 0: invalid. */
static unsigned length_of(uint8_t byte)
{
	return byte < 0x80             ? 1
	       : (byte & 0xe0) == 0xc0 ? 2
	       : (byte & 0xf0) == 0xe0 ? 3
	       : (byte & 0xf8) == 0xf0 ? 4
				       : 0;
}

/* The character at @bytes, of which @n are available. Invalid UTF-8 is an unprintable character of one
 * byte. */
static unsigned take_character(const uint8_t *bytes, size_t n, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned length = length_of(bytes[0]);
	uint32_t c = length > 1 ? bytes[0] & (0x7fu >> length) : bytes[0];

	*ret = 0;
	if (!length || length > n)
		return 1;
	for (unsigned i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 1;
		c = c << 6 | (bytes[i] & 0x3f);
	}
	if (c < least[length])
		return 1;
	*ret = c;
	return length;
}

static void put_name(const uint8_t *bytes, size_t n, struct vp_texts *texts)
{
	uint32_t c;

	for (size_t i = 0; i < n;) {
		i += take_character(bytes + i, n - i, &c);
		vp_texts_character(texts, c);
	}
}

static bool read_atom(struct vp_beam_walk *w, uint64_t term, uint8_t bytes[NAME_MAX], uint16_t *ret)
{
	uint64_t number = term >> VP_BEAM_ATOM_SHIFT, pages = word(w, w->in.atoms), page, atom, name;

	page = pages ? word(w, pages + WORD * (number >> VP_BEAM_ATOMS_SHIFT)) : 0;
	atom = page ? word(w, page + WORD * (number & ((1u << VP_BEAM_ATOMS_SHIFT) - 1))) : 0;
	name = atom ? word(w, atom + w->in.atom_name) : 0;
	return name && vp_beam_load(w, atom + w->in.atom_length, ret, sizeof(*ret)) &&
	       (!*ret || vp_beam_load(w, name, bytes, *ret < NAME_MAX ? *ret : NAME_MAX));
}

static void put_atom(struct vp_beam_walk *w, uint64_t term, struct vp_texts *texts)
{
	uint8_t bytes[NAME_MAX];
	uint16_t length;

	if (!read_atom(w, term, bytes, &length)) {
		vp_texts_byte(texts, '?');
		return;
	}
	put_name(bytes, length < NAME_MAX ? length : NAME_MAX, texts);
	if (length > NAME_MAX)
		vp_texts_byte(texts, '?');
}

/* --- places --------------------------------------------------------------------------------------------- */

static void put_file(struct vp_beam_walk *w, uint64_t term, struct vp_texts *texts)
{
	uint64_t cell[2]; /* a character, the rest */
	unsigned n = 0;

	for (; n < FILE_MAX && LIST(term) && vp_beam_load(w, term & ~3ull, cell, sizeof(cell)); n++) {
		uint64_t c = CHARACTER(cell[0]) ? cell[0] >> 4 : 0;

		vp_texts_character(texts, c <= UINT32_MAX ? (uint32_t)c : 0);
		term = cell[1];
	}
	if (!n || LIST(term))
		vp_texts_byte(texts, '?');
}

/* The place of the frame in its module's table; 0: it has none. */
static uint32_t find_place(struct vp_beam_walk *w, const struct vp_beam_frame *f, uint64_t lines)
{
	const struct vp_beam *in = &w->in;
	uint64_t first = word(w, lines + in->lines_functions), places = word(w, lines + in->lines_places);
	uint64_t range[2], i; /* of its function */
	uint32_t width, place = 0;

	if (!first || !places || !vp_beam_load(w, lines + in->lines_width, &width, sizeof(width)) ||
	    (width != 2 && width != 4) ||
	    !vp_beam_load(w, lines + in->lines_functions + WORD * f->index, range, sizeof(range)) ||
	    range[0] < first || range[1] < range[0] ||
	    !vp_beam_search(w, range[0], (range[1] - range[0]) / WORD, WORD, f->pc, &i) ||
	    !vp_beam_load(w, places + width * ((range[0] - first) / WORD + i), &place, width))
		return 0;
	return place;
}

static void put_place(struct vp_beam_walk *w, const struct vp_beam_frame *f, struct vp_texts *texts)
{
	uint64_t lines = word(w, f->module + w->in.code_lines), files;
	uint32_t place = lines ? find_place(w, f, lines) : 0;

	if (!place)
		return;
	files = word(w, lines + w->in.lines_files);
	vp_texts_string(texts, " (");
	put_file(w, files ? word(w, files + WORD * (place >> FILE_SHIFT)) : 0, texts);
	vp_texts_byte(texts, ':');
	vp_texts_number(texts, place & ((1u << FILE_SHIFT) - 1));
	vp_texts_byte(texts, ')');
}

void vp_beam_text(struct vp_beam_walk *w, const struct vp_beam_frame *f, struct vp_texts *texts)
{
	uint64_t name[3]; /* module, function, arity */

	if (!vp_beam_load(w, f->function + w->in.function_name, name, sizeof(name))) {
		vp_texts_byte(texts, '?');
		return;
	}
	put_atom(w, name[0], texts);
	vp_texts_byte(texts, ':');
	put_atom(w, name[1], texts);
	vp_texts_byte(texts, '/');
	if (name[2] <= ARITY_MAX)
		vp_texts_number(texts, (uint32_t)name[2]);
	else
		vp_texts_byte(texts, '?');
	put_place(w, f, texts);
}
