# SPDX-License-Identifier: BSD-2-Clause

# Replies that are not those of netobsd.
sanitizers_tests += \
	%D%/control_replies.sh

# netobs-connfs needs a mount, and fuse3.
all_sanitizers_tests += \
	%D%/connfs_replies.sh

unit_tests += \
	%D%/test_connection_list \
	%D%/test_connfs_closed \
	%D%/test_connfs_tree \
	%D%/test_history \
	%D%/test_top_screen \
	%D%/test_write_filter
%C%_test_connfs_closed_SOURCES = %D%/test_connfs_closed.c tools/connfs/connfs_closed.c tools/connfs/connfs_closed.h \
	tools/json_reader.c tools/json_reader.h
%C%_test_connfs_closed_LDADD = $(LDADD) $(JANSSON_LIBS)
%C%_test_connfs_tree_SOURCES = %D%/test_connfs_tree.c tools/connfs/connfs_tree.c tools/connfs/connfs_tree.h
%C%_test_connection_list_SOURCES = %D%/test_connection_list.c tools/control_client.c tools/json_reader.c tools/connections/connection_list.c \
	tools/connections/connection_list.h
%C%_test_connection_list_LDADD = $(LDADD) $(JANSSON_LIBS)
%C%_test_history_SOURCES = %D%/test_history.c tools/control_client.c tools/json_reader.c \
	tools/write_client.c tools/write_client.h
%C%_test_history_LDADD = libhistory.a $(LDADD) $(JANSSON_LIBS)
%C%_test_top_screen_SOURCES = %D%/test_top_screen.c tools/control_client.c tools/json_reader.c tools/connections/connection_list.c \
	tools/connections/top_screen.c tools/connections/top_screen.h
%C%_test_write_filter_SOURCES = %D%/test_write_filter.c tools/control_client.c tools/json_reader.c \
	tools/write_client.c tools/write_client.h
%C%_test_write_filter_LDADD = $(LDADD) $(JANSSON_LIBS)
%C%_test_top_screen_LDADD = $(LDADD) $(JANSSON_LIBS) $(NCURSES_LIBS)
