/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cache's directory and files: one for each build id, authenticated with the directory's secret key. */
#include "vmm-probe/guest/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/io.h"
#include "vmm-probe/guest/vmcoreinfo.h"

#define KEY_FILE "key"
#define FILE_MAX (512u << 20)
#define NAME_LEN (2 * VP_BUILD_ID_MAX + 16)

struct vp_cache {
	int dir;
	uint64_t key[2];
};

/* ${XDG_CACHE_HOME:-~/.cache}/outsight, owned by the caller. */
static struct ot_err *default_dir(char **ret)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (xdg && xdg[0] == '/') {
		n = asprintf(ret, "%s/outsight", xdg);
	} else {
		if (!home || home[0] != '/')
			return ot_err_new(OT_ERR_NOT_FOUND, "no directory for the cache: HOME is not set");
		n = asprintf(ret, "%s/.cache/outsight", home);
	}
	if (n < 0)
		return ot_err_nomem();
	return NULL;
}

/* A user who may change a part of the path decides where we write: HOME may be another user's (su, sudo -E).
 * Each directory and symbolic link must be ours or root's, and a world-writable one must protect others from
 * renaming (/tmp). */
static struct ot_err *check_part(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return ot_err_os(errno, "cannot create the cache directory %s", path);
	bool open = S_ISDIR(st.st_mode) && (st.st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH;
	if ((st.st_uid && st.st_uid != geteuid()) || open)
		return ot_err_new(OT_ERR_PERMISSION,
				  "another user could replace %s: XDG_CACHE_HOME names a place", path);
	return NULL;
}

/* Create the directory and its parents, each in one that is safe. */
static struct ot_err *make_dirs(char *path)
{
	if (path[0] != '/')
		return ot_err_new(OT_ERR_BAD_DATA, "the cache directory %s is not an absolute path", path);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700); /* if it fails, so does the last mkdir() */
		struct ot_err *err = check_part(path);
		*slash = '/';
		OT_TRY(err);
	}
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return ot_err_os(errno, "cannot create the cache directory %s", path);
	return check_part(path);
}

static struct ot_err *open_dir(struct vp_cache *cache, const char *path)
{
	struct stat st;

	cache->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cache->dir < 0 || fstat(cache->dir, &st) < 0)
		return ot_err_os(errno, "cannot open the cache directory %s", path);
	if (st.st_uid != geteuid() || (st.st_mode & 022))
		return ot_err_new(OT_ERR_PERMISSION,
				  "the cache directory %s belongs to another user, or others may write to it",
				  path);
	return NULL;
}

/* Write a temporary file and rename it. */
static struct ot_err *replace_file(const struct vp_cache *cache, const char *name, const void *data,
				   size_t len)
{
	char tmp[NAME_LEN + 32];
	ot_auto_close int fd = -1;
	struct ot_err *err;

	snprintf(tmp, sizeof(tmp), ".%s.%ld", name, (long)getpid());
	fd = openat(cache->dir, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return ot_err_os(errno, "cannot write to the cache");
	err = ot_write_all(fd, data, len);
	if (!err && renameat(cache->dir, tmp, cache->dir, name) < 0)
		err = ot_err_os(errno, "cannot write to the cache");
	if (err)
		(void)unlinkat(cache->dir, tmp, 0);
	return err;
}

/* Read a whole file. NOT_FOUND: it does not exist or is too large. */
static struct ot_err *read_file(const struct vp_cache *cache, const char *name, char **ret, size_t *ret_len)
{
	ot_auto_close int fd = openat(cache->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	char *data;
	struct ot_err *err;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
		return ot_err_new(OT_ERR_NOT_FOUND, "no %s in the cache", name);
	data = malloc((size_t)st.st_size + 1);
	if (!data)
		return ot_err_nomem();
	err = ot_pread_all(fd, data, (size_t)st.st_size, 0);
	if (err) {
		free(data);
		return err;
	}
	*ret = data;
	*ret_len = (size_t)st.st_size;
	return NULL;
}

/* Read the secret key, or create it. A new key invalidates all files, which are then written again. */
static struct ot_err *load_key(struct vp_cache *cache)
{
	ot_auto_free char *data = NULL;
	size_t len = 0;
	struct ot_err *err = read_file(cache, KEY_FILE, &data, &len);

	if (!err && len == sizeof(cache->key)) {
		memcpy(cache->key, data, sizeof(cache->key));
		return NULL;
	}
	ot_err_destroy(err);
	if (getrandom(cache->key, sizeof(cache->key), 0) != (ssize_t)sizeof(cache->key))
		return ot_err_os(errno, "no random numbers for the cache's key");
	return replace_file(cache, KEY_FILE, cache->key, sizeof(cache->key));
}

struct ot_err *vp_cache_open(const char *dir, struct vp_cache **ret)
{
	ot_auto_free char *path = NULL;
	struct vp_cache *cache;
	struct ot_err *err;

	if (dir)
		path = strdup(dir);
	else
		OT_TRY(default_dir(&path));
	if (!path)
		return ot_err_nomem();
	cache = calloc(1, sizeof(*cache));
	if (!cache)
		return ot_err_nomem();
	cache->dir = -1;
	err = make_dirs(path);
	if (!err)
		err = open_dir(cache, path);
	if (!err)
		err = load_key(cache);
	if (err) {
		vp_cache_close(cache);
		return err;
	}
	*ret = cache;
	return NULL;
}

void vp_cache_close(struct vp_cache *cache)
{
	if (!cache)
		return;
	if (cache->dir >= 0)
		close(cache->dir);
	free(cache);
}

/* Hexadecimal digits of the build id, and a suffix. */
static void file_name(const uint8_t *build_id, size_t len, const char *kind, char name[NAME_LEN])
{
	size_t at = 0;

	for (size_t i = 0; i < len && i < VP_BUILD_ID_MAX; i++)
		at += (size_t)snprintf(name + at, NAME_LEN - at, "%02x", build_id[i]);
	snprintf(name + at, NAME_LEN - at, ".%s", kind);
}

static uint64_t hash_of(const struct vp_cache *cache, const void *data, size_t len)
{
	struct ot_siphash24 hash;

	ot_siphash24_init(&hash, cache->key);
	ot_siphash24_add(&hash, data, len);
	return ot_siphash24_end(&hash);
}

/* A file's bytes, without the hash after them. */
struct ot_err *vp_cache_read(const struct vp_cache *cache, const uint8_t *build_id, size_t len,
			     const char *kind, char **ret, size_t *ret_len)
{
	ot_auto_free char *data = NULL;
	char name[NAME_LEN];
	uint64_t hash;
	size_t size = 0;

	file_name(build_id, len, kind, name);
	OT_TRY(read_file(cache, name, &data, &size));
	if (size < sizeof(hash))
		return ot_err_new(OT_ERR_NOT_FOUND, "a file of the cache is broken");
	size -= sizeof(hash);
	memcpy(&hash, data + size, sizeof(hash));
	if (hash != hash_of(cache, data, size))
		return ot_err_new(OT_ERR_NOT_FOUND, "a file of the cache is broken");
	*ret = ot_move(data);
	*ret_len = size;
	return NULL;
}

struct ot_err *vp_cache_write(const struct vp_cache *cache, const uint8_t *build_id, size_t len,
			      const char *kind, const void *data, size_t data_len)
{
	ot_auto(ot_buf_deinit) struct ot_buf buf = { 0 };
	uint64_t hash = hash_of(cache, data, data_len);
	char name[NAME_LEN];

	ot_buf_init(&buf);
	ot_buf_append(&buf, data, data_len);
	ot_buf_append(&buf, &hash, sizeof(hash));
	if (buf.failed)
		return ot_err_nomem();
	file_name(build_id, len, kind, name);
	return replace_file(cache, name, buf.data, buf.len);
}
