/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of protocol numbers, and addresses as text, for the char[] fields of the argument structs. */
#ifndef NETOBS_PROBES_NAMES_H
#define NETOBS_PROBES_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define NAME_UNKNOWN "<unknown>"

/* Copies a string into a char array of `size` bytes and clears the rest, so that no old text remains; a longer string
 * is truncated. */
void field_set_string(char *to, size_t size, const char *string);

/* An IP address (network order, IPv4 in the first four bytes) as text, RFC 5952 for IPv6; the rest of `to` is
 * cleared.  `size` is at least 16 for IPv4 and 46 for IPv6. */
void field_set_address(char *to, size_t size, unsigned version, const uint8_t *address);

/* A link-layer address: 00:00:5e:00:53:01. */
void field_set_mac(char to[18], const uint8_t mac[6]);

/* Name of an IANA protocol number; constant. */
const char *ip_protocol_name(uint8_t protocol);

/* Name of an ARP or RARP operation; constant. */
const char *arp_operation_name(uint16_t op);

/* Names of an ICMP (version 4) or ICMPv6 (version 6) type and code; constant.  A code is "" if it is the only one of
 * its type. */
const char *icmp_type_name(unsigned version, uint8_t type);
const char *icmp_code_name(unsigned version, uint8_t type, uint8_t code);

/* An ICMP error in the words of its RFC, "host unreachable": at most 47 bytes. */
const char *icmp_error_words(unsigned version, uint8_t type, uint8_t code);

/* Names of a DCCP packet type and reset code; constant. */
const char *dccp_type_name(uint8_t type);
const char *dccp_reset_name(uint8_t code);

/* Name of a type of SCTP chunk (RFC 9260 section 3.2), "INIT_ACK"; constant.  NULL if it has no name. */
const char *sctp_chunk_name(uint32_t type);

/* TCP flags, "SYN|ACK", at most 23 characters. */
void field_set_tcp_flags(char to[24], uint8_t flags);

#endif
