/* ASSERTION: comments may stand between any two tokens, and hold anything but their own opener. */
#pragma D option quiet
/* " ' # @ $ ` // **/
/**/
BEGIN /* one */
/* two */ / /* of the predicate */ 1 /* three */ - /* four
 five */ 0/
{
	printf/* seven */("%d /* not */\n",
	    /* eight */ 6 /* nine */- 2);
	exit(0); /*** ten ***/
}
/* the end */
