/* ASSERTION: return is reserved. */
BEGIN { return; }
