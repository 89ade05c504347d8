/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The folder of standing programs: NAME.d, and NAME.conf with its limits. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fleet/serve/standing/internal.h"
#include "fleet/trust/file.h"

#define PATH_TEXT 4096

/* A user who can write there can trace as this host's own user. */
static struct ot_err *check_folder(DIR *dir, const char *path)
{
	struct stat st;

	if (fstat(dirfd(dir), &st))
		return ot_err_os(errno, "%s", path);
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return ot_err_new(OT_ERR_PERMISSION, "%s belongs to uid %u, neither to this user nor to root",
				  path, (unsigned)st.st_uid);
	if (st.st_mode & 022)
		return ot_err_new(OT_ERR_PERMISSION,
				  "%s has mode %03o, and others may change it: chmod 755 %s", path,
				  (unsigned)st.st_mode & 0777, path);
	return NULL;
}

/* "NAME.d": NAME. Other files may be there, too. */
static bool name_of(const char *file, char name[FL_NAME_MAX + 1])
{
	size_t len = strlen(file);

	if (len < 3 || len - 2 > FL_NAME_MAX || strcmp(file + len - 2, ".d") != 0)
		return false;
	memcpy(name, file, len - 2);
	name[len - 2] = '\0';
	return fl_name_is_valid(name);
}

static struct fl_stamp stamp_of(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return (struct fl_stamp){ 0 };
	return (struct fl_stamp){ st.st_mtim, st.st_size, st.st_ino };
}

static bool equal(const struct fl_stamp *a, const struct fl_stamp *b)
{
	return a->time.tv_sec == b->time.tv_sec && a->time.tv_nsec == b->time.tv_nsec && a->size == b->size &&
	       a->inode == b->inode;
}

static struct fl_program *find(const struct fl_standing *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->programs[i]->name, name))
			return s->programs[i];
	return NULL;
}

/* By name: the owner of a family's name must not depend on the folder's order. */
static struct fl_program *make(struct fl_standing *s, const char *name)
{
	size_t at = 0;
	struct fl_program *p = s->count < FL_PROGRAMS_MAX ? calloc(1, sizeof(*p)) : NULL;

	if (!p)
		return NULL;
	memcpy(p->name, name, strlen(name) + 1);
	ot_arena_init(&p->arena);
	p->said_fd = -1;
	while (at < s->count && strcmp(s->programs[at]->name, name) < 0)
		at++;
	memmove(s->programs + at + 1, s->programs + at, (s->count - at) * sizeof(*s->programs));
	s->programs[at] = p;
	s->count++;
	return p;
}

static struct ot_err *read_files(struct fl_program *p, const char *script, const char *conf)
{
	ot_auto_close int fd = -1;
	char *kept;

	OT_TRY(fl_trusted_open(script, FL_FILE_PUBLIC, &fd));
	kept = ot_arena_strdup(&p->arena, conf);
	return kept ? fl_limits_read(kept, &p->arena, &p->limits) : ot_err_nomem();
}

/* Read it if it is new or changed, and restart it. */
static void load_program(struct fl_standing *s, const char *name, uint64_t now_ns)
{
	struct fl_program *p = find(s, name);
	char script[PATH_TEXT], conf[PATH_TEXT];
	bool is_new = !p;

	if (is_new)
		p = make(s, name);
	if (!p) {
		fl_standing_say(s, NULL, "%s.d is left out: more than %u programs", name, FL_PROGRAMS_MAX);
		return;
	}
	snprintf(script, sizeof(script), "%s/%s.d", s->config.folder, name);
	snprintf(conf, sizeof(conf), "%s/%s.conf", s->config.folder, name);
	struct fl_stamp a = stamp_of(script), b = stamp_of(conf);

	p->seen = true;
	if (!is_new && !p->gone && equal(&a, &p->script) && equal(&b, &p->conf))
		return;
	p->script = a;
	p->conf = b;
	p->gone = false;
	p->last[0] = '\0';
	ot_arena_deinit(&p->arena);
	ot_arena_init(&p->arena);
	struct ot_err *err = read_files(p, script, conf);

	p->is_sound = !err;
	p->failing = err;
	if (err)
		fl_standing_say(s, p, "%s", ot_err_message(err));
	ot_err_destroy(err);
	fl_program_begin(p, now_ns);
}

/* Programs whose file no longer exists. */
static void end_others(struct fl_standing *s, uint64_t now_ns)
{
	for (size_t i = 0; i < s->count; i++)
		if (!s->programs[i]->seen && !s->programs[i]->gone) {
			s->programs[i]->gone = true;
			fl_program_end(s->programs[i], FL_PROGRAM_ENDED, now_ns);
		}
}

void fl_standing_load(struct fl_standing *s, uint64_t now_ns)
{
	ot_auto_dir DIR *dir = opendir(s->config.folder);
	char name[FL_NAME_MAX + 1];
	struct ot_err *err =
	    dir ? check_folder(dir, s->config.folder) : ot_err_os(errno, "%s", s->config.folder);

	if (err) {
		fl_standing_say(s, NULL, "no programs are read: %s", ot_err_message(err));
		ot_err_destroy(err);
		return;
	}
	for (size_t i = 0; i < s->count; i++)
		s->programs[i]->seen = false;
	for (const struct dirent *e; (e = readdir(dir));)
		if (name_of(e->d_name, name))
			load_program(s, name, now_ns);
	end_others(s, now_ns);
}
