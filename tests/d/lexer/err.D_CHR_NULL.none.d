/* ASSERTION: a character constant has a character. */
BEGIN { trace(''); }
