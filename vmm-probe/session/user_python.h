/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The frames of the programs that CPython interprets. Its structures are no interface, and before 3.13
 * nothing in a process records their offsets. They are constant within a minor release, so there is a table
 * for each of 3.11 and 3.12, selected by the number in the file itself (Py_Version). 3.13 has the offsets in
 * its memory (_Py_DebugOffsets).
 */
#ifndef VP_SESSION_USER_PYTHON_H
#define VP_SESSION_USER_PYTHON_H

#include "vmm-probe/engine/wire/runtimes.h"
#include "vmm-probe/guest/process/processes.h"
#include "vmm-probe/session/user_files.h"

#define VP_PYTHON_OFFSETS 71u /* words of _Py_DebugOffsets that are read */

/* The contents of a file; addresses as it was linked. */
struct vp_python_file {
	uint64_t runtime, code_type; /* both, or 0: the file is no interpreter */
	uint64_t version_at;         /* where its version is; 0: it has none */
	uint64_t version;            /* 0: it has none, or its page is missing */
};

/** Search a file for the interpreter; @p wanted: the operator's copies of it, for pages that are missing.
 * Only memory can be missing. */
OT_MUST_CHECK struct ot_err *vp_python_file_read(struct vp_elf *elf, const struct vp_user_wanted *wanted,
						 struct vp_python_file *ret);

/** The runtime of a process that has mapped the interpreter @p file at @p bias. False: it is unknown;
 * *ret_why, a constant, is the reason. */
OT_MUST_CHECK bool vp_python_find(struct vp_processes *ps, const struct vp_guest_process *process,
				  const struct vp_python_file *file, uint64_t bias, struct vp_runtime *ret,
				  const char **ret_why);

/* For tests: */
/** The offsets by 3.13's own, @p words, which are the process's. False: they are of another version, or of an
 * impossible layout. */
OT_MUST_CHECK bool vp_python_by_offsets(const uint64_t words[VP_PYTHON_OFFSETS], struct vp_python *ret);
/** By the number of a version. False: that one is not known. */
OT_MUST_CHECK bool vp_python_by_version(uint64_t version, struct vp_python *ret);

#endif
