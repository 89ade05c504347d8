/* SPDX-License-Identifier: GPL-2.0-or-later */
/* backend/dump: raw images, ELF cores, registers in every form, files that are something else. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest_fixture.h"
#include "vmm-probe/backend/dump/dump.h"
#include "vmm-probe/guest/guest.h"

/* A file with these bytes; path is static. */
static const char *file_of(const void *data, size_t len)
{
	static char path[64];
	FILE *f;

	strcpy(path, "/tmp/ot-dump-XXXXXX");
	f = fdopen(mkstemp(path), "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
	return path;
}

static struct ot_err *open_bytes(const void *data, size_t len, uint64_t low, struct vp_dump **ret)
{
	struct vp_dump_opts opts = { .path = file_of(data, len), .low_size = low };
	struct ot_err *err = vp_dump_open(&opts, ret);

	unlink(opts.path);
	return err;
}

static void registers_are_read_as_qemu_prints_them(void **state)
{
	static const char text[] =
	    "RAX=0000000000000001 RBX=0000000000000002 RCX=0000000000000003 RDX=0000000000000004\n"
	    "RSI=0000000000000005 RDI=0000000000000006 RBP=0000000000000007 RSP=ffffffffada03e98\n"
	    "R8 =0000000000022e80 R9 =0000000000000009 R10=000000000000000a R11=000000000000000b\n"
	    "RIP=ffffffffaca17a0b RFL=00000246 [---Z-P-] CPL=0 II=0 A20=1 SMM=0 HLT=1\n"
	    "CS =0010 0000000000000000 ffffffff 00af9b00 DPL=0 CS64 [-RA]\n"
	    "FS =0000 0000000000000123 00000000 00000000\n"
	    "GS =0000 ffff8b0f1f400000 00000000 00000000\n"
	    "GDT=     fffffe0000001000 0000007f\nIDT=     fffffe0000000000 00000fff\n"
	    "CR0=80050033 CR2=00000000005794a9 CR3=0000000002a78000 CR4=000006b0\n"
	    "DR0=0000000000000000 DR1=0000000000000000\nEFER=0000000000000d01\n";
	struct vp_regs r;

	(void)state;
	assert_ok(vp_dump_parse_registers(text, strlen(text), &r));
	assert_int_equal(r.v[VP_RAX], 1);
	assert_int_equal(r.v[VP_RDI], 6);
	assert_int_equal(r.v[VP_RSP], 0xffffffffada03e98);
	assert_int_equal(r.v[VP_R8], 0x22e80);
	assert_int_equal(r.v[VP_R11], 0xb);
	assert_int_equal(r.v[VP_RIP], 0xffffffffaca17a0b);
	assert_int_equal(r.v[VP_RFLAGS], 0x246);
	assert_int_equal(r.v[VP_CS], 0x10);
	assert_int_equal(r.v[VP_FS_BASE], 0x123);
	assert_int_equal(r.v[VP_GS_BASE], 0xffff8b0f1f400000);
	assert_int_equal(r.v[VP_IDT_BASE], 0xfffffe0000000000);
	assert_int_equal(r.v[VP_CR3], 0x2a78000);
	assert_int_equal(r.v[VP_CR4], 0x6b0);
	assert_int_equal(r.v[VP_EFER], 0xd01);
	assert_false(r.valid & VP_REG_BIT(VP_R12));
	assert_false(r.valid & VP_REG_BIT(VP_K_GS_BASE));
	assert_err(vp_dump_parse_registers("CR3 ", 4, &r), OT_ERR_NOT_FOUND, NULL);
	assert_err(vp_dump_parse_registers("CR3=", 4, &r), OT_ERR_NOT_FOUND, NULL);
	assert_err(vp_dump_parse_registers("", 0, &r), OT_ERR_NOT_FOUND, NULL);
	assert_ok(vp_dump_parse_registers("CR3=5", 5, &r));
	assert_int_equal(r.valid, VP_REG_BIT(VP_CR3));
}

static void a_raw_image_with_registers_is_a_guest(void **state)
{
	static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, true, true, 4, false };
	static const char regs[] =
	    "CPU#0\nCR3=0000000000005000 CR4=000006b0\nCPU#1\nCR3=0000000000010000 CR4=6b0\n";
	char image_path[64];
	struct vp_dump_opts opts = { .path = image_path };
	struct vp_guest_opts guest_opts = { 0 };
	struct guest_fixture g;
	struct vp_guest *guest;
	struct vp_dump *dump;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	strcpy(image_path, file_of(g.ram, GUEST_RAM));
	opts.registers = file_of(regs, strlen(regs));
	assert_ok(vp_dump_open(&opts, &dump));
	guest_opts.phys = vp_dump_phys(dump);
	guest_opts.regs = vp_dump_regs(dump, &guest_opts.nregs);
	assert_int_equal(guest_opts.nregs, 2);
	assert_int_equal(guest_opts.regs[0].v[VP_CR3], 0x5000);
	assert_ok(vp_guest_open(&guest_opts, &guest));
	assert_int_equal(vp_symtab_count(vp_guest_symtab(guest)), KS_SYMBOLS);
	vp_guest_destroy(guest);
	vp_dump_close(dump);
	/* Registers that are none. */
	unlink(opts.registers);
	opts.registers = file_of("hello", 5);
	assert_err(vp_dump_open(&opts, &dump), OT_ERR_BAD_DATA, "info registers");
	unlink(opts.registers);
	assert_err(vp_dump_open(&opts, &dump), OT_ERR_OS, NULL);
	unlink(image_path);
	guest_fixture_deinit(&g);
}

static void high_memory_moves_up(void **state)
{
	uint8_t image[4 * 4096] = { 0 };
	struct vp_dump *dump;
	uint8_t byte;

	(void)state;
	image[2 * 4096] = 9;
	assert_ok(open_bytes(image, sizeof(image), 2 * 4096, &dump));
	assert_ok(vp_phys_read(vp_dump_phys(dump), vp_gpa(4ull << 30), &byte, 1));
	assert_int_equal(byte, 9);
	assert_err(vp_phys_read(vp_dump_phys(dump), vp_gpa(2 * 4096), &byte, 1), OT_ERR_FAULT, NULL);
	vp_dump_close(dump);
}

/* What QEMU's dump-guest-memory writes: a note for each CPU, and two pieces of memory. */
struct core {
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr[3];
	struct {
		Elf64_Nhdr head;
		char name[8];
		uint8_t desc[440];
	} note;
	uint8_t pad[4096 - 64 - 3 * 56 - 460];
	uint8_t mem[2][4096];
};

static void core_init(struct core *c)
{
	uint64_t value;

	memset(c, 0, sizeof(*c));
	memcpy(c->ehdr.e_ident, ELFMAG, SELFMAG);
	c->ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	c->ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	c->ehdr.e_ident[EI_VERSION] = EV_CURRENT;
	c->ehdr.e_type = ET_CORE;
	c->ehdr.e_machine = EM_X86_64;
	c->ehdr.e_version = EV_CURRENT;
	c->ehdr.e_ehsize = sizeof(c->ehdr);
	c->ehdr.e_phoff = sizeof(c->ehdr);
	c->ehdr.e_phentsize = sizeof(Elf64_Phdr);
	c->ehdr.e_phnum = 3;
	c->phdr[0] = (Elf64_Phdr){ .p_type = PT_NOTE,
				   .p_offset = offsetof(struct core, note),
				   .p_filesz = sizeof(c->note),
				   .p_memsz = sizeof(c->note),
				   .p_align = 4 };
	for (unsigned int i = 0; i < 2; i++)
		c->phdr[1 + i] = (Elf64_Phdr){ .p_type = PT_LOAD,
					       .p_paddr = i * 0x100000,
					       .p_offset = offsetof(struct core, mem) + i * 4096,
					       .p_filesz = 4096,
					       .p_memsz = 4096 };
	c->note.head = (Elf64_Nhdr){ 5, 440, 0 };
	memcpy(c->note.name, "QEMU", 5);
	value = 0x1234000;
	memcpy(c->note.desc + 8 + 18 * 8 + 10 * 24 + 3 * 8, &value, 8); /* cr[3] */
	value = 0xffffffff81000010;
	memcpy(c->note.desc + 8 + 16 * 8, &value, 8); /* rip */
	value = 0x77;
	memcpy(c->note.desc + 432, &value, 8); /* kernel_gs_base */
	memset(c->mem[1], 0xab, 4096);
}

static void an_elf_core_is_read(void **state)
{
	struct core c;
	struct vp_dump *dump;
	const struct vp_regs *regs;
	uint8_t byte;
	size_t n;

	(void)state;
	core_init(&c);
	assert_ok(open_bytes(&c, sizeof(c), 0, &dump));
	regs = vp_dump_regs(dump, &n);
	assert_int_equal(n, 1);
	assert_int_equal(regs->v[VP_CR3], 0x1234000);
	assert_int_equal(regs->v[VP_RIP], 0xffffffff81000010);
	assert_int_equal(regs->v[VP_K_GS_BASE], 0x77);
	assert_ok(vp_phys_read(vp_dump_phys(dump), vp_gpa(0x100fff), &byte, 1));
	assert_int_equal(byte, 0xab);
	assert_err(vp_phys_read(vp_dump_phys(dump), vp_gpa(0x1000), &byte, 1), OT_ERR_FAULT, NULL);
	vp_dump_close(dump);

	/* The form of a crashed kernel's own dump. */
	core_init(&c);
	c.note.head = (Elf64_Nhdr){ 5, 336, NT_PRSTATUS };
	memcpy(c.note.name, "CORE", 5);
	memset(c.note.desc + 112 + 4 * 8, 0x42, 8);
	assert_ok(open_bytes(&c, sizeof(c), 0, &dump));
	regs = vp_dump_regs(dump, &n);
	assert_int_equal(n, 1);
	assert_int_equal(regs->v[VP_RBP], 0x4242424242424242);
	assert_false(regs->valid & VP_REG_BIT(VP_CR3));
	vp_dump_close(dump);
}

static void broken_cores_are_refused(void **state)
{
	struct core c;
	struct vp_dump *dump;
	size_t n;

	(void)state;
	core_init(&c);
	assert_err(open_bytes(&c, sizeof(c) - 1, 0, &dump), OT_ERR_BAD_DATA, "truncated");
	assert_err(open_bytes(&c, 64, 0, &dump), OT_ERR_BAD_DATA, NULL);
	assert_err(open_bytes(&c, 40, 0, &dump), OT_ERR_BAD_DATA, NULL);
	c.phdr[2].p_offset = UINT64_MAX - 100;
	assert_err(open_bytes(&c, sizeof(c), 0, &dump), OT_ERR_BAD_DATA, "truncated");
	core_init(&c);
	c.phdr[2].p_paddr = 0; /* both at one place */
	assert_err(open_bytes(&c, sizeof(c), 0, &dump), OT_ERR_BAD_DATA, "overlaps");
	core_init(&c);
	c.ehdr.e_machine = EM_AARCH64;
	assert_err(open_bytes(&c, sizeof(c), 0, &dump), OT_ERR_UNSUPPORTED, "x86-64");
	core_init(&c);
	c.ehdr.e_type = ET_EXEC;
	assert_err(open_bytes(&c, sizeof(c), 0, &dump), OT_ERR_BAD_DATA, "not a machine's core");
	core_init(&c);
	c.phdr[1].p_type = c.phdr[2].p_type = PT_NULL;
	assert_err(open_bytes(&c, sizeof(c), 0, &dump), OT_ERR_BAD_DATA, "no memory");
	/* Notes that lie about their sizes give no registers, and no harm. */
	core_init(&c);
	c.note.head.n_descsz = 0xfffffff0;
	assert_ok(open_bytes(&c, sizeof(c), 0, &dump));
	vp_dump_regs(dump, &n);
	assert_int_equal(n, 0);
	vp_dump_close(dump);
	core_init(&c);
	c.note.head.n_descsz = 20;
	assert_ok(open_bytes(&c, sizeof(c), 0, &dump));
	vp_dump_close(dump);
}

static void other_files_are_named(void **state)
{
	struct vp_dump_opts opts = { .path = "/no/such/dump" };
	char bytes[4096] = "KDUMP   ";
	struct vp_dump *dump;

	(void)state;
	assert_err(open_bytes(bytes, sizeof(bytes), 0, &dump), OT_ERR_UNSUPPORTED, "kdump");
	memcpy(bytes, "QEVM", 4);
	assert_err(open_bytes(bytes, sizeof(bytes), 0, &dump), OT_ERR_UNSUPPORTED, "dump-guest-memory");
	memset(bytes, 0, sizeof(bytes));
	assert_err(open_bytes(bytes, sizeof(bytes) - 1, 0, &dump), OT_ERR_BAD_DATA, "whole pages");
	assert_err(open_bytes(bytes, 3, 0, &dump), OT_ERR_BAD_DATA, "truncated");
	assert_err(vp_dump_open(&opts, &dump), OT_ERR_OS, "/no/such/dump");
	opts.path = "/dev/null";
	assert_err(vp_dump_open(&opts, &dump), OT_ERR_BAD_DATA, "not a file");
	vp_dump_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_are_read_as_qemu_prints_them),
		cmocka_unit_test(a_raw_image_with_registers_is_a_guest),
		cmocka_unit_test(high_memory_moves_up),
		cmocka_unit_test(an_elf_core_is_read),
		cmocka_unit_test(broken_cores_are_refused),
		cmocka_unit_test(other_files_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
