/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guest RAM, read where its engine says it is: in a file of memory that was sent along, or in the process
 * that listens, which the kernel names and the engine does not. */
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/compiler.h"
#include "vmm-probe/client/client.h"
#include "vmm-probe/guest/phys.h"

/* A file that is memory on a disk or in none. One whose reading is somebody's act, of a file system of the
 * kernel's own or of a user's (FUSE), may never end, or give the reader what its sender may not have. */
static bool is_memory_file(int fd)
{
	static const long acts[] = { PROC_SUPER_MAGIC,    SYSFS_MAGIC,      DEBUGFS_MAGIC,
				     TRACEFS_MAGIC,       SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC,
				     CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,     FUSE_SUPER_MAGIC };
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || fstatfs(fd, &fs))
		return false;
	for (size_t i = 0; i < OT_ARRAY_SIZE(acts); i++)
		if (fs.f_type == acts[i])
			return false;
	return true;
}

struct ot_err *vp_client_map_ram(const struct vp_client *c, struct vp_phys **ret)
{
	const struct vp_peer peer = vp_client_peer(c);

	OT_TRY(vp_phys_create(ret));
	for (uint32_t i = 0; i < c->nram; i++) {
		const struct vp_ram_range *r = &c->ram[i];
		struct vp_gpa gpa = { r->gpa };
		int fd = r->fd_index < 0 ? -1 : c->ram_fds[r->fd_index];
		if (fd >= 0 && is_memory_file(fd))
			OT_TRY(vp_phys_add_file(*ret, gpa, r->size, fd, r->offset));
		else
			OT_TRY(vp_phys_add_process(*ret, gpa, r->size, peer.pid, r->host));
	}
	/* Looked at last: a PID that is another process's by now was opened as such. */
	if (!vp_peer_alive(&peer))
		return ot_err_new(OT_ERR_GUEST_GONE, "the guest's VMM (PID %u) has ended", c->pid);
	return NULL;
}
