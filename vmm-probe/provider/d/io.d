/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io: block I/O, a firing for each bio. When a bio ends it has advanced behind its last sector, so what done
 * tells is what the bio was at its start: every session that enables done keeps copies, one variable a bio.
 */
provider io;

struct bio copy[uint32_t, uint64_t];

inline uint64_t bio_at[struct bio *B] = (uint64_t)B;

/* submit_bio_noacct_nocheck() is called once more for what remains of a bio that is split. */
inline int is_first[struct bio *B] = !(B->bi_flags & (1 << BIO_TRACE_COMPLETION));

/* Of a variable without a value the address is 0, that of a member is its offset. */
inline int is_kept[struct bvec_iter *member] = (uint64_t)member != offsetof(struct bio, bi_iter);

/* submit_bio_noacct_nocheck(bio), in the thread that submits it. Before 5.18 its beginning is inlined: there it is
 * block_bio_queue(bio), and before 5.13 block_bio_queue(q, bio), which is passed once a bio too. */
probe start(struct bio * : bufinfo_t *, struct bio * : devinfo_t *, struct bio * : fileinfo_t *) {
	at { fbt::submit_bio_noacct_nocheck:entry / is_first[args[0]] / { trace(arg0); trace(arg0); trace(arg0); } }
	or { sdt:block::block_bio_queue { trace(bio_at[args[0]]); trace(arg0); trace(arg0); } }
	or { sdt:block::block_bio_queue { trace(bio_at[args[1]]); trace(arg1); trace(arg1); } }
}

/* bio_endio(bio), the first time: of a chain of bios each calls it, and the last one once more. arg0 is the bio. */
probe done(arg1 struct bio * : bufinfo_t *, arg1 struct bio * : devinfo_t *, arg1 struct bio * : fileinfo_t *) {
	at {
		fbt::bio_endio:entry / is_kept[&copy[guestid, arg0].bi_iter] /
		{ trace(arg0); trace(copy[guestid, arg0]); }
	}
	with {
		fbt::submit_bio_noacct_nocheck:entry
		/ is_first[args[0]] / { copy[guestid, (uint64_t)args[0]] = *args[0]; }
		fbt::bio_endio:entry / is_kept[&copy[guestid, arg0].bi_iter] /
		{ copy[guestid, arg0].bi_status = args[0]->bi_status; }
	}
	after { fbt::bio_endio:entry { copy[guestid, arg0] = *(struct bio *)NULL; /* frees it */ } }
	or {
		fbt::bio_endio:entry / is_kept[&copy[guestid, arg0].bi_iter] /
		{ trace(arg0); trace(copy[guestid, arg0]); }
	}
	with {
		sdt:block::block_bio_queue { copy[guestid, (uint64_t)args[0]] = *args[0]; }
		fbt::bio_endio:entry / is_kept[&copy[guestid, arg0].bi_iter] /
		{ copy[guestid, arg0].bi_status = args[0]->bi_status; }
	}
	after { fbt::bio_endio:entry { copy[guestid, arg0] = *(struct bio *)NULL; /* frees it */ } }
	or {
		fbt::bio_endio:entry / is_kept[&copy[guestid, arg0].bi_iter] /
		{ trace(arg0); trace(copy[guestid, arg0]); }
	}
	with {
		sdt:block::block_bio_queue { copy[guestid, (uint64_t)args[1]] = *args[1]; }
		fbt::bio_endio:entry / is_kept[&copy[guestid, arg0].bi_iter] /
		{ copy[guestid, arg0].bi_status = args[0]->bi_status; }
	}
	after { fbt::bio_endio:entry { copy[guestid, arg0] = *(struct bio *)NULL; /* frees it */ } }
}

/* submit_bio_wait(bio) */
probe wait-start(struct bio * : bufinfo_t *, struct bio * : devinfo_t *, struct bio * : fileinfo_t *) {
	at { fbt::submit_bio_wait:entry { trace(arg0); trace(arg0); trace(arg0); } }
}

probe wait-done(struct bio * : bufinfo_t *, struct bio * : devinfo_t *, struct bio * : fileinfo_t *) {
	at {
		fbt::submit_bio_wait:return / self->waits /
		{ trace(self->waits); trace(self->waits); trace(self->waits); }
	}
	with { fbt::submit_bio_wait:entry { self->waits = arg0; } }
	after { fbt::submit_bio_wait:return { self->waits = 0; } }
}
