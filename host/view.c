/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/view.h"

#include <pcap/pcap.h>

bool
view_link_has_direction(int dlt)
{
	switch (dlt) {
	case DLT_LINUX_SLL:
	case DLT_LINUX_SLL2:
	case DLT_PPP_PPPD:
	case DLT_PPP_WITH_DIR:
	case DLT_C_HDLC_WITH_DIR:
	case DLT_FRELAY_WITH_DIR:
	case DLT_NFLOG:
	case DLT_IPNET:
		return true;
	default:
		return false;
	}
}

enum view_mode
view_resolve(const struct config *config, const int *dlts, size_t count)
{
	if (config->view != VIEW_AUTO)
		return config->view;
	if (config->interface_names[0] != NULL || config->local_prefix_count > 0)
		return VIEW_HOST;
	for (size_t i = 0; i < count; i++)
		if (!view_link_has_direction(dlts[i]))
			return VIEW_BOTH;
	return VIEW_HOST;
}

bool
view_knows_local_endpoints(const struct config *config, const int *dlts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (view_link_has_direction(dlts[i]))
			return true;
	return config->local_prefix_count > 0;
}
