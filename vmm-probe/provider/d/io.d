/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io: block I/O, a firing for each bio. When a bio ends it has advanced behind its last sector, so what done
 * tells is what the bio was at its start: every session that enables done keeps copies.
 */
provider io module genunix;

/* submit_bio_noacct_nocheck(bio), in the thread that submits it; before 5.18 submit_bio_checks() */
probe start(struct bio * : bufinfo_t *, struct bio * : devinfo_t *, struct bio * : fileinfo_t *) {
	at { fbt::submit_bio_noacct_nocheck:entry { trace(arg0); trace(arg0); trace(arg0); } }
	or { sdt:block::block_bio_queue / arg1 == 0 / { trace(arg0); trace(arg0); trace(arg0); } }
}

/* bio_endio(bio), the first time: of a chain of bios each calls it, and the last one once more. arg0 is the bio. */
probe done(arg1 struct bio * : bufinfo_t *, arg1 struct bio * : devinfo_t *, arg1 struct bio * : fileinfo_t *) {
	at {
		fbt::bio_endio:entry / started[guestid, arg0] /
		{ trace(arg0); trace(copy[guestid, arg0]); }
	}
	with {
		fbt::submit_bio_noacct_nocheck:entry
		{
			started[guestid, arg0] = 1;
			copy[guestid, arg0] = *args[0];
		}
		fbt::bio_endio:entry / started[guestid, arg0] /
		{ copy[guestid, arg0].bi_status = args[0]->bi_status; }
	}
	after {
		fbt::bio_endio:entry / started[guestid, arg0] /
		{
			started[guestid, arg0] = 0;
			copy[guestid, arg0] = *(struct bio *)NULL; /* frees it */
		}
	}
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
