/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a script, and running cpp over it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/thread.h"
#include "consumer/source.h"

#define SCRIPT_MAX  (256u << 20)
#define CPP_SECONDS 60
#define CPP_MEMORY  ((rlim_t)1 << 30)

/* Macros for cpp, in addition to those that GNU cpp itself defines for Linux. The version word is major << 24
 * | minor << 12 of the D that -V names. The last ones remove constructs from C's own headers that D lacks. D
 * corresponds to C99: the headers of a newer C use _Generic and the like. */
static const char *const cpp_fixed[] = {
	"cpp",
	"-Ulinux",
	"-Uunix",
	"-Ui386",
	"-D__linux",
	"-D__unix",
	"-D__SVR4",
	"-D__amd64",
	"-D__SUNW_D=1",
	"-D__SUNW_D_VERSION=0x0100d000",
	"-D__attribute__(x)=",
	"-D__asm__(x)=",
	"-D__extension__=",
	"-D__restrict=",
	"-D__inline=",
	"-D__inline__=",
	"-D__const=const",
	"-D__signed__=signed",
	"-D__volatile__=volatile",
};

static char **cpp_argv(const struct con_texts *texts)
{
	size_t fixed = OT_ARRAY_SIZE(cpp_fixed), n = 0;
	char **argv = calloc(fixed + texts->cpp->count + 3, sizeof(*argv));

	if (!argv)
		return NULL;
	if (texts->opts->cpppath)
		argv[n++] = (char *)texts->opts->cpppath;
	for (size_t i = n; i < fixed; i++)
		argv[n++] = (char *)cpp_fixed[i];
	/* As with -Xa, but not for another preprocessor, which may not accept it; a later -X overrides it. */
	if (!texts->opts->cpppath)
		argv[n++] = (char *)"-std=gnu99";
	for (size_t i = 0; i < texts->cpp->count; i++)
		argv[n++] = (char *)texts->cpp->items[i];
	if (texts->opts->cpphdrs)
		argv[n++] = (char *)"-H";
	return argv;
}

/* The script on cpp's standard input: an unlinked file, so that neither side waits. */
static struct ot_err *make_input(const struct ot_buf *text, int *ret_fd)
{
	ot_auto_close int fd = -1;

	OT_TRY(ot_memfd_create("script", text->len ? text->len : 1, &fd));
	if (!text->len) {
		close(fd);
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	} else {
		OT_TRY(ot_write_all(fd, text->data, text->len));
		lseek(fd, 0, SEEK_SET);
	}
	*ret_fd = ot_move_fd(fd);
	return NULL;
}

static void run_cpp(char **argv, int in, int out)
{
	/* Macros that double 40 times would run for days before the first output. */
	const struct rlimit seconds = { CPP_SECONDS, CPP_SECONDS }, memory = { CPP_MEMORY, CPP_MEMORY };

	setrlimit(RLIMIT_CPU, &seconds);
	setrlimit(RLIMIT_AS, &memory);
	ot_signals_unblock();
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	execvp(argv[0], argv);
	_exit(127);
}

static struct ot_err *read_output(int fd, struct ot_buf *out)
{
	char chunk[65536];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ot_err_os(errno, "reading from cpp");
		ot_buf_append(out, chunk, (size_t)n);
		if (out->len > SCRIPT_MAX)
			return ot_err_new(OT_ERR_LIMIT, "cpp's output is larger than %u MiB",
					  SCRIPT_MAX >> 20);
	}
	return out->failed ? ot_err_nomem() : NULL;
}

static struct ot_err *preprocess(const struct con_texts *texts, const struct ot_buf *text, struct ot_buf *out)
{
	ot_auto_free char **argv = cpp_argv(texts);
	ot_auto_close int in = -1, from = -1, to = -1;
	int status, fds[2];
	pid_t pid;

	if (!argv)
		return ot_err_nomem();
	OT_TRY(make_input(text, &in));
	if (pipe2(fds, O_CLOEXEC) < 0)
		return ot_err_os(errno, "pipe");
	from = fds[0];
	to = fds[1];
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return ot_err_os(errno, "fork");
	if (!pid)
		run_cpp(argv, in, to);
	close(ot_move_fd(to));
	struct ot_err *err = read_output(from, out);
	close(ot_move_fd(from)); /* this ends a cpp that is still writing */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (err)
		return err;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return ot_err_new(OT_ERR_NOT_FOUND, "Failed to find %s (is the cpp package installed?)",
				  argv[0]);
	if (status)
		return ot_err_new(OT_ERR_SYNTAX, "Preprocessor failed to process input program");
	return NULL;
}

/* cpp reads the script from its standard input: put the script's name into line markers. */
static void name_markers(const struct ot_buf *in, const char *name, struct ot_buf *out)
{
	static const char from[] = "\"<stdin>\"";
	const char *s = ot_buf_str(in);

	while (*s) {
		const char *end = strchrnul(s, '\n');
		const char *at = *s == '#' ? memmem(s, (size_t)(end - s), from, sizeof(from) - 1) : NULL;
		if (at) {
			ot_buf_append(out, s, (size_t)(at - s));
			ot_buf_printf(out, "\"%s\"", name);
			s = at + sizeof(from) - 1;
		}
		if (*end)
			end++;
		ot_buf_append(out, s, (size_t)(end - s));
		s = end;
	}
}

struct ot_err *con_source_read(const struct con_texts *texts, const char *path, struct ot_buf *ret)
{
	struct ot_buf text, raw;
	char *data;
	size_t len;
	struct ot_err *err;

	OT_TRY(ot_read_file(path, SCRIPT_MAX, &data, &len));
	ot_buf_init(&text);
	ot_buf_append(&text, data, len);
	free(data);
	if (!texts->opts->cpp) {
		*ret = text;
		return text.failed ? ot_err_nomem() : NULL;
	}
	/* cpp must not see the interpreter line; its newline stays, so that lines keep their numbers */
	if (text.len >= 2 && text.data[0] == '#' && text.data[1] == '!')
		for (size_t i = 0; i < text.len && text.data[i] != '\n'; i++)
			text.data[i] = ' ';
	ot_buf_init(&raw);
	err = text.failed ? ot_err_nomem() : preprocess(texts, &text, &raw);
	ot_buf_clear(&text);
	if (!err)
		name_markers(&raw, path, &text);
	if (!err && text.failed)
		err = ot_err_nomem();
	ot_buf_deinit(&raw);
	if (err)
		ot_buf_deinit(&text);
	else
		*ret = text;
	return err;
}

struct ot_err *con_source_script(const struct con_texts *texts, struct con_program *program)
{
	struct ot_buf text;

	if (program->text)
		return NULL;
	OT_TRY(con_source_read(texts, program->arg, &text));
	char *copy = ot_arena_alloc(texts->arena, text.len + 1);
	if (copy) {
		memcpy(copy, ot_buf_str(&text), text.len + 1);
		program->len = text.len;
		program->text = copy;
	}
	ot_buf_deinit(&text);
	return copy ? NULL : ot_err_nomem();
}
