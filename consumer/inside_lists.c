/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that list processes, modules, mounts, libraries. */
#include <string.h>

#include "base/cleanup.h"
#include "consumer/inside_internal.h"

#define PID_MAX (4u << 20) /* PID_MAX_LIMIT, include/linux/threads.h */

/* --- ps ----------------------------------------------------------------------------------------------- */

static bool find_word(const struct con_line *line, const char *text, size_t *ret)
{
	for (*ret = 0; *ret < line->n; ++*ret)
		if (con_word_is(&line->words[*ret], text))
			return true;
	return false;
}

static bool find_command(const struct con_line *line, size_t *ret)
{
	return find_word(line, "CMD", ret) || find_word(line, "COMMAND", ret);
}

static bool is_ps(const struct con_line *first)
{
	size_t pid, command;

	return find_word(first, "PID", &pid) && find_command(first, &command) && command > pid;
}

/* The last part of the command's path. The name of a thread of the kernel's, "[kworker/0:1]", has none;
 * busybox writes "{ps}" for a program with another name. */
static struct con_word program_of(struct con_word command)
{
	const char *slash = *command.at == '[' ? NULL : memrchr(command.at, '/', command.len);

	if (slash)
		return (struct con_word){ slash + 1, command.len - (size_t)(slash + 1 - command.at) };
	if (command.len > 2 && *command.at == '{' && command.at[command.len - 1] == '}')
		return (struct con_word){ command.at + 1, command.len - 2 };
	return command;
}

/* ps lists itself, and has ended since. */
static struct ot_err *ps_line(struct con_text_reader *r, const struct con_line *line)
{
	size_t pid_column = 0, command_column = 0;
	uint64_t pid;

	find_word(&r->heading, "PID", &pid_column);
	find_command(&r->heading, &command_column);
	if (command_column >= line->n || !con_word_number(&line->words[pid_column], 10, PID_MAX, &pid) ||
	    !pid)
		return con_inside_bad(r);
	r->has_first_process |= pid == 1;

	struct con_word program = program_of(line->words[command_column]);

	return con_word_is(&program, "ps") ? NULL : con_inside_add(r, pid, program.at, program.len);
}

static struct ot_err *ps_end(struct con_text_reader *r)
{
	return r->has_first_process
		   ? NULL
		   : ot_err_new(OT_ERR_UNSUPPORTED,
				"%s lacks process 1, so that it does not list all processes: "
				"`ps -e` does",
				r->name);
}

/* --- modules ------------------------------------------------------------------------------------------ */

static bool is_lsmod(const struct con_line *first)
{
	return first->n >= 4 && con_word_is(&first->words[0], "Module") &&
	       con_word_is(&first->words[1], "Size") && con_word_is(&first->words[2], "Used");
}

static bool is_proc_modules(const struct con_line *first)
{
	uint64_t number;

	return first->n >= 6 && con_word_number(&first->words[1], 10, UINT64_MAX, &number) &&
	       con_word_number(&first->words[2], 10, UINT64_MAX, &number) && first->words[5].len > 2 &&
	       !memcmp(first->words[5].at, "0x", 2);
}

static struct ot_err *module_line(struct con_text_reader *r, const struct con_line *line)
{
	uint64_t size;

	if (line->n < 3 || !con_word_number(&line->words[1], 10, UINT64_MAX, &size))
		return con_inside_bad(r);
	return con_inside_add(r, 0, line->words[0].at, line->words[0].len);
}

/* --- mounts ------------------------------------------------------------------------------------------- */

static bool is_mounts(const struct con_line *first)
{
	uint64_t number;

	return first->n == 6 && *first->words[1].at == '/' &&
	       con_word_number(&first->words[4], 10, 9, &number) &&
	       con_word_number(&first->words[5], 10, 9, &number);
}

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Blanks and line ends in a name are written as a backslash and three octal digits. */
static void put_unescaped(const struct con_word *w, struct ot_buf *out)
{
	for (size_t i = 0; i < w->len; i++) {
		const char *c = w->at + i;

		if (*c == '\\' && w->len - i > 3 && is_octal(c[1]) && is_octal(c[2]) && is_octal(c[3])) {
			ot_buf_putc(out, (char)((c[1] - '0') << 6 | (c[2] - '0') << 3 | (c[3] - '0')));
			i += 3;
		} else {
			ot_buf_putc(out, *c);
		}
	}
}

static struct ot_err *add_buf(struct con_text_reader *r, const struct ot_buf *name)
{
	return name->failed ? ot_err_nomem() : con_inside_add(r, 0, ot_buf_str(name), name->len);
}

static struct ot_err *mounts_line(struct con_text_reader *r, const struct con_line *line)
{
	ot_auto(ot_buf_deinit) struct ot_buf name = { 0 };

	if (!is_mounts(line))
		return con_inside_bad(r);
	put_unescaped(&line->words[1], &name);
	ot_buf_putc(&name, ' ');
	put_unescaped(&line->words[2], &name);
	return add_buf(r, &name);
}

/* --- libraries ------------------------------------------------------------------------------------------ */

static bool is_maps(const struct con_line *first)
{
	const struct con_word *range = &first->words[0], *rights = &first->words[1];
	const char *dash = memchr(range->at, '-', range->len);
	uint64_t start;

	return first->n >= 5 && dash && rights->len == 4 && strchr("r-", rights->at[0]) &&
	       strchr("x-", rights->at[2]) &&
	       con_word_number(&(struct con_word){ range->at, (size_t)(dash - range->at) }, 16, UINT64_MAX,
			       &start);
}

/* Files that are mapped as code. */
static struct ot_err *maps_line(struct con_text_reader *r, const struct con_line *line)
{
	ot_auto(ot_buf_deinit) struct ot_buf name = { 0 };

	if (!is_maps(line))
		return con_inside_bad(r);
	if (line->words[1].at[2] != 'x' || line->n < 6 || *line->words[5].at != '/')
		return NULL;
	struct con_word path = con_line_rest(line, 5);

	put_unescaped(&path, &name);
	return add_buf(r, &name);
}

static bool is_ldd(const struct con_line *first)
{
	size_t arrow;

	if (find_word(first, "=>", &arrow))
		return true;
	return first->n == 2 && first->words[1].len > 3 && !memcmp(first->words[1].at, "(0x", 3);
}

void con_inside_soname(const char *path, struct ot_buf *out)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *so = strstr(name, ".so"), *blank = strchr(name, ' ');
	size_t keep = strlen(name);

	if (so && (!so[3] || so[3] == '.' || so[3] == ' ')) {
		const char *end = so + 3;

		if (*end == '.')
			end += 1 + strspn(end + 1, "0123456789");
		keep = (size_t)(end - name);
	}
	ot_buf_append(out, name, keep);
	if (blank && name + keep <= blank) /* " (deleted)" */
		ot_buf_puts(out, blank);
}

/* "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)", "/lib64/ld-linux-x86-64.so.2 (0x…)"; the kernel's own
 * code has no path. */
static struct ot_err *ldd_line(struct con_text_reader *r, const struct con_line *line)
{
	ot_auto(ot_buf_deinit) struct ot_buf path = { 0 }, name = { 0 };
	size_t at = 0, arrow;

	if (!is_ldd(line))
		return con_inside_bad(r);
	r->in->by_soname = true;
	if (find_word(line, "=>", &arrow))
		at = arrow + 1;
	if (at >= line->n || *line->words[at].at != '/') /* or "not found" */
		return NULL;
	ot_buf_append(&path, line->words[at].at, line->words[at].len);
	con_inside_soname(ot_buf_str(&path), &name);
	return path.failed ? ot_err_nomem() : add_buf(r, &name);
}

const struct con_text_shape con_inside_lists[] = {
	{ "ps", &con_hidden_tasks, is_ps, true, ps_line, ps_end },
	{ "lsmod", &con_hidden_modules, is_lsmod, true, module_line, NULL },
	{ "/proc/modules", &con_hidden_modules, is_proc_modules, false, module_line, NULL },
	{ "/proc/mounts", &con_hidden_mounts, is_mounts, false, mounts_line, NULL },
	{ "/proc/PID/maps", &con_hidden_libraries, is_maps, false, maps_line, NULL },
	{ "ldd", &con_hidden_libraries, is_ldd, false, ldd_line, NULL },
	{ NULL, NULL, NULL, false, NULL, NULL },
};
