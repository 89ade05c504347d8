/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of a profile. A frame "module`name+0x1f" is a location with that address, in the function "name" of
 * the mapping "module"; one without a name is a function of no mapping, called as it is shown. A kernel's and
 * a process's modules are different mappings, even with equal names.
 */
#include <string.h>

#include "base/utf8.h"
#include "consumer/output/fold.h"
#include "consumer/output/pprof_tables.h"

/* Profile's fields. */
enum { PROFILE_MAPPING = 3, PROFILE_LOCATION = 4, PROFILE_FUNCTION = 5 };
enum { MAPPING_ID = 1, MAPPING_FILENAME = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILENAME = 4 };

void con_pprof_tables_init(struct con_pprof_tables *t)
{
	ot_map_init(&t->strings);
	ot_map_init(&t->mappings);
	ot_map_init(&t->functions);
	ot_map_init(&t->locations);
	con_pprof_string(t, "", 0);
}

void con_pprof_tables_deinit(struct con_pprof_tables *t)
{
	ot_map_deinit(&t->strings);
	ot_map_deinit(&t->mappings);
	ot_map_deinit(&t->functions);
	ot_map_deinit(&t->locations);
	con_pb_deinit(&t->pb);
}

/* The key's number, from 1 on. *ret_new: it is new. */
static uint64_t number_of(struct con_pprof_tables *t, struct ot_map *map, const struct ot_buf *key,
			  bool *ret_new)
{
	uintptr_t id = key->failed ? 0 : (uintptr_t)ot_map_get(map, ot_buf_str(key), key->len);

	*ret_new = false;
	if (id)
		return id;
	id = map->count + 1;
	if (key->failed || !ot_map_put(map, ot_buf_str(key), key->len, (void *)id)) {
		t->failed = true;
		return 0;
	}
	*ret_new = true;
	return id;
}

uint64_t con_pprof_string(struct con_pprof_tables *t, const char *s, size_t len)
{
	struct ot_buf text;
	bool is_new;

	ot_buf_init(&text);
	ot_utf8_append(&text, s, len);
	uint64_t id = number_of(t, &t->strings, &text, &is_new);
	ot_buf_deinit(&text);
	return id ? id - 1 : 0;
}

/* The parts of a frame's text. */
struct place {
	bool user;
	const char *module, *name;
	size_t module_len, name_len;
};

static struct place place_of(const char *text, bool user)
{
	size_t len = con_fold_name(text);
	const char *tick = memchr(text, '`', len);

	if (!tick)
		return (struct place){ user, "", text, 0, len };
	return (struct place){ user, text, tick + 1, (size_t)(tick - text), len - (size_t)(tick + 1 - text) };
}

static void place_key(struct ot_buf *key, const struct place *p)
{
	ot_buf_init(key);
	ot_buf_putc(key, p->user ? 'u' : 'k');
	ot_buf_append(key, p->module, p->module_len);
}

static uint64_t mapping_of(struct con_pprof_tables *t, const struct place *p)
{
	struct ot_buf key;
	bool is_new;

	if (!p->module_len)
		return 0;
	place_key(&key, p);
	uint64_t id = number_of(t, &t->mappings, &key, &is_new);
	ot_buf_deinit(&key);
	if (!is_new)
		return id;
	size_t mapping = con_pb_begin(&t->pb, PROFILE_MAPPING);
	con_pb_int(&t->pb, MAPPING_ID, id);
	con_pb_int(&t->pb, MAPPING_FILENAME, con_pprof_string(t, p->module, p->module_len));
	con_pb_int(&t->pb, MAPPING_HAS_FUNCTIONS, 1);
	con_pb_end(&t->pb, mapping);
	return id;
}

static uint64_t function_of(struct con_pprof_tables *t, const struct place *p)
{
	struct ot_buf key;
	bool is_new;

	place_key(&key, p);
	ot_buf_putc(&key, '`');
	ot_buf_append(&key, p->name, p->name_len);
	uint64_t id = number_of(t, &t->functions, &key, &is_new);
	ot_buf_deinit(&key);
	if (!is_new)
		return id;
	uint64_t name = con_pprof_string(t, p->name, p->name_len);
	size_t function = con_pb_begin(&t->pb, PROFILE_FUNCTION);
	con_pb_int(&t->pb, FUNCTION_ID, id);
	con_pb_int(&t->pb, FUNCTION_NAME, name);
	con_pb_int(&t->pb, FUNCTION_SYSTEM_NAME, name);
	con_pb_int(&t->pb, FUNCTION_FILENAME, con_pprof_string(t, p->module, p->module_len));
	con_pb_end(&t->pb, function);
	return id;
}

static void put_location(struct con_pprof_tables *t, uint64_t id, uint64_t pc, const struct place *p)
{
	/* messages of the same buffer, before this one begins */
	uint64_t mapping = mapping_of(t, p), function = function_of(t, p);
	size_t location = con_pb_begin(&t->pb, PROFILE_LOCATION);

	con_pb_int(&t->pb, LOCATION_ID, id);
	con_pb_int(&t->pb, LOCATION_MAPPING, mapping);
	con_pb_int(&t->pb, LOCATION_ADDRESS, pc);
	size_t line = con_pb_begin(&t->pb, LOCATION_LINE);
	con_pb_int(&t->pb, LINE_FUNCTION, function);
	con_pb_end(&t->pb, line);
	con_pb_end(&t->pb, location);
}

uint64_t con_pprof_location(struct con_pprof_tables *t, const struct con_frame *frame, bool user, bool has_pc)
{
	const char *text = *frame->note ? frame->note : frame->text;
	uint64_t pc = has_pc && !*frame->note ? frame->pc : 0; /* an interpreted frame has no address */
	struct place place = place_of(text, user);
	struct ot_buf key;
	bool is_new;

	ot_buf_init(&key);
	ot_buf_putc(&key, user ? 'u' : 'k');
	ot_buf_append(&key, &pc, sizeof(pc));
	ot_buf_puts(&key, text);
	uint64_t id = number_of(t, &t->locations, &key, &is_new);
	ot_buf_deinit(&key);
	if (is_new)
		put_location(t, id, pc, &place);
	return id;
}
