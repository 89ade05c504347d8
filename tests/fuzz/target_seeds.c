/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes fuzz_target's seeds: what a QEMU that may be entered shows of itself, with an ELF file that was
 * linked for it.
 *
 *   target_seeds DIRECTORY ELF
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"

#define MAPS                                                                                     \
	"00000000-00002000 r--p 00000000 08:01 11 /usr/lib/outsight/liboutsight-kvm.so\n"        \
	"55d0c0000000-55d0c0400000 r-xp 00000000 08:01 12 /usr/bin/qemu-system-x86_64\n"         \
	"7f0000000000-7f0000001000 r--p 00000000 08:01 13 /usr/lib/x86_64-linux-gnu/libc.so.6\n" \
	"7f0000001000-7f0000002000 r-xp 00001000 08:01 13 /usr/lib/x86_64-linux-gnu/libc.so.6\n" \
	"7ffe00000000-7ffe00021000 rw-p 00000000 00:00 0 [stack]\n"
#define STATUS                                                                                        \
	"Name:\tqemu-system-x86\nState:\tS (sleeping)\nPid:\t77\nTracerPid:\t0\nUid:\t64055\t64055\t" \
	"64055\t64055\nSeccomp:\t2\nx86_Thread_features:\t\n"
#define CMDLINE "qemu-system-x86_64\0-name\0guest=web01,debug-threads=on\0-m\0size=64M\0-accel\0kvm\0"
#define VCPU    "anon_inode:kvm-vcpu:0\n"
#define LINKS   "/usr/bin/qemu-system-x86_64\n" VCPU VCPU VCPU VCPU "/dev/kvm\n" VCPU VCPU VCPU VCPU VCPU VCPU

static void put(FILE *out, const void *data, size_t size)
{
	if (size && fwrite(data, size, 1, out) != 1) {
		perror("target_seeds");
		exit(1);
	}
}

static void put_part(FILE *out, const char *text, size_t size)
{
	const uint16_t len = (uint16_t)size;

	put(out, &len, sizeof(len));
	put(out, text, size);
}

static void write_seed(const char *directory, const char *name, const char *attr, const char *elf,
		       size_t size)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *out = fopen(path, "we");
	if (!out) {
		perror(path);
		exit(1);
	}
	put_part(out, MAPS, sizeof(MAPS) - 1);
	put_part(out, STATUS, sizeof(STATUS) - 1);
	put_part(out, CMDLINE, sizeof(CMDLINE) - 1);
	put_part(out, attr, strlen(attr));
	put_part(out, LINKS, sizeof(LINKS) - 1);
	put(out, elf, size);
	if (fclose(out)) {
		perror(path);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	char *elf;
	size_t size;

	if (argc != 3) {
		fprintf(stderr, "usage: target_seeds DIRECTORY ELF\n");
		return 2;
	}
	struct ot_err *err = ot_read_file(argv[2], 1u << 20, &elf, &size);
	if (err) {
		fprintf(stderr, "%s: %s\n", argv[2], ot_err_message(err));
		return 1;
	}
	write_seed(argv[1], "plain", "unconfined\n", elf, size);
	write_seed(argv[1], "confined", "libvirt-4a27 (enforce)\n", elf, size);
	free(elf);
	return 0;
}
