/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probe descriptions for shells' completion: complete.h. Listing a guest's probes takes a second or two, so
 * the list is cached for a while. It is used for TAB only: no session reads it.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "cli/complete.h"
#include "vmm-probe/guest/cache.h"

#define KEPT_SECONDS 600
#define KIND         "probes"
/* A function's name ends at or after this column of -l, a module's before it. */
#define FUNCTION_END 60

enum { PROVIDER, MODULE, FUNCTION, NAME, FIELDS };

/* --- the list ------------------------------------------------------------------------------------------- */

/* The key of a guest's file. */
static uint64_t key_of(const char *guest)
{
	static const uint64_t none[2];

	return ot_siphash13(none, guest, strlen(guest));
}

/* The cached list, if it is this guest's and not too old; NULL: there is none. */
static char *read_kept(const struct vp_cache *cache, const char *guest)
{
	uint64_t key = key_of(guest);
	size_t len;
	char *text;
	struct ot_err *err = vp_cache_read(cache, (const uint8_t *)&key, sizeof(key), KIND, &text, &len);

	if (err) {
		ot_err_destroy(err);
		return NULL;
	}
	int64_t age = len > sizeof(int64_t) ? (int64_t)time(NULL) - *(const int64_t *)text : -1;
	char *list =
	    age >= 0 && age < KEPT_SECONDS ? strndup(text + sizeof(int64_t), len - sizeof(int64_t)) : NULL;
	free(text);
	return list;
}

static void keep(const struct vp_cache *cache, const char *guest, const char *list)
{
	ot_auto(ot_buf_deinit) struct ot_buf data = { 0 };
	uint64_t key = key_of(guest);
	int64_t now = time(NULL);

	ot_buf_append(&data, &now, sizeof(now));
	ot_buf_puts(&data, list);
	if (!data.failed)
		ot_err_destroy(
		    vp_cache_write(cache, (const uint8_t *)&key, sizeof(key), KIND, data.data, data.len));
}

/* The output of -l; *ret is the caller's. Nothing is injected for it. */
static char *list_probes(const char *guest)
{
	const char *argv[] = { "outsight", "-x", "noattach", "-l", guest ? "-g" : NULL, guest, NULL };
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };

	return cli_complete_ask(argv, &out) ? ot_buf_take(&out) : NULL;
}

static char *list_of(const char *guest)
{
	struct vp_cache *cache = NULL;
	struct ot_err *err = vp_cache_open(NULL, &cache);
	const char *name = guest ? guest : "";
	char *list = cache ? read_kept(cache, name) : NULL;

	ot_err_destroy(err);
	if (!list) {
		list = list_probes(guest);
		if (list && cache)
			keep(cache, name, list);
	}
	vp_cache_close(cache);
	return list;
}

/* --- a line, and a description ---------------------------------------------------------------------------- */

struct field {
	const char *text;
	size_t len;
};

/* The four names on a line of -l, right-aligned columns of which two may be empty. false: it is no probe's.
 */
static bool take_line(const char *line, size_t len, struct field ret[FIELDS])
{
	struct field words[FIELDS + 1];
	unsigned n = 0;

	for (size_t at = 0, size; at < len && n <= FIELDS; at += size) {
		at += strspn(line + at, " ");
		size = strcspn(line + at, " \n");
		if (size && at < len)
			words[n++] = (struct field){ line + at, size };
	}
	if (n < 3 || words[0].text[0] < '0' || words[0].text[0] > '9')
		return false;
	bool is_function = n == 4 && words[2].text + words[2].len - line >= FUNCTION_END;
	ret[PROVIDER] = words[1];
	ret[MODULE] = n == 5 || (n == 4 && !is_function) ? words[2] : (struct field){ "", 0 };
	ret[FUNCTION] = n == 5 ? words[3] : is_function ? words[2] : (struct field){ "", 0 };
	ret[NAME] = words[n - 1];
	return true;
}

/* An incomplete description: fields[first] to fields[last], the last to be completed. */
struct typed {
	char *fields[FIELDS];
	unsigned first, last;
	size_t before; /* size of the word before the last field */
};

/* The last field is @p level; for -n, which is typed from the left, as many as there are colons. */
static bool take_word(struct cli_completion *c, char letter, struct typed *ret)
{
	char *word = ot_arena_strdup(&c->arena, c->word);
	unsigned colons = 0;

	if (!word || strpbrk(word, " \t{/,"))
		return false;
	for (const char *s = word; *s; s++)
		colons += *s == ':';
	ret->last = letter == 'P' ? PROVIDER : letter == 'm' ? MODULE : letter == 'f' ? FUNCTION : colons;
	if (ret->last >= FIELDS || colons > ret->last)
		return false;
	ret->first = ret->last - colons;
	for (unsigned i = ret->first; i <= ret->last; i++) {
		ret->fields[i] = word;
		ret->before = (size_t)(strrchr(c->word, ':') ? strrchr(c->word, ':') + 1 - c->word : 0);
		word = strchr(word, ':');
		if (word)
			*word++ = '\0';
	}
	return true;
}

/* Do the fields before the last one match? An empty one matches everything, as in a description. */
static bool matches(const struct typed *t, const struct field probe[FIELDS])
{
	char name[256];

	for (unsigned i = t->first; i < t->last; i++) {
		snprintf(name, sizeof(name), "%.*s", (int)probe[i].len, probe[i].text);
		if (*t->fields[i] && fnmatch(t->fields[i], name, 0) != 0)
			return false;
	}
	return true;
}

void cli_complete_probes(struct cli_completion *c, char letter, const char *guest)
{
	struct field probe[FIELDS];
	struct typed typed = { 0 };

	if (!take_word(c, letter, &typed))
		return;
	ot_auto_free char *list = list_of(guest);
	bool is_last = letter != 'n' || typed.last == NAME;
	for (const char *line = list ? list : "", *end; *line; line = end + (*end == '\n')) {
		end = strchrnul(line, '\n');
		if (!take_line(line, (size_t)(end - line), probe) || !matches(&typed, probe))
			continue;
		const struct field *f = &probe[typed.last];
		ot_auto_free char *text = NULL;
		if (asprintf(&text, "%.*s%.*s%s", (int)typed.before, c->word, (int)f->len, f->text,
			     is_last ? "" : ":") < 0)
			text = NULL;
		if (text && f->len)
			cli_complete_offer(c, text, strlen(text));
	}
}
