/* ASSERTION: default is reserved. */
BEGIN { default; }
