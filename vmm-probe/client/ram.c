/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Access to guest RAM where the engine reports it: in a memory file that it sent, or in the process that
 * listens, whose PID comes from the kernel and not from the engine. */
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/compiler.h"
#include "vmm-probe/client/client.h"
#include "vmm-probe/guest/phys.h"

/* A regular file whose pages are plain memory. Reading a file of a pseudo file system, or of FUSE, may block
 * for ever, or disclose data that the sender itself may not read. */
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
	/* Checked last: if the PID was reused, the memory opened above would be another process's. */
	if (!vp_peer_alive(&peer))
		return ot_err_new(OT_ERR_GUEST_GONE, "the guest's VMM (PID %u) has ended", c->pid);
	return NULL;
}
