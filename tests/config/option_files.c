/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the texts made from the option table: option_files sample | manual | completion.  option_files.sh compares the
 * files in conf/ and man/ with them. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "config/options.h"
#include "probes/manifest.h"

static struct config defaults;

static bool
is_setting(const struct option_row *row)
{
	return row->source != OPTION_COMMAND_LINE;
}

static bool
group_has_settings(unsigned group)
{
	for (size_t i = 0; i < options_table_rows; i++)
		if (options_table[i].group == group && is_setting(&options_table[i]))
			return true;
	return false;
}

/* ---------------------------------------------------------------------------------------------------------- sample */

static void
sample_row(const struct option_row *row)
{
	printf("\n# %s\n", row->help);
	if (strcmp(row->name, "interface") == 0) {
		puts("interface = {\"any\"}"); /* something has to be observed */
		return;
	}
	if (strcmp(row->name, "control") == 0) {
		puts("control = \"/run/netobs/control\""); /* netobsctl(8)'s default */
		return;
	}
	putchar('#');
	if (!config_print_row(stdout, row, &defaults)) {
		const char *quote = config_is_quoted(row) ? "\"" : "";

		printf(row->kind->list ? "%s = {%s%s%s}" : "%s = %s%s%s", row->name, quote, row->argument, quote);
	}
	putchar('\n');
}

static void
sample(void)
{
	puts("# Configuration of netobsd as a service; see netobs.conf(5).  Commented-out lines show the default\n"
	     "# value, or the form of a setting without one.  After a change, this checks the file, then reloads it:\n"
	     "#\n"
	     "#	systemctl reload netobs");
	for (unsigned group = 0; group < GROUP_COUNT; group++) {
		if (!group_has_settings(group))
			continue;
		printf("\n# ---- %s\n", option_group_titles[group]);
		for (size_t i = 0; i < options_table_rows; i++)
			if (options_table[i].group == group && is_setting(&options_table[i]))
				sample_row(&options_table[i]);
	}
}

/* ---------------------------------------------------------------------------------------------------------- manual */

static void
print_lower(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		putchar(tolower((unsigned char)text[i]));
}

static void
manual_range(const struct option_row *row)
{
	const char *(*format)(uint64_t, char *) =
	    row->quantity.dimension == DIMENSION_TIME ? units_format_time : units_format_size;
	char min[UNITS_TEXT_MAX], max[UNITS_TEXT_MAX];

	if (row->quantity.max > 0) {
		printf("%s %s to %s.\n", row->quantity.or_zero ? "0, or from" : "From",
		       format(row->quantity.min, min), format(row->quantity.max, max));
	} else if (row->max > row->min) {
		printf("From %.15g to %.15g.\n", row->min, row->max);
	}
}

static void
manual_row(const struct option_row *row)
{
	char room[OPTIONS_VALUE_MAX];
	const char *value = row->kind->get(&defaults, row, 0, room);

	printf(".It Ic %s Li = ", row->name);
	if (row->kind->toggle) {
		fputs("Cm true | false", stdout);
	} else {
		const char *quote = config_is_quoted(row) ? "\\(dq" : "";

		if (*quote != '\0')
			printf("%s%s Ns Ar ", row->kind->list ? "{" : "", quote);
		else
			fputs("Ar ", stdout);
		print_lower(row->argument, row->kind->list ? strcspn(row->argument, ",") : strlen(row->argument));
		if (*quote != '\0')
			printf(" Ns Li %s%s", quote, row->kind->list ? " , ...}" : "");
	}
	printf("\n%c%s.\n", toupper((unsigned char)row->help[0]), row->help + 1);
	manual_range(row);
	if (value != NULL)
		printf("Default:\n.Li %s .\n", value);
	if (row->change == OPTION_AT_RESTART)
		puts("Needs a restart.");
	if (row->scope == OPTION_FOR_LIVE)
		puts("Ignored with\n.Fl r .");
}

static void
manual(void)
{
	for (unsigned group = 0; group < GROUP_COUNT; group++) {
		if (!group_has_settings(group))
			continue;
		printf(".Ss %s\n.Bl -tag -width Ds\n", option_group_titles[group]);
		for (size_t i = 0; i < options_table_rows; i++)
			if (options_table[i].group == group && is_setting(&options_table[i]))
				manual_row(&options_table[i]);
		puts(".El");
	}
}

/* ------------------------------------------------------------------------------------------------------ completion */

#define NO_WORDS "-W ''"

/* The first topic; more of them follow a comma. */
static const char *
words_of_topics(void)
{
	static char words[DEBUG_TOPICS_TEXT_MAX + sizeof "-W 'all off '"];
	char names[DEBUG_TOPICS_TEXT_MAX];

	log_debug_format(DEBUG_ALL_TOPICS, names, sizeof names);
	for (char *comma = names; (comma = strchr(comma, ',')) != NULL;)
		*comma = ' ';
	snprintf(words, sizeof words, "-W 'all off %s'", names);
	return words;
}

/* The words that complete the value of an option, by the name of the value. */
static const char *
words_for(const struct option_row *row)
{
	static const struct {
		const char *argument, *words;
	} known[] = {
	    /* compgen expands the words, and the name of an interface may be anything. */
	    {"IFACE", "-W \"any $(cd /sys/class/net 2>/dev/null && printf '%s\\n' * | grep -x '[A-Za-z0-9_.:@-]*')\""},
	    {"FILE", "-f"},
	    {"CONFIG", "-f"},
	    {"PATH", "-f"},
	    {"USER", "-u"},
	    {"GROUP", "-g"},
	    {"PROBE,...", "-W \"$probes\""},
	    {"VIEW", "-W 'host both monitor'"},
	    {"FORMAT", "-W 'text json'"},
	    {"KIND", "-W 'auto plain fast'"},
	};

	/* Other options have a FORMAT of firings. */
	if (strcmp(row->name, "write-format") == 0)
		return "-W 'pcapng pcap snoop'";
	if (strcmp(row->argument, "TOPIC,...") == 0)
		return words_of_topics();
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(known[i].argument, row->argument) == 0)
			return known[i].words;
	return NO_WORDS;
}

/* The words in front of a value.  A value that may be omitted follows an equals sign only. */
static void
completion_option(const struct option_row *row)
{
	if (row->short_name != 0 && !row->optional)
		printf("-%c | ", row->short_name);
	if (!row->optional)
		printf("--%s | ", row->name);
	printf("--%s=", row->name);
}

static void
completion_row(const struct option_row *row)
{
	if (row->argument == NULL || row->source == OPTION_CONFIG_FILE)
		return;
	fputc('\t', stdout);
	completion_option(row);
	printf(") words=(%s) ;;\n", words_for(row));
}

/* The options whose value is a list of known words, with commas in between. */
static void
completion_lists(void)
{
	const char *separator = "	";

	for (size_t i = 0; i < options_table_rows; i++) {
		const struct option_row *row = &options_table[i];

		if (row->argument == NULL || strstr(row->argument, ",...") == NULL ||
		    strcmp(words_for(row), NO_WORDS) == 0)
			continue;
		fputs(separator, stdout);
		completion_option(row);
		separator = " | ";
	}
	puts(") list=${cur%\"${cur##*,}\"} cur=${cur##*,} ;;");
}

static void
completion_probes(void)
{
	puts("	local probes='");
	for (unsigned i = 0; i < PROBE_COUNT; i++)
		printf("		%s\n", manifest_probes[i].name);
	puts("	'");
	puts("	probes+=\" $(_netobsd_formulas)\"");
}

/* A function that prints the names of the formulas that are defined by options before the cursor. */
static void
completion_formulas(void)
{
	puts("# _netobsd_formulas: the formulas that options before the cursor define\n"
	     "_netobsd_formulas()\n"
	     "{\n"
	     "	local i word\n"
	     "\n"
	     "	for ((i = 2; i < COMP_CWORD; i++)); do\n"
	     "		# --formula='NAME = ...' is three words.\n"
	     "		[[ ${COMP_WORDS[i - 1]} == --formula ||\n"
	     "			${COMP_WORDS[i - 2]}${COMP_WORDS[i - 1]} == --formula= ]] || continue\n"
	     "		word=${COMP_WORDS[i]#[\\'\\\"]}\n"
	     "		word=${word%%[ =]*}\n"
	     "		# compgen expands it.\n"
	     "		[[ ! $word =~ ^[a-z][a-z0-9-]*$ ]] || printf '%s\\n' \"$word\"\n"
	     "	done\n"
	     "}\n");
}

static void
completion(void)
{
	puts("# bash completion for netobsd(8)                                           -*- shell-script -*-\n"
	     "# SPDX-License-Identifier: BSD-2-Clause\n");
	completion_formulas();
	puts("_netobsd()\n"
	     "{\n"
	     "	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words list=''");
	completion_probes();
	puts("\n"
	     "	# --OPTION=VALUE is three words.\n"
	     "	if [[ $cur == = ]]; then\n"
	     "		cur='' prev+='='\n"
	     "	elif [[ $prev == = ]]; then\n"
	     "		prev=${COMP_WORDS[COMP_CWORD - 2]}=\n"
	     "	fi\n"
	     "	case $prev in");
	completion_lists();
	puts("	esac\n"
	     "	case $prev in");
	for (size_t i = 0; i < options_table_rows; i++)
		completion_row(&options_table[i]);
	puts("	*)\n"
	     "		words=(-W '");
	for (size_t i = 0; i < options_table_rows; i++)
		if (options_table[i].source != OPTION_CONFIG_FILE)
			printf("			--%s\n", options_table[i].name);
	puts("		')\n"
	     "		;;\n"
	     "	esac\n"
	     "	[[ ${words[0]} != -f ]] || compopt -o filenames 2>/dev/null\n"
	     "	mapfile -t COMPREPLY < <(compgen -P \"$list\" \"${words[@]}\" -- \"$cur\")\n"
	     "}\n"
	     "complete -F _netobsd netobsd");
}

int
main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	if (!config_set_defaults(&defaults))
		return 1;
	if (strcmp(what, "sample") == 0)
		sample();
	else if (strcmp(what, "manual") == 0)
		manual();
	else if (strcmp(what, "completion") == 0)
		completion();
	else
		fputs("usage: option_files sample | manual | completion\n", stderr);
	config_free(&defaults);
	return *what == '\0';
}
