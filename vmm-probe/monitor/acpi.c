/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing the ACPI tables: RSDP, XSDT, FADT, FACS, DSDT, MADT. They describe the CPUs, the interrupt
 * controllers, which legacy devices are absent, and how to power off. ACPI 6.4, 5.2.5 to 5.2.12; AML of the
 * DSDT: 20.2.
 */
#include <string.h>

#include "vmm-probe/monitor/internal.h"

#define HEADER      36u
#define FADT_SIZE   276u
#define FACS_SIZE   64u
#define LAPIC_BASE  0xfee00000u
#define IOAPIC_BASE 0xfec00000u

/* Tables one after another; each starts at a multiple of 64. */
struct tables {
	uint8_t *host;
	uint32_t at; /* the next one, from VP_MON_ACPI */
};

static void put(uint8_t *p, uint32_t at, uint64_t v, size_t len)
{
	memcpy(p + at, &v, len);
}

/* The byte that makes the sum of all @len bytes 0. */
static uint8_t checksum(const uint8_t *p, size_t len)
{
	uint8_t sum = 0;

	while (len--)
		sum = (uint8_t)(sum + *p++);
	return (uint8_t)(0u - sum);
}

/* Reserve @len bytes; *ret_gpa is their guest physical address. */
static uint8_t *place(struct tables *t, uint32_t len, uint64_t *ret_gpa)
{
	uint8_t *p = t->host + t->at;

	*ret_gpa = VP_MON_ACPI + t->at;
	t->at += (len + 63) & ~63u;
	return p;
}

/* Without a terminating 0: signatures and names fill their fields. */
static void put_text(uint8_t *p, uint32_t at, const char *text)
{
	while (*text)
		p[at++] = (uint8_t)*text++;
}

static void finish(uint8_t *p, const char *signature, uint8_t revision, uint32_t len)
{
	put_text(p, 0, signature);
	put(p, 4, len, 4);
	p[8] = revision;
	put_text(p, 10, "OUTSGT");
	put_text(p, 16, "OUTSIGHT");
	put(p, 24, 1, 4);
	put_text(p, 28, "OTSG");
	put(p, 32, 1, 4);
	p[9] = checksum(p, len);
}

/* Name (\_S5, Package () {0, 0, 0, 0}): SLP_EN with type 0 powers off. */
static uint64_t write_dsdt(struct tables *t)
{
	static const uint8_t code[] = { 0x08, '_', 'S', '5', '_', 0x12, 0x06, 0x04, 0x00, 0x00, 0x00, 0x00 };
	uint64_t gpa;
	uint8_t *p = place(t, HEADER + sizeof(code), &gpa);

	memcpy(p + HEADER, code, sizeof(code));
	finish(p, "DSDT", 2, HEADER + sizeof(code));
	return gpa;
}

static uint64_t write_facs(struct tables *t)
{
	uint64_t gpa;
	uint8_t *p = place(t, FACS_SIZE, &gpa);

	put_text(p, 0, "FACS");
	put(p, 4, FACS_SIZE, 4);
	p[32] = 2; /* version */
	return gpa;
}

/* A generic address: an I/O port of @bits. */
static void put_port(uint8_t *p, uint32_t at, uint16_t port, uint8_t bits)
{
	p[at] = 1;
	p[at + 1] = bits;
	p[at + 3] = bits == 16 ? 2 : 3; /* access size */
	put(p, at + 4, port, 8);
}

static uint64_t write_fadt(struct tables *t, uint64_t dsdt, uint64_t facs)
{
	uint64_t gpa;
	uint8_t *p = place(t, FADT_SIZE, &gpa);

	put(p, 36, facs, 4);
	put(p, 40, dsdt, 4);
	put(p, 46, VP_MON_SCI_IRQ, 2);
	put(p, 56, VP_MON_PM_EVENT, 4);
	put(p, 64, VP_MON_PM_CONTROL, 4);
	p[88] = 4;                                /* PM1_EVT_LEN */
	p[89] = 2;                                /* PM1_CNT_LEN */
	put(p, 96, 0xfff, 2);                     /* C2: not supported */
	put(p, 98, 0xfff, 2);                     /* C3 */
	put(p, 109, 1 << 0 | 1 << 2 | 1 << 5, 2); /* legacy devices; no VGA; no CMOS clock */
	/* WBINVD; C1; no fixed power or sleep button */
	put(p, 112, 1 << 0 | 1 << 2 | 1 << 4 | 1 << 5, 4);
	p[131] = 1; /* minor version */
	put(p, 132, facs, 8);
	put(p, 140, dsdt, 8);
	put_port(p, 148, VP_MON_PM_EVENT, 32);
	put_port(p, 172, VP_MON_PM_CONTROL, 16);
	finish(p, "FACP", 6, FADT_SIZE);
	return gpa;
}

/* Local APICs (type 0), the IOAPIC (1), and interrupt source overrides (2). */
static uint64_t write_madt(struct tables *t, uint32_t nvcpus)
{
	uint32_t len = HEADER + 8 + nvcpus * 8 + 12 + 2 * 10;
	uint64_t gpa;
	uint8_t *p = place(t, len, &gpa), *e = p + HEADER + 8;

	put(p, HEADER, LAPIC_BASE, 4);
	put(p, HEADER + 4, 1, 4); /* PCAT_COMPAT: an 8259 is present */
	for (uint32_t i = 0; i < nvcpus; i++, e += 8)
		memcpy(e, (const uint8_t[]){ 0, 8, (uint8_t)i, (uint8_t)i, 1, 0, 0, 0 }, 8);
	e[0] = 1;
	e[1] = 12;
	put(e, 4, IOAPIC_BASE, 4);
	e += 12;
	/* The timer, ISA interrupt 0, is on pin 2; the SCI is level-triggered, active high. */
	memcpy(e, (const uint8_t[]){ 2, 10, 0, 0, 2, 0, 0, 0, 0, 0 }, 10);
	memcpy(e + 10, (const uint8_t[]){ 2, 10, 0, VP_MON_SCI_IRQ, VP_MON_SCI_IRQ, 0, 0, 0, 0x0d, 0 }, 10);
	finish(p, "APIC", 5, len);
	return gpa;
}

static uint64_t write_xsdt(struct tables *t, uint64_t fadt, uint64_t madt)
{
	uint64_t gpa;
	uint8_t *p = place(t, HEADER + 16, &gpa);

	put(p, HEADER, fadt, 8);
	put(p, HEADER + 8, madt, 8);
	finish(p, "XSDT", 1, HEADER + 16);
	return gpa;
}

struct ot_err *vp_mon_acpi_write(struct vp_mon *mon)
{
	struct tables t = { mon->ram[0].host + VP_MON_ACPI, 64 }; /* the RSDP comes first */
	uint64_t dsdt = write_dsdt(&t), facs = write_facs(&t);
	uint64_t fadt = write_fadt(&t, dsdt, facs), madt = write_madt(&t, mon->config.nvcpus);
	uint64_t xsdt = write_xsdt(&t, fadt, madt);
	uint8_t *rsdp = t.host;

	if (t.at > VP_MON_ACPI_SIZE)
		return ot_err_new(OT_ERR_INTERNAL, "ACPI's tables take %u bytes", t.at);
	put_text(rsdp, 0, "RSD PTR ");
	put_text(rsdp, 9, "OUTSGT");
	rsdp[15] = 2;
	put(rsdp, 20, 36, 4);
	put(rsdp, 24, xsdt, 8);
	rsdp[8] = checksum(rsdp, 20);
	rsdp[32] = checksum(rsdp, 36);
	return NULL;
}
