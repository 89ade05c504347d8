/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * D libraries: every *.d of the system directory and of each -L directory, compiled before any program.
 * "#pragma D depends_on library NAME.d" puts NAME.d first; a library whose module or provider is absent is
 * skipped by the compiler.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/installed.h"
#include "base/io.h"
#include "consumer/source.h"

#define LIBRARY_MAX   (16u << 20)
#define LIBRARIES_MAX 4096

struct library {
	char *path;
	const char *name; /* in path */
	char *text;
	size_t len;
	bool done;
	bool in_progress; /* its dependencies are being compiled: meeting it again is a cycle */
	bool passed_over; /* a library that it depends on is absent */
};

struct libraries {
	struct library *items;
	size_t count, cap;
	const struct con_texts *texts;
	struct dif_compiler *comp;
	struct dif_program *prog;
	const struct dif_diag **diag;
	const char **path;
};

static void libraries_free(struct libraries *libs)
{
	for (size_t i = 0; i < libs->count; i++) {
		free(libs->items[i].path);
		free(libs->items[i].text);
	}
	free(libs->items);
}

static struct ot_err *add_library(struct libraries *libs, const char *dir, const char *name)
{
	struct library lib = { 0 };

	if (libs->count == LIBRARIES_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %d D libraries", LIBRARIES_MAX);
	if (!ot_grow(&libs->items, &libs->cap, libs->count + 1, sizeof(*libs->items)))
		return ot_err_nomem();
	if (asprintf(&lib.path, "%s/%s", dir, name) < 0)
		return ot_err_nomem();
	lib.name = lib.path + strlen(dir) + 1;
	struct ot_err *err = ot_read_file(lib.path, LIBRARY_MAX, &lib.text, &lib.len);
	if (err) {
		free(lib.path);
		return err;
	}
	libs->items[libs->count++] = lib;
	return NULL;
}

static int is_library(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > 2 && entry->d_name[0] != '.' && !strcmp(entry->d_name + n - 2, ".d");
}

/* In order of name, so that runs are reproducible. */
static struct ot_err *add_directory(struct libraries *libs, const char *dir)
{
	struct dirent **entries;
	struct ot_err *err = NULL;
	int n = scandir(dir, &entries, is_library, alphasort);

	/* an absent one is skipped, as in dtrace */
	if (n < 0)
		return errno == ENOENT || errno == ENOTDIR ? NULL
							   : ot_err_os(errno, "D library directory %s", dir);
	for (int i = 0; i < n; i++) {
		if (!err)
			err = add_library(libs, dir, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return err;
}

static struct ot_err *compile_one(struct libraries *libs, size_t index);

/* *ret_met: false if it was skipped. */
static struct ot_err *compile_named(struct libraries *libs, const char *name, size_t len, bool *ret_met)
{
	for (size_t i = 0; i < libs->count; i++)
		if (strlen(libs->items[i].name) == len && !memcmp(libs->items[i].name, name, len)) {
			OT_TRY(compile_one(libs, i));
			*ret_met &= !libs->items[i].passed_over;
		}
	return NULL;
}

/* Compile the libraries of a text's "#pragma D depends_on library" lines. */
static struct ot_err *compile_dependencies(struct libraries *libs, const char *text, bool *ret_met)
{
	static const char *const words[] = { "#", "pragma", "D", "depends_on", "library" };

	*ret_met = true;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *s = line + strspn(line, " \t\n");
		size_t i = 0;
		line = s;
		for (; i < OT_ARRAY_SIZE(words) && !strncmp(s, words[i], strlen(words[i])); i++) {
			s += strlen(words[i]);
			s += strspn(s, " \t");
		}
		if (i == OT_ARRAY_SIZE(words))
			OT_TRY(compile_named(libs, s, strcspn(s, " \t\r\n"), ret_met));
	}
	return NULL;
}

static struct ot_err *compile_one(struct libraries *libs, size_t index)
{
	struct library *lib = &libs->items[index];
	uint32_t first;
	bool met;

	if (lib->done)
		return NULL;
	if (lib->in_progress)
		return ot_err_new(OT_ERR_BAD_DATA, "D library %s depends on itself", lib->path);
	lib->in_progress = true;
	OT_TRY(compile_dependencies(libs, lib->text, &met));
	lib->done = true;
	lib->passed_over = !met;
	if (!met)
		return NULL;
	struct dif_source src = {
		.kind = DIF_SOURCE_LIBRARY,
		.name = lib->path,
		.text = lib->text,
		.len = lib->len,
		.args = libs->texts->args->items,
		.nargs = 1,
	};
	struct ot_err *err = dif_compile(libs->comp, &src, libs->prog, &first, libs->diag);
	if (!err) {
		libs->prog->nclauses = first; /* a library's clauses are compiled, and not enabled */
		return NULL;
	}
	if (*libs->diag && (*libs->diag)->tag && !strcmp((*libs->diag)->tag, "D_PRAGMA_DEPEND")) {
		*libs->diag = NULL;
		lib->passed_over = true;
		ot_err_destroy(err);
		return NULL;
	}
	*libs->path = ot_arena_strdup(libs->texts->arena, lib->path);
	return err;
}

struct ot_err *con_libraries_compile(const struct con_texts *texts, struct dif_compiler *comp,
				     struct dif_program *prog, const struct dif_diag **ret_diag,
				     const char **ret_path)
{
	struct libraries libs = {
		.texts = texts, .comp = comp, .prog = prog, .diag = ret_diag, .path = ret_path
	};
	char system[PATH_MAX];
	struct ot_err *err = NULL;

	if (texts->opts->nolibs)
		return NULL;
	if (texts->opts->syslibdir)
		err = add_directory(&libs, texts->opts->syslibdir);
	else if (ot_installed_d(system, sizeof(system)))
		err = add_directory(&libs, system);
	for (size_t i = 0; i < texts->libdirs->count && !err; i++)
		err = add_directory(&libs, texts->libdirs->items[i]);
	for (size_t i = 0; i < libs.count && !err; i++)
		err = compile_one(&libs, i);
	libraries_free(&libs);
	return err;
}
