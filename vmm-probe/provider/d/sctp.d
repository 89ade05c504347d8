/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sctp: packets of this host's associations, over IPv4 and IPv6, and their states. Linux's SCTP is a module: the
 * probes exist once it is loaded.
 */
provider sctp;

inline int sctp_over_v4[struct sk_buff *skb] = *((uint8_t *)skb->head + skb->network_header + 9) == 132;
inline int sctp_over_v6[struct sk_buff *skb] = *((uint8_t *)skb->head + skb->network_header + 6) == 132;

/* Older kernels have no types of a module's functions. */
inline uint64_t sctp_association_of[uint64_t transport] = (uint64_t)((struct sctp_transport *)transport)->asoc;
inline int sctp_is_from_network[uint64_t skb] = ((struct sk_buff *)skb)->protocol != 0;
inline int sctp_state_of[uint64_t asoc] = (int)((struct sctp_association *)asoc)->state;

/* sctp_v4_xmit(skb, transport), sctp_v6_xmit(): SCTP gives a packet to IP; the IP header is complete at the places of
 * ip:::send. A forwarded packet has no socket. */
probe send(arg0 struct sk_buff * : pktinfo_t *, arg1 struct sctp_association * : csinfo_t *,
	   arg0 struct sk_buff * : ipinfo_t *, arg1 struct sctp_association * : sctpsinfo_t *,
	   arg0 struct sk_buff * : sctpinfo_t *) {
	at {
		fbt::ip_finish_output:entry / arg1 && sctp_over_v4[args[2]] /
		{ trace(arg2); trace(this->sent == arg2 ? this->sender : 0); }
		fbt::ip6_finish_output:entry / arg1 && sctp_over_v6[args[2]] /
		{ trace(arg2); trace(this->sent == arg2 ? this->sender : 0); }
	}
	with {
		fbt:sctp:sctp_v4_xmit:entry, fbt:sctp:sctp_v6_xmit:entry
		{ this->sent = arg0; this->sender = sctp_association_of[arg1]; }
	}
	/* a kernel without IPv6 */
	or {
		fbt::ip_finish_output:entry / arg1 && sctp_over_v4[args[2]] /
		{ trace(arg2); trace(this->sent == arg2 ? this->sender : 0); }
	}
	with { fbt:sctp:sctp_v4_xmit:entry { this->sent = arg0; this->sender = sctp_association_of[arg1]; } }
}

/* sctp_chunkify(skb, asoc, sk, gfp): its association, if any, is found. What is made here to be sent has no protocol
 * yet. */
probe receive(arg0 struct sk_buff * : pktinfo_t *, arg1 struct sctp_association * : csinfo_t *,
	      arg0 struct sk_buff * : ipinfo_t *, arg1 struct sctp_association * : sctpsinfo_t *,
	      arg0 struct sk_buff * : sctpinfo_t *) {
	at { fbt:sctp:sctp_chunkify:entry / sctp_is_from_network[arg0] / { trace(arg0); trace(arg1); } }
}

/*
 * sctp_do_sm(net, event, subtype, state, ep, asoc, …) is the state machine: all states but the first are entered in
 * it, and where it ends an association it calls sctp_association_free(asoc). A new one is made known by
 * sctp_endpoint_add_asoc(ep, asoc). A packet to this host itself makes it run inside of itself, for the other
 * end: so the association of each level is kept.
 */
self int level;
self uint64_t machine[int];
self int left[int];

probe state-change(void, arg1 struct sctp_association * : csinfo_t *, void,
		   arg1 struct sctp_association * : sctpsinfo_t *, void, arg2 int : sctplsinfo_t *) {
	at {
		fbt:sctp:sctp_do_sm:return
		/ self->machine[self->level] && sctp_state_of[self->machine[self->level]] != self->left[self->level] /
		{ trace(0); trace(self->machine[self->level]); trace(self->left[self->level]); }
		fbt:sctp:sctp_association_free:entry
		/ self->machine[self->level] == arg0 && self->left[self->level] /
		{ trace(0); trace(arg0); trace(self->left[self->level]); }
	}
	with {
		fbt:sctp:sctp_do_sm:entry
		{
			self->level = self->level + 1;
			self->machine[self->level] = arg5;
			self->left[self->level] = arg5 ? sctp_state_of[arg5] : 0;
		}
		fbt:sctp:sctp_endpoint_add_asoc:entry / self->level && !self->machine[self->level] /
		{ self->machine[self->level] = arg1; }
	}
	after {
		fbt:sctp:sctp_association_free:entry / self->machine[self->level] == arg0 /
		{ self->machine[self->level] = 0; }
		fbt:sctp:sctp_do_sm:return / self->level /
		{
			self->machine[self->level] = 0;
			self->left[self->level] = 0;
			self->level = self->level - 1;
		}
	}
}
