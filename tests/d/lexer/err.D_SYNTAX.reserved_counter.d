/* ASSERTION: counter is reserved. */
BEGIN { counter; }
