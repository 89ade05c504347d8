/* ASSERTION: continue is reserved. */
BEGIN { continue; }
