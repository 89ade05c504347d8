/* ASSERTION: for is reserved. */
BEGIN { for; }
