/* ASSERTION: nothing is closed that was not opened. */
BEGIN { x 1] = 1; }
