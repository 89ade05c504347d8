/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding the files that back guest RAM. The operator's process reads from the files, because reading holes
 * of a shared mapping would populate them. /proc/self/maps contains device and inode; if the VMM has no
 * descriptor of that file any more, memory is read through the process.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc_map.h"
#include "vmm-probe/machines/ram_ranges.h"

struct file {
	dev_t dev;
	ino_t ino;
	uint64_t end, offset; /* of the mapping; of the range's first byte in the file */
};

/* The shared file mapping at @p addr. */
static bool mapping_at(FILE *maps, uint64_t addr, struct file *ret)
{
	char line[512];

	rewind(maps);
	while (fgets(line, sizeof(line), maps)) {
		struct ot_proc_map m;
		if (!ot_proc_map_parse(line, &m) || addr < m.start || addr >= m.end)
			continue;
		*ret =
		    (struct file){ makedev(m.major, m.minor), m.inode, m.end, m.offset + (addr - m.start) };
		return m.perms[3] == 's' && m.inode;
	}
	return false;
}

/* Duplicate a descriptor of the file; -1: none is open. */
static int open_file(const struct file *f)
{
	ot_auto_dir DIR *dir = opendir("/proc/self/fd");
	const struct dirent *e;
	struct stat st;

	while (dir && (e = readdir(dir))) {
		int fd = (int)strtol(e->d_name, NULL, 10); /* 0 for "." and ".." */
		if (*e->d_name != '.' && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_dev == f->dev &&
		    st.st_ino == f->ino)
			return fcntl(fd, F_DUPFD_CLOEXEC, 3);
	}
	return -1;
}

static int32_t file_index(int fd, int *fds, uint32_t max, uint32_t *n)
{
	struct stat a, b;

	if (fstat(fd, &a))
		return -1;
	for (uint32_t i = 0; i < *n; i++)
		if (!fstat(fds[i], &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
			return (int32_t)i;
	if (*n == max)
		return -1;
	fds[(*n)++] = fd;
	return (int32_t)*n - 1;
}

uint32_t vp_ram_files(struct vp_ram_range *ram, uint32_t nram, int *fds, uint32_t max)
{
	ot_auto_file FILE *maps = fopen("/proc/self/maps", "re");
	uint32_t n = 0;
	struct file f;

	for (uint32_t i = 0; maps && i < nram; i++) {
		struct vp_ram_range *r = &ram[i];
		/* A range across several files is read through the process. */
		if (!mapping_at(maps, r->host, &f) || r->host + r->size > f.end)
			continue;
		int fd = open_file(&f);
		if (fd < 0)
			continue;
		r->offset = f.offset;
		r->fd_index = file_index(fd, fds, max, &n);
		if (r->fd_index < 0 || fds[r->fd_index] != fd)
			close(fd);
	}
	return n;
}
