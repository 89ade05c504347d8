/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of options. A row has the kind of the option's value, when it may be set, and where the value is
 * stored; the kind implements the syntax.
 */
#include "dif/lang/core/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/near.h"
#include "base/units.h"
#include "dif/obj/opcodes.h"

enum kind {
	FLAG,   /* bool */
	SIZE,   /* uint64_t: a number with k m g t; 0 without a value */
	COUNT,  /* uint64_t, not 0 */
	REGS,   /* the same, and no more than the machine has */
	NUMBER, /* int64_t; 0 without a value */
	RATE,   /* uint64_t nanoseconds; 0 without a value */
	TIME,   /* the same, not 0 and not per second; seconds if bare */
	TEXT,   /* const char * */
	BUFPOLICY,
	BUFRESIZE,
	ENCODING,
	CPU,
	AMIN,
	VERSION,
	/* without a field of their own: their values are in `set` */
	PERCENT,
	SAID,    /* with or without a value */
	A_TEXT,  /* any value, but one */
	A_COUNT, /* a number */
	A_SIZE,  /* a number with k m g t, or one of `words` */
	A_WORD,  /* one of `words` */
};

/* When an option may be set. */
enum when {
	ANY_TIME,     /* "dynamic": setopt() too */
	BEFORE_START, /* run-time, but fixed once tracing starts */
	COMMAND_LINE, /* not from within a D program */
};

struct option {
	const char *name;
	enum kind kind;
	enum when when;
	size_t offset;
	const char *words; /* "this|that" */
};

#define FIELD(name) offsetof(struct dif_options, name)

static const struct option options[] = {
	/* dynamic */
	{ "aggrate", RATE, ANY_TIME, FIELD(aggrate_ns) },
	{ "switchrate", RATE, ANY_TIME, FIELD(switchrate_ns) },
	{ "flowindent", FLAG, ANY_TIME, FIELD(flowindent) },
	{ "quiet", FLAG, ANY_TIME, FIELD(quiet) },
	{ "rawbytes", FLAG, ANY_TIME, FIELD(rawbytes) },
	{ "stackindent", SIZE, ANY_TIME, FIELD(stackindent) },
	{ "aggsortkey", FLAG, ANY_TIME, FIELD(aggsortkey) },
	{ "aggsortkeypos", NUMBER, ANY_TIME, FIELD(aggsortkeypos) },
	{ "aggsortpos", NUMBER, ANY_TIME, FIELD(aggsortpos) },
	{ "aggsortrev", FLAG, ANY_TIME, FIELD(aggsortrev) },
	{ "agghist", FLAG, ANY_TIME, FIELD(agghist) },
	{ "aggpack", FLAG, ANY_TIME, FIELD(aggpack) },
	{ "aggzoom", FLAG, ANY_TIME, FIELD(aggzoom) },
	{ "printsize", A_SIZE, ANY_TIME, 0 },
	/* run time */
	{ "bufsize", SIZE, BEFORE_START, FIELD(bufsize) },
	{ "aggsize", SIZE, BEFORE_START, FIELD(aggsize) },
	{ "bufpolicy", BUFPOLICY, BEFORE_START, FIELD(bufpolicy) },
	{ "bufresize", BUFRESIZE, BEFORE_START, FIELD(bufresize_manual) },
	{ "bpflog", SAID, BEFORE_START, 0 },
	{ "bpflogsize", A_SIZE, BEFORE_START, 0 },
	{ "cleanrate", RATE, BEFORE_START, FIELD(cleanrate_ns) },
	{ "cpu", CPU, BEFORE_START, FIELD(cpu) },
	{ "destructive", FLAG, BEFORE_START, FIELD(destructive) },
	{ "dynvarsize", SIZE, BEFORE_START, FIELD(dynvarsize) },
	{ "preallocate", A_TEXT, BEFORE_START, 0 },
	{ "grabanon", FLAG, BEFORE_START, FIELD(grabanon) },
	{ "lockmem", A_SIZE, BEFORE_START, 0, "unlimited" },
	{ "maxframes", SIZE, BEFORE_START, FIELD(maxframes) },
	{ "pcapsize", A_SIZE, BEFORE_START, 0 },
	{ "scratchsize", A_SIZE, BEFORE_START, 0 },
	{ "maxcost", PERCENT, BEFORE_START, FIELD(maxcost) },
	{ "ttl", TIME, BEFORE_START, FIELD(ttl_ns) },
	{ "jstackframes", SIZE, BEFORE_START, FIELD(jstackframes) },
	{ "jstackstrsize", SIZE, BEFORE_START, FIELD(jstackstrsize) },
	{ "nspec", SIZE, BEFORE_START, FIELD(nspec) },
	{ "specsize", SIZE, BEFORE_START, FIELD(specsize) },
	{ "stackframes", SIZE, BEFORE_START, FIELD(stackframes) },
	{ "ustackframes", SIZE, BEFORE_START, FIELD(ustackframes) },
	{ "statusrate", RATE, BEFORE_START, FIELD(statusrate_ns) },
	{ "strsize", COUNT, BEFORE_START, FIELD(strsize) },
	{ "temporal", FLAG, BEFORE_START, FIELD(temporal) },
	{ "zone", SAID, BEFORE_START, 0 },
	/* compile time, by the program too */
	{ "aggpercpu", FLAG, BEFORE_START, FIELD(aggpercpu) },
	{ "anydefs", FLAG, BEFORE_START, FIELD(anydefs) },
	{ "amin", AMIN, BEFORE_START, 0 },
	{ "argref", FLAG, BEFORE_START, FIELD(argref) },
	{ "core", SAID, BEFORE_START, 0 },
	{ "debug", FLAG, BEFORE_START, FIELD(debug) },
	{ "debugassert", A_TEXT, BEFORE_START, 0 },
	{ "defaultargs", FLAG, BEFORE_START, FIELD(defaultargs) },
	{ "disasm", A_COUNT, BEFORE_START, 0 },
	{ "droptags", FLAG, BEFORE_START, FIELD(droptags) },
	{ "empty", FLAG, BEFORE_START, FIELD(empty) },
	{ "encoding", ENCODING, BEFORE_START, 0 },
	{ "errtags", FLAG, BEFORE_START, FIELD(errtags) },
	{ "evaltime", A_WORD, BEFORE_START, 0, "exec|preinit|postinit|main" },
	{ "iregs", REGS, BEFORE_START, FIELD(iregs) },
	{ "kdefs", FLAG, BEFORE_START, FIELD(kdefs) },
	{ "knodefs", FLAG, BEFORE_START, FIELD(knodefs) },
	{ "late", A_WORD, BEFORE_START, 0, "dynamic|static" },
	{ "lazyload", SAID, BEFORE_START, 0 },
	{ "linkmode", A_WORD, BEFORE_START, 0, "kernel|primary|dynamic|static" },
	{ "linknommap", SAID, BEFORE_START, 0 },
	{ "linktype", A_WORD, BEFORE_START, 0, "elf|dof" },
	{ "nolibs", FLAG, BEFORE_START, FIELD(nolibs) }, /* they are known by then */
	{ "pgmax", A_COUNT, BEFORE_START, 0 },
	{ "pspec", FLAG, BEFORE_START, FIELD(pspec) },
	{ "strip", SAID, BEFORE_START, 0 },
	{ "sysslice", SAID, BEFORE_START, 0 },
	{ "tree", NUMBER, BEFORE_START, FIELD(tree) },
	{ "tregs", COUNT, BEFORE_START, FIELD(tregs) },
	{ "udefs", FLAG, BEFORE_START, FIELD(udefs) },
	{ "unodefs", FLAG, BEFORE_START, FIELD(unodefs) },
	{ "verbose", FLAG, BEFORE_START, FIELD(verbose) },
	{ "version", VERSION, BEFORE_START, 0 },
	{ "zdefs", FLAG, BEFORE_START, FIELD(zdefs) },
	/* compile time, command line only */
	{ "cpp", FLAG, COMMAND_LINE, FIELD(cpp) },
	{ "cpphdrs", FLAG, COMMAND_LINE, FIELD(cpphdrs) },
	{ "cpppath", TEXT, COMMAND_LINE, FIELD(cpppath) },
	{ "ctfpath", A_TEXT, COMMAND_LINE, 0 },
	{ "ctypes", A_TEXT, COMMAND_LINE, 0 },
	{ "define", A_TEXT, COMMAND_LINE, 0 },
	{ "dtypes", A_TEXT, COMMAND_LINE, 0 },
	{ "incdir", A_TEXT, COMMAND_LINE, 0 },
	{ "ldpath", A_TEXT, COMMAND_LINE, 0 },
	{ "libdir", A_TEXT, COMMAND_LINE, 0 },
	{ "inject", A_WORD, COMMAND_LINE, 0, "on|off|force" },
	{ "injectsize", SIZE, COMMAND_LINE, FIELD(injectsize) },
	{ "modpath", A_TEXT, COMMAND_LINE, 0 },
	{ "noattach", FLAG, COMMAND_LINE, FIELD(noattach) },
	{ "objcopypath", A_TEXT, COMMAND_LINE, 0 },
	{ "procfspath", A_TEXT, COMMAND_LINE, 0 },
	{ "setenv", A_TEXT, COMMAND_LINE, 0 },
	{ "stdc", A_WORD, COMMAND_LINE, 0, "a|c|s|t" },
	{ "syslibdir", TEXT, COMMAND_LINE, FIELD(syslibdir) },
	{ "semaphores", A_WORD, COMMAND_LINE, 0, "yes|no" },
	{ "fleet", A_TEXT, COMMAND_LINE, 0 },
	{ "fleetcreds", A_TEXT, COMMAND_LINE, 0 },
	{ "fleethosts", A_TEXT, COMMAND_LINE, 0 },
	{ "fleetkey", A_TEXT, COMMAND_LINE, 0 },
	{ "fleetmergers", A_TEXT, COMMAND_LINE, 0 },
	{ "hostloss", A_WORD, COMMAND_LINE, 0, "ok|error" },
	{ "trap", A_WORD, COMMAND_LINE, 0, "auto|text|step|hw" },
	{ "view", A_WORD, COMMAND_LINE, 0, "outside|inside|both" },
	{ "waitfor", A_TEXT, COMMAND_LINE, 0 },
	{ "undef", A_TEXT, COMMAND_LINE, 0 },
	{ "unsetenv", A_TEXT, COMMAND_LINE, 0 },
	{ "useruid", A_COUNT, COMMAND_LINE, 0 },
	/* of other ports */
	{ "cppargs", A_TEXT, COMMAND_LINE, 0 },
	{ "noerror", FLAG, BEFORE_START, FIELD(noerror) },
	{ "oformat", A_TEXT, COMMAND_LINE, 0 },     /* its words are those of the command's outputs */
	{ "promseries", A_COUNT, COMMAND_LINE, 0 }, /* the user sets this limit, not the program */
	{ "noresolve", FLAG, ANY_TIME, FIELD(noresolve) },
	{ "quietresize", FLAG, BEFORE_START, FIELD(quietresize) },
};

void dif_options_init(struct dif_options *opts)
{
	*opts = (struct dif_options){
		.bufsize = 4 << 20,
		.aggsize = 4 << 20,
		.dynvarsize = 1 << 20,
		.specsize = 32 << 10,
		.injectsize = 256 << 10,
		.strsize = 256,
		.nspec = 1,
		.stackframes = 20,
		.ustackframes = 20,
		.jstackframes = 50,
		.jstackstrsize = 512,
		.stackindent = 14,
		.switchrate_ns = OT_NS_PER_SEC,
		.aggrate_ns = OT_NS_PER_SEC,
		.statusrate_ns = OT_NS_PER_SEC,
		.cleanrate_ns = OT_NS_PER_SEC / 101,
		.bufpolicy = DIF_BUF_SWITCH,
		.cpu = -1,
		.maxcost = 20,
		.temporal = true,
		.iregs = DIF_NREGS,
		.tregs = 8,
	};
	ot_map_init(&opts->set);
	ot_map_init(&opts->strings);
}

void dif_options_deinit(struct dif_options *opts)
{
	ot_map_deinit(&opts->set);
	ot_map_deinit(&opts->strings);
}

static struct ot_err *bad_value(void)
{
	return ot_err_new(OT_ERR_SYNTAX, "Invalid value for specified option");
}

/* A copy of @text that lives as long as the options: a key of the map `strings`. */
static struct ot_err *keep_text(struct dif_options *opts, const char *text, const char **ret)
{
	size_t len = strlen(text);

	if (!ot_map_puts(&opts->strings, text, opts))
		return ot_err_nomem();
	for (size_t i = opts->strings.count; i-- > 0;) {
		struct ot_map_entry *e = opts->strings.entries[i];
		if (e->key_len == len && !memcmp(e->key, text, len)) {
			*ret = e->key;
			return NULL;
		}
	}
	return ot_err_new(OT_ERR_INTERNAL, "an option's text was lost");
}

static struct ot_err *parse_flag(const char *value, bool *ret)
{
	static const char *const on[] = { "yes", "enable", "enabled", "true", "on", "set" };
	static const char *const off[] = { "no", "disable", "disabled", "false", "off", "unset", "" };
	char *end;

	if (!value) {
		*ret = true;
		return NULL;
	}
	for (size_t i = 0; i < OT_ARRAY_SIZE(on); i++) {
		if (!strcasecmp(value, on[i])) {
			*ret = true;
			return NULL;
		}
	}
	for (size_t i = 0; i < OT_ARRAY_SIZE(off); i++) {
		if (!strcasecmp(value, off[i])) {
			*ret = false;
			return NULL;
		}
	}
	(void)strtoll(value, &end, 0);
	if (*end || end == value)
		return bad_value();
	*ret = true; /* any number, even 0 */
	return NULL;
}

/* The digits at the front of @value; *ret_rest is the rest. */
static struct ot_err *parse_digits(const char *value, uint64_t *ret, const char **ret_rest)
{
	char *end;

	if (!value || !isdigit((unsigned char)*value))
		return bad_value();
	errno = 0;
	*ret = strtoull(value, &end, 0);
	if (errno)
		return bad_value();
	*ret_rest = end;
	return NULL;
}

static struct ot_err *parse_size(const char *value, uint64_t *ret)
{
	static const char suffixes[] = "kmgt";
	const char *rest, *suffix;
	unsigned shift = 0;
	uint64_t n;

	OT_TRY(parse_digits(value, &n, &rest));
	if (*rest) {
		suffix = strchr(suffixes, tolower((unsigned char)*rest));
		if (!suffix || rest[1])
			return bad_value();
		shift = 10 * (unsigned)(suffix - suffixes + 1);
	}
	if (n > UINT64_MAX >> shift)
		return bad_value();
	*ret = n << shift;
	return NULL;
}

static struct ot_err *parse_rate(const char *value, uint64_t *ret)
{
	const char *unit;
	uint64_t n;

	OT_TRY(parse_digits(value, &n, &unit));
	return ot_time_ns(n, unit, "ns", ret) ? NULL : bad_value();
}

static struct ot_err *parse_time(const char *value, uint64_t *ret)
{
	const char *unit;
	uint64_t n;

	OT_TRY(parse_digits(value, &n, &unit));
	if (!n || !strcasecmp(unit, "hz"))
		return bad_value();
	return ot_time_ns(n, unit, "s", ret) ? NULL : bad_value();
}

static struct ot_err *parse_number(const char *value, int64_t *ret)
{
	char *end;

	if (!value || !*value)
		return bad_value();
	errno = 0;
	int64_t n = strtoll(value, &end, 0);
	if (*end || errno)
		return bad_value();
	*ret = n;
	return NULL;
}

static struct ot_err *parse_bufpolicy(const char *value, enum dif_bufpolicy *ret)
{
	static const char *const names[] = {
		[DIF_BUF_RING] = "ring",
		[DIF_BUF_FILL] = "fill",
		[DIF_BUF_SWITCH] = "switch",
	};

	for (size_t i = 0; value && i < OT_ARRAY_SIZE(names); i++) {
		if (strcmp(value, names[i]) != 0)
			continue;
		*ret = (enum dif_bufpolicy)i;
		return NULL;
	}
	return bad_value();
}

/* One of two words. */
static struct ot_err *parse_choice(const char *value, const char *no, const char *yes, bool *ret)
{
	if (!value || (strcmp(value, no) != 0 && strcmp(value, yes) != 0))
		return bad_value();
	*ret = !strcmp(value, yes);
	return NULL;
}

static struct ot_err *parse_cpu(const char *value, int64_t *ret)
{
	int64_t cpu;

	OT_TRY(parse_number(value, &cpu));
	if (cpu < 0)
		return bad_value();
	*ret = cpu;
	return NULL;
}

/* "20" or "20%" */
static struct ot_err *parse_percent(const char *value, uint64_t *ret)
{
	const char *rest;
	uint64_t n;

	OT_TRY(parse_digits(value, &n, &rest));
	if (n > 100 || (*rest && strcmp(rest, "%") != 0))
		return bad_value();
	*ret = n;
	return NULL;
}

/* @value is one of the words in "this|that". */
static struct ot_err *check_word(const char *value, const char *words)
{
	size_t len = value ? strlen(value) : 0;

	for (; len; words += strcspn(words, "|") + 1) {
		if (strcspn(words, "|") == len && !strncmp(words, value, len))
			return NULL;
		if (!words[strcspn(words, "|")])
			break;
	}
	return bad_value();
}

/* A released version, and none newer than one that was requested before. */
static struct ot_err *parse_version(const char *value, uint32_t *version)
{
	uint32_t v;

	if (!value || !dif_version_parse(value, &v))
		return ot_err_new(OT_ERR_SYNTAX, "Version is not properly formatted or is too large");
	if (!dif_version_exists(v))
		return ot_err_new(OT_ERR_NOT_FOUND, "Requested version is not supported by compiler");
	if (*version && v > *version)
		return ot_err_new(OT_ERR_BUSY, "Requested version conflicts with earlier setting");
	*version = v;
	return NULL;
}

/* The value of a numeric option without one. */
static struct ot_err *zero(uint64_t *field)
{
	*field = 0;
	return NULL;
}

/* An option that is accepted, but not stored: only its value is checked. */
static struct ot_err *check_unused(const struct option *o, const char *value)
{
	uint64_t size;
	int64_t number;

	switch (o->kind) {
	case A_TEXT:
		return value && *value ? NULL : bad_value();
	case A_COUNT:
		OT_TRY(parse_number(value, &number));
		return number < 0 ? bad_value() : NULL;
	case A_SIZE:
		if (o->words && value && !strcmp(value, o->words))
			return NULL;
		return parse_size(value, &size);
	case A_WORD:
		return check_word(value, o->words);
	default:
		return NULL;
	}
}

static struct ot_err *store(struct dif_options *opts, const struct option *o, const char *value)
{
	void *field = (char *)opts + o->offset;
	uint64_t number;

	switch (o->kind) {
	case FLAG:
		return parse_flag(value, field);
	case SIZE:
		return value ? parse_size(value, field) : zero(field);
	case COUNT:
		OT_TRY(parse_size(value, &number));
		if (!number)
			return bad_value();
		*(uint64_t *)field = number;
		return NULL;
	case REGS:
		OT_TRY(parse_size(value, &number));
		if (!number || number > DIF_NREGS)
			return bad_value();
		*(uint64_t *)field = number;
		return NULL;
	case NUMBER:
		return value ? parse_number(value, field) : zero(field);
	case RATE:
		return value ? parse_rate(value, field) : zero(field);
	case TIME:
		return parse_time(value, field);
	case TEXT:
		return value ? keep_text(opts, value, field) : bad_value();
	case BUFPOLICY:
		return parse_bufpolicy(value, field);
	case BUFRESIZE:
		return parse_choice(value, "auto", "manual", field);
	case ENCODING:
		OT_TRY(parse_choice(value, "ascii", "utf8", &opts->encoding_utf8));
		opts->encoding_set = true;
		return NULL;
	case CPU:
		return parse_cpu(value, field);
	case PERCENT:
		return parse_percent(value, field);
	case AMIN:
		if (!value || !dif_attribute_parse(value, &opts->amin))
			return bad_value();
		opts->has_amin = true;
		return NULL;
	case VERSION:
		return parse_version(value, &opts->version);
	case SAID:
	case A_TEXT:
	case A_COUNT:
	case A_SIZE:
	case A_WORD:
		return check_unused(o, value);
	}
	return NULL;
}

const char *dif_options_name(size_t i)
{
	return i < OT_ARRAY_SIZE(options) ? options[i].name : NULL;
}

static const struct option *find(const char *name)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(options); i++)
		if (!strcmp(options[i].name, name))
			return &options[i];
	return NULL;
}

struct ot_err *dif_options_set(struct dif_options *opts, const char *name, const char *value,
			       enum dif_opt_phase phase)
{
	const struct option *o = find(name);
	const char *text;

	if (!o)
		return ot_err_new(OT_ERR_NOT_FOUND, "Invalid option name");
	if (phase == DIF_OPT_PROGRAM && o->when == COMMAND_LINE)
		return ot_err_new(OT_ERR_UNSUPPORTED, "Option cannot be used from within a D program");
	if (phase == DIF_OPT_ACTIVE && o->when != ANY_TIME)
		return ot_err_new(OT_ERR_BUSY, "Operation illegal when tracing is active");
	OT_TRY(store(opts, o, value));
	OT_TRY(keep_text(opts, value ? value : "", &text));
	return ot_map_puts(&opts->set, name, (void *)text) ? NULL : ot_err_nomem();
}

/* The valid values after "name="; NULL: its own message names them. */
static const char *values_of(const struct option *o)
{
	static const char *const texts[] = {
		[FLAG] = "on or off, or nothing for on",
		[SIZE] = "a number, k, m, g or t behind it",
		[COUNT] = "a number, 1 or more",
		[REGS] = "a number, 1 to 16",
		[NUMBER] = "a number",
		[RATE] = "a time or a rate: 10ms, 5s, 100hz",
		[TIME] = "a time, not 0: 30s, 10m, 1h",
		[TEXT] = "a value",
		[BUFPOLICY] = "ring, fill or switch",
		[BUFRESIZE] = "auto or manual",
		[ENCODING] = "ascii or utf8",
		[CPU] = "the number of a CPU, from 0 on",
		[AMIN] = "a stability such as Stable/Stable/Common",
		[PERCENT] = "0 to 100, per cent of vCPU time; 0 is no limit",
		[A_TEXT] = "a value",
		[A_COUNT] = "a number, 0 or more",
		[A_SIZE] = "a number, k, m, g or t behind it",
	};

	return (size_t)o->kind < OT_ARRAY_SIZE(texts) ? texts[o->kind] : NULL;
}

static bool hint_value(const struct option *o, struct ot_buf *out)
{
	const char *text = values_of(o);

	if (o->kind == A_WORD) {
		ot_buf_printf(out, "%s takes one of %s", o->name, o->words);
		return true;
	}
	if (text)
		ot_buf_printf(out, "%s takes %s", o->name, text);
	return text != NULL;
}

bool dif_options_hint(const char *name, const struct ot_err *err, struct ot_buf *out)
{
	const struct option *o = find(name);
	struct ot_near near;

	if (o && ot_err_code(err) == OT_ERR_UNSUPPORTED) {
		ot_buf_printf(out, "it is for the command line: -x %s", name);
		return true;
	}
	if (o)
		return ot_err_code(err) == OT_ERR_SYNTAX && hint_value(o, out);
	ot_near_init(&near, name);
	for (size_t i = 0; i < OT_ARRAY_SIZE(options); i++)
		ot_near_offer(&near, options[i].name);
	if (!ot_near_best(&near))
		return false;
	ot_buf_printf(out, "did you mean %s?", ot_near_best(&near));
	return true;
}
