/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest/elf_symbols: a small vmlinux made here, whole, stripped, foreign and broken. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "guest_fixture.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/elf_symbols.h"
#include "vmm-probe/guest/guest.h"

#define LINK 0xffffffff81000000ull

/* A file that grows by sections. */
struct maker {
	struct ot_buf file, names, strings, symbols;
	Elf64_Shdr sections[16];
	unsigned int n;
};

static void maker_init(struct maker *m)
{
	memset(m, 0, sizeof(*m));
	ot_buf_init(&m->file);
	ot_buf_init(&m->names);
	ot_buf_init(&m->strings);
	ot_buf_init(&m->symbols);
	ot_buf_zero(&m->file, 4096); /* headers come last */
	ot_buf_putc(&m->names, '\0');
	ot_buf_putc(&m->strings, '\0');
	ot_buf_zero(&m->symbols, sizeof(Elf64_Sym));
	m->n = 1;
}

static unsigned int add_section(struct maker *m, const char *name, uint32_t type, uint64_t flags,
				uint64_t addr, const void *data, size_t len)
{
	ot_buf_align(&m->file, 16);
	m->sections[m->n] = (Elf64_Shdr){ .sh_name = (uint32_t)m->names.len,
					  .sh_type = type,
					  .sh_flags = flags,
					  .sh_addr = addr,
					  .sh_offset = m->file.len,
					  .sh_size = len,
					  .sh_addralign = 1 };
	ot_buf_append(&m->names, name, strlen(name) + 1);
	ot_buf_append(&m->file, data, len);
	return m->n++;
}

static void add_symbol(struct maker *m, const char *name, uint64_t value, unsigned int section, int bind,
		       int type)
{
	Elf64_Sym sym = { .st_name = (uint32_t)m->strings.len,
			  .st_value = value,
			  .st_shndx = (uint16_t)section,
			  .st_info = ELF64_ST_INFO(bind, type) };

	ot_buf_append(&m->strings, name, strlen(name) + 1);
	ot_buf_append(&m->symbols, &sym, sizeof(sym));
}

/* Headers, one segment over the image, and out to a file whose path is static. */
static const char *finish(struct maker *m, uint64_t segment_addr, size_t segment_off, size_t segment_len,
			  size_t cut)
{
	static char path[64];
	Elf64_Ehdr ehdr = { .e_type = ET_EXEC,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_ehsize = sizeof(ehdr),
			    .e_phoff = sizeof(ehdr),
			    .e_phnum = 1,
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_shentsize = sizeof(Elf64_Shdr) };
	Elf64_Phdr phdr = { .p_type = PT_LOAD,
			    .p_offset = segment_off,
			    .p_vaddr = segment_addr,
			    .p_filesz = segment_len,
			    .p_memsz = segment_len };
	unsigned int names;
	FILE *f;

	if (m->symbols.len > sizeof(Elf64_Sym)) {
		unsigned int symtab =
		    add_section(m, ".symtab", SHT_SYMTAB, 0, 0, m->symbols.data, m->symbols.len);

		m->sections[symtab].sh_entsize = sizeof(Elf64_Sym);
		m->sections[symtab].sh_link =
		    add_section(m, ".strtab", SHT_STRTAB, 0, 0, m->strings.data, m->strings.len);
	}
	names = m->n;
	m->sections[names].sh_name = (uint32_t)m->names.len;
	ot_buf_append(&m->names, ".shstrtab", 10);
	m->names.len -= 10; /* add_section() appends the name again */
	add_section(m, ".shstrtab", SHT_STRTAB, 0, 0, m->names.data, m->names.len + 10);
	ot_buf_align(&m->file, 16);
	memcpy(ehdr.e_ident, ELFMAG, SELFMAG);
	ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	ehdr.e_ident[EI_VERSION] = EV_CURRENT;
	ehdr.e_shoff = m->file.len;
	ehdr.e_shnum = (uint16_t)m->n;
	ehdr.e_shstrndx = (uint16_t)names;
	ot_buf_append(&m->file, m->sections, m->n * sizeof(m->sections[0]));
	assert_false(m->file.failed);
	memcpy(m->file.data, &ehdr, sizeof(ehdr));
	memcpy(m->file.data + sizeof(ehdr), &phdr, sizeof(phdr));
	strcpy(path, "/tmp/ot-vmlinux-XXXXXX");
	f = fdopen(mkstemp(path), "w");
	assert_non_null(f);
	assert_true(cut < m->file.len);
	assert_int_equal(fwrite(m->file.data, 1, m->file.len - cut, f), m->file.len - cut);
	fclose(f);
	ot_buf_deinit(&m->file);
	ot_buf_deinit(&m->names);
	ot_buf_deinit(&m->strings);
	ot_buf_deinit(&m->symbols);
	return path;
}

static const uint32_t note[9] = { 4,          20,         3,          0x00554e47, 0x5a5a5a5a,
				  0x5a5a5a5a, 0x5a5a5a5a, 0x5a5a5a5a, 0x5a5a5a5a };

static const char *whole_vmlinux(void)
{
	uint8_t code[256] = { 0x90 };
	struct maker m;
	unsigned int text, data, percpu;
	size_t off;

	maker_init(&m);
	text = add_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, LINK, code, sizeof(code));
	off = m.sections[text].sh_offset;
	data = add_section(&m, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, LINK + 0x1000, code, 64);
	percpu = add_section(&m, ".data..percpu", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0, code, 64);
	add_section(&m, ".BTF", SHT_PROGBITS, SHF_ALLOC, LINK + 0x2000, "some types", 10);
	add_section(&m, ".orc_unwind_ip", SHT_PROGBITS, SHF_ALLOC, LINK + 0x3000, "ipip", 4);
	add_section(&m, ".orc_unwind", SHT_PROGBITS, SHF_ALLOC, LINK + 0x4000, "orcorc", 6);
	add_section(&m, ".notes", SHT_NOTE, SHF_ALLOC, LINK + 0x5000, note, sizeof(note));
	add_symbol(&m, "a_file.c", 0, SHN_ABS, STB_LOCAL, STT_FILE);
	add_symbol(&m, "", LINK, text, STB_LOCAL, STT_SECTION);
	add_symbol(&m, "_text", LINK, text, STB_GLOBAL, STT_NOTYPE);
	add_symbol(&m, "a_static", LINK + 0x20, text, STB_LOCAL, STT_FUNC);
	add_symbol(&m, "a_weak", LINK + 0x30, text, STB_WEAK, STT_FUNC);
	add_symbol(&m, "a_variable", LINK + 0x1008, data, STB_GLOBAL, STT_OBJECT);
	add_symbol(&m, "a_percpu", 0x10, percpu, STB_GLOBAL, STT_OBJECT);
	add_symbol(&m, "elsewhere", 0, SHN_UNDEF, STB_GLOBAL, STT_NOTYPE);
	return finish(&m, LINK, off, sizeof(code), 0);
}

static void assert_symbol(const struct vp_symtab *t, const char *name, uint64_t addr, char type)
{
	const struct vp_symbol *sym = vp_symtab_find(t, NULL, name);

	if (!sym)
		fail_msg("no %s", name);
	assert_int_equal(sym->addr, addr);
	assert_int_equal(sym->type, type);
}

static void a_vmlinux_gives_symbols_and_tables(void **state)
{
	const char *path = whole_vmlinux();
	struct vp_symtab *t;
	struct vp_vmlinux v;

	(void)state;
	assert_ok(vp_symtab_create(&t));
	assert_ok(vp_vmlinux_open(path, vp_gva(GUEST_BASE), t, &v));
	assert_ok(vp_symtab_finish(t));
	assert_true(v.has_symbols);
	assert_int_equal(vp_symtab_count(t), 5);
	assert_symbol(t, "_text", GUEST_BASE, 'T');
	assert_symbol(t, "a_static", GUEST_BASE + 0x20, 't');
	assert_symbol(t, "a_weak", GUEST_BASE + 0x30, 'W');
	assert_symbol(t, "a_variable", GUEST_BASE + 0x1008, 'D');
	assert_symbol(t, "a_percpu", 0x10, 'D');
	assert_int_equal(v.btf_size, 10);
	assert_memory_equal(v.btf, "some types", 10);
	assert_int_equal(v.orc_ip_size, 4);
	assert_int_equal(v.orc_ip_addr, GUEST_BASE + 0x3000);
	assert_int_equal(v.orc_size, 6);
	assert_int_equal(v.build_id_len, 20);
	assert_int_equal(v.build_id[0], 0x5a);
	vp_vmlinux_deinit(&v);
	vp_symtab_destroy(t);
	unlink(path);
}

/* Stripped, as it lies in a vmlinuz: its own kallsyms, at link addresses, take the place of .symtab. */
static void a_stripped_vmlinux_opens_a_guest_that_hides_all(void **state)
{
	static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, true, true, 4, false };
	struct ks_symbol *syms = calloc(KS_SYMBOLS, sizeof(*syms));
	uint8_t *image = calloc(1, GUEST_IMAGE);
	struct ks_places places;
	struct guest_fixture g;
	struct vp_guest *guest;
	struct vp_regs regs;
	struct vp_guest_opts opts = { .regs = &regs, .nregs = 1 };
	struct maker m;
	size_t off;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	regs = guest_regs(&g, GUEST_CR3);
	opts.phys = g.phys;
	memset(guest_at(&g, GUEST_BASE + g.ks.tokens), 0, 4096);
	fill_noise(image, GUEST_IMAGE, 5);
	ks_make_symbols(&layout, LINK, syms);
	ks_write(&layout, image, GUEST_IMAGE, GUEST_KS_OFF, LINK, syms, &places);
	maker_init(&m);
	add_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, LINK, image, GUEST_IMAGE);
	off = m.sections[1].sh_offset;
	add_section(&m, ".notes", SHT_NOTE, SHF_ALLOC, LINK + 0x5000, note, sizeof(note));
	opts.vmlinux = finish(&m, LINK, off, GUEST_IMAGE, 0);
	assert_ok(vp_guest_open(&opts, &guest));
	assert_int_equal(vp_symtab_count(vp_guest_symtab(guest)), KS_SYMBOLS);
	for (unsigned int i = 0; i < KS_SYMBOLS; i++)
		assert_int_equal(vp_symtab_at(vp_guest_symtab(guest), i)->addr, g.syms[i].addr);
	vp_guest_destroy(guest);
	/* The same file for a guest with another build id. */
	guest_at(&g, GUEST_BASE + GUEST_NOTE_OFF)[20] ^= 1;
	assert_err(vp_guest_open(&opts, &guest), OT_ERR_BAD_DATA, "build ids differ");
	unlink(opts.vmlinux);
	guest_fixture_deinit(&g);
	free(image);
	free(syms);
}

/* The image of a stripped file is charged while it is in memory, and then given back. */
static void an_image_is_charged_to_the_budget(void **state)
{
	uint8_t *image = calloc(1, GUEST_IMAGE);
	struct vp_budget budget;
	struct vp_symtab *t;
	struct vp_vmlinux v;

	(void)state;
	assert_non_null(image);
	for (unsigned mib = 2; mib <= 8; mib += 6) {
		struct maker m;
		maker_init(&m);
		add_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, LINK, image, GUEST_IMAGE);
		add_section(&m, ".BTF", SHT_PROGBITS, SHF_ALLOC, LINK + 0x2000, "some types", 10);
		const char *path = finish(&m, LINK, m.sections[1].sh_offset, GUEST_IMAGE, 0);
		assert_ok(vp_symtab_create(&t));
		const struct vp_reading symbols = { "the symbols", 1024, mib, 100000, 0, "none" };

		vp_budget_begin(&budget, &symbols, false);
		struct ot_err *err = vp_vmlinux_open(path, vp_gva(GUEST_BASE), t, &v);
		if (mib == 2) {
			assert_err(err, OT_ERR_LIMIT, "reading the symbols takes more than its 2 MiB");
		} else {
			assert_ok(err);
			vp_vmlinux_deinit(&v);
			assert_err(vp_budget_take((8u << 20) + 1), OT_ERR_LIMIT, "its 8 MiB");
		}
		vp_budget_end(&budget);
		vp_symtab_destroy(t);
		unlink(path);
	}
	free(image);
}

static struct ot_err *open_file(const char *path)
{
	struct vp_symtab *t;
	struct vp_vmlinux v;
	struct ot_err *err;

	assert_ok(vp_symtab_create(&t));
	err = vp_vmlinux_open(path, vp_gva(GUEST_BASE), t, &v);
	if (!err)
		vp_vmlinux_deinit(&v);
	vp_symtab_destroy(t);
	unlink(path);
	return err;
}

static void other_files_are_refused(void **state)
{
	struct maker m;

	(void)state;
	assert_err(open_file("/no/such/vmlinux"), OT_ERR_OS, "/no/such/vmlinux");
	maker_init(&m);
	add_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, 0x400000, "x", 1);
	assert_err(open_file(finish(&m, 0x400000, 4096, 1, 0)), OT_ERR_BAD_DATA, "not a Linux kernel");
	maker_init(&m); /* a segment that extends beyond the end of the file */
	add_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, LINK, "x", 1);
	assert_err(open_file(finish(&m, LINK, 4096, 1u << 20, 0)), OT_ERR_BAD_DATA, "truncated");
	maker_init(&m); /* whole, but empty */
	add_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, LINK, "x", 1);
	assert_err(open_file(finish(&m, LINK, 4096, 1, 0)), OT_ERR_BAD_DATA, "neither symbols nor types");
	maker_init(&m); /* section headers cut off */
	add_section(&m, ".text", SHT_PROGBITS, SHF_ALLOC, LINK, "x", 1);
	assert_err(open_file(finish(&m, LINK, 4096, 1, 100)), OT_ERR_BAD_DATA, "truncated");
}

/* Bytes of the headers changed at random: an error or symbols, never worse. */
static void damage_is_survived(void **state)
{
	char bytes[16384];
	uint32_t seed = 11;
	const char *path = whole_vmlinux();
	FILE *f = fopen(path, "re");
	size_t len;

	(void)state;
	assert_non_null(f);
	len = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	unlink(path);
	for (unsigned int round = 0; round < 300; round++) {
		char copy[sizeof(bytes)], other[] = "/tmp/ot-vmlinux-XXXXXX";

		memcpy(copy, bytes, len);
		for (unsigned int i = 0; i < 6; i++) {
			seed = seed * 1664525u + 1013904223u;
			/* The file header, or what stands behind the sections: their headers. */
			copy[i & 1 ? (seed >> 8) % 120 : 4096 + (seed >> 8) % (len - 4096)] = (char)seed;
		}
		f = fdopen(mkstemp(other), "w");
		assert_non_null(f);
		assert_int_equal(fwrite(copy, 1, len, f), len);
		fclose(f);
		ot_err_destroy(open_file(other));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_vmlinux_gives_symbols_and_tables),
		cmocka_unit_test(a_stripped_vmlinux_opens_a_guest_that_hides_all),
		cmocka_unit_test(an_image_is_charged_to_the_budget),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(damage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
