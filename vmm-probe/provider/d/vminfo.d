/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vminfo: Solaris's statistics of virtual memory, over the kernel's own counters (vmstat). arg0 is by how much,
 * arg1 the address of the counter that the event increments; 0 where Linux counts no such event.
 */
provider vminfo;

inline int VM_SHARED = 8;

probe as_fault(int, uint64_t *) {
	at { vmstat:::pgfault { trace((int)arg0); trace(arg1); } }
}

probe maj_fault(int, uint64_t *) {
	at { vmstat:::pgmajfault { trace((int)arg0); trace(arg1); } }
}

/* do_wp_page(vmf): a write to a page that is not writable, of a private mapping */
probe cow_fault(int, uint64_t *) {
	at { fbt::do_wp_page:entry / !(args[0]->vma->vm_flags & VM_SHARED) / { trace(1); trace(0); } }
}

probe prot_fault(int, uint64_t *) {
	at { fbt::bad_area_access_error:entry { trace(1); trace(0); } }
}

/* Where do_anonymous_page() is inlined: a page is new in an address space, and no copy of another one. */
probe zfod(int, uint64_t *) {
	at { fbt::do_anonymous_page:entry { trace(1); trace(0); } }
	or { fbt::page_add_new_anon_rmap:entry / !self->copies / { trace(1); trace(0); } }
	with { fbt::wp_page_copy:entry, fbt::finish_fault:entry { self->copies = 1; } }
	after { fbt::wp_page_copy:return, fbt::finish_fault:return { self->copies = 0; } }
}

/* The counters are of sectors, of which a page has eight; a request may be of less than a page. */
probe pgpgin(int, uint64_t *) {
	at { vmstat:::pgpgin { trace((int)((arg0 + 7) >> 3)); trace(arg1); } }
}

probe pgpgout(int, uint64_t *) {
	at { vmstat:::pgpgout { trace((int)((arg0 + 7) >> 3)); trace(arg1); } }
}

probe pgin(int, uint64_t *) {
	at { vmstat:::pgpgin { trace(1); trace(arg1); } }
}

probe pgout(int, uint64_t *) {
	at { vmstat:::pgpgout { trace(1); trace(arg1); } }
}

/* Linux pages out to swap what belongs to no file, and never a process as a whole. */
probe anonpgin(int, uint64_t *) {
	at { vmstat:::pswpin { trace((int)arg0); trace(arg1); } }
}

probe anonpgout(int, uint64_t *) {
	at { vmstat:::pswpout { trace((int)arg0); trace(arg1); } }
}

probe pgswapin(int, uint64_t *) {
	at { vmstat:::pswpin { trace((int)arg0); trace(arg1); } }
}

probe pgswapout(int, uint64_t *) {
	at { vmstat:::pswpout { trace((int)arg0); trace(arg1); } }
}

probe dfree(int, uint64_t *) {
	at { vmstat:::pgfree { trace((int)arg0); trace(arg1); } }
}

/* A page that was to be freed is in use again. */
probe pgrec(int, uint64_t *) {
	at { vmstat:::pgactivate { trace((int)arg0); trace(arg1); } }
}

/* kswapd runs. */
probe pgrrun(int, uint64_t *) {
	at { vmstat:::pageoutrun { trace((int)arg0); trace(arg1); } }
}

/* mm_vmscan_lru_isolate(highest_zoneidx, order, nr_requested, nr_scanned, …) */
probe scan(int, uint64_t *) {
	at { sdt:vmscan::mm_vmscan_lru_isolate { trace((int)arg3); trace(0); } }
}
