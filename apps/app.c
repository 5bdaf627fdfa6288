/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/app.h"

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
