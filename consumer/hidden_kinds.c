/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kinds of objects that can be compared, the ways in which each is seen, and the meaning of being missing
 * from one of them. */
#include "base/buf.h"
#include "consumer/hidden.h"

#define TEXT "the text does not list it: it is hidden there, or newer"

const struct con_hidden_kind con_hidden_tasks = {
	.many = "processes",
	.numbered = true,
	.ways = { { VP_TASK_LIST, "tasks",
		    "unlinked from the list of tasks, which most of the kernel walks" },
		  { VP_TASK_PIDS, "pids", "its number is not allocated: no signal reaches it" },
		  { VP_TASK_TREE, "children", "its parent does not have it: no process can wait for it" },
		  { CON_HIDDEN_INSIDE, "proc", "the guest's /proc does not list it" },
		  { CON_HIDDEN_TEXT, "text", TEXT } },
};

const struct con_hidden_kind con_hidden_modules = {
	.many = "modules",
	.ways = { { VP_MODULE_LIST, "modules", "unlinked from the list of modules, which lsmod prints" },
		  { VP_MODULE_SYSFS, "sysfs", "/sys/module does not have it" },
		  { VP_MODULE_ADDRESSES, "addresses", "the kernel finds no name for its functions" },
		  { CON_HIDDEN_INSIDE, "proc", "the guest's /proc/modules does not list it" },
		  { CON_HIDDEN_TEXT, "text", TEXT } },
};

const struct con_hidden_kind con_hidden_sockets = {
	.many = "sockets",
	.ways = { { VP_SOCKET_TABLES, "tables", "the kernel's tables do not have it: no packet finds it" },
		  { VP_SOCKET_FILES, "files", "no process that was found has it open" },
		  { CON_HIDDEN_TEXT, "text", TEXT } },
};

const struct con_hidden_kind con_hidden_mounts = {
	.many = "mounts",
	.ways = { { VP_MOUNT_NAMESPACE, "list",
		    "unlinked from the namespace's mounts, which /proc/mounts prints" },
		  { VP_MOUNT_TREE, "tree", "no mount has it: no path leads there" },
		  { CON_HIDDEN_TEXT, "text", TEXT } },
};

const struct con_hidden_kind con_hidden_libraries = {
	.many = "libraries",
	.ways = { { VP_LIBRARY_MAPPINGS, "mappings", "the process has not mapped it as code" },
		  { CON_HIDDEN_TEXT, "text", TEXT } },
};

void con_hidden_meaning(const struct con_hidden_kind *kind, const struct vp_found *f, uint32_t ways,
			struct ot_buf *out)
{
	const char *comma = "";

	if (!(f->ways & ~CON_HIDDEN_OWN)) {
		ot_buf_puts(out, "the guest lists it and its memory does not have it: it has ended since, or "
				 "it is made up");
		return;
	}
	for (size_t i = 0; i < OT_ARRAY_SIZE(kind->ways); i++) {
		if (!(ways & ~f->ways & kind->ways[i].way))
			continue;
		ot_buf_printf(out, "%s%s", comma, kind->ways[i].without);
		comma = "; ";
	}
	if (f->owner)
		ot_buf_printf(out, " (process %llu)", (unsigned long long)f->owner);
}
