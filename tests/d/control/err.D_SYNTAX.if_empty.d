/* ASSERTION: An if needs a condition. */
BEGIN { if () trace(1); }
