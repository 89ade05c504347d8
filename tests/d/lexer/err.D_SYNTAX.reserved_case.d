/* ASSERTION: case is reserved. */
BEGIN { case; }
