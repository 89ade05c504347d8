/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a dump: raw images; ELF cores and registers are read by dump_elf.c and dump_regs.c. */
#include "vmm-probe/backend/dump/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "vmm-probe/backend/dump/dump_internal.h"

#define REGISTERS_MAX (4u << 20)
#define HIGH_RAM      (4ull << 30)

/* Formats of a guest's memory that are recognised but not read. */
static const struct {
	const char *magic;
	size_t len;
	const char *what;
} foreign[] = {
	{ "KDUMP   ", 8, "a compressed kdump (dump-guest-memory without -z, -l, -s makes an ELF core)" },
	{ "DISKDUMP", 8, "a diskdump (makedumpfile -E makes an ELF core)" },
	{ "QEVM", 4, "a QEMU migration stream or snapshot (dump-guest-memory makes an ELF core)" },
	{ "LibvirtQemudSave", 16, "a libvirt save file (virsh dump --memory-only makes an ELF core)" },
	{ "QFI\xfb", 4, "a qcow2 disk image" },
	{ "\x1f\x8b", 2, "compressed with gzip" },
	{ "\xfd"
	  "7zXZ",
	  5, "compressed with xz" },
	{ "\x28\xb5\x2f\xfd", 4, "compressed with zstd" },
};

static struct ot_err *check_foreign(const char *path, const char head[16])
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(foreign); i++) {
		if (memcmp(head, foreign[i].magic, foreign[i].len) == 0)
			return ot_err_new(OT_ERR_UNSUPPORTED, "%s is not an image of memory: it is %s", path,
					  foreign[i].what);
	}
	return NULL;
}

static struct ot_err *add_raw(struct vp_dump *dump, const char *path, uint64_t low_size)
{
	uint64_t low = low_size && low_size < dump->size ? low_size : dump->size;

	if (dump->size & ~VP_PAGE_MASK)
		return ot_err_new(
		    OT_ERR_BAD_DATA,
		    "%s is not an image of memory, or truncated: %llu bytes are not whole pages", path,
		    (unsigned long long)dump->size);
	OT_TRY(vp_phys_add_file(dump->phys, vp_gpa(0), low, dump->fd, 0));
	if (low == dump->size)
		return NULL;
	return vp_phys_add_file(dump->phys, vp_gpa(HIGH_RAM), dump->size - low, dump->fd, low);
}

/* The text of each CPU, under a line "CPU#n", which a single CPU may lack. */
static struct ot_err *read_registers(struct vp_dump *dump, const char *path)
{
	ot_auto_free char *text = NULL;
	const char *at, *end;
	size_t len;

	OT_TRY(ot_read_file(path, REGISTERS_MAX, &text, &len));
	dump->nregs = 0;
	end = text + len;
	for (at = text; at < end && dump->nregs < VP_DUMP_CPUS_MAX;) {
		const char *next = memmem(at + 1, (size_t)(end - at) - 1, "CPU#", 4);
		struct vp_regs regs;
		struct ot_err *err;

		if (!next)
			next = end;
		err = vp_dump_parse_registers(at, (size_t)(next - at), &regs);
		if (!err)
			dump->regs[dump->nregs++] = regs;
		ot_err_destroy(err); /* there are none before the first CPU's line */
		at = next;
	}
	if (!dump->nregs)
		return ot_err_new(OT_ERR_BAD_DATA,
				  "%s has no registers: it must be the output of QEMU's `info registers`",
				  path);
	return NULL;
}

static struct ot_err *dump_read(struct vp_dump *dump, const struct vp_dump_opts *opts)
{
	char head[16];
	struct stat st;

	dump->fd = open(opts->path, O_RDONLY | O_CLOEXEC);
	if (dump->fd < 0 || fstat(dump->fd, &st) < 0)
		return ot_err_os(errno, "cannot open %s", opts->path);
	if (!S_ISREG(st.st_mode))
		return ot_err_new(OT_ERR_BAD_DATA, "%s is not a file", opts->path);
	dump->size = (uint64_t)st.st_size;
	if (dump->size < sizeof(head))
		return ot_err_new(OT_ERR_BAD_DATA, "%s is truncated: it has %llu bytes", opts->path,
				  (unsigned long long)dump->size);
	OT_TRY(ot_pread_all(dump->fd, head, sizeof(head), 0));
	OT_TRY(check_foreign(opts->path, head));
	OT_TRY(vp_phys_create(&dump->phys));
	if (memcmp(head, "\177ELF", 4) == 0)
		OT_TRY(vp_dump_read_elf(dump, opts->path));
	else
		OT_TRY(add_raw(dump, opts->path, opts->low_size));
	return opts->registers ? read_registers(dump, opts->registers) : NULL;
}

struct ot_err *vp_dump_open(const struct vp_dump_opts *opts, struct vp_dump **ret)
{
	struct vp_dump *dump = calloc(1, sizeof(*dump));
	struct ot_err *err;

	if (!dump)
		return ot_err_nomem();
	dump->fd = -1;
	err = dump_read(dump, opts);
	if (err) {
		vp_dump_close(dump);
		return err;
	}
	*ret = dump;
	return NULL;
}

void vp_dump_close(struct vp_dump *dump)
{
	if (!dump)
		return;
	vp_phys_destroy(dump->phys);
	if (dump->fd >= 0)
		close(dump->fd);
	free(dump);
}

const struct vp_phys *vp_dump_phys(const struct vp_dump *dump)
{
	return dump->phys;
}

const struct vp_regs *vp_dump_regs(const struct vp_dump *dump, size_t *ret_count)
{
	*ret_count = dump->nregs;
	return dump->regs;
}
