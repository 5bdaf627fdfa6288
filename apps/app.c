/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/app.h"

#include "base/text.h"
#include "probes/site/semaphores.h"

const struct app_protocol *const app_protocols[APP_COUNT] = {
#define APP(symbol, name, help) [APP_##symbol] = &name##_app,
#include "apps/app.def"
#undef APP
};

void
app_register_text(void)
{
	for (unsigned i = 0; i < APP_COUNT; i++)
		text_add_family(&app_protocols[i]->text);
}

bool
app_probes_enabled(const struct app_protocol *protocol)
{
	bool enabled = false;

	for (unsigned id = protocol->first; id <= (unsigned)protocol->last; id++)
		enabled |= semaphores_enabled(id);
	return enabled;
}

char *
app_put_text(char *at, const char *word, const char *text, size_t size)
{
	if (text[0] == '\0')
		return at;
	at = put_string(at, word);
	return put_plain_text(at, text, size);
}

char *
app_put_number(char *at, const char *word, uint64_t number)
{
	at = put_string(at, word);
	return put_u64(at, number);
}

char *
app_put_time(char *at, const char *word, int64_t us)
{
	if (us < 0)
		return at;
	at = app_put_number(at, word, (uint64_t)us);
	return PUT(at, " us");
}
