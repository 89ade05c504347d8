/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io: block I/O, a firing for each bio.
 */
provider io module genunix;

/* submit_bio_noacct_nocheck(bio), in the thread that submits it; before 5.18 submit_bio_checks() */
probe start(struct bio * : bufinfo_t *, struct bio * : devinfo_t *, struct bio * : fileinfo_t *) {
	at { fbt::submit_bio_noacct_nocheck:entry { trace(arg0); trace(arg0); trace(arg0); } }
	or { sdt:block::block_bio_queue / arg1 == 0 / { trace(arg0); trace(arg0); trace(arg0); } }
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
