/* SPDX-License-Identifier: BSD-2-Clause */
#include "apps/app.h"

#include "apps/iscsi/iscsi_app.h"

const struct app_protocol *const app_protocols[APP_COUNT] = {
    [APP_ISCSI] = &iscsi_app,
};

void
app_register_text(void)
{
	for (unsigned i = 0; i < APP_COUNT; i++)
		text_add_family(&app_protocols[i]->text);
}
