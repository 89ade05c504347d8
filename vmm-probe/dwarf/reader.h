/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading debugging information (DWARF) of a file that the operator named, by libdw. libdw is not made for
 * hostile files: this runs in a confined child (vmm-probe/confined) and nowhere else.
 */
#ifndef VP_DWARF_READER_H
#define VP_DWARF_READER_H

#include "base/buf.h"
#include "base/err.h"

/** Append all inlined copies in the ELF file @p fd, as copies.h has them, to @p ret. NOT_FOUND: it has no
 * debugging information. */
OT_MUST_CHECK struct ot_err *vp_dwarf_copies(int fd, struct ot_buf *ret);

#endif
