/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guest RAM: one memfd, mapped below and above the hole for devices. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "base/io.h"
#include "vmm-probe/monitor/internal.h"

uint8_t *vp_mon_at(const struct vp_mon *mon, uint64_t gpa, uint64_t len)
{
	for (uint32_t i = 0; i < mon->nram; i++) {
		const struct vp_mon_ram *r = &mon->ram[i];
		if (gpa >= r->gpa && gpa - r->gpa < r->size && len <= r->size - (gpa - r->gpa))
			return r->host + (gpa - r->gpa);
	}
	return NULL;
}

static struct ot_err *add_piece(struct vp_mon *mon, uint64_t gpa, uint64_t size, uint64_t offset)
{
	void *host = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, mon->ram_fd, (off_t)offset);

	if (host == MAP_FAILED)
		return ot_err_os(errno, "mapping %llu MiB of guest RAM", (unsigned long long)size >> 20);
	/* It may be large: exclude it from core files and from child processes. */
	madvise(host, size, MADV_DONTDUMP);
	madvise(host, size, MADV_DONTFORK);
	struct kvm_userspace_memory_region slot = { .slot = mon->nram,
						    .guest_phys_addr = gpa,
						    .memory_size = size,
						    .userspace_addr = (uintptr_t)host };
	mon->ram[mon->nram++] = (struct vp_mon_ram){ gpa, size, offset, host };
	if (ioctl(mon->vm, KVM_SET_USER_MEMORY_REGION, &slot))
		return ot_err_os(errno, "KVM_SET_USER_MEMORY_REGION");
	return NULL;
}

struct ot_err *vp_mon_memory_init(struct vp_mon *mon)
{
	uint64_t size = mon->config.mem_bytes, low = size < VP_MON_LOW_END ? size : VP_MON_LOW_END;

	OT_TRY(ot_memfd_create("outsight-ram", size, &mon->ram_fd));
	OT_TRY(add_piece(mon, 0, low, 0));
	if (size > low)
		OT_TRY(add_piece(mon, VP_MON_HIGH, size - low, low));
	return NULL;
}

void vp_mon_memory_deinit(struct vp_mon *mon)
{
	while (mon->nram) {
		mon->nram--;
		munmap(mon->ram[mon->nram].host, mon->ram[mon->nram].size);
	}
}
