/* ASSERTION: // comments are cpp's. */
// comment
BEGIN { exit(0); }
