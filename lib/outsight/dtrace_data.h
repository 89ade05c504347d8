/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What records and aggregations are made of, as <outsight/dtrace.h> hands it out. */
#ifndef OUTSIGHT_DTRACE_DATA_H
#define OUTSIGHT_DTRACE_DATA_H

#include <elf.h>
#include <stdint.h>

/* Types that programs for DTrace expect of their system. */
typedef unsigned int uint_t;
typedef int processorid_t;
typedef Elf64_Addr GElf_Addr;
typedef Elf64_Sym GElf_Sym;
#ifndef B_TRUE
typedef int boolean_t;
#define B_FALSE 0
#define B_TRUE  1
#endif

typedef uint32_t dtrace_id_t;       /* of a probe */
typedef uint32_t dtrace_epid_t;     /* of a clause on a probe */
typedef uint32_t dtrace_aggid_t;    /* of an aggregating action */
typedef int64_t dtrace_aggvarid_t;  /* of an aggregation, from 1 on in order of definition */
typedef uint16_t dtrace_actkind_t;  /* DTRACEACT_… and DTRACEAGG_… */
typedef uint8_t dtrace_stability_t; /* 0 (internal) to 7 (standard) */
typedef uint8_t dtrace_class_t;     /* 0 (unknown) to 5 (common) */

#define DTRACE_PROVNAMELEN 64
#define DTRACE_MODNAMELEN  64
#define DTRACE_FUNCNAMELEN 192
#define DTRACE_NAMELEN     64

/* A probe. Longer names are cut; all end in a NUL. */
typedef struct dtrace_probedesc {
	dtrace_id_t dtpd_id;
	char dtpd_provider[DTRACE_PROVNAMELEN];
	char dtpd_mod[DTRACE_MODNAMELEN];
	char dtpd_func[DTRACE_FUNCNAMELEN];
	char dtpd_name[DTRACE_NAMELEN];
} dtrace_probedesc_t;

/* A datum of a record or of an aggregation. */
typedef struct dtrace_recdesc {
	dtrace_actkind_t dtrd_action; /* what recorded it */
	uint32_t dtrd_size;           /* bytes */
	uint32_t dtrd_offset;         /* from where the record, or dtada_data, begins */
	uint16_t dtrd_alignment;
	uint16_t dtrd_format; /* 0: it has no format */
	/* Of an aggregating action its parameters, see DTRACE_LQUANTIZE_STEP(); of printf() 1 if this is a 0
	 * in the place of arguments that there are none of. */
	uint64_t dtrd_arg;
	uint64_t dtrd_uarg; /* the same for all data of one statement */
} dtrace_recdesc_t;

/* A clause on a probe, and the data that it records. */
typedef struct dtrace_eprobedesc {
	dtrace_epid_t dtepd_epid;
	dtrace_id_t dtepd_probeid;
	uint64_t dtepd_uarg;
	uint32_t dtepd_size; /* of a record */
	int dtepd_nrecs;
	dtrace_recdesc_t dtepd_rec[1]; /* dtepd_nrecs of them */
} dtrace_eprobedesc_t;

/* An aggregation: its data are the variable's number, the keys, the value. */
typedef struct dtrace_aggdesc {
	char *dtagd_name; /* "_" for @ */
	dtrace_aggvarid_t dtagd_varid;
	int dtagd_flags;
	dtrace_aggid_t dtagd_id;
	dtrace_epid_t dtagd_epid;
	uint32_t dtagd_size; /* of dtada_data */
	int dtagd_nrecs;
	uint32_t dtagd_pad;
	dtrace_recdesc_t dtagd_rec[1]; /* dtagd_nrecs of them */
} dtrace_aggdesc_t;

/* --- actions ------------------------------------------------------------------------------------------- */

#define DTRACEACT_NONE             0x0000
#define DTRACEACT_DIFEXPR          0x0001
#define DTRACEACT_EXIT             0x0002
#define DTRACEACT_PRINTF           0x0003
#define DTRACEACT_PRINTA           0x0004
#define DTRACEACT_LIBACT           0x0005
#define DTRACEACT_TRACEMEM         0x0006
#define DTRACEACT_TRACEMEM_DYNSIZE 0x0007
#define DTRACEACT_PRINTM           0x0008
#define DTRACEACT_PROC             0x0100
#define DTRACEACT_USTACK           0x0101
#define DTRACEACT_JSTACK           0x0102
#define DTRACEACT_USYM             0x0103
#define DTRACEACT_UMOD             0x0104
#define DTRACEACT_UADDR            0x0105
#define DTRACEACT_PROC_DESTRUCTIVE 0x0200
#define DTRACEACT_STOP             0x0201
#define DTRACEACT_RAISE            0x0202
#define DTRACEACT_SYSTEM           0x0203
#define DTRACEACT_FREOPEN          0x0204
#define DTRACEACT_KERNEL           0x0400
#define DTRACEACT_STACK            0x0401
#define DTRACEACT_SYM              0x0402
#define DTRACEACT_MOD              0x0403
#define DTRACEACT_SPECULATIVE      0x0600
#define DTRACEACT_SPECULATE        0x0601
#define DTRACEACT_COMMIT           0x0602
#define DTRACEACT_DISCARD          0x0603
#define DTRACEACT_CLASS(kind)      ((kind)&0xff00)

#define DTRACEACT_AGGREGATION 0x0700
#define DTRACEAGG_COUNT       0x0701
#define DTRACEAGG_MIN         0x0702
#define DTRACEAGG_MAX         0x0703
#define DTRACEAGG_AVG         0x0704 /* two words: how many, their sum */
#define DTRACEAGG_SUM         0x0705
#define DTRACEAGG_STDDEV      0x0706 /* four: how many, their sum, the sum of their squares in 128 bits */
#define DTRACEAGG_QUANTIZE    0x0707 /* DTRACE_QUANTIZE_NBUCKETS words */
#define DTRACEAGG_LQUANTIZE   0x0708 /* the parameters, the values below, each step, those above */
#define DTRACEAGG_LLQUANTIZE  0x0709 /* the same, by steps of each order of magnitude */

/* Buckets of quantize(): powers of two, negative ones first. */
#define DTRACE_QUANTIZE_NBUCKETS   127
#define DTRACE_QUANTIZE_ZEROBUCKET 63
#define DTRACE_QUANTIZE_BUCKETVAL(bucket)                                      \
	((int64_t)((bucket) < DTRACE_QUANTIZE_ZEROBUCKET                       \
		       ? -(1LL << (DTRACE_QUANTIZE_ZEROBUCKET - 1 - (bucket))) \
		   : (bucket) == DTRACE_QUANTIZE_ZEROBUCKET                    \
		       ? 0                                                     \
		       : 1LL << ((bucket)-DTRACE_QUANTIZE_ZEROBUCKET - 1)))

/* The parameters of lquantize() and llquantize(), as dtrd_arg and the value's first word have them. */
#define DTRACE_LQUANTIZE_STEP(arg)    ((uint16_t)((arg) >> 48))
#define DTRACE_LQUANTIZE_LEVELS(arg)  ((uint16_t)((arg) >> 32))
#define DTRACE_LQUANTIZE_BASE(arg)    ((int32_t)(arg))
#define DTRACE_LLQUANTIZE_FACTOR(arg) ((uint16_t)((arg) >> 48))
#define DTRACE_LLQUANTIZE_LOW(arg)    ((uint16_t)((arg) >> 32))
#define DTRACE_LLQUANTIZE_HIGH(arg)   ((uint16_t)((arg) >> 16))
#define DTRACE_LLQUANTIZE_NSTEP(arg)  ((uint16_t)(arg))

#endif
