/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A VMM that is no QEMU, whatever it is called: it has a vCPU, and waits. other_vmm [seccomp]: behind a
 * filter of its own, as Firecracker and cloud-hypervisor are. */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/kvm.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

static int filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const struct sock_fprog program = { 1, &allow };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int main(int argc, char **argv)
{
	int vm = ioctl(open("/dev/kvm", O_RDWR), KVM_CREATE_VM, 0);

	if (vm < 0 || ioctl(vm, KVM_CREATE_VCPU, 0) < 0)
		return 1;
	if (argc > 1 && !strcmp(argv[1], "seccomp") && filter())
		return 1;
	puts("ready");
	fflush(stdout);
	return getchar() == EOF;
}
