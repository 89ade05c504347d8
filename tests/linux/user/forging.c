/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forging sparse|notes|symbols FILES DIRECTORY
 *
 * A program that makes itself expensive to read: it writes files that look like libraries, and maps each as
 * code. Of a sparse one nothing is there but the first page and the last, and no section headers say where in
 * the 4 GiB between its notes are. One with notes says that it has 60,000 static probes of the provider
 * probed, each of them at an instruction of this file that is a nop, and with an argument that is looked for
 * among its symbols.
 *
 * It prints "ready", and waits until it is killed.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE      4096u
#define NOP       0x90
#define LARGE     (4ull << 30)
#define NOTES     60000u
#define FILES_MAX 64u

/* What is written behind the code. */
struct __attribute__((packed)) note {
	Elf64_Nhdr h;
	char owner[8];
	uint64_t pc, base, semaphore;
	char text[40]; /* provider, name, arguments */
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void put(int fd, const void *data, size_t size, uint64_t at)
{
	if (pwrite(fd, data, size, (off_t)at) != (ssize_t)size)
		fail("pwrite");
}

/* Two pages: headers with one segment, which has both, and nops. */
static void put_headers(int fd)
{
	static unsigned char page[2 * PAGE];
	Elf64_Ehdr e = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_DYN,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_phoff = sizeof(e),
			 .e_ehsize = sizeof(e),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1 };
	const Elf64_Phdr p = { .p_type = PT_LOAD,
			       .p_flags = PF_R | PF_X,
			       .p_filesz = sizeof(page),
			       .p_memsz = sizeof(page),
			       .p_align = PAGE };

	memset(page + PAGE, NOP, PAGE);
	memcpy(page, &e, sizeof(e));
	memcpy(page + sizeof(e), &p, sizeof(p));
	put(fd, page, sizeof(page), 0);
}

static void put_notes(int fd, unsigned file)
{
	struct note *notes = calloc(NOTES, sizeof(*notes));

	for (unsigned i = 0; notes && i < NOTES; i++) {
		struct note *n = &notes[i];
		int len =
		    snprintf(n->text, sizeof(n->text), "probed%cn%u_%u%c8@x%u(%%rip)", 0, file, i, 0, i);

		n->h = (Elf64_Nhdr){ sizeof(n->owner), sizeof(*n) - sizeof(n->h) - sizeof(n->owner), 3 };
		memcpy(n->owner, "stapsdt", sizeof(n->owner));
		n->pc = PAGE + i % PAGE;
		if (len < 0 || len >= (int)sizeof(n->text))
			exit(1);
	}
	if (!notes)
		fail("calloc");
	put(fd, notes, NOTES * sizeof(*notes), 2ull * PAGE);
	free(notes);
}

static void put_symbols(int fd)
{
	const Elf64_Shdr sections[] = {
		{ 0 },
		{ .sh_type = SHT_SYMTAB,
		  .sh_offset = 1u << 20,
		  .sh_size = 3ull << 30,
		  .sh_link = 2,
		  .sh_entsize = sizeof(Elf64_Sym) },
		{ .sh_type = SHT_STRTAB, .sh_offset = 2ull * PAGE, .sh_size = PAGE },
	};
	Elf64_Ehdr e;

	if (pread(fd, &e, sizeof(e), 0) != sizeof(e))
		fail("pread");
	e.e_shoff = 2ull * PAGE;
	e.e_shentsize = sizeof(*sections);
	e.e_shnum = sizeof(sections) / sizeof(*sections);
	e.e_shstrndx = 2;
	put(fd, &e, sizeof(e), 0);
	put(fd, sections, sizeof(sections), e.e_shoff);
}

static const volatile char *forge(const char *directory, unsigned file, const char *what)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/forged%u.so", directory, file);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0755);

	if (fd < 0)
		fail(path);
	put_headers(fd);
	if (!strcmp(what, "notes"))
		put_notes(fd, file);
	else
		put(fd, "", 1, LARGE - 1);
	if (!strcmp(what, "symbols"))
		put_symbols(fd);
	volatile const char *code = mmap(NULL, (size_t)2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (code == MAP_FAILED)
		fail("mmap");
	(void)code[0];
	(void)code[PAGE];
	close(fd);
	return code + PAGE;
}

int main(int argc, char **argv)
{
	static const volatile char *code[FILES_MAX];
	unsigned files = argc == 4 ? (unsigned)atoi(argv[2]) : 0;
	sigset_t signals;
	int signal;

	if (!files || files > FILES_MAX)
		return 2;
	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	for (unsigned i = 0; i < files; i++)
		code[i] = forge(argv[3], i, argv[1]);
	if (write(1, "ready\n", 6) != 6)
		return 1;
	for (;;) {
		if (sigwait(&signals, &signal))
			return 1;
		for (unsigned i = 0; i < files; i++)
			syscall(SYS_getppid, code[i]);
		if (write(1, "called\n", 7) != 7)
			return 1;
	}
}
