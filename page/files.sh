#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# files.sh STYLE BODY SCRIPT...: the files of the page as arrays of C, the scripts as one, in a function of its own
set -eu

# array NAME: standard input as an array
array() {
	printf 'const unsigned char %s[] = {\n' "$1"
	od -An -v -tx1 | sed -e 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'
	printf '};\nconst size_t %s_size = sizeof(%s);\n' "$1" "$1"
}

style=$1 body=$2
shift 2
printf '#include "page/page_files.h"\n'
array page_style <"$style"
array page_body <"$body"
{
	printf '// SPDX-License-Identifier: BSD-2-Clause\n"use strict";\n(() => {\n'
	sed '/SPDX-License-Identifier/d' "$@"
	printf '})();\n'
} | array page_script
