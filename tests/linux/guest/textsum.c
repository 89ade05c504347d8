/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * textsum [FILE]
 *
 * Reads the running kernel's text (_stext to _etext by /proc/kallsyms) through /proc/kcore, and prints its
 * size and a checksum (FNV-1a): "text SIZE SUM". With FILE, the text is written there too.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "common.h"

#define PHDRS_MAX 64

static void find_text(uint64_t *start, uint64_t *end)
{
	char line[512], name[256];
	unsigned long long address;
	FILE *fp = fopen("/proc/kallsyms", "r");

	if (!fp)
		die("/proc/kallsyms");
	while ((!*start || !*end) && fgets(line, sizeof(line), fp)) {
		if (sscanf(line, "%llx %*c %255s", &address, name) != 2)
			continue;
		if (!strcmp(name, "_stext"))
			*start = address;
		else if (!strcmp(name, "_etext"))
			*end = address;
	}
	fclose(fp);
	if (!*start || *end <= *start) {
		fprintf(stderr, "no text in /proc/kallsyms\n");
		exit(1);
	}
}

/* Where in the ELF core file the address stands. */
static off_t offset_of(int fd, uint64_t address, uint64_t size)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph[PHDRS_MAX];

	if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh) || eh.e_phnum > PHDRS_MAX ||
	    pread(fd, ph, eh.e_phnum * sizeof(ph[0]), (off_t)eh.e_phoff) !=
		(ssize_t)(eh.e_phnum * sizeof(ph[0])))
		die("/proc/kcore");
	for (int i = 0; i < eh.e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD && address >= ph[i].p_vaddr &&
		    address + size <= ph[i].p_vaddr + ph[i].p_memsz)
			return (off_t)(ph[i].p_offset + (address - ph[i].p_vaddr));
	}
	fprintf(stderr, "the text is not in /proc/kcore\n");
	exit(1);
}

int main(int argc, char **argv)
{
	static unsigned char buf[1 << 16];
	uint64_t start = 0, end = 0, sum = 14695981039346656037ull;
	int out = -1, fd = open("/proc/kcore", O_RDONLY);

	if (fd < 0)
		die("/proc/kcore");
	if (argc > 1 && (out = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600)) < 0)
		die(argv[1]);
	find_text(&start, &end);
	off_t at = offset_of(fd, start, end - start);
	for (uint64_t left = end - start; left;) {
		ssize_t n = pread(fd, buf, left < sizeof(buf) ? left : sizeof(buf), at);
		if (n <= 0)
			die("/proc/kcore");
		for (ssize_t i = 0; i < n; i++)
			sum = (sum ^ buf[i]) * 1099511628211ull;
		if (out >= 0 && write(out, buf, (size_t)n) != n)
			die(argv[1]);
		at += n;
		left -= (uint64_t)n;
	}
	printf("text %llu %016llx\n", (unsigned long long)(end - start), (unsigned long long)sum);
	return 0;
}
