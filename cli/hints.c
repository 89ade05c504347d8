/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hints after an error: the probable intention, or a remedy. */
#include "cli/hints.h"

#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/near.h"
#include "cli/commands.h"
#include "consumer/messages.h"
#include "vmm-probe/hosts/machines.h"
#include "vmm-probe/session/listing.h"

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* Descriptions contain colons and actions braces; names of dtrace's and profile's probes contain neither. */
static bool looks_like_program(const char *word)
{
	return strpbrk(word, ":{") || !strcmp(word, "BEGIN") || !strcmp(word, "END") ||
	       !strncmp(word, "tick-", 5) || !strncmp(word, "profile-", 8);
}

void cli_hint_words(const struct cli_invocation *inv)
{
	for (size_t i = 1; i < inv->args.count; i++) {
		const char *word = inv->args.items[i];
		if (is_file(word)) {
			con_hint(&inv->opts, "a script is given with -s: -s %s", word);
			return;
		}
		if (looks_like_program(word)) {
			con_hint(&inv->opts, "a program is given with -n: -n '%s'", word);
			return;
		}
	}
	if (inv->args.count < 2)
		return;
	const char *verb = cli_verb_near(inv->args.items[1]);
	if (verb)
		con_hint(&inv->opts, "did you mean the verb %s? It is the first word: outsight %s …", verb,
			 verb);
	else if (!inv->nprograms)
		con_hint(&inv->opts,
			 "a program is given with -n, a script with -s; `outsight help` names the verbs");
}

static const char *cure_of(const struct ot_err *err)
{
	static const struct {
		const char *text, *cure;
	} cures[] = {
		{ "Destructive actions not allowed", "-w allows them" },
	};

	for (size_t i = 0; i < OT_ARRAY_SIZE(cures); i++)
		if (!strcmp(cures[i].text, ot_err_message(err)))
			return cures[i].cure;
	return NULL;
}

int cli_fail_with_cure(const struct dif_options *opts, struct ot_err *err, const char *context)
{
	const char *cure = cure_of(err);
	int status = con_fail(err, "%s", context);

	if (cure)
		con_hint(opts, "%s", cure);
	return status;
}

/* Names of guests: of libvirt's domains, QEMU's -name, an engine's own. */
static void offer_guests(struct ot_near *near, const struct vp_machines *machines)
{
	for (size_t i = 0; i < machines->count; i++) {
		ot_near_offer(near, machines->items[i].domain_name);
		ot_near_offer(near, machines->items[i].guest.name);
	}
}

int cli_fail_guest(const struct dif_options *opts, struct ot_err *err, const char *spec)
{
	static const char peek[] = "peek:";
	bool besides = !strncmp(spec, peek, sizeof(peek) - 1);
	bool missing = ot_err_code(err) == OT_ERR_NOT_FOUND && !strchr(spec, '/');
	int status = con_fail(err, NULL);
	struct vp_machines machines;
	struct ot_near near;

	if (!missing || (opts && opts->errtags))
		return status;
	ot_auto_err struct ot_err *none = vp_machines_list(NULL, &machines);
	if (none)
		return status;
	ot_near_init(&near, besides ? spec + sizeof(peek) - 1 : spec);
	offer_guests(&near, &machines);
	/* a guest of exactly that name exists: the error is another one */
	if (ot_near_best(&near) && strcmp(ot_near_best(&near), near.word) != 0)
		con_hint(opts, "did you mean %s%s?", besides ? peek : "", ot_near_best(&near));
	vp_machines_deinit(&machines);
	return status;
}

struct copies {
	const char *of;
	const char *first;
	unsigned more; /* other functions than the first */
	const char *last;
};

static bool see_copy(void *arg, const struct vp_listed *listed)
{
	const struct vp_probe *probe = listed->probe;
	struct copies *c = arg;

	if (!vp_function_is_copy(probe->function, c->of))
		return false; /* it matched by its own name, so all of them do */
	if (!c->first)
		c->first = probe->function;
	else if (strcmp(probe->function, c->last) != 0)
		c->more++;
	c->last = probe->function;
	return true;
}

void cli_note_copies(struct vp_session *s, const struct dif_options *opts, const struct con_compilation *c,
		     const struct con_compiled *unit)
{
	const char *noted = "";

	for (uint32_t i = unit->first; i < unit->end; i++) {
		const struct dif_probedesc *desc = &c->prog.clauses[i].probe;
		struct copies found = { .of = desc->function };
		uint64_t count;
		if (desc->id || !*desc->function || !strcmp(noted, desc->function))
			continue;
		noted = desc->function;
		ot_err_destroy(vp_session_match(s, desc, false, see_copy, &found, &count));
		if (!found.first)
			continue;
		char more[48] = "";
		if (found.more)
			snprintf(more, sizeof(more), " and %u more", found.more);
		con_notice(opts, "%s: the compiler made %s%s of it, which is probed", desc->function,
			   found.first, more);
	}
}
