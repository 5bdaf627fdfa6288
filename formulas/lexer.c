/* SPDX-License-Identifier: BSD-2-Clause */
#include "formulas/lexer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "formulas/words.h"

bool
mistake_report(struct source *source, size_t at, const char *format, ...)
{
	struct formula_error *error = source->error;
	va_list arguments;

	if (source->failed)
		return false;
	source->failed = true;
	error->line = error->column = 1;
	for (size_t i = 0; i < at && i < source->length; i++) {
		error->column++;
		if (source->text[i] == '\n') {
			error->line++;
			error->column = 1;
		}
	}
	va_start(arguments, format);
	vsnprintf(error->message, sizeof error->message, format, arguments);
	va_end(arguments);
	return false;
}

const char *
mistake_excerpt(const struct source *source, struct span span, char excerpt[EXCERPT_MAX])
{
	size_t length = span.length < EXCERPT_MAX ? span.length : EXCERPT_MAX - 4;

	for (size_t i = 0; i < length; i++) {
		char c = source->text[span.at + i];

		excerpt[i] = (unsigned char)c < ' ' ? ' ' : (unsigned char)c >= 127 ? '?' : c;
	}
	excerpt[length] = '\0';
	if (length < span.length)
		memcpy(excerpt + length, "...", 4);
	return excerpt;
}

#define DECIMAL_DIGITS "0123456789"
#define HEX_DIGITS     DECIMAL_DIGITS "abcdefABCDEF"
#define LETTERS	       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
#define WHITE_SPACE    " \t\r\n\f\v"

/* Longer ones come first. */
static const struct {
	const char *text;
	enum token_kind kind;
} punctuation[] = {
	{"..", TOKEN_RANGE},	  {"->", TOKEN_ARROW},	      {"<<", TOKEN_SHIFT_LEFT},	 {">>", TOKEN_SHIFT_RIGHT},
	{"<=", TOKEN_LESS_EQUAL}, {">=", TOKEN_MORE_EQUAL},   {"==", TOKEN_EQUAL},	 {"!=", TOKEN_NOT_EQUAL},
	{"&&", TOKEN_AND},	  {"||", TOKEN_OR},	      {"=", TOKEN_ASSIGN},	 {",", TOKEN_COMMA},
	{"(", TOKEN_OPEN},	  {")", TOKEN_CLOSE},	      {"{", TOKEN_OPEN_SET},	 {"}", TOKEN_CLOSE_SET},
	{"[", TOKEN_OPEN_INDEX},  {"]", TOKEN_CLOSE_INDEX},   {"?", TOKEN_QUESTION},	 {":", TOKEN_COLON},
	{"+", TOKEN_PLUS},	  {"-", TOKEN_MINUS},	      {"*", TOKEN_TIMES},	 {"/", TOKEN_DIVIDE},
	{"%", TOKEN_MODULO},	  {"<", TOKEN_LESS},	      {">", TOKEN_MORE},	 {"&", TOKEN_BIT_AND},
	{"^", TOKEN_BIT_XOR},	  {"|", TOKEN_BIT_OR},	      {"!", TOKEN_NOT},		 {"~", TOKEN_TILDE},
};

const char *
token_spelling(enum token_kind kind)
{
	for (size_t i = 0; i < sizeof punctuation / sizeof punctuation[0]; i++)
		if (punctuation[i].kind == kind)
			return punctuation[i].text;
	return "";
}

/* The part from `from` on that a message quotes: a word of any kind. */
static struct span
lexer_word_at(const struct lexer *lexer, size_t from)
{
	size_t length = strspn(lexer->source->text + from, LETTERS DECIMAL_DIGITS ".");

	return (struct span){from, length > 0 ? length : 1};
}

static bool
lexer_fail_number(struct lexer *lexer, size_t at, const char *what)
{
	char excerpt[EXCERPT_MAX];

	return mistake_report(lexer->source, at, "%s is %s",
			      mistake_excerpt(lexer->source, lexer_word_at(lexer, at), excerpt), what);
}

/* Adds a digit; returns false if the number gets too large. */
static bool
lexer_add_digit(uint64_t *number, unsigned base, char digit)
{
	unsigned value = digit <= '9' ? (unsigned)(digit - '0') : ((unsigned)digit | 0x20u) - 'a' + 10;

	return !__builtin_mul_overflow(*number, base, number) && !__builtin_add_overflow(*number, value, number);
}

/* The unit after a number, if it has one. */
static bool
lexer_apply_unit(struct lexer *lexer, struct token *token, bool is_hex, bool is_whole)
{
	const char *number = lexer->source->text + token->span.at, *name = lexer->source->text + lexer->at;
	size_t length = strspn(name, LETTERS DECIMAL_DIGITS);
	const struct unit *unit = unit_find(name, length);
	bool exact = true;

	if (length == 0)
		return is_whole ||
		       lexer_fail_number(lexer, token->span.at, "not a whole number, and has no unit; as in 1.5ms");
	if (unit == NULL)
		return mistake_report(lexer->source, lexer->at, "\"%.*s\" is not a unit: %s",
				      (int)(length < EXCERPT_MAX ? length : EXCERPT_MAX), name,
				      unit_hint(name, length));
	lexer->at += length;
	token->dimension = unit->dimension;
	if (is_hex ? __builtin_mul_overflow(token->number, unit->factor, &token->number)
		   : !units_multiply(number, (size_t)(name - number), unit->factor, &token->number, &exact))
		return lexer_fail_number(lexer, token->span.at, "too large: numbers have 64 bits");
	return exact || lexer_fail_number(lexer, token->span.at, "not a whole number of ns or bytes");
}

static bool
lexer_read_number(struct lexer *lexer, struct token *token)
{
	const char *text = lexer->source->text;
	bool hex = text[lexer->at] == '0' && (text[lexer->at + 1] == 'x' || text[lexer->at + 1] == 'X');
	bool whole = true;
	size_t digits;

	token->kind = TOKEN_NUMBER;
	lexer->at += hex ? 2 : 0;
	digits = strspn(text + lexer->at, hex ? HEX_DIGITS : DECIMAL_DIGITS);
	if (digits == 0)
		return lexer_fail_number(lexer, token->span.at, "not a number; as in 0x1f");
	if (!hex && digits > 1 && text[lexer->at] == '0')
		return lexer_fail_number(lexer, token->span.at, "neither decimal, as 8, nor hexadecimal, as 0x8");
	for (size_t i = 0; i < digits; i++)
		if (!lexer_add_digit(&token->number, hex ? 16 : 10, text[lexer->at + i]))
			return lexer_fail_number(lexer, token->span.at, "too large: numbers have 64 bits");
	lexer->at += digits;
	if (!hex && text[lexer->at] == '.' && text[lexer->at + 1] != '.') {
		digits = strspn(text + ++lexer->at, DECIMAL_DIGITS);
		if (digits == 0)
			return lexer_fail_number(lexer, token->span.at, "not a number; as in 1.5ms");
		lexer->at += digits;
		whole = false;
		if (text[lexer->at] == '.' && text[lexer->at + 1] != '.')
			return lexer_fail_number(lexer, token->span.at,
						 "not an address; these are as 10.0.0.1 or 10.0.0.0/8");
	}
	return lexer_apply_unit(lexer, token, hex, whole);
}

/* 00:00:5e:00:53:01 */
static bool
lexer_at_hardware_address(const char *text)
{
	for (unsigned i = 0; i < 6; i++, text += 3)
		if (strspn(text, HEX_DIGITS) != 2 || (i < 5 && text[2] != ':'))
			return false;
	return true;
}

static bool
lexer_read_address(struct lexer *lexer, struct token *token)
{
	struct source *source = lexer->source;
	size_t length = address_parse(source->text + lexer->at, &token->address);
	struct span span = {lexer->at, length};
	char excerpt[EXCERPT_MAX], masked[64];
	unsigned most;

	if (length == 0)
		return false;
	token->kind = TOKEN_ADDRESS;
	lexer->at += length;
	most = token->address.version == 4 ? 32 : 128;
	if (token->address.bits > most)
		return mistake_report(source, span.at, "%s: a prefix has at most %u bits",
				      mistake_excerpt(source, span, excerpt), most);
	if (address_mask(&token->address))
		return mistake_report(source, span.at, "%s has bits after the prefix: %s",
				      mistake_excerpt(source, span, excerpt),
				      address_spell(&token->address, masked, sizeof masked));
	return true;
}

/* The length of an escape, with its '\'; 0 if there is no such escape. */
static size_t
lexer_decode_escape(const char *text, char *byte)
{
	static const char letters[] = "\"\\ntr", bytes[] = "\"\\\n\t\r";
	const char *letter = text[1] == '\0' ? NULL : strchr(letters, text[1]);
	uint64_t number = 0;

	if (letter != NULL) {
		*byte = bytes[letter - letters];
		return 2;
	}
	if (text[1] != 'x' || strspn(text + 2, HEX_DIGITS) < 2)
		return 0;
	lexer_add_digit(&number, 16, text[2]);
	lexer_add_digit(&number, 16, text[3]);
	*byte = (char)number;
	return number == 0 ? 0 : 4;
}

static bool
lexer_read_text(struct lexer *lexer, struct token *token)
{
	const char *text = lexer->source->text;
	char byte;

	token->kind = TOKEN_TEXT;
	for (lexer->at++; text[lexer->at] != '"';) {
		size_t length = text[lexer->at] == '\\' ? lexer_decode_escape(text + lexer->at, &byte) : 1;

		if (text[lexer->at] == '\0' || text[lexer->at] == '\n')
			return mistake_report(lexer->source, token->span.at, "the text has no \" at its end");
		if (length == 0)
			return mistake_report(lexer->source, lexer->at,
					      "not an escape: these are \\\", \\\\, \\n, \\t, \\r and \\x01 to \\xff");
		lexer->at += length;
	}
	lexer->at++;
	return true;
}

size_t
lexer_decode_text(const struct lexer *lexer, struct span span, char *bytes)
{
	const char *text = lexer->source->text;
	size_t length = 0;

	for (size_t at = span.at + 1; at < span.at + span.length - 1; length++) {
		bytes[length] = text[at];
		at += text[at] == '\\' ? lexer_decode_escape(text + at, &bytes[length]) : 1;
	}
	return length;
}

static bool
lexer_read_punctuation(struct lexer *lexer, struct token *token)
{
	const char *text = lexer->source->text + lexer->at;
	char excerpt[EXCERPT_MAX];

	for (size_t i = 0; i < sizeof punctuation / sizeof punctuation[0]; i++) {
		size_t length = strlen(punctuation[i].text);

		if (strncmp(text, punctuation[i].text, length) == 0) {
			token->kind = punctuation[i].kind;
			lexer->at += length;
			return true;
		}
	}
	if (*text == '\'')
		return mistake_report(lexer->source, lexer->at, "text must be in double quotes: \"...\"");
	if (*text == '.')
		return mistake_report(lexer->source, lexer->at, "fields are written tcp_dport or args[4]->tcp_dport");
	if (*text == '@')
		return mistake_report(lexer->source, lexer->at, "lists in files are not supported: write {a, b, c}");
	if ((unsigned char)*text > 126 || (unsigned char)*text < ' ')
		return mistake_report(lexer->source, lexer->at, "byte 0x%02x stands outside of a text",
				      (unsigned char)*text);
	return mistake_report(lexer->source, lexer->at, "\"%s\" has no meaning here",
			      mistake_excerpt(lexer->source, (struct span){lexer->at, 1}, excerpt));
}

static bool
lexer_read_token(struct lexer *lexer, struct token *token)
{
	const char *text = lexer->source->text + lexer->at;

	if (*text == '\0') {
		token->kind = TOKEN_END;
		return true;
	}
	if (lexer_read_address(lexer, token))
		return true;
	if (lexer->source->failed)
		return false;
	if (lexer_at_hardware_address(text))
		return mistake_report(lexer->source, lexer->at, "hardware addresses are text, in double quotes");
	if (strchr(LETTERS, *text) != NULL) {
		size_t hyphenated = words_measure_hyphenated(text);

		token->kind = TOKEN_NAME;
		lexer->at += hyphenated > 0 ? hyphenated : strspn(text, LETTERS DECIMAL_DIGITS);
		return true;
	}
	if (strchr(DECIMAL_DIGITS, *text) != NULL)
		return lexer_read_number(lexer, token);
	return *text == '"' ? lexer_read_text(lexer, token) : lexer_read_punctuation(lexer, token);
}

bool
lexer_next(struct lexer *lexer, struct token *token)
{
	bool good;

	lexer->at += strspn(lexer->source->text + lexer->at, WHITE_SPACE);
	*token = (struct token){.span = {lexer->at, 0}};
	good = lexer_read_token(lexer, token);
	token->span.length = lexer->at - token->span.at;
	return good;
}

struct span
lexer_next_probe(struct lexer *lexer)
{
	struct span span;

	lexer->at += strspn(lexer->source->text + lexer->at, WHITE_SPACE);
	span.at = lexer->at;
	span.length = strspn(lexer->source->text + lexer->at, LETTERS DECIMAL_DIGITS "-*?");
	lexer->at += span.length;
	return span;
}
