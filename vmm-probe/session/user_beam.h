/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Erlang's virtual machine (BEAM) in a process, where it interprets. Its file exports nearly all functions
 * and variables, as libraries of its programs may use them, and its release for debuggers (etp_otp_release).
 * Its tables of modules are not exported, but an exported function refers to them. The registers in which the
 * interpreter keeps a process's stack pointer and instruction follow from its code. Its structures are no
 * interface, and their offsets are recorded nowhere: there is a table for OTP 25.
 */
#ifndef VP_SESSION_USER_BEAM_H
#define VP_SESSION_USER_BEAM_H

#include "vmm-probe/arch/code.h"
#include "vmm-probe/engine/wire/runtimes.h"
#include "vmm-probe/session/user_files.h"
#include "vmm-probe/session/user_reader.h"

/* clang-format off */
#define VP_BEAM_SYMBOLS(X) \
	X(EMULATOR,     "process_main") \
	X(DIRTY,        "erts_dirty_process_main") \
	X(NORMAL,       "erts_aligned_scheduler_data") \
	X(NNORMAL,      "erts_no_schedulers") \
	X(DIRTY_CPU,    "erts_aligned_dirty_cpu_scheduler_data") \
	X(NDIRTY_CPU,   "erts_no_dirty_cpu_schedulers") \
	X(DIRTY_IO,     "erts_aligned_dirty_io_scheduler_data") \
	X(NDIRTY_IO,    "erts_no_dirty_io_schedulers") \
	X(CURRENT,      "the_active_code_index") \
	X(ATOMS,        "erts_atom_table") \
	X(STAGING,      "erts_start_staging_ranges") \
	X(RELEASE,      "etp_otp_release") \
	X(COMPILES,     "etp_beamasm")
/* clang-format on */

enum vp_beam_symbol {
#define VP_BEAM_SYMBOL_ID(name, text) VP_BEAM_##name,
	VP_BEAM_SYMBOLS(VP_BEAM_SYMBOL_ID)
#undef VP_BEAM_SYMBOL_ID
	    VP_BEAM_NSYMBOLS
};

/* The offsets of a process's stack pointer and instruction, in OTP 25. */
#define VP_BEAM_PROCESS_STACK       88
#define VP_BEAM_PROCESS_INSTRUCTION 248

#define VP_BEAM_PLACES_MAX  16u /* variables that the function refers to */
#define VP_BEAM_RELEASE_MAX 8u  /* bytes of a release's number, with its NUL */

/* The contents of a file; addresses as it was linked. */
struct vp_beam_file {
	bool is_beam;                                                /* else all is zero */
	uint64_t symbols[VP_BEAM_NSYMBOLS], sizes[VP_BEAM_NSYMBOLS]; /* 0: it has none of that name */
	uint64_t data, data_end;                                     /* its writable data: [data, data_end) */
	/* Where its tables of modules may be; 0 of them: the page that says it is missing. */
	uint64_t places[VP_BEAM_PLACES_MAX];
	uint32_t nplaces;
	bool has_release; /* else its page is missing */
	char release[VP_BEAM_RELEASE_MAX];
	uint32_t compiles; /* not 0: it has a JIT */
	bool has_registers;
	uint32_t registers[VP_BEAM_REGISTERS]; /* enum vp_reg */
};

enum vp_beam_found {
	VP_BEAM_FOUND,
	VP_BEAM_EARLY,   /* it is just starting, and has no modules yet */
	VP_BEAM_UNKNOWN, /* its processes can't be shown */
};

/** Search a file for the machine; @p wanted: the operator's copies of it, for pages that are missing. Only
 * memory can be missing. */
OT_MUST_CHECK struct ot_err *vp_beam_file_read(struct vp_elf *elf, const struct vp_user_wanted *wanted,
					       struct vp_beam_file *ret);

/** The machine of a process that has mapped @p file at @p bias. *ret is set with FOUND, but for `saved`;
 * *ret_why with UNKNOWN: the reason, a constant. */
enum vp_beam_found vp_beam_find(const struct vp_user_reader *m, const struct vp_beam_file *file,
				uint64_t bias, struct vp_beam *ret, const char **ret_why);

/* For tests: */
/** The file's variables to which the @p len bytes of code at address @p at refer, by a displacement from the
 * next instruction or by their address: set as f->places. f->data and f->data_end are set before. */
void vp_beam_places(struct vp_beam_file *f, const uint8_t *bytes, uint64_t len, uint64_t at);
/** The registers in which the @p len bytes of the interpreter's code keep a process's stack pointer and
 * instruction. False: the code does not show them. */
bool vp_beam_registers(const struct vp_code_ops *code, const uint8_t *bytes, uint64_t len,
		       uint32_t ret[VP_BEAM_REGISTERS]);

#endif
