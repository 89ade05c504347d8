/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the memory cgroups of a process, of either version. */
#include "vmm-probe/machines/memory_room.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/io.h"

#define FILE_MAX  (1u << 20)
#define UNLIMITED (1ull << 62) /* version 1 reports no limit as a number near the largest */

/* Names of files and statistics in the two versions. */
struct version {
	const char *limit, *used, *inactive, *active;
};

static const struct version versions[] = {
	{ "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ", "total_active_file " },
	{ "memory.max", "memory.current", "inactive_file ", "active_file " },
};

static bool read_text(char **ret, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool read_text(char **ret, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	size_t len;

	va_start(args, format);
	int n = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(path))
		return false;
	ot_auto_err struct ot_err *err = ot_read_file(path, FILE_MAX, ret, &len);
	return !err;
}

/* False: "max", or not a number. */
static bool number(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno || end == text)
		return false;
	*ret = value;
	return true;
}

static bool read_number(const char *folder, const char *name, uint64_t *ret)
{
	ot_auto_free char *text = NULL;

	return read_text(&text, "%s/%s", folder, name) && number(text, ret);
}

/* The number after @name at the beginning of a line; 0: none. */
static uint64_t statistic(const char *text, const char *name)
{
	uint64_t value;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, strlen(name)) && number(line + strlen(name), &value))
			return value;
		if (!*line)
			break;
	}
	return 0;
}

/* Read one cgroup; *ret changes if it has less room than those before. */
static void read_group(const char *folder, const struct version *v, struct vp_memory_room *ret)
{
	ot_auto_free char *stat = NULL;
	uint64_t limit, used, cached = 0;

	if (!read_number(folder, v->limit, &limit) || limit >= UNLIMITED ||
	    !read_number(folder, v->used, &used))
		return;
	if (read_text(&stat, "%s/memory.stat", folder))
		cached = statistic(stat, v->inactive) + statistic(stat, v->active);
	used -= cached < used ? cached : used;
	uint64_t room = limit > used ? limit - used : 0;
	if (ret->limit && room >= ret->room)
		return;
	ret->limit = limit;
	ret->room = room;
	snprintf(ret->group, sizeof(ret->group), "%.*s", (int)sizeof(ret->group) - 1, folder);
}

/* Read the cgroup @path below @mount and its ancestors up to @mount. */
static void read_groups(const char *root, const char *mount, const char *path, const struct version *v,
			struct vp_memory_room *ret)
{
	char folder[PATH_MAX];
	int n = snprintf(folder, sizeof(folder), "%s%s%s", root, mount, path);
	size_t least = strlen(root) + strlen(mount);

	if (n < 0 || (size_t)n >= sizeof(folder))
		return;
	for (;;) {
		size_t len = strlen(folder);
		while (len > least && folder[len - 1] == '/')
			folder[--len] = '\0';
		read_group(folder, v, ret);
		if (len <= least)
			return;
		char *slash = strrchr(folder + least, '/');
		folder[slash ? (size_t)(slash - folder) : least] = '\0';
	}
}

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += len)
		if ((at == list || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
	return false;
}

/* Parse a line of /proc/PID/cgroup: "number:controllers:path", without controllers for version 2. False: not
 * of a hierarchy with the memory controller. */
static bool parse_group(char *line, const struct version **ret_version, const char **ret_path)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return false;
	*path++ = '\0';
	controllers++;
	if (*controllers && !has_word(controllers, "memory"))
		return false;
	*ret_version = &versions[!*controllers];
	*ret_path = path;
	return *path == '/';
}

/* Parse a line of mountinfo. False: not that version's memory hierarchy. *ret_top: the cgroup that is
 * mounted; *ret_mount: its mount point. */
static bool parse_mount(char *line, const struct version *v, const char **ret_top, const char **ret_mount)
{
	char *type = strstr(line, " - "), *save = NULL, *words[5];

	if (!type)
		return false;
	*type = '\0';
	const char *name = strtok_r(type + 3, " ", &save);
	const char *source = strtok_r(NULL, " ", &save), *options = strtok_r(NULL, " ", &save);
	if (!name || !source || !options)
		return false;
	if (v == &versions[1] ? strcmp(name, "cgroup2") != 0
			      : strcmp(name, "cgroup") != 0 || !has_word(options, "memory"))
		return false;
	save = NULL;
	for (size_t i = 0; i < 5; i++) {
		words[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!words[i])
			return false;
	}
	*ret_top = words[3];
	*ret_mount = words[4];
	return true;
}

/* @path relative to the mounted cgroup @top; "" if it is not below @top. */
static const char *below(const char *path, const char *top)
{
	size_t len = strlen(top);

	if (!strcmp(top, "/"))
		return path;
	return !strncmp(path, top, len) && (path[len] == '/' || !path[len]) ? path + len : "";
}

static void read_mounts(const char *root, const struct version *v, const char *path,
			struct vp_memory_room *ret)
{
	ot_auto_free char *mounts = NULL;
	const char *top, *mount;
	char *save = NULL;

	if (!read_text(&mounts, "%s/proc/self/mountinfo", root))
		return;
	for (char *line = strtok_r(mounts, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (parse_mount(line, v, &top, &mount)) {
			read_groups(root, mount, below(path, top), v, ret);
			return;
		}
}

bool vp_memory_room(const char *root, pid_t pid, struct vp_memory_room *ret)
{
	struct vp_memory_room room = { 0 };
	ot_auto_free char *groups = NULL;
	const struct version *version;
	const char *path;
	char *save = NULL;

	if (!read_text(&groups, "%s/proc/%d/cgroup", root, (int)pid))
		return false;
	for (char *line = strtok_r(groups, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (parse_group(line, &version, &path))
			read_mounts(root, version, path, &room);
	if (room.limit)
		*ret = room;
	return room.limit != 0;
}

uint64_t vp_memory_available(const char *root)
{
	ot_auto_free char *text = NULL;

	return read_text(&text, "%s/proc/meminfo", root) ? statistic(text, "MemAvailable:") * 1024 : 0;
}
