/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/tls/tls_names.h"

#include <stddef.h>

const char *
tls_version_name(uint16_t version)
{
	switch (version) {
	case 0x0300: return "SSLv3";
	case 0x0301: return "TLSv1.0";
	case 0x0302: return "TLSv1.1";
	case 0x0303: return "TLSv1.2";
	case 0x0304: return "TLSv1.3";
	default: return NULL;
	}
}

const char *
tls_cipher_name(uint16_t cipher)
{
	switch (cipher) {
#define CIPHER(number, name) \
	case number: return name;
#include "apps/tls/tls_cipher.def"
#undef CIPHER
	default: return NULL;
	}
}

/* The names of RFC 8446 section 6 and of the registry. */
const char *
tls_alert_name(uint8_t description)
{
	static const char *const names[] = {
	    [0] = "close_notify",
	    [10] = "unexpected_message",
	    [20] = "bad_record_mac",
	    [21] = "decryption_failed",
	    [22] = "record_overflow",
	    [30] = "decompression_failure",
	    [40] = "handshake_failure",
	    [41] = "no_certificate",
	    [42] = "bad_certificate",
	    [43] = "unsupported_certificate",
	    [44] = "certificate_revoked",
	    [45] = "certificate_expired",
	    [46] = "certificate_unknown",
	    [47] = "illegal_parameter",
	    [48] = "unknown_ca",
	    [49] = "access_denied",
	    [50] = "decode_error",
	    [51] = "decrypt_error",
	    [60] = "export_restriction",
	    [70] = "protocol_version",
	    [71] = "insufficient_security",
	    [80] = "internal_error",
	    [86] = "inappropriate_fallback",
	    [90] = "user_canceled",
	    [100] = "no_renegotiation",
	    [109] = "missing_extension",
	    [110] = "unsupported_extension",
	    [112] = "unrecognized_name",
	    [113] = "bad_certificate_status_response",
	    [115] = "unknown_psk_identity",
	    [116] = "certificate_required",
	    [120] = "no_application_protocol",
	    [121] = "ech_required",
	};

	return description < sizeof names / sizeof names[0] ? names[description] : NULL;
}
