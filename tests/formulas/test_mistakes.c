/* SPDX-License-Identifier: BSD-2-Clause */
/* Mistakes in definitions: line, column, what is wrong and what would be right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formulas/formula.h"

static const struct {
	const char *text, *mistake; /* "LINE:COLUMN: message" */
} mistakes[] = {
	{"", "1:1: a name is expected, as in: slow-handshake = tcp-send"},
	{"x", "1:2: expected at the end: = and the probes"},
	{"x =", "1:4: a probe is expected, as tcp-connect-established"},
	{"x = 3", "1:5: no probe is called 3"},
	{"X = tcp-send", "1:1: a name begins with a small letter"},
	{"1x = tcp-send", "1:1: a name begins with a small letter"},
	{"x_y = tcp-send", "1:2: a name has small letters, digits and hyphens, as slow-handshake"},
	{"x- = tcp-send", "1:1: a hyphen must be between letters or digits"},
	{"x--y = tcp-send", "1:1: a hyphen must be between letters or digits"},
	{"tcp-send = tcp-receive", "1:1: tcp-send is the name of a probe"},
	{"formula-07 = tcp-receive", "1:1: formula-N is reserved for slots without a formula"},
	{"abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvwxyz = tcp-send",
	 "1:1: the name has 53 characters; 40 are allowed"},
	{"x == tcp-send", "1:3: expected before ==: = and the probes"},
	{"x = tcp-recieve", "1:5: no probe is called tcp-recieve (did you mean tcp-receive?)"},
	{"x = nothing-like-it", "1:5: no probe is called nothing-like-it"},
	{"x = ip-z*", "1:5: no probe matches ip-z*"},
	{"x = tcp-send,", "1:14: a probe is expected, as tcp-connect-established"},
	{"x = tcp-send tcp-receive", "1:14: expected before tcp: a comma, where or the end"},
	{"x = tcp-send where", "1:19: expected at the end: a field, a number or a text"},
	{"x = tcp-send where tcp_dprt == 80", "1:20: no field is called tcp_dprt (did you mean tcp_dport?)"},
	{"x = tcp-send where zzzzzzzz == 80", "1:20: no field is called zzzzzzzz"},
	{"x = tcp-send where tcpr_kind == fast",
	 "1:20: tcp-send has no tcpr_kind, which these have: tcp-retransmit, tcp-timeout-retransmit, "
	 "tcp-timeout-persist, tcp-timeout-keepalive and 2 others"},
	{"x = tcp-send, udp-send where tcp_dport == 80",
	 "1:30: udp-send has no tcp_dport, which these have: tcp-send, tcp-receive, "
	 "tcp-accept-established, tcp-accept-refused and 9 others"},
	{"x = tcp-* where ip_saddr == 10.0.0.1",
	 "1:17: tcp-state-change has no ip_saddr, which these have: gld-send, gld-receive, ip-send, "
	 "ip-receive and 31 others"},
	{"x = tcp-send where args[5]->tcp_dport == 1", "1:29: args[5] of tcp-send has no tcp_dport: args[4] has it"},
	{"x = tcp-send where args[3]->tcp_dport == 1", "1:29: args[3] of tcp-send has no tcp_dport: args[4] has it"},
	{"x = tcp-send where args[6] == NULL", "1:25: the index must be 0 to 5"},
	{"x = tcp-send where args[5] == NULL", "1:20: tcp-send has args[0] to args[4]"},
	{"x = tcp-send where args[4]->nonsense == 1", "1:29: no field is called nonsense"},
	{"x = tcp-send where args[4]-> == 1", "1:30: expected before ==: a field"},
	{"x = tcp-send where tcp_dport = 80", "1:30: = defines; == compares"},
	{"x = tcp-send where tcp_dport == 80 and tcp_sport == 1", "1:36: and is written &&, or is written ||"},
	{"x = tcp-send where tcp_dport == 70000", "1:33: tcp_dport is 0 to 65535, never 70000"},
	{"x = tcp-send where tcp_dport == -1", "1:33: tcp_dport is 0 to 65535, never -1"},
	{"x = tcp-send where tcps_snd_bytes > -1", "1:37: tcps_snd_bytes is never negative"},
	{"x = tcp-send where tcp_dport > 100ms", "1:32: tcp_dport has no unit: a plain number is expected, not 100ms"},
	{"x = tcp-send where tcps_srtt_us > 1MB",
	 "1:35: tcps_srtt_us counts us, which 1MB is not: units that fit are ns, us, ms, s, m, min, h or d"},
	{"x = tcp-send where tcps_rtt > 1500us", "1:31: tcps_rtt counts ms, and 1500us is not a whole number of them"},
	{"x = tcp-send where tcps_srtt_us > 1ns",
	 "1:35: tcps_srtt_us counts us, and 1ns is not a whole number of them"},
	{"x = tcp-send where pkt_len > 1ms",
	 "1:30: pkt_len counts bytes, which 1ms is not: units that fit are B, k, K, M, G, T, kB, MB, "
	 "GB, TB, KiB, MiB, GiB or TiB"},
	{"x = tcp-send where pkt_len > 1kb",
	 "1:31: \"kb\" is not a unit: kB"},
	{"x = tcp-send where pkt_len > 1msec",
	 "1:31: \"msec\" is not a unit: times have ns, us, ms, s, m, min, h or d, sizes B, k, K, M, G, "
	 "T, kB, MB, GB, TB, KiB, MiB, GiB or TiB"},
	{"x = tcp-send where pkt_len > 1.5", "1:30: 1.5 is not a whole number, and has no unit; as in 1.5ms"},
	{"x = tcp-send where pkt_len > 1.3B", "1:30: 1.3B is not a whole number of ns or bytes"},
	{"x = tcp-send where pkt_len > 010", "1:30: 010 is neither decimal, as 8, nor hexadecimal, as 0x8"},
	{"x = tcp-send where pkt_len > 99999999999999999999",
	 "1:30: 99999999999999999999 is too large: numbers have 64 bits"},
	{"x = tcp-send where tcps_state == establishd",
	 "1:34: tcps_state has no establishd (did you mean established?)"},
	{"x = tcp-send where tcps_state == fin-wait-3",
	 "1:34: tcps_state has no fin-wait-3 (did you mean fin-wait-1?)"},
	{"x = tcp-send where tcps_state == SYN",
	 "1:34: tcps_state has no SYN; it has established, syn-sent, syn-received, fin-wait-1, fin-wait-2, "
	 "time-wait, closed, close-wait, last-ack, listen, closing"},
	{"x = tcp-send where tcp_flags & established",
	 "1:32: tcp_flags has no established; it has FIN, SYN, RST, PSH, ACK, URG, ECE, CWR"},
	{"x = tcp-send where tcp_flags & RTS", "1:32: tcp_flags has no RTS (did you mean RST?)"},
	{"x = tcp-send where tcp_dport == RST", "1:33: tcp_dport has no words: a number is expected, not RST"},
	{"x = tcp-send where RST", "1:20: RST is a number of tcp_flags: compare it with such a field"},
	{"x = tcp-send where SYN|ACK == 3", "1:20: | binds less tight than a comparison: write (a | b) == c"},
	{"x = tcp-send where tcp_flags == SYN|ACK", "1:20: | binds less tight than a comparison: write a == (b | c)"},
	{"x = tcp-send where tcp_flags & RST == RST", "1:20: & binds less tight than a comparison: write (a & b) == c"},
	{"x = tcp-send where tcp_flags & 4 != 0", "1:20: & binds less tight than a comparison: write (a & b) == c"},
	{"x = tcp-send where 1 < tcp_dport < 3",
	 "1:20: a comparison is compared: write a < b && b < c, or use parentheses"},
	{"x = tcp-send where !tcp_dport == 3",
	 "1:20: ! applies to the operand only: write !(a == b), or use parentheses"},
	{"x = tcp-send where !ip_saddr in 10.0.0.0/8",
	 "1:20: ! applies to the operand only: write !(a == b), or use parentheses"},
	{"x = tcp-send where cs_comm == nginx",
	 "1:31: text must be in double quotes: \"nginx\"; quote the expression for a shell"},
	{"x = tcp-send where cs_comm == 'nginx'", "1:31: text must be in double quotes: \"...\""},
	{"x = tcp-send where cs_comm == \"nginx", "1:31: the text has no \" at its end"},
	{"x = tcp-send where cs_comm == \"a\\q\"",
	 "1:33: not an escape: these are \\\", \\\\, \\n, \\t, \\r and \\x01 to \\xff"},
	{"x = tcp-send where cs_comm == \"a\\x00\"",
	 "1:33: not an escape: these are \\\", \\\\, \\n, \\t, \\r and \\x01 to \\xff"},
	{"x = tcp-send where cs_comm == \"0123456789abcdefg\"", "1:31: cs_comm has at most 15 bytes, this text has 17"},
	{"x = tcp-send where cs_comm == \"0123456789abcdef\"", "1:31: cs_comm has at most 15 bytes, this text has 16"},
	{"x = tcp-send where cs_comm == 5", "1:31: 5 is not text"},
	{"x = tcp-send where cs_comm < \"a\"", "1:20: text is compared with == != and ~"},
	{"x = tcp-send where cs_comm ~ nginx",
	 "1:30: text must be in double quotes: \"nginx\"; quote the expression for a shell"},
	{"x = tcp-send where cs_comm ~ \"[abc\"", "1:30: the pattern has a [ without ]; \\\\[ is the character"},
	{"x = tcp-send where tcp_dport ~ \"80\"", "1:20: tcp_dport is not a field of text, which ~ needs"},
	{"x = tcp-send where cs_comm", "1:20: text alone is not a condition: cs_comm != \"\""},
	{"x = tcp-send where \"a\" == \"b\"", "1:20: two texts are compared, and no field"},
	{"x = tcp-send where cs_comm + 1 == 2",
	 "1:20: cs_comm is text: it is compared with == != and ~, or with in {\"a\", \"b\"}"},
	{"x = tcp-send where cs_comm in 10.0.0.0/8", "1:20: cs_comm is not an address"},
	{"x = tcp-send where ip_saddr in 10.1.2.3/8", "1:32: 10.1.2.3/8 has bits after the prefix: 10.0.0.0/8"},
	{"x = tcp-send where ip_saddr in 10.0.0.0/33", "1:32: 10.0.0.0/33: a prefix has at most 32 bits"},
	{"x = tcp-send where ip_saddr in {10.0.0.0/8, 80}", "1:45: 80 is not text"},
	{"x = tcp-send where ip_saddr in {10.0.0.0/8, office}",
	 "1:45: text must be in double quotes: \"office\"; quote the expression for a shell"},
	{"x = tcp-send where tcp_dport in 80",
	 "1:33: expected before 80: a set, as {80, 443, 8000..8080}, or a prefix, as 10.0.0.0/8"},
	{"x = tcp-send where tcp_dport in {80", "1:36: expected at the end: \",\" or \"}\""},
	{"x = tcp-send where tcp_dport in {}", "1:34: expected before }: a field, a number or a text"},
	{"x = tcp-send where tcp_dport in {80, tcp_sport}", "1:38: tcp_sport is not a constant"},
	{"x = tcp-send where tcp_dport in {90..80}", "1:34: the range is empty: the smaller number comes first"},
	{"x = tcp-send where tcp_dport in {80..70000}", "1:38: tcp_dport is 0 to 65535, never 70000"},
	{"x = tcp-send where tcp_dport in {\"http\"}", "1:34: tcp_dport is a number, not text"},
	{"x = tcp-send where tcp_dport in @ports", "1:33: lists in files are not supported: write {a, b, c}"},
	{"x = tcp-send where pkt_data == 5",
	 "1:20: pkt_data is an address in netobsd: only == NULL and != NULL are possible"},
	{"x = tcp-send where pkt_data",
	 "1:20: pkt_data is an address in netobsd: only == NULL and != NULL are possible"},
	{"x = gld-send where eth_dst == 5", "1:20: eth_dst has several bytes: eth_dst[0] is the first one"},
	{"x = gld-send where eth_dst[6] == 5", "1:20: the index must be 0 to 5"},
	{"x = gld-send where eth_type[0] == 5", "1:20: eth_type has no index: it is not an array of bytes"},
	{"x = tcp-send where args[4] == 5", "1:20: args[4] is a struct: its fields are args[4]->FIELD"},
	{"x = tcp-send where args[4] + 1", "1:20: args[4] is a struct: its fields are args[4]->FIELD"},
	{"x = tcp-send where tcp_dport == NULL", "1:20: tcp_dport is never NULL: only an argument is, as args[1]"},
	{"x = tcp-send where args[4] < NULL", "1:20: NULL is compared with == and !="},
	{"x = tcp-send where tcp_dport / 0 == 1", "1:32: division by 0"},
	{"x = tcp-send where tcp_dport << 64 == 1", "1:33: a shift is by 0 to 63 bits"},
	{"x = tcp-send where pcap(\"vlan and greatr 1000\")",
	 "1:25: libpcap does not accept the filter: syntax error in filter expression"},
	{"x = tcp-send where pcap(5)", "1:25: expected before 5: a filter as of tcpdump in double quotes"},
	{"x = tcp-send where pcap \"x\"", "1:25: expected before \"x\": ("},
	{"x = tcp-send where (tcp_dport == 80", "1:36: expected at the end: )"},
	{"x = tcp-send where tcp_dport == 80)", "1:35: expected before ): an operator or the end"},
	{"x = tcp-send where tcp_dport ==", "1:32: expected at the end: a field, a number or a text"},
	{"x = tcp-send where tcp_dport ? 1", "1:33: expected at the end: :"},
	{"x = tcp-send where tcps_snd_bytes / tcps_rcv_bytes > 1kB",
	 "1:54: tcps_snd_bytes / tcps_rcv_bytes has no unit: a plain number is expected, not 1kB"},
	{"x = tcp-send where 5s", "1:20: 5s alone is not a condition: compare it with a field"},
	{"x = tcp-send where 443", "1:20: 443 alone is not a condition: compare it with a field"},
	{"x = tcp-send where 0", "1:20: 0 alone is not a condition: compare it with a field"},
	{"x = tcp-send where 2 - 3", "1:20: 2 - 3 alone is not a condition: compare it with a field"},
	{"x = tcp-send where !443", "1:21: 443 alone is not a condition: compare it with a field"},
	{"x = tcp-send where tcp_dport == 80 || 443", "1:39: 443 alone is not a condition: compare it with a field"},
	{"x = tcp-send where (1) && tcp_dport", "1:21: 1 alone is not a condition: compare it with a field"},
	{"x = tcp-send where 1 ? tcp_dport : tcp_sport", "1:20: 1 alone is not a condition: compare it with a field"},
	{"x = tcp-send where 80 == 80", "1:20: two numbers are compared, and no field"},
	{"x = tcp-send where tcp_dport == 80 || 1s > 2ms", "1:39: two numbers are compared, and no field"},
	{"x = tcp-send where 80 in {80, 443}", "1:20: a field is expected before in"},
	{"x = tcp-send where tcps_rtt * 1s > 3", "1:20: no unit in tcps_rtt * 1s: units are for + - and comparisons"},
	{"x = tcp-send where tcp_dport == 80 $ 3", "1:36: \"$\" has no meaning here"},
	{"x = tcp-send, 3 times", "1:22: expected at the end: in"},
	{"x = tcp-send, 3 times in 5", "1:26: expected before 5: a duration, as 10s or 500ms"},
	{"x = tcp-send, 0 times in 5s", "1:15: a threshold is 1 to 10000 times"},
	{"x = tcp-send, 3 times in 0s", "1:26: a duration is at least 1ns"},
	{"x = tcp-send, 3 times in 1s where tcp_dport == 80", "1:29: where comes before the threshold"},
	{"x = tcp-send, 3 times in 1s, 4 times in 2s", "1:28: expected before ,: by, counted or the end"},
	{"x = tcp-send where tcp_dport == 80, 3 times in 1s by ip_saddr by tcp_dport",
	 "1:63: expected before by: a comma, counted or the end"},
	{"x = tcp-send, 3 times in 5s by pkt_data",
	 "1:32: pkt_data is an address in netobsd: by needs another field"},
	{"x = iscsi-login-*, 3 times in 5s by ii_target, ii_initiator, ci_local, ci_remote",
	 "1:70: the fields after by have more than 512 bytes"},
	{"x = tcp-send, 3 in 5s", "1:17: expected before in: times, or distinct and a field"},
	{"x = tcp-send, 3 distinct", "1:25: expected at the end: a field"},
	{"x = tcp-send, 3 distinct in 5s", "1:26: expected before in: a field"},
	{"x = tcp-send, 3 distinct tcp_dport", "1:35: expected at the end: a comma, or in and a duration"},
	{"x = tcp-send, 3 distinct tcp_dport by ip_saddr in 5s",
	 "1:36: expected before by: a comma, or in and a duration"},
	{"x = tcp-send, 3 distinct(tcp_dport) in 5s", "1:25: fields after distinct have no parentheses"},
	{"x = tcp-send, 3 distinct tcp_dprt in 5s", "1:26: no field is called tcp_dprt (did you mean tcp_dport?)"},
	{"x = tcp-send, 3 distinct tcp_dport in 5", "1:39: expected before 5: a duration, as 10s or 500ms"},
	{"x = tcp-send, 3 distinct tcp_dport times in 5s",
	 "1:36: expected before times: a comma, or in and a duration"},
	{"x = tcp-send, 10001 distinct tcp_dport in 5s", "1:15: a threshold is 1 to 10000 times"},
	{"x = tcp-send, 3 distinct pkt_data in 5s",
	 "1:26: pkt_data is an address in netobsd: distinct needs another field"},
	{"x = tcp-send, 3 distinct cs_cid, ip_saddr, ip_daddr, tcp_sport, tcp_dport in 5s",
	 "1:63: at most 4 fields after distinct"},
	{"x = tcp-send, 3 distinct tcp_dport in 5s by ip_saddr, tcp_dport",
	 "1:15: tcp_dport is after distinct and after by: it has one value there"},
	{"x = tcp-send, 3 distinct pkt_seq in 5s",
	 "1:26: pkt_seq numbers the firings of the formula itself and cannot select them; a threshold counts, as 3 "
	 "times in 1s"},
	{"x = connection-end, udp-send, 3 distinct tcp_dport in 5s",
	 "1:42: udp-send has no tcp_dport, which these have: tcp-send, tcp-receive, tcp-accept-established, "
	 "tcp-accept-refused and 9 others"},
	{"x = tcp-send where tcp_window == 0 for", "1:39: expected at the end: a duration, as 10s or 500ms"},
	{"x = tcp-send where tcp_window == 0 for 5", "1:40: expected before 5: a duration, as 10s or 500ms"},
	{"x = tcp-send where tcp_window == 0 for 0s", "1:40: a duration is at least 1ns"},
	{"x = tcp-send where tcp_window == 0 for 5s", "1:42: expected at the end: by and a field, as by cs_cid"},
	{"x = tcp-send where tcp_window == 0 for 5s by cs_cd",
	 "1:46: no field is called cs_cd (did you mean cs_cid?)"},
	{"x = tcp-send where tcp_window == 0, for 5s by cs_cid",
	 "1:37: for comes after the expression without a comma"},
	{"x = tcp-send, for 5s by cs_cid", "1:15: for comes after the expression without a comma"},
	{"x = tcp-send for 5s by cs_cid where tcp_window == 0", "1:31: where comes before the duration"},
	{"x = tcp-send where tcp_window == 0 for 5s by cs_cid, 3 times in 1s",
	 "1:54: expected before 3: a field"},
	{"x = dns-query, no", "1:18: a probe is expected, as tcp-connect-established"},
	{"x = dns-query, no dns-respnse within 5s by dns_id",
	 "1:19: no probe is called dns-respnse (did you mean dns-response?)"},
	{"x = dns-query, no dns-response", "1:31: expected at the end: within and a duration"},
	{"x = dns-query, no dns-response in 5s by dns_id", "1:32: expected before in: within and a duration"},
	{"x = dns-query, no dns-response within 5 by dns_id",
	 "1:39: expected before 5: a duration, as 10s or 500ms"},
	{"x = dns-query, no dns-response within 5s", "1:41: expected at the end: by and a field, as by cs_cid"},
	{"x = dns-query, no dns-response where dns_rcod == 0 within 5s by dns_id",
	 "1:38: no field is called dns_rcod (did you mean dns_rcode?)"},
	{"x = tcp-send, no udp-send within 5s by tcp_dport",
	 "1:40: udp-send has no tcp_dport, which these have: tcp-send, tcp-receive, tcp-accept-established, "
	 "tcp-accept-refused and 9 others"},
	{"x = dns-query, no dns-response within 5s by dns_id where dns_rcode == 0",
	 "1:52: where comes before the duration"},
	{"x = dns-query, no dns-response within 5s by dns_id counted now",
	 "1:60: counted and uncounted are the last word"},
	{"x = tcp-send, 3 times in 5s by", "1:31: expected at the end: a field"},
	{"x = tcp-send, 3 times in 5s by cs_cd", "1:32: no field is called cs_cd (did you mean cs_cid?)"},
	{"x = tcp-send, 3 times in 5s by cs_cid, ip_saddr, ip_daddr, tcp_sport, tcp_dport",
	 "1:69: at most 4 fields after by"},
	{"x = tcp-send, 3 times in 5s by cs_cid counted now", "1:47: counted and uncounted are the last word"},
	{"x = tcp-send where tcp_dport == 80 countd",
	 "1:36: expected before countd: an operator or the end (did you mean counted?)"},
	{"x = tcp-state-change where args[0]->pkt_len",
	 "1:37: args[0] of tcp-state-change is reserved: it is always NULL"},
	{"x = tcp-send where tcp_dport == 1s..2s", "1:33: tcp_dport has no unit: a plain number is expected, not 1s"},
	{"x = tcp-send where 10.0.0.0/8", "1:20: 10.0.0.0/8 is an address: it comes after in or =="},
	{"x = tcp-send where tcp_dport == 10.0.0.1", "1:20: tcp_dport is not an address"},
	{"x = tcp-send where tcp_flags & (SYN|nonsense)",
	 "1:37: tcp_flags has no nonsense; it has FIN, SYN, RST, PSH, ACK, URG, ECE, CWR"},
	{"x = tcp-send where 0x10|SYN", "1:25: SYN is a number of tcp_flags: compare it with such a field"},
	{"x = tcp-send where -RST", "1:21: RST is a number of tcp_flags: compare it with such a field"},
	{"x = tcp-send where tcps_srtt_us > 1s + 1MB", "1:40: a time and a size have no common unit"},
	{"x = tcp-send where 5ms > tcps_rtt + 1kB",
	 "1:37: tcps_rtt counts ms, which 1kB is not: units that fit are ns, us, ms, s, m, min, h or d"},
	{"x = tcp-send where 0x", "1:20: 0x is not a number; as in 0x1f"},
	{"x = tcp-send where 1.ms == 3", "1:20: 1.ms is not a number; as in 1.5ms"},
	{"x = tcp-send where tcps_rtt > 100000000h", "1:31: 100000000h is too large: numbers have 64 bits"},
	{"x = tcp-send where args == 1", "1:25: expected before ==: ["},
	{"x = tcp-send where args[1s] == 1", "1:25: expected before 1s: a number"},
	{"x = tcp-send where where", "1:20: no field is called where"},
	{"x = tcp-send where in", "1:20: no field is called in"},
	{"x = tcp-send where cs_comm == \"\xc3\xa9\" && pkt_len \xc3\xa9", "1:47: byte 0xc3 stands outside of a text"},
	{"x = iscsi-* by ci_cid", "1:13: expected before by: a comma, where or the end"},
	{"x = iscsi-scsi-command, 2 times in 1s by ic_cdb16[1]",
	 "1:42: a field is expected, as cs_cid or args[1]->cs_cid"},
	{"x = iscsi-scsi-command where ic_cdb16[1] & 4 && ic_cdb16[16] == 3", "1:49: the index must be 0 to 15"},
	{"x = tcp-send where tcp_dport == 80 where tcp_sport == 1",
	 "1:36: expected before where: an operator or the end"},
	{"x = tcp-send where ((((((((((((((((((((((((((((((((((((((((((((((((((((((((1",
	 "1:68: the expression is nested too deep: 48 levels at most"},
	{"x = tcp-send where tcp_dport in 10.0.0.0/8", "1:20: tcp_dport is not an address"},
	{"x = tcp-send where \"abc\" in {\"abc\"}", "1:20: a field is expected before in"},
	{"x = ip-send where ipv4_src in 2001:db8::/32", "1:31: ipv4_src is an IPv4 address"},
	{"x = ip-send where ipv4_saddr in 2001:db8::/32", "1:33: ipv4_saddr is an IPv4 address"},
	{"x = tcp-send where cs_zoneid == 0xffffffffffffffff",
	 "1:33: cs_zoneid is -9223372036854775808 to 9223372036854775807, never 0xffffffffffffffff"},
	{"x = tcp-send where args[4]->tcp_dport == 80 && execname == \"nginx\"",
	 "1:48: no field is called execname (did you mean cs_comm?)"},
	{"x = tcp:::send where args[4]->tcp_dport == 80",
	 "1:5: a probe stands without provider or file: tcp-send, not tcp:::send"},
	{"x = tcp-send where pkt_seq == 3",
	 "1:20: pkt_seq numbers the firings of the formula itself and cannot select them; a threshold "
	 "counts, as 3 times in 1s"},
	{"x = tcp-state-change, 3 times in 1s by cs_seq",
	 "1:40: cs_seq numbers the firings of the formula itself and cannot select them; a threshold "
	 "counts, as 3 times in 1s"},
	{"x = tcp-send where ip_daddr == \"192.168.0.0/24\"",
	 "1:32: an address stands without quotes: 192.168.0.0/24"},
	{"x = tcp-send where ip_daddr == \"localhost\"",
	 "1:32: ip_daddr is an address, as 10.0.0.1: never \"localhost\""},
	{"x = tcp-send where ip_daddr == \"2001:DB8::1\"",
	 "1:32: an address stands without quotes: 2001:DB8::1"},
	{"x = tcp-send where ip_daddr in {\"192.168.0.1\", \"192.168.0.0/16\"}",
	 "1:48: an address stands without quotes: 192.168.0.0/16"},
	{"x = tcp-send where ip_daddr not in 10.0.0.0/8",
	 "1:29: the opposite of a test is !( ), as in !(a in {1, 2})"},
	{"x = tcp-send where ip_daddr !in 10.0.0.0/8",
	 "1:29: the opposite of a test is !( ), as in !(a in {1, 2})"},
	{"x = tcp-send where tcp_flags == \"SYN\"",
	 "1:33: tcp_flags is a number: its words stand without quotes: SYN"},
	{"x = tcp-send where tcp_dport == \"http\"", "1:33: tcp_dport is a number, not text"},
	{"x = tcp-send where tcp_dport in {80-443}",
	 "1:36: a range is written with .. between its numbers: {80..90}"},
	{"x = tcp-send where (tcp_dport == 80 or tcp_dport == 443)",
	 "1:37: and is written &&, or is written ||"},
	{"x = tcp-send where not tcp_dport == 80", "1:20: not is written !, as in !(a == b)"},
	{"x = tcp-send where cs_comm =~ \"nginx\"", "1:28: ~ tests a pattern, without ="},
	{"x = tcp-send where cs_comm = \"nginx\"", "1:28: = defines; == compares"},
	{"x = tcp-send where (tcp_dport = 3)", "1:31: = defines; == compares"},
	{"x = tcp-send where cs_comm like \"nginx\"", "1:28: ~ tests a pattern, as in cs_comm ~ \"ngin*\""},
	{"x = tcp-send where tcp_payload > 1KB", "1:35: \"KB\" is not a unit: kB"},
	{"x = tcp-send where tcp_payload > 1 kB", "1:36: a unit follows its number without a space, as 100ms"},
	{"x = tcp-send where tcps_srtt_us > 100 ms && tcp_dport == 80",
	 "1:39: a unit follows its number without a space, as 100ms"},
	{"x = tcp-send where ip_daddr in 10.0.0.0/8, 192.168.0.0/16",
	 "1:44: several addresses must be in braces: in {10.0.0.0/8, fd00::/8}"},
	{"x = tcp-send where ip_daddr == 10.0.0.*",
	 "1:32: 10.0.0. is not an address; these are as 10.0.0.1 or 10.0.0.0/8"},
	{"x = tcp-send where strstr(cs_comm, \"nginx\") != NULL",
	 "1:20: there is no function but pcap(\"...\"); ~ tests a pattern"},
	{"x = tcp-send where args[4].tcp_dport == 80",
	 "1:27: fields are written tcp_dport or args[4]->tcp_dport"},
	{"x = ip-send where ipv4_protocol == TCP",
	 "1:36: ipv4_protocol has no words: a number is expected, not TCP"},
	{"x = tcp-send where tcps_statestr == \"established\"",
	 "1:37: tcps_statestr is \"state-established\" or the like, never \"established\""},
	{"x = tcp-send where tcps_statestr == \"other-established\"",
	 "1:37: tcps_statestr is \"state-established\" or the like, never \"other-established\""},
	{"x = tcp-send where tcp_flagstr == \"SYN\" counted, 3 times in 1s",
	 "1:48: counted and uncounted are the last word"},
	{"x = tcp-retransmit where tcpr_elapsed_us < 1ms by cs_cid",
	 "1:48: by belongs to a threshold, as in , 3 times in 1s by cs_cid"},
	{"x = tcp-retransmit counted where tcpr_kind == timeout",
	 "1:28: counted and uncounted are the last word"},
	{"x = tcp-retransmit, tcpr_kind == timeout",
	 "1:21: tcpr_kind is a field: an expression comes after where"},
	{"x = gld-send where eth_dhost == 00:11:22:33:44:55",
	 "1:33: hardware addresses are text, in double quotes"},
	{"x = arp-receive where arp_op == request",
	 "1:33: arp_op has no words: a number is expected, not request; arp_opstr is text"},
	{"x = iscsi-scsi-command where args[0]->ci_seq == 1",
	 "1:39: ci_seq numbers the firings of the formula itself and cannot select them; a threshold "
	 "counts, as 3 times in 1s"},
	{"x = tcp-send where tcp_flags in {\"SYN\"}",
	 "1:34: tcp_flags is a number: its words stand without quotes: SYN"},
	{"x = tcp-send where /args[4]->tcp_dport == 80/", "1:20: a predicate of D stands without its slashes"},
	{"x = tcp-send /args[4]->tcp_dport == 80/",
	 "1:14: a predicate of D comes after where, without its slashes"},
	{"x = tcp-send where tcp_dport == /80", "1:33: expected before /: a field, a number or a text"},
	{"x = tcp-send where arg4->tcp_dport == 80", "1:20: no field is called arg4 (did you mean args[4]?)"},
	{"x = tcp-send where args[4] == tcp_dport", "1:20: args[4] is a struct: its fields are args[4]->FIELD"},
	{"x = tcp-send where 0 == tcp_dport && NULL == tcp_dport",
	 "1:46: tcp_dport is never NULL: only an argument is, as args[1]"},
	{"x = tcp-send where tcp_flags in {SYN|ACK, RST}",
	 "1:37: an operator in a set must be in parentheses: {(SYN|ACK), RST}"},
	{"x = tcp-send where tcps_srtt_us > tcps_rtt",
	 "1:35: tcps_srtt_us counts us, and tcps_rtt counts ms: convert one with * or /"},
	{"x = tcp-send where tcps_srtt_us + tcps_rtt > 100",
	 "1:35: tcps_srtt_us counts us, and tcps_rtt counts ms: convert one with * or /"},
	{"x = tcp-send where tcps_srtt_us > (tcp_dport == 443 ? 100ms : 200ms)",
	 "1:55: units in ?: have no field next to them: write a ? b > 1s : b > 2s"},
	{"x = tcp-send where (tcp_dport == 443 ? tcps_rtt : tcps_srtt_us) > 50ms",
	 "1:67: tcp_dport == 443 ? tcps_rtt : tcps_srtt_us has no unit: a plain number is expected, not 50ms"},
	{"x = tcp-send where tcps_srtt_us in {100..200ms}",
	 "1:37: both numbers of a range have a unit or neither has, as 100ms..200ms"},
	{"x = tcp-send where tcps_srtt_us in {1ms..200}",
	 "1:37: both numbers of a range have a unit or neither has, as 100ms..200ms"},
	{"x = tcp-send where tcp_dport - 1 in {0xffffffffffffffff}",
	 "1:38: tcp_dport - 1 is never more than 9223372036854775807"},
	{"x = tcp-send where tcp_dport - 1 in {5..0xffffffffffffffff}",
	 "1:41: tcp_dport - 1 is never more than 9223372036854775807"},
	{"x =\n  tcp-send\n  where tcp_dport == 80 &&\n\ttcp_sprot == 1",
	 "4:2: no field is called tcp_sprot (did you mean tcp_sport?)"},
};

static void
expect_mistake(const char *text, const char *expected)
{
	struct formula_error error;
	char mistake[320];

	assert_null(formula_compile(text, &error));
	snprintf(mistake, sizeof mistake, "%u:%u: %s", error.line, error.column, error.message);
	if (strcmp(mistake, expected) != 0)
		fail_msg("%s\n\t%s, not\n\t%s", text, mistake, expected);
}

static void
every_mistake_has_its_place_and_its_cure(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
		expect_mistake(mistakes[i].text, mistakes[i].mistake);
}

/* Fills `text` with `begin`, as many times `part` as fit before `end`, and `end`. */
static void
repeat(char *text, size_t size, const char *begin, const char *part, unsigned count)
{
	size_t length = (size_t)snprintf(text, size, "%s", begin);

	while (count-- > 0 && length < size)
		length += (size_t)snprintf(text + length, size - length, "%s", part);
}

static void
sizes_are_bounded(void **state)
{
	static char text[2 * FORMULA_TEXT_MAX];
	struct formula *formula;
	struct formula_error error;

	(void)state;
	repeat(text, sizeof text, "x = tcp-send where tcp_dport", " ", FORMULA_TEXT_MAX - 28);
	assert_int_equal(strlen(text), FORMULA_TEXT_MAX);
	formula = formula_compile(text, &error);
	assert_non_null(formula);
	formula_free(formula);
	repeat(text, sizeof text, "x = tcp-send where tcp_dport", " ", FORMULA_TEXT_MAX - 27);
	expect_mistake(text, "1:1: the definition is longer than 2048 bytes");
	repeat(text, sizeof text, "x = tcp-send where tcp_dport in {1", ",2", 800);
	expect_mistake(text, "1:1568: the expression is too long: it has more than 768 parts");
	repeat(text, sizeof text, "x = tcp-send where 1", "?1:1", 60);
	expect_mistake(text, "1:210: the expression is nested too deep: 48 levels at most");
	repeat(text, sizeof text, "x = tcp-send where 1", "||1", 100);
	expect_mistake(text, "1:306: the expression is too deep: more than 96 operators in a chain");
	repeat(text, sizeof text, "x = tcp-send where 1", "+(tcp_dport", 40);
	repeat(text + strlen(text), sizeof text - strlen(text), "", ")", 40);
	expect_mistake(text, "1:1: the expression is nested too deep");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mistake_has_its_place_and_its_cure),
		cmocka_unit_test(sizes_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
