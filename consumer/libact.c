/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Actions that the consumer carries out when it reaches their record: clear(), normalize(), denormalize(),
 * trunc(), ftruncate(), setopt(), freopen(), system().
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/thread.h"
#include "consumer/consumer.h"
#include "consumer/messages.h"
#include "consumer/terminal.h"

/* The value behind a libact; without an object it is 0. */
static int64_t value_of(const struct con_datum *d)
{
	return d->action->object ? con_load_signed(d->data, d->size) : 0;
}

static char *string_of(const struct con_datum *d)
{
	return strndup((const char *)d->data, d->size);
}

/* An action that could not be carried out. */
static void report(struct con_consumer *c, const struct vp_enabled *ecb, const char *hint, const char *fmt,
		   ...) OT_PRINTF(4, 5);
static void report(struct con_consumer *c, const struct vp_enabled *ecb, const char *hint, const char *fmt,
		   ...)
{
	char what[1024], text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	con_library_fault_text(ecb, what, text, sizeof(text));
	c->say(c->say_arg, text, hint);
}

static struct ot_err *do_setopt(struct con_consumer *c, const struct vp_enabled *ecb,
				const struct con_datum *run, unsigned n)
{
	ot_auto_free char *name = string_of(&run[0]);
	/* without a value its datum is a number */
	ot_auto_free char *value = n > 1 && run[1].size > 8 ? string_of(&run[1]) : NULL;
	ot_auto_err struct ot_err *err = NULL;

	if (!name)
		return ot_err_nomem();
	err = dif_options_set(c->opts, name, value, DIF_OPT_ACTIVE);
	/* an empty line follows this one message, as in dtrace */
	if (!err)
		return NULL;
	ot_auto(ot_buf_deinit) struct ot_buf hint = { 0 };
	bool helps = dif_options_hint(name, err, &hint);
	report(c, ecb, helps ? ot_buf_str(&hint) : NULL, "couldn't set option \"%s\" to \"%s\": %s\n", name,
	       value ? value : "1", ot_err_message(err));
	return NULL;
}

static struct ot_err *do_ftruncate(struct con_consumer *c)
{
	FILE *fp = c->out->printer.fp;

	fflush(fp);
	/* a pipe or terminal can't be truncated, and needs no action */
	if (!ftruncate(con_terminal_fileno(fp), 0))
		lseek(con_terminal_fileno(fp), 0, SEEK_SET);
	return NULL;
}

static struct ot_err *do_normalize(struct con_consumer *c, const struct vp_enabled *ecb, struct con_agg *agg,
				   int64_t normal)
{
	if (normal)
		con_agg_normalize(agg, (uint64_t)normal);
	else
		report(c, ecb, NULL, "invalid normalization: 0");
	return NULL;
}

/* The datum with the value: the last of a run, with or without one for the name before it. */
struct ot_err *con_libact(struct con_consumer *c, const struct vp_enabled *ecb, const struct con_datum *run,
			  unsigned n)
{
	struct con_agg *agg = NULL;

	for (unsigned i = 0; i < n && !agg; i++)
		agg = con_aggs_get(&c->aggs, run[i].action->aggid);
	switch ((enum dif_libact)run->action->arg) {
	case DIF_LIBACT_SETOPT:
		return do_setopt(c, ecb, run, n);
	case DIF_LIBACT_FTRUNCATE:
		return do_ftruncate(c);
	default:
		break;
	}
	if (!agg)
		return ot_err_new(OT_ERR_BAD_DATA, "an action on an aggregation that is not in the program");
	switch ((enum dif_libact)run->action->arg) {
	case DIF_LIBACT_CLEAR:
		con_agg_clear(agg);
		return NULL;
	case DIF_LIBACT_NORMALIZE:
		return do_normalize(c, ecb, agg, value_of(&run[n - 1]));
	case DIF_LIBACT_DENORMALIZE:
		con_agg_normalize(agg, 1);
		return NULL;
	case DIF_LIBACT_TRUNC:
		return con_agg_trunc(agg, value_of(&run[n - 1]));
	default:
		return ot_err_new(OT_ERR_BAD_DATA, "an action of unknown kind %llu",
				  (unsigned long long)run->action->arg);
	}
}

/* The text of a format with its arguments; owned by the caller. */
static char *format_text(struct con_consumer *c, const struct dif_format *fmt, const struct con_datum *args,
			 unsigned nargs)
{
	struct con_printer p = c->out->printer;
	char *text = NULL;
	size_t len;

	p.fp = open_memstream(&text, &len);
	if (!p.fp)
		return NULL;
	con_print_format(&p, fmt, args, nargs, NULL, 0);
	return fclose(p.fp) ? (free(text), NULL) : text;
}

/* The command's output is written to our stdout, after all output so far. */
struct ot_err *con_system(struct con_consumer *c, const struct dif_format *fmt, const struct con_datum *args,
			  unsigned nargs)
{
	ot_auto_free char *command = format_text(c, fmt, args, nargs);
	int status;
	pid_t pid;

	if (!command)
		return ot_err_nomem();
	OT_TRY(con_consumer_flush(c));
	pid = fork();
	if (pid < 0)
		return ot_err_os(errno, "fork");
	if (!pid) {
		ot_signals_unblock();
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return ot_err_os(errno, "waiting for system(\"%s\")", command);
	return NULL;
}

static struct ot_err *replace_output(struct con_consumer *c, int fd)
{
	int out = con_terminal_fileno(c->out->printer.fp);

	if (c->saved_fd < 0) {
		c->saved_fd = fcntl(out, F_DUPFD_CLOEXEC, 3);
		if (c->saved_fd < 0)
			return ot_err_os(errno, "dup");
	}
	if (dup2(fd, out) < 0)
		return ot_err_os(errno, "dup2");
	con_terminal_redirected(c->out->printer.fp);
	return NULL;
}

/* freopen("") restores the original output. If the file can't be opened, the output stays. */
struct ot_err *con_freopen(struct con_consumer *c, const struct vp_enabled *ecb, const struct dif_format *fmt,
			   const struct con_datum *args, unsigned nargs)
{
	ot_auto_free char *name = format_text(c, fmt, args, nargs);

	if (!name)
		return ot_err_nomem();
	if (con_terminal_fileno(c->out->printer.fp) < 0) {
		report(c, ecb, NULL, "couldn't freopen() \"%s\": the output is no file", name);
		return NULL;
	}
	OT_TRY(con_consumer_flush(c));
	if (!*name)
		return c->saved_fd < 0 ? NULL : replace_output(c, c->saved_fd);
	ot_auto_close int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0) {
		report(c, ecb, NULL, "couldn't freopen() \"%s\": %s", name, strerror(errno));
		return NULL;
	}
	return replace_output(c, fd);
}
