/* SPDX-License-Identifier: BSD-2-Clause */
/* The records of all connections of a capture, with the events at their ends; texts, each kept once. */
#ifndef NETOBS_TOOLS_REPORT_REPORT_RECORDS_H
#define NETOBS_TOOLS_REPORT_REPORT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kinds of events that a sentence of the verdict links to: a segment with RST that has an effect, one that closes the
 * window, a retransmission, the ACK that completes a slow handshake, an ICMP error that a packet was not delivered, the
 * first data of a server that sends first and late. */
enum report_event {
	REPORT_RESET,
	REPORT_ZERO_WINDOW,
	REPORT_RESENT,
	REPORT_UNREACHABLE,
	REPORT_GREETING,
	REPORT_TROUBLES,
	REPORT_OPENED = REPORT_TROUBLES, /* of an end without other trouble as well */
	REPORT_EVENTS
};

/* Retransmissions of an end in a row, without any segment between them or of its peer; not those of segments that the
 * peer has acknowledged. */
struct report_repeats {
	uint64_t count;
	uint64_t packet, time;	     /* of the first one */
	uint64_t last;		     /* time of the last one */
	uint64_t segments, received; /* segments that the end had sent and received by the last one */
};

/* A segment of the handshake that was sent again. */
struct report_opening {
	uint64_t packet, time;
	uint64_t received; /* segments that the end had received before it */
};

/* The latest request of a client. */
struct report_request_event {
	uint64_t packet, time;
	uint64_t received;     /* bytes that the server had sent before it */
	uint64_t segments;     /* segments that the server had sent before it */
	uint64_t row;	       /* requests since the last data of the server, with this one */
	uint64_t first;	       /* time of the first request of this row */
	uint32_t length;       /* payload bytes of its last segment */
	uint32_t first_length; /* of the first request of this row */
};

/* An ICMP error that a packet was not delivered. */
struct report_rejection {
	uint8_t version; /* 4 ICMP, 6 ICMPv6; 0: there is no error */
	uint8_t type, code;
	uint8_t sender[16]; /* network order; IPv4 in the first four bytes */
};

/* Events of an end that has trouble.  Times ns since the epoch; packets 0: none. */
struct report_end_trouble {
	uint64_t cid;			   /* connection id of the end */
	uint64_t packets[REPORT_TROUBLES]; /* the first packet of each kind */
	uint64_t closed_packet;		   /* the segment that closed the window last */
	uint64_t closed_time;		   /* its time */
	uint64_t closed_segments;	   /* segments that the end had sent by the last one that shows it closed */
	uint64_t closed_us;		   /* time for which the window was closed in all; 0 unknown */
	uint64_t stuck_us;		   /* how long it is closed, if it is not opened again */
	uint64_t longest_us;		   /* longest time for which it was closed, stuck_us included; 0 unknown */
	uint64_t longest_packet;	   /* the segment that closed it then */
	struct report_repeats repeats;
	uint64_t repeats_most;	   /* most retransmissions in a row */
	uint64_t queued_ns;	   /* longest time from the first to the last request of a row */
	uint64_t greeting_us;	   /* of a server that sends first, and late: until its first data; 0 none */
	uint64_t missing_segments; /* segments that it had sent when it acknowledged missing data last */
	uint32_t missing;	   /* bytes that it acknowledged then and the capture does not have */
	uint64_t too_big_packet;   /* latest ICMP error that a packet of it was too big for the path */
	uint64_t too_big_time;
	struct report_rejection rejection; /* the first of a packet of it */
	uint64_t duplicates_reported;	   /* D-SACKs that it has sent (RFC 2883): what it got twice */
	uint64_t acked_before_loss;	   /* bytes of it that were acknowledged before its first retransmission */
	uint64_t segments_before_loss;	   /* segments that it had sent by then */
	uint32_t stuck_length;		   /* payload bytes of its latest retransmission */
	struct report_opening syn_again;   /* the latest SYN or SYN-ACK that it has sent again */
	struct report_repeats alive;	   /* keep-alive probes in a row, to which its peer sends nothing */
	uint64_t held_us, held_max_us;	   /* time for which it held data back until a small segment was acknowledged */
	uint64_t held;			   /* how often */
	uint64_t held_packet;		   /* the small segment before the longest of these waits */
};

/* Events of an end.  Most connections have no trouble, and a server has no request. */
struct report_end_events {
	uint64_t finish_time;	   /* its first FIN or RST; 0 none */
	uint64_t finish_received;  /* bytes that its peer had sent by then */
	uint64_t finish_data_time; /* the latest data of its peer before; 0 none */
	bool reset_first;	   /* it was a RST */
	uint64_t syn_ack_packet;   /* its first SYN-ACK; 0 none */
	uint64_t syn_ack_time;
	bool echoes_first;	/* that SYN-ACK echoes the timestamp of the first SYN */
	uint64_t opened_packet; /* REPORT_OPENED; 0 none */
	uint64_t data_packet;	/* its latest segment with new payload */
	uint64_t data_time;	/* its time; 0 none */
	uint64_t
	    acked_time;	 /* when its peer acknowledged that, by a segment without payload; 0 it did not, or otherwise */
	bool data_small; /* it is shorter than the segments of the connection, and was all that was outstanding */
	uint32_t window_max;		       /* largest window that it has advertised, scaled */
	uint32_t ticks;			       /* its latest timestamp (RFC 7323), if `ticks_time` is not 0 */
	uint32_t ticks_first;		       /* its first one */
	uint64_t ticks_first_time, ticks_time; /* their times */
	uint64_t lag_ticks;    /* sum over its data segments: ticks of its peer since the one that they echo */
	uint32_t lags;	       /* number of these */
	uint32_t length_acked; /* the largest payload of its segments when all were acknowledged */
	uint32_t length_sent;  /* the largest since then */
	uint8_t ttl, rst_ttl;  /* of its latest segment without RST, of its first RST; 0 none */
	uint8_t idents_known;  /* its latest segment has an identification, and it is known how far the next one is */
	uint16_t ident;	       /* identification of its latest segment */
	uint16_t idents_next,
	    idents_odd;		 /* segments whose identification follows that before, or does not; saturating */
	uint16_t idents_late;	 /* segments whose identification is a little smaller than that before; saturating */
	uint16_t idents_missing; /* identifications that the capture lacks between those that follow; saturating */
	struct report_request_event *request; /* NULL: none */
	struct report_end_trouble *trouble;   /* NULL: none */
};

/* The trouble of an end with this connection id, and its latest request, which are made if there are none; NULL if out
 * of memory. */
struct report_end_trouble *report_end_add_trouble(struct report_end_events *end, uint64_t cid);
struct report_request_event *report_end_add_request(struct report_end_events *end);

/* The trouble of an end, and its latest request; zero if there is none. */
const struct report_end_trouble *report_end_trouble(const struct report_end_events *end);
const struct report_request_event *report_end_request(const struct report_end_events *end);

/* Frees what the events have; there are no events then. */
void report_end_clear(struct report_end_events *end);

struct report_text_block;

/* Texts of records, such as addresses and names, each kept once.  Zero at first. */
struct report_texts {
	const char **slots;		  /* a hash table; NULL: the slot is free */
	size_t size, count;		  /* size is a power of two */
	struct report_text_block *blocks; /* the latest first */
	uint64_t seed;			  /* secret: a capture cannot choose texts whose probe sequences are long */
};

/* The kept copy of a text, which stays where it is; NULL if out of memory. */
const char *report_texts_keep(struct report_texts *texts, const char *text);

void report_texts_free(struct report_texts *texts);

/* Ends of a connection. */
enum { REPORT_CLIENT, REPORT_SERVER, REPORT_ENDS };

enum report_reason {
	REPORT_FIN,
	REPORT_RESET_CLIENT,
	REPORT_RESET_SERVER,
	REPORT_REFUSED,
	REPORT_UNREACHED,
	REPORT_NO_ANSWER,
	REPORT_IDLE,
	REPORT_EVICTED,
	REPORT_CAPTURE_END,
	REPORT_REASONS
};

/* A handshake is slow from here on, us; the live page has the same limit. */
#define REPORT_SLOW_HANDSHAKE_US 250000

/* What a handshake waits for: the SYN-ACK of the server, the ACK of the client, a SYN or a SYN-ACK that is sent again
 * and then has its answer soon. */
enum report_delay {
	REPORT_LATE_SYN_ACK,
	REPORT_LATE_ACK,
	REPORT_OLD_ANSWER, /* the server answers the SYN for an older connection, and the SYN is sent again */
	REPORT_LOST_SYN,
	REPORT_LOST_SYN_ACK,
	REPORT_DELAYS
};

/* Bytes of a name in JSON, escapes and NUL included. */
#define REPORT_NAME_SIZE 128u

/* An answer is slow from here on, us; the live page has the same limit. */
#define REPORT_SLOW_ANSWER_US 500000

/* From this time on, us, a closed window is a fault of the program that reads; fast transfers close it for less. */
#define REPORT_SLOW_READER_US 200000u

/* What a bad end, or a window that is not opened again, adds to the score: five retransmissions, so that a scan hides
 * nothing. */
#define REPORT_SCORE_FAILED 50u

/* Flags of TCP, RFC 9293. */
#define REPORT_FLAG_FIN 0x01u
#define REPORT_FLAG_SYN 0x02u
#define REPORT_FLAG_RST 0x04u
#define REPORT_FLAG_ACK 0x10u

/* An end of a connection, and the counts of its segments. */
struct report_end {
	const char *address; /* kept once; text of others, as names are */
	uint16_t port;
	uint64_t cid;
	uint64_t segments, bytes, resent, zero_windows;
	uint8_t flags;		 /* of all its segments */
	bool scales;		 /* it has offered window scaling */
	uint32_t unacknowledged; /* sequence space that it has sent and its peer has not acknowledged, at the end */
	struct report_end_events events;
};

/* An answer of a server, and packets: of the request, of its last copy if it was sent again, of the answer; 0: none
 * or unknown. */
struct report_answer {
	int64_t waited_us; /* from the request to the answer */
	int64_t server_us; /* from the last copy of the request on; 0 if `again` */
	uint64_t request, last_copy, answer;
	bool again; /* the answer itself was sent again, and its first copy is not in the capture */
};

/* Answers of a connection, each the slowest of its kind. */
enum report_answer_kind {
	REPORT_ANSWER_WAITED,	      /* of all, by waited_us */
	REPORT_ANSWER_SERVER,	      /* by server_us, as the others: of those that are of neither of these kinds */
	REPORT_ANSWER_REACTION,	      /* data of the server after a reaction of its client (report_detail.h) */
	REPORT_ANSWER_UNACKNOWLEDGED, /* no copy of the request was acknowledged before (report_detail.h) */
	REPORT_ANSWER_HOLE,	      /* data of the server is missing before it: the answer may be among that */
	REPORT_ANSWER_KINDS
};

/* The latest request of a client, if the server has sent no data after it for REPORT_SLOW_ANSWER_US, or has closed
 * without sending any. */
struct report_open_request {
	uint64_t packet; /* 0: none */
	uint64_t us;	 /* from the request until an end closes, or to the end */
	bool closed;	 /* an end has closed */
	uint8_t end;	 /* the one that has closed */
};

/* Retransmissions at the end of a connection, to which the peer sends nothing. */
struct report_silence {
	uint64_t too_big; /* an ICMP error before it: a packet was too big for the path; 0 none */
	uint64_t packet;  /* the first one; 0: none */
	uint64_t us;	  /* from the first one to the last one */
	uint64_t repeats; /* their number */
	uint8_t end;	  /* the end that sends them */
	bool probes;	  /* they are keep-alive probes */
};

/* What the time of a connection went to (netobs(7), connrec_t), us. */
struct report_waits {
	uint64_t connect, path, network, closing, unknown;
	uint64_t program[REPORT_ENDS], sending[REPORT_ENDS], window[REPORT_ENDS], lost[REPORT_ENDS];
};

struct report_record {
	struct report_waits waits;
	uint64_t turns, slow_answers, pause_max_us;
	uint64_t lost_before[REPORT_ENDS]; /* segments of each end that were lost before the capture */
	int64_t rtt_us[REPORT_ENDS];	   /* smallest round trip between the capture and each end; -1 unknown */
	int64_t loaded_us[REPORT_ENDS];	   /* mean round trip to each end under load; -1 unknown */
	int64_t server_min_us, server_max_us, unanswered_us;
	int8_t closed_by;	      /* the end that has sent the first FIN or RST; -1 none */
	bool cut;		      /* the other end has sent more data after that */
	bool close_wait[REPORT_ENDS]; /* its last state */
	size_t service;		      /* index in the services */
	struct report_end ends[REPORT_ENDS];
	uint64_t uid; /* place in the output, so that the order is the same in every run */
	uint64_t start, end, duration_us;
	uint64_t resent_fast, resent_timeout, resent_probe, resent_spurious, resent_syn;
	uint64_t zero_window_us, exchanges;
	int64_t handshake_us, rtt_mean_us, answer_mean_us, answer_max_us;
	struct report_answer *answers; /* of all kinds, if examined (report_detail.h); NULL otherwise; not owned */
	uint64_t greeting_us; /* from the handshake to the first data of a server that sends first, if slow; 0 none */
	uint64_t queued_us;   /* longest time in which the client sent requests, and the server no data */
	uint64_t missing;     /* bytes that an end acknowledges although the capture does not have them */
	uint64_t score;
	int detail; /* number of its detail; -1 none */
	uint8_t protocol;
	bool opened;		 /* its opening is in the capture */
	bool midstream;		 /* it began before the capture */
	bool goes_on;		 /* it lacks its beginning, which another record has */
	bool accepted;		 /* the last state of its server is one of an established connection */
	bool unanswered;	 /* its SYN has no answer of the server */
	bool rejected;		 /* its SYN has ICMP errors as an answer */
	bool half_open;		 /* its SYN-ACK has no answer */
	bool untaken;		 /* its server takes nothing that follows the SYN-ACK */
	uint64_t syn_ack_packet; /* its latest SYN-ACK; 0 unknown */
	enum report_delay delay; /* what its handshake waited for longest */
	uint64_t delay_packet;	 /* the segment after that; 0 unknown, or the ACK of the client */
	struct report_open_request open_request;
	uint64_t patience_us; /* from the latest request to the FIN or RST of a client that closes first; 0 unknown */
	bool abandoned;	      /* no data of the server came between */
	struct report_silence silence;
	struct report_rejection rejection; /* the one that has ended the attempt, or `rejected`: the first one */
	enum report_reason reason;
	const char *name;	 /* JSON */
	const char *answered_by; /* address that answers the queries of DNS in place of the server; NULL: none does */
};

struct connrec;

/* Records of a report, at most: about 600 bytes each. */
#define REPORT_RECORDS_MAX ((size_t)1 << 22)

struct report_records {
	struct report_record *list;
	size_t count, capacity;
	size_t most;	   /* records that are kept */
	uint64_t left_out; /* records after those */
	struct report_texts texts;
};

/* Adds the record of a connection; NULL if out of memory, or if it is left out. */
struct report_record *report_records_add(struct report_records *records, const struct connrec *connection);
void report_records_free(struct report_records *records);

/*
 * Sorts the records, those with most trouble first, and gives the first `top` connections of TCP a number in `detail`.
 * How many have one.
 */
size_t report_records_rank(struct report_records *records, size_t top);

/* Whether its protocol has requests and answers. */
bool report_record_has_answers(const struct report_record *record);

/* Whether the packets of its slowest answer were found. */
bool report_record_answer_is_found(const struct report_record *record);

/* The longest time, us, that its server is known to have taken for an answer.  0 if a slow answer was not found: its
 * time may be that of the network. */
int64_t report_record_server_us(const struct report_record *record);

/* Whether the capture ends while a client of TCP waits for an answer to its first SYN. */
bool report_record_is_attempt(const struct report_record *record);

/* True if a server of TCP has answered the SYN, and has not become established; no end has reset the attempt. */
bool report_record_is_half_open(const struct report_record *record);

/* The trouble of an end; zero if there is none. */
static inline const struct report_end_trouble *
report_trouble(const struct report_end *end)
{
	return report_end_trouble(&end->events);
}

/* The first packet of an event at either end of a record; 0 if there was none, or for REPORT_EVENTS. */
uint64_t report_record_event(const struct report_record *record, enum report_event event);

/* The word of a reason. */
const char *report_reason_name(enum report_reason reason);

#endif
