/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The texts of addresses, and numbers for them: names.h. */
#include "fleet/host/names.h"

#include <string.h>

#include "base/hash.h"

#define REMEMBERED (1u << 17)

/* An address, and the form in which it is printed. */
struct address {
	uint64_t guest, form, is_user, pid, addr;
	uint64_t room; /* size of an integer key; 0: not an integer key */
};

void fl_names_init(struct fl_names *names, const struct con_symbols *symbols, const struct dif_options *opts)
{
	*names = (struct fl_names){ .printer = { .opts = opts, .symbols = *symbols },
				    .next = FL_NAMES_FIRST,
				    .remembered = REMEMBERED };
	ot_map_init(&names->numbers);
	ot_map_init(&names->hashes);
	ot_map_init(&names->addresses);
	ot_buf_init(&names->fresh);
	ot_buf_init(&names->key);
}

void fl_names_deinit(struct fl_names *names)
{
	ot_map_deinit(&names->numbers);
	ot_map_deinit(&names->hashes);
	ot_map_deinit(&names->addresses);
	ot_buf_deinit(&names->fresh);
	ot_buf_deinit(&names->key);
}

bool fl_names_overflowed(const struct fl_names *names)
{
	return names->numbers.count >= FL_NAMES_MAX || names->bytes >= FL_NAMES_BYTES;
}

/* --- numbers ---------------------------------------------------------------------------------------------- */

/* The same on each host. If another text has this number here, the next free one is used: such rows are not
 * joined with other hosts'. */
static struct ot_err *hash_of(struct fl_names *names, const char *text, uint64_t room, uint64_t *ret)
{
	static const uint64_t key[2] = { 0 };
	const uint64_t top = 1ull << (8 * room - 1);
	uint64_t number = ot_siphash13(key, text, strlen(text));

	for (;; number++) {
		number = (number & (top - 1)) | top;
		if (!ot_map_get(&names->hashes, &number, sizeof(number)))
			break;
	}
	*ret = number;
	return ot_map_put(&names->hashes, &number, sizeof(number), names) ? NULL : ot_err_nomem();
}

static struct ot_err *add(struct fl_names *names, uint32_t guest, const char *text, const char *note,
			  uint64_t room, uint64_t *ret)
{
	struct fl_name name = { guest, names->next, text, note };

	if (room)
		OT_TRY(hash_of(names, text, room, &name.number));
	else
		names->next++;
	fl_put_name(&names->fresh, &name);
	if (names->fresh.failed ||
	    !ot_map_put(&names->numbers, names->key.data, names->key.len, (void *)(uintptr_t)name.number))
		return ot_err_nomem();
	names->bytes += names->key.len;
	*ret = name.number;
	return NULL;
}

/* The number of a text and of the additional lines for its place. */
static struct ot_err *number_of(struct fl_names *names, uint32_t guest, const char *text, const char *note,
				uint64_t room, uint64_t *ret)
{
	/* an address without a name is its guest's own; an integer is the same for all */
	const bool shared = room || (names->joint && strncmp(text, "0x", 2) != 0);
	const uint32_t whose = shared ? 0 : guest;

	ot_buf_clear(&names->key);
	ot_buf_append(&names->key, &room, sizeof(room));
	ot_buf_append(&names->key, &whose, sizeof(whose));
	ot_buf_append(&names->key, text, strlen(text) + 1);
	ot_buf_puts(&names->key, note);
	if (names->key.failed)
		return ot_err_nomem();
	uintptr_t known = (uintptr_t)ot_map_get(&names->numbers, names->key.data, names->key.len);
	if (known) {
		*ret = known;
		return NULL;
	}
	if (fl_names_overflowed(names) && strcmp(text, FL_NAMES_OTHER) != 0)
		return number_of(names, guest, FL_NAMES_OTHER, "", room, ret);
	return add(names, shared ? 0 : guest, text, note, room, ret);
}

/* --- addresses -------------------------------------------------------------------------------------------- */

static void text_of(struct fl_names *names, const struct address *a, char *buf, size_t size)
{
	names->printer.guest = (uint32_t)a->guest;
	if (a->is_user)
		con_user_text(&names->printer, a->pid, a->addr, (enum vp_symbol_form)a->form, buf, size);
	else
		con_kernel_text(&names->printer, a->addr, (enum vp_symbol_form)a->form, buf, size);
}

static struct ot_err *remember(struct fl_names *names, const struct address *a, uint64_t number)
{
	if (names->addresses.count >= names->remembered) {
		ot_map_deinit(&names->addresses);
		ot_map_init(&names->addresses);
	}
	return ot_map_put(&names->addresses, a, sizeof(*a), (void *)(uintptr_t)number) ? NULL
										       : ot_err_nomem();
}

static struct ot_err *number_address(struct fl_names *names, const struct address *a, bool keys,
				     uint64_t *ret)
{
	char text[CON_SYMBOL_MAX];
	uintptr_t known = keys ? (uintptr_t)ot_map_get(&names->addresses, a, sizeof(*a)) : 0;

	if (known) {
		*ret = known;
		return NULL;
	}
	text_of(names, a, text, sizeof(text));
	OT_TRY(number_of(names, (uint32_t)a->guest, text, "", a->room, ret));
	return keys ? remember(names, a, *ret) : NULL;
}

/* Numbers fit into four bytes. */
static struct ot_err *replace(struct fl_names *names, const struct address *a, bool keys, uint8_t *at,
			      uint32_t size)
{
	uint64_t number;

	OT_TRY(number_address(names, a, keys, &number));
	memcpy(at, &number, size);
	return NULL;
}

/* --- data --------------------------------------------------------------------------------------------------- */

static struct ot_err *replace_kernel_stack(struct fl_names *names, uint32_t guest, bool keys, uint8_t *data,
					   uint32_t size)
{
	for (uint32_t at = 0; at + 8 <= size && con_load(data + at, 8); at += 8) {
		const struct address a = { guest, VP_SYM_OFFSET, false, 0, con_load(data + at, 8), 0 };

		OT_TRY(replace(names, &a, keys, data + at, 8));
	}
	return NULL;
}

/* As many whole lines of a frame as fit into a message. */
static struct ot_err *cut_lines(struct fl_names *names, const struct address *a, const char *lines,
				uint64_t *ret)
{
	char text[CON_SYMBOL_MAX], shown[FL_TEXT_MAX + 1];
	size_t len = strnlen(lines, sizeof(shown));

	if (len == sizeof(shown))
		for (len--; len && lines[len] != '\n'; len--)
			;
	memcpy(shown, lines, len);
	shown[len] = '\0';
	text_of(names, a, text, sizeof(text));
	return number_of(names, (uint32_t)a->guest, text, shown, 0, ret);
}

/* A frame of a process: @note is the engine's note about it, which this host decodes. */
static struct ot_err *replace_frame(struct fl_names *names, const struct address *a, bool keys,
				    const char *note, uint8_t *at)
{
	const struct con_symbols *s = &names->printer.symbols;
	const char *lines = NULL;
	uint64_t number;

	if (con_is_noted(note) && s->note)
		lines = s->note(s->arg, (uint32_t)a->guest, a->pid, a->addr, note);
	if (!lines)
		return replace(names, a, keys, at, 8);
	OT_TRY(cut_lines(names, a, lines, &number));
	memcpy(at, &number, sizeof(number));
	return NULL;
}

static struct ot_err *replace_user_stack(struct fl_names *names, uint32_t guest, bool keys,
					 const struct con_datum *d, uint8_t *data)
{
	struct con_frames f;

	if (!con_frames_init(&f, &names->printer, d))
		return NULL;
	for (uint8_t *at = data + 8; f.left && con_load(at, 8); at += 8, f.left--) {
		const char *note = con_frames_note(&f);
		const struct address a = { guest, VP_SYM_OFFSET, true, f.pid, con_load(at, 8), 0 };

		if (a.addr != DIF_FRAME_WITHOUT_PC) /* its text is included */
			OT_TRY(replace_frame(names, &a, keys, note, at));
	}
	return NULL;
}

static enum vp_symbol_form form_of(uint32_t kind)
{
	switch (kind) {
	case DIF_ACT_sym:
	case DIF_ACT_usym:
		return VP_SYM_NAME;
	case DIF_ACT_mod:
	case DIF_ACT_umod:
		return VP_SYM_MODULE;
	default:
		return VP_SYM_OFFSET;
	}
}

/* A stack or a symbol. */
static struct ot_err *replace_datum(struct fl_names *names, uint32_t guest, bool keys,
				    const struct con_datum *d, uint8_t *data)
{
	const uint32_t kind = d->action->kind;
	struct address a = { guest, form_of(kind), false, 0, 0, 0 };

	switch (kind) {
	case DIF_ACT_stack:
		return replace_kernel_stack(names, guest, keys, data, d->size);
	case DIF_ACT_ustack:
	case DIF_ACT_jstack:
		return replace_user_stack(names, guest, keys, d, data);
	case DIF_ACT_sym:
	case DIF_ACT_mod:
		if (d->size < 8)
			return NULL;
		a.addr = con_load(data, 8);
		return replace(names, &a, keys, data, 8);
	default:
		if (d->size < 16)
			return NULL;
		a.is_user = true;
		a.pid = con_load(data, 8);
		a.addr = con_load(data + 8, 8);
		return replace(names, &a, keys, data + 8, 8);
	}
}

struct ot_err *fl_names_replace(struct fl_names *names, uint32_t guest, const struct fl_places *places,
				bool keys, uint8_t *data)
{
	for (uint32_t i = 0; i < places->n; i++) {
		const struct fl_place *p = &places->items[i];
		const struct con_datum d = { p->action, data + p->offset, p->size };
		const struct address a = { guest,
					   VP_SYM_OFFSET,
					   p->kind == FL_PLACE_USER,
					   0,
					   con_load(d.data, d.size),
					   keys ? p->size : 0 };

		OT_TRY(p->kind == FL_PLACE_DATUM ? replace_datum(names, guest, keys, &d, data + p->offset)
						 : replace(names, &a, keys, data + p->offset, p->size));
	}
	return NULL;
}
