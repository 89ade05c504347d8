/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file that fuzz_target's processes have mapped: libc and the hook in one, with what the injector looks
 * for. It is never run. */
#include "vmm-probe/hook/control.h"

void *dlopen(const char *path, int mode);

void *dlopen(const char *path, int mode)
{
	return path + mode ? (void *)0 : (void *)1;
}

/* How libc returns from a signal's handler. */
__asm__(".text\n"
	"	movq $15, %rax\n"
	"	syscall\n");

struct vp_hook_control vp_hook_control = {
	.magic = VP_HOOK_MAGIC,
	.version = VP_HOOK_VERSION,
	.state = VP_HOOK_READY,
	.fd = -1,
};
