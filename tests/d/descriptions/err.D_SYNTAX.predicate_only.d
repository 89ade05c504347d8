/* ASSERTION: nor is a predicate without actions. */
dtrace:::BEGIN
/1/
