/* ASSERTION: break is reserved. */
BEGIN { break; }
