/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding the operator's copies. The path is a guest's: it may lead through links and out of the root that it
 * is meant to be below, to a device whose opening does something, or to another file system's automounter. So
 * it is resolved within its root (openat2(2)), and opened for reading only once it is known to be a regular
 * file.
 */
#include "vmm-probe/session/user_files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmm-probe/guest/elf/pages.h"

#define PATH_BYTES 8192u

static int open_in(int root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	ot_auto_close int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	char again[64];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -1;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
	return open(again, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

struct copy {
	int fd;
};

static bool read_page(void *arg, uint64_t index, uint8_t *dst)
{
	const struct copy *c = arg;
	size_t len = 0;

	while (len < VP_IMAGE_PAGE) {
		ssize_t n =
		    pread(c->fd, dst + len, VP_IMAGE_PAGE - len, (off_t)(index * VP_IMAGE_PAGE + len));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	memset(dst + len, 0, VP_IMAGE_PAGE - len);
	return len > 0;
}

struct search {
	const struct vp_user_wanted *wanted;
	struct ot_err *(*use)(void *arg, struct vp_elf *elf);
	void *arg;
};

/* Use the file if it has the required build ID. */
static struct ot_err *use_pages(const struct search *s, struct vp_elf_pages *pages)
{
	const struct vp_user_wanted *w = s->wanted;
	struct vp_elf elf;
	struct ot_err *err = vp_elf_read(vp_elf_pages_image(pages), &elf);

	if (err && ot_err_code(err) != OT_ERR_NO_MEMORY) {
		ot_err_destroy(err);
		return NULL;
	}
	OT_TRY(err);
	if (elf.build_id_len == w->build_id_len && !memcmp(elf.build_id, w->build_id, w->build_id_len))
		err = s->use(s->arg, &elf);
	vp_elf_deinit(&elf);
	return err;
}

static struct ot_err *try_file(const struct search *s, int root, const char *path)
{
	ot_auto_close int fd = open_in(root, path);
	struct copy c = { fd };
	struct vp_elf_pages *pages = NULL;
	struct stat st;
	struct ot_err *err;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0 || (uint64_t)st.st_size > VP_IMAGE_MAX)
		return NULL;
	OT_TRY(vp_elf_pages_create((uint64_t)st.st_size, read_page, &c, &pages));
	err = use_pages(s, pages);
	vp_elf_pages_destroy(pages);
	return err;
}

/* usr/lib/debug/.build-id/01/0203….debug: where distributions put debugging information. */
static void debug_path(const struct vp_user_wanted *w, char *buf, size_t size)
{
	size_t len = (size_t)snprintf(buf, size, "usr/lib/debug/.build-id/%02x/", w->build_id[0]);

	for (size_t i = 1; i < w->build_id_len; i++)
		len += (size_t)snprintf(buf + len, size - len, "%02x", w->build_id[i]);
	snprintf(buf + len, size - len, ".debug");
}

static struct ot_err *try_root(const struct search *s, const char *directory, bool with_path)
{
	const struct vp_user_wanted *w = s->wanted;
	ot_auto_close int root = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char path[PATH_BYTES];

	if (root < 0)
		return NULL;
	debug_path(w, path, sizeof(path));
	OT_TRY(try_file(s, root, path));
	snprintf(path, sizeof(path), "usr/lib/debug%s.debug", w->path);
	if (with_path)
		OT_TRY(try_file(s, root, path));
	return with_path ? try_file(s, root, w->path) : NULL;
}

/* Of this host's files, only those in folders of programs and libraries: opening a file there has no side
 * effects. */
static bool is_program_path(const char *path)
{
	static const char *const below[] = { "/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/opt/" };

	for (size_t i = 0; i < sizeof(below) / sizeof(*below); i++)
		if (!strncmp(path, below[i], strlen(below[i])) && !strstr(path, "/../"))
			return true;
	return false;
}

struct ot_err *vp_user_files_each(const struct vp_user_wanted *wanted,
				  struct ot_err *(*use)(void *arg, struct vp_elf *elf), void *arg)
{
	const struct search s = { wanted, use, arg };

	if (!wanted->build_id_len)
		return NULL;
	if (wanted->sysroot)
		OT_TRY(try_root(&s, wanted->sysroot, true));
	return try_root(&s, "/", is_program_path(wanted->path));
}
