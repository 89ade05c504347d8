/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A folder of a test's own, and files in it. */
#ifndef TESTS_UNIT_FLEET_FOLDER_H
#define TESTS_UNIT_FLEET_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_PATH 512

struct folder {
	char path[64];
};

static inline void folder_make(struct folder *f)
{
	snprintf(f->path, sizeof(f->path), "/tmp/fleet-test-XXXXXX");
	assert_non_null(mkdtemp(f->path));
}

static inline const char *folder_path(const struct folder *f, const char *name, char ret[FOLDER_PATH])
{
	snprintf(ret, FOLDER_PATH, "%s/%s", f->path, name);
	return ret;
}

static inline void folder_put(const struct folder *f, const char *name, const void *data, size_t len,
			      unsigned mode, char ret[FOLDER_PATH])
{
	int fd = open(folder_path(f, name, ret), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static inline size_t folder_get(const struct folder *f, const char *name, void *ret, size_t max)
{
	char path[FOLDER_PATH];
	int fd = open(folder_path(f, name, path), O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, ret, max);

	assert_true(fd >= 0 && n >= 0);
	close(fd);
	return (size_t)n;
}

static inline void folder_remove(const struct folder *f)
{
	DIR *dir = opendir(f->path);

	for (struct dirent *e; dir && (e = readdir(dir));)
		unlinkat(dirfd(dir), e->d_name, 0);
	closedir(dir);
	rmdir(f->path);
}

#endif
