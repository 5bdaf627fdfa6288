# SPDX-License-Identifier: BSD-2-Clause
#
# The "did you mean" of the scripts; probes/nearest.c is the same rule in C.
#
#	misspelt=WORD candidates=LIST awk -f nearest.awk
#
# prints the end of a message; without misspelt it only defines functions, for the next program.

BEGIN {
	if (ENVIRON["misspelt"] != "")
		print did_you_mean(ENVIRON["misspelt"], ENVIRON["candidates"])
}

# min3(A, B, C): the smallest
function min3(a, b, c) {
	a = b < a ? b : a
	return c < a ? c : a
}

# edits(A, B): insertions, deletions, substitutions and swaps of neighbours that make B of A
function edits(a, b, m, n, i, j, cost, d) {
	a = tolower(a)
	b = tolower(b)
	m = length(a)
	n = length(b)
	for (i = 0; i <= m; i++)
		d[i, 0] = i
	for (j = 0; j <= n; j++)
		d[0, j] = j
	for (i = 1; i <= m; i++) {
		for (j = 1; j <= n; j++) {
			cost = substr(a, i, 1) != substr(b, j, 1)
			d[i, j] = min3(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
			if (i > 1 && j > 1 && substr(a, i, 1) == substr(b, j - 1, 1) && substr(a, i - 1, 1) == substr(b, j, 1))
				d[i, j] = min3(d[i, j], d[i - 2, j - 2] + 1, d[i, j])
		}
	}
	return d[m, n]
}

# nearest(WORD, LIST): the word of LIST, words separated by blanks, that WORD was probably meant to be, the first of
# several equally near ones; "" if there is no such word.
function nearest(word, list, words, count, i, distance, best, found) {
	best = int(length(word) / 3) + 1
	count = split(list, words, " ")
	for (i = 1; i <= count; i++) {
		distance = edits(word, words[i])
		if (distance < best || (distance == best && found == "" && distance < length(word))) {
			best = distance
			found = words[i]
		}
	}
	return found
}

# did_you_mean(WORD, LIST): " (did you mean NEAREST?)", or nothing
function did_you_mean(word, list, near) {
	near = nearest(word, list)
	return near == "" ? "" : " (did you mean " near "?)"
}
