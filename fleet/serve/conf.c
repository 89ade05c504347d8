/* SPDX-License-Identifier: GPL-2.0-or-later */
/* serve.conf: lines of a keyword and its values; those after "operator" apply to that operator. */
#include "fleet/serve/conf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/near.h"
#include "fleet/serve/conf_value.h"

/* The state of parsing. */
struct reading {
	struct fl_lines lines;
	struct ot_arena *arena;
	struct fl_conf *conf;
	struct fl_conf_operator *operator; /* NULL before the first */
	size_t cap;
	uint64_t seen; /* bits of `settings`: of the host, and of the present operator */
	bool merges;   /* operators need no rights */
};

typedef struct ot_err *setting(struct reading *r);

static struct ot_err *set_name(struct reading *r)
{
	if (!fl_name_is_valid(r->lines.words[1]))
		return fl_lines_error(&r->lines,
				      "%s is not a host's name: letters, digits, '-' and '_', at most %d",
				      r->lines.words[1], FL_NAME_MAX);
	r->conf->name = r->lines.words[1];
	return NULL;
}

static struct ot_err *set_nats(struct reading *r)
{
	if (strncmp(r->lines.words[1], "nats://", 7) != 0 && strncmp(r->lines.words[1], "tls://", 6) != 0)
		return fl_lines_error(&r->lines,
				      "%s is not the address of a broker: nats://HOST:PORT, tls://HOST:PORT",
				      r->lines.words[1]);
	r->conf->nats = r->lines.words[1];
	return NULL;
}

static struct ot_err *set_credentials(struct reading *r)
{
	return fl_value_path(&r->lines, &r->conf->credentials);
}

static struct ot_err *set_key(struct reading *r)
{
	return fl_value_path(&r->lines, &r->conf->key);
}

static struct ot_err *set_state(struct reading *r)
{
	return fl_value_path(&r->lines, &r->conf->state);
}

static struct ot_err *set_metrics(struct reading *r)
{
	return fl_value_address(&r->lines, &r->conf->metrics);
}

static struct ot_err *set_standing(struct reading *r)
{
	return fl_value_path(&r->lines, &r->conf->standing);
}

static struct ot_err *set_workers(struct reading *r)
{
	return fl_value_number(&r->lines, 1, FL_WORKERS_MAX, &r->conf->workers);
}

static struct ot_err *set_guests(struct reading *r)
{
	return fl_value_patterns(&r->lines, r->arena, &r->operator->guests);
}

static struct ot_err *set_providers(struct reading *r)
{
	return fl_value_patterns(&r->lines, r->arena, &r->operator->providers);
}

static struct ot_err *set_destructive(struct reading *r)
{
	return fl_value_yes(&r->lines, &r->operator->destructive);
}

static struct ot_err *set_user_memory(struct reading *r)
{
	return fl_value_yes(&r->lines, &r->operator->user_memory);
}

static struct ot_err *set_maxcost(struct reading *r)
{
	return fl_value_percent(&r->lines, &r->operator->maxcost);
}

static struct ot_err *set_ttl(struct reading *r)
{
	return fl_value_seconds(&r->lines, &r->operator->ttl_s);
}

static struct ot_err *set_bytes(struct reading *r)
{
	return fl_value_bytes(&r->lines, &r->operator->bytes_per_s);
}

static setting set_operator;

static const struct {
	const char *word;
	setting *set;
	size_t least, most; /* values */
	bool of_operator;
} settings[] = {
	{ "name", set_name, 1, 1, false },
	{ "nats", set_nats, 1, 1, false },
	{ "credentials", set_credentials, 1, 1, false },
	{ "key", set_key, 1, 1, false },
	{ "state", set_state, 1, 1, false },
	{ "metrics", set_metrics, 1, 1, false },
	{ "standing", set_standing, 1, 1, false },
	{ "workers", set_workers, 1, 1, false },
	{ "operator", set_operator, 2, 2, false },
	{ "guests", set_guests, 1, FL_WORDS_MAX, true },
	{ "providers", set_providers, 1, FL_WORDS_MAX, true },
	{ "destructive", set_destructive, 1, 1, true },
	{ "user-memory", set_user_memory, 1, 1, true },
	{ "maxcost", set_maxcost, 1, 1, true },
	{ "ttl", set_ttl, 1, 1, true },
	{ "bytes-per-second", set_bytes, 1, 1, true },
};

/* An operator without these could do nothing, which is surely a mistake. */
static struct ot_err *check_operator(const struct reading *r)
{
	const struct fl_conf_operator *o = r->operator;

	if (o && !r->merges && (!o->guests.count || !o->providers.count))
		return ot_err_new(OT_ERR_SYNTAX,
				  "%s:%u: operator %s has no line \"%s\", and may trace nothing",
				  r->lines.path, o->line, o->name, o->guests.count ? "providers" : "guests");
	return NULL;
}

static struct ot_err *check_new_operator(const struct reading *r, const char *name, const uint8_t *key)
{
	const struct fl_conf_operator *other = fl_conf_find(r->conf, key);

	if (other)
		return fl_lines_error(&r->lines, "operator %s, line %u, has the same key", other->name,
				      other->line);
	for (size_t i = 0; i < r->conf->noperators; i++)
		if (!strcmp(r->conf->operators[i].name, name))
			return fl_lines_error(&r->lines, "there is an operator %s already, line %u", name,
					      r->conf->operators[i].line);
	if (r->conf->noperators == FL_OPERATORS_MAX)
		return fl_lines_error(&r->lines, "more than %u operators", FL_OPERATORS_MAX);
	return NULL;
}

static struct ot_err *set_operator(struct reading *r)
{
	const char *name = r->lines.words[1], *text = r->lines.words[2];
	uint8_t key[FL_PUBLIC];

	OT_TRY(check_operator(r));
	if (!fl_name_is_valid(name))
		return fl_lines_error(&r->lines, "%s is not a name: letters, digits, '-' and '_', at most %d",
				      name, FL_NAME_MAX);
	if (!fl_public_parse(text, key))
		return fl_lines_error(&r->lines,
				      "%s is not a public key, as outsight-serve --show-key prints it", text);
	OT_TRY(check_new_operator(r, name, key));
	r->operator= & r->conf->operators[r->conf->noperators++];
	*r->operator=(struct fl_conf_operator){ .name = name, .line = r->lines.number };
	memcpy(r->operator->key, key, FL_PUBLIC);
	for (size_t i = 0; i < OT_ARRAY_SIZE(settings); i++)
		if (settings[i].of_operator)
			r->seen &= ~(1ull << i);
	return NULL;
}

static struct ot_err *unknown(const struct reading *r)
{
	struct ot_near near;

	ot_near_init(&near, r->lines.words[0]);
	for (size_t i = 0; i < OT_ARRAY_SIZE(settings); i++)
		ot_near_offer(&near, settings[i].word);
	const char *best = ot_near_best(&near);

	return fl_lines_error(&r->lines, "there is no setting %s%s%s", r->lines.words[0],
			      best ? ", did you mean " : "", best ? best : "");
}

static struct ot_err *take_line(struct reading *r)
{
	size_t i = 0, nvalues = r->lines.nwords - 1;

	while (i < OT_ARRAY_SIZE(settings) && strcmp(settings[i].word, r->lines.words[0]) != 0)
		i++;
	if (i == OT_ARRAY_SIZE(settings))
		return unknown(r);
	const char *word = settings[i].word;

	if (nvalues < settings[i].least || nvalues > settings[i].most)
		return fl_lines_error(&r->lines, "%s needs %s", word,
				      settings[i].least == 2 ? "a name and a public key"
				      : settings[i].most > 1 ? "at least one pattern"
							     : "one value");
	if (settings[i].of_operator && !r->operator)
		return fl_lines_error(&r->lines,
				      "%s belongs to an operator: it must follow a line \"operator\"", word);
	if (!settings[i].of_operator && r->operator&& settings[i].set != set_operator)
		return fl_lines_error(&r->lines, "%s belongs to the host: it must precede the first operator",
				      word);
	if (r->seen & 1ull << i)
		return fl_lines_error(&r->lines, "%s a second time", word);
	if (settings[i].set != set_operator)
		r->seen |= 1ull << i;
	return settings[i].set(r);
}

/* The machine's own name, up to its first dot. */
static struct ot_err *set_own_name(struct fl_conf *conf, struct ot_arena *arena)
{
	char name[256] = "";

	if (gethostname(name, sizeof(name) - 1))
		return ot_err_os(errno, "gethostname");
	name[strcspn(name, ".")] = '\0';
	if (!fl_name_is_valid(name))
		return ot_err_new(OT_ERR_SYNTAX,
				  "this machine is called \"%s\", which can't be its name in a fleet: "
				  "serve.conf needs a line \"name\"",
				  name);
	conf->name = ot_arena_strdup(arena, name);
	return conf->name ? NULL : ot_err_nomem();
}

static struct ot_err *read_conf(const char *path, bool merges, struct ot_arena *arena, struct fl_conf *ret)
{
	struct fl_conf conf = { .key = merges ? FL_MERGE_KEY_PATH : FL_HOST_KEY_PATH,
				.state = merges ? FL_MERGE_STATE_PATH : FL_STATE_PATH,
				.standing = FL_STANDING_PATH,
				.workers = FL_WORKERS };
	struct reading r = { .arena = arena, .conf = &conf, .merges = merges };

	conf.operators = ot_arena_alloc(arena, FL_OPERATORS_MAX * sizeof(*conf.operators));
	if (!conf.operators)
		return ot_err_nomem();
	OT_TRY(fl_lines_open(path, arena, &r.lines));
	for (;;) {
		OT_TRY(fl_lines_next(&r.lines));
		if (!r.lines.nwords)
			break;
		OT_TRY(take_line(&r));
	}
	OT_TRY(check_operator(&r));
	if (!conf.name)
		OT_TRY(set_own_name(&conf, arena));
	*ret = conf;
	return NULL;
}

struct ot_err *fl_conf_read(const char *path, struct ot_arena *arena, struct fl_conf *ret)
{
	return read_conf(path, false, arena, ret);
}

struct ot_err *fl_conf_read_merger(const char *path, struct ot_arena *arena, struct fl_conf *ret)
{
	return read_conf(path, true, arena, ret);
}

const struct fl_conf_operator *fl_conf_find(const struct fl_conf *conf, const uint8_t key[FL_PUBLIC])
{
	for (size_t i = 0; i < conf->noperators; i++)
		if (!memcmp(conf->operators[i].key, key, FL_PUBLIC))
			return &conf->operators[i];
	return NULL;
}

static bool same_patterns(const struct fl_patterns *a, const struct fl_patterns *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	return true;
}

bool fl_conf_same_rights(const struct fl_conf_operator *a, const struct fl_conf_operator *b)
{
	return same_patterns(&a->guests, &b->guests) && same_patterns(&a->providers, &b->providers) &&
	       a->destructive == b->destructive && a->user_memory == b->user_memory &&
	       a->maxcost == b->maxcost && a->ttl_s == b->ttl_s && a->bytes_per_s == b->bytes_per_s;
}
