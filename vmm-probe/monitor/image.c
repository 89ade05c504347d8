/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loading the kernel and the initrd from their files. A bzImage is decompressed here, because its own
 * decompressor would take minutes on a slow host. The ELF file in it is then entered by the 64-bit boot
 * protocol.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "vmm-probe/monitor/internal.h"

/* Offsets in a bzImage; from SETUP_SECTS to HEADER_END also in the zero page (boot.rst). */
#define SETUP_SECTS    0x1f1u
#define HEADER_MAGIC   0x202u
#define VERSION        0x206u
#define JUMP_LENGTH    0x201u
#define PAYLOAD_OFFSET 0x248u
#define PAYLOAD_LENGTH 0x24cu
#define HEADER_END     0x290u
#define UNPACKED_MAX   (512u << 20)

struct file {
	const uint8_t *data;
	size_t size;
};

static struct ot_err *map_file(const char *what, const char *path, struct file *ret)
{
	ot_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return ot_err_new(errno == ENOENT ? OT_ERR_NOT_FOUND : OT_ERR_PERMISSION, "%s %s: %s", what,
				  path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return ot_err_new(OT_ERR_BAD_DATA, "%s %s is empty or not a regular file", what, path);
	void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return ot_err_os(errno, "%s %s", what, path);
	*ret = (struct file){ data, (size_t)st.st_size };
	return NULL;
}

static void unmap_file(struct file *f)
{
	if (f->data)
		munmap((void *)f->data, f->size);
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static bool is_bzimage(const struct file *f)
{
	return f->size > HEADER_END && !memcmp(f->data + HEADER_MAGIC, "HdrS", 4);
}

/* Copy the setup header to the zero page: from 0x1f1 to its end, which is in the offset of its jump. */
static void copy_header(struct vp_mon *mon, const struct file *f)
{
	size_t end = HEADER_MAGIC + f->data[JUMP_LENGTH];

	if (end > HEADER_END)
		end = HEADER_END;
	memcpy(mon->ram[0].host + VP_MON_ZERO_PAGE + SETUP_SECTS, f->data + SETUP_SECTS, end - SETUP_SECTS);
}

static struct ot_err *load_bzimage(struct vp_mon *mon, const struct file *f, uint64_t *ret_end)
{
	ot_auto_free uint8_t *elf = NULL;
	uint32_t sects = f->data[SETUP_SECTS] ? f->data[SETUP_SECTS] : 4;
	uint64_t payload = (sects + 1) * 512ull + get32(f->data + PAYLOAD_OFFSET);
	uint64_t len = get32(f->data + PAYLOAD_LENGTH);
	size_t elf_len;

	if ((f->data[VERSION] | f->data[VERSION + 1] << 8) < 0x208)
		return ot_err_new(OT_ERR_UNSUPPORTED, "a bzImage older than boot protocol 2.08");
	if (payload > f->size || len > f->size - payload || !len)
		return ot_err_new(OT_ERR_BAD_DATA, "a truncated bzImage");
	OT_TRY(vp_mon_unpack(f->data + payload, len, UNPACKED_MAX, &elf, &elf_len));
	if (elf_len < 4 || memcmp(elf, "\177ELF", 4) != 0)
		return ot_err_new(OT_ERR_BAD_DATA, "a bzImage without an ELF kernel in it");
	OT_TRY(vp_mon_load_elf(mon, elf, elf_len, false, ret_end));
	copy_header(mon, f);
	mon->is_bzimage = true;
	return NULL;
}

static struct ot_err *load_image(struct vp_mon *mon, const struct file *f, uint64_t *ret_end)
{
	if (f->size > 4 && !memcmp(f->data, "\177ELF", 4))
		return vp_mon_load_elf(mon, f->data, f->size, true, ret_end);
	if (is_bzimage(f))
		return load_bzimage(mon, f, ret_end);
	return ot_err_new(OT_ERR_BAD_DATA, "neither an ELF file nor a bzImage");
}

/* At the end of RAM below 4 GiB: kernels expect it above themselves. */
static struct ot_err *load_initrd(struct vp_mon *mon, const struct file *f, uint64_t kernel_end)
{
	uint64_t top = mon->ram[0].size, at = (top - f->size) & ~0xfffull;

	if (f->size > top || at < kernel_end)
		return ot_err_new(OT_ERR_LIMIT,
				  "initrd %s does not fit into %llu MiB of memory after the kernel",
				  mon->config.initrd, (unsigned long long)mon->config.mem_bytes >> 20);
	memcpy(mon->ram[0].host + at, f->data, f->size);
	mon->initrd = at;
	mon->initrd_size = f->size;
	return NULL;
}

struct ot_err *vp_mon_load_kernel(struct vp_mon *mon)
{
	ot_auto(unmap_file) struct file kernel = { 0 }, initrd = { 0 };
	uint64_t end = 0;

	OT_TRY(map_file("kernel", mon->config.kernel, &kernel));
	OT_TRY(ot_err_prefix(load_image(mon, &kernel, &end), "kernel %s", mon->config.kernel));
	if (!mon->config.initrd)
		return NULL;
	OT_TRY(map_file("initrd", mon->config.initrd, &initrd));
	return load_initrd(mon, &initrd, end);
}
