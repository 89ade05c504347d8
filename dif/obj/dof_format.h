/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DOF version 2 as published, and our own sections (docs/dif.md). Ours do not have the LOAD flag, so other
 * readers skip them.
 */
#ifndef DIF_OBJ_DOF_FORMAT_H
#define DIF_OBJ_DOF_FORMAT_H

#include <stdint.h>

#include "dif/obj/object.h"

#define DOF_MAGIC        "\177DOF"
#define DOF_MODEL_LP64   2
#define DOF_ENCODE_LSB   1
#define DOF_VERSION_1    1
#define DOF_VERSION_2    2
#define DOF_DIF_VERSION  2
#define DOF_NREGS        8 /* the published machine's number: a larger one is declared only where it is used */
#define DOF_NONE         0xffffffffu
#define DOF_SIZE_MAX     (8u << 20)
#define DOF_SECTIONS_MAX (1u << 18)

enum dof_ident {
	DOF_ID_MODEL = 4,
	DOF_ID_ENCODING = 5,
	DOF_ID_VERSION = 6,
	DOF_ID_DIFVERS = 7,
	DOF_ID_DIFIREG = 8,
	DOF_ID_DIFTREG = 9,
	DOF_ID_PAD = 10,
	DOF_ID_SIZE = 16,
};

enum dof_type {
	DOF_ECBDESC = 3,
	DOF_PROBEDESC = 4,
	DOF_ACTDESC = 5,
	DOF_DIFOHDR = 6,
	DOF_DIF = 7,
	DOF_STRTAB = 8,
	DOF_VARTAB = 9,
	DOF_INTTAB = 19,
	/* ours */
	DOF_OT_AGGVARS = 0x4f00, /* u32 strtab, u32 0, then struct dof_aggvar */
	DOF_OT_OPTIONS = 0x4f01, /* u32 strtab, u32 0, then struct dof_option */
	DOF_OT_CLAUSES = 0x4f02, /* u32 strtab, u32 0, then struct dof_clause_ext, one for each ECB */
	DOF_OT_ACTIONS = 0x4f03, /* u32 DOF_NONE, u32 0, then struct dof_action_ext, for the actions of
				  * each ECB in order */
};

enum { DOF_SECF_LOAD = 1 };

struct dof_header {
	uint8_t ident[DOF_ID_SIZE];
	uint32_t flags, hdrsize, secsize, secnum;
	uint64_t secoff, loadsz, filesz, pad;
};

struct dof_section {
	uint32_t type, align, flags, entsize;
	uint64_t offset, size;
};

struct dof_ecbdesc {
	uint32_t probes, pred, actions, pad;
	uint64_t uarg;
};

struct dof_probedesc {
	uint32_t strtab, provider, module, function, name, id;
};

struct dof_actdesc {
	uint32_t difo, strtab, kind, ntuple;
	uint64_t arg, uarg;
};

struct dof_difohdr {
	struct dif_rtype ret;
	uint32_t links[]; /* sections */
};

/* ours */
struct dof_ext_head {
	uint32_t strtab, zero;
};

struct dof_aggvar {
	uint32_t name, id, kind, nkeys;
	uint64_t arg;
};

struct dof_option {
	uint32_t name, value; /* value DOF_NONE: without a value */
};

struct dof_clause_ext {
	uint32_t guest, line;
};

enum {
	DOF_ACT_KEY = 1,
	DOF_ACT_INCREMENT = 2,
	DOF_ACT_CONSTANT = 4, /* the key that is the aggregation's number; exists in the file only */
};

struct dof_action_ext {
	uint32_t aggid, flags;
	uint64_t arg; /* if the published arg is the index of a string */
};

_Static_assert(sizeof(struct dof_header) == 64 && sizeof(struct dof_section) == 32, "published sizes");
_Static_assert(sizeof(struct dof_ecbdesc) == 24 && sizeof(struct dof_probedesc) == 24 &&
		   sizeof(struct dof_actdesc) == 32,
	       "published sizes");

#endif
