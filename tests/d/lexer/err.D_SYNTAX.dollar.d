/* ASSERTION: a dollar is in front of something. */
BEGIN { trace($); }
