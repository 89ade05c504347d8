/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Determines the kind of word at the end of a command line, and completes the kinds that need only a table:
 * complete.h. */
#include "cli/complete.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "cli/commands.h"
#include "consumer/messages.h"
#include "vmm-probe/hosts/machines.h"

#define ASK_MAX (16u << 20)

/* --- asking this program itself ----------------------------------------------------------------------- */

static _Noreturn void become(const char *const *argv, int to)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 2) < 0 || dup2(to, 1) < 0)
		_exit(127);
	execv("/proc/self/exe", (char *const *)argv);
	_exit(127);
}

bool cli_complete_ask(const char *const *argv, struct ot_buf *out)
{
	ot_auto_free char *text = NULL;
	size_t len = 0;
	int fds[2], status;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return false;
	fflush(NULL);
	pid_t pid = fork();
	if (!pid)
		become(argv, fds[1]);
	close(fds[1]);
	struct ot_err *err =
	    pid > 0 ? ot_read_fd(fds[0], "the answer", ASK_MAX, &text, &len) : ot_err_nomem();
	close(fds[0]); /* this ends one that is still writing */
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	if (err) {
		ot_err_destroy(err);
		return false;
	}
	ot_buf_append(out, text, len);
	return !status && !out->failed;
}

/* --- kinds of words ----------------------------------------------------------------------------------- */

static void offer(struct cli_completion *c, const char *text)
{
	cli_complete_offer(c, text, strlen(text));
}

static void offer_verbs(struct cli_completion *c)
{
	const char *name;

	for (size_t i = 0; (name = cli_verb_name(i)); i++)
		offer(c, name);
}

/* Guests that -g accepts now, by name, or by PID if -g selects another guest by the name. */
static void offer_guests(struct cli_completion *c)
{
	struct vp_machines machines = { 0 };
	struct ot_err *err = vp_machines_list(NULL, &machines);
	char pid[16];

	for (size_t i = 0; !err && i < machines.count; i++) {
		const struct vp_machine *m = &machines.items[i];
		const char *name = *m->domain_name ? m->domain_name : m->guest.name;
		snprintf(pid, sizeof(pid), "%u", m->guest.pid);
		offer(c, *name && !m->name_is_taken ? name : pid);
	}
	ot_err_destroy(err);
	vp_machines_deinit(&machines);
	if (!*c->word)
		return;
	for (size_t i = 0; i < 5; i++)
		offer(c, (const char *const[]){ "none", "peek:", "gdb:", "dump:", "ssh://" }[i]);
}

/* The first word of each line of `outsight tool --list`. */
static void offer_tools(struct cli_completion *c)
{
	static const char *const argv[] = { "outsight", "tool", "--list", NULL };
	ot_auto(ot_buf_deinit) struct ot_buf list = { 0 };

	if (!cli_complete_ask(argv, &list))
		return;
	for (const char *line = ot_buf_str(&list); *line; line += strcspn(line, "\n"), line += *line == '\n')
		cli_complete_offer(c, line, strcspn(line, " \n"));
}

/* Complete the value of an option. false: the option does not take known words. */
static bool offer_value(struct cli_completion *c, const char *option, const char *guest)
{
	if (!strcmp(option, "-g"))
		offer_guests(c);
	else if (!strcmp(option, "-x"))
		cli_complete_x(c);
	else if (!strcmp(option, "--libxo"))
		cli_complete_formats(c);
	else if (option[0] == '-' && option[1] && strchr("Pmfn", option[strlen(option) - 1]) &&
		 option[1] != '-')
		cli_complete_probes(c, option[strlen(option) - 1], guest);
	else if (option[0] == '-' && option[1] != '-' && option[1] && !option[2])
		return strchr("bcDIiLopsUX", option[1]);
	else
		return false;
	return true;
}

/* The operand of a verb. */
static void offer_operand(struct cli_completion *c, const char *verb, bool first)
{
	if (!strcmp(verb, "help") && first)
		offer_verbs(c);
	else if (!strcmp(verb, "tool") && first)
		offer_tools(c);
	else if (!strcmp(verb, "attach") || !strcmp(verb, "detach"))
		offer_guests(c);
}

/* A verb's options, and for some verbs also those of dtrace's command line. */
static void offer_options(struct cli_completion *c, const char *verb)
{
	static const char *const with_all[] = { "run", "compare", "tool" };
	bool has_all = !verb;

	for (size_t i = 0; verb && i < OT_ARRAY_SIZE(with_all); i++)
		has_all |= !strcmp(verb, with_all[i]);
	if (verb && strcmp(verb, "run") != 0) {
		cli_complete_options(c, verb);
		offer(c, "--help");
	}
	if (has_all)
		cli_complete_options(c, NULL);
}

/* Options of `outsight run` before a "--" are the machine's. */
static bool is_of_machine(const char *verb, int count, char **words)
{
	if (!verb || strcmp(verb, "run") != 0)
		return false;
	for (int i = 1; i < count - 1; i++)
		if (!strcmp(words[i], "--"))
			return false;
	return true;
}

/* The guest that the command line names, the last one before the word. */
static const char *guest_of(int count, char **words)
{
	for (int i = count - 3; i >= 0; i--)
		if (!strcmp(words[i], "-g"))
			return words[i + 1];
	return NULL;
}

static void complete(struct cli_completion *c, int count, char **words)
{
	const char *verb = count > 1 && cli_verb_find(words[0]) ? words[0] : NULL;
	const char *before = count > 1 ? words[count - 2] : "";

	if (is_of_machine(verb, count, words)) {
		if (*c->word == '-')
			cli_complete_options(c, verb);
	} else if (verb && !strcmp(verb, "guests") && !strcmp(before, "--xml")) {
		offer_guests(c);
	} else if (verb && !strcmp(verb, "tool") && !strcmp(before, "--show")) {
		offer_tools(c);
	} else if (verb && (!strcmp(verb, "flame") || !strcmp(verb, "heatmap")) && !strcmp(before, "-e")) {
		cli_complete_probes(c, 'n', guest_of(count, words));
	} else if (!offer_value(c, before, guest_of(count, words))) {
		if (*c->word == '-')
			offer_options(c, verb);
		else if (verb)
			offer_operand(c, verb, count == 2);
		else if (count == 1)
			offer_verbs(c);
	}
}

int cli_complete(int count, char **words)
{
	struct cli_completion c = { .word = count ? words[count - 1] : "" };

	ot_map_init(&c.printed);
	ot_arena_init(&c.arena);
	complete(&c, count, words);
	ot_map_deinit(&c.printed);
	ot_arena_deinit(&c.arena);
	return CON_EXIT_OK;
}
