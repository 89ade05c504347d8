/* ASSERTION: goto is reserved. */
BEGIN { goto; }
