# SPDX-License-Identifier: BSD-2-Clause
"""Compares DIAGNOSTICS of netobsd(8) with the messages in the sources.

    diagnostics.py netobsd.8 SOURCE...

Prints each message without a row, and each row without a message.  In a row a word in capitals stands for a conversion
or one word, and "..." for any text; all other text is literal.
"""
import re
import sys

STRING = r'"((?:[^"\\]|\\.)*)"'
CALL = re.compile(r"\blog_(?:error|warning|notice|write)\(\s*(?:[A-Za-z_>.-]+,\s*)?((?:%s\s*)+)[,)]" % STRING)


def rows(page):
    text = page[page.index(".Sh DIAGNOSTICS"):page.index(".Sh SEE ALSO")]
    return [row.replace('""', '"') for row in re.findall(r'^\.It "(.*)"$', text, re.M)]


def pattern(row):
    """Row as a regular expression."""
    parts = re.split(r"( ?\.\.\. ?|\b[A-Z]+\b)", row)
    return "".join(
        ".*" if "..." in part else f"(?:@|{part}|[a-z-]+)" if i % 2 else re.escape(part) for i, part in enumerate(parts)
    )


def messages(source):
    """Formats with "@" for each conversion."""
    for call in CALL.finditer(source):
        literal = "".join(re.findall(STRING, call[1]))
        yield re.sub(r"%[-+ 0#.*\d]*(?:hh|h|ll|l|z|j)?[a-zA-Z]", "@", literal.replace('\\"', '"').replace("%%", "%"))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        patterns = {row: re.compile(pattern(row)) for row in rows(file.read())}
    unused = set(patterns)
    count = 0
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            source = file.read()
        calls = len(re.findall(r"\blog_(?:error|warning|notice)\(", source))
        found = list(messages(source))
        if len(found) < calls:
            print(f"{path}: {calls} messages, of which {len(found)} are understood")
        for message in found:
            if message.strip("@") == "":
                continue
            count += 1
            matching = {row for row, expression in patterns.items() if expression.fullmatch(message)}
            unused -= matching
            if not matching:
                print(f"{path}: not in DIAGNOSTICS: {message}")
    for row in sorted(unused):
        print(f"no such message: {row}")
    if count < 100:
        print(f"only {count} messages found")


main()
