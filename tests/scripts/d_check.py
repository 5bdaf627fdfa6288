#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A strict reader of D scripts, for machines without DTrace.

    netobsd --list-probes --format json | tests/scripts/d_check.py netobs.h [--unlabelled] SCRIPT...

It knows the part of D that scripts/d uses and refuses the rest: each probe is one of the provider, each args[N]->field
is there in every probe of its clause, each name is declared or DTrace's own, printf and printa have an argument of the
right kind for each conversion, each aggregation is printed with its name (not with --unlabelled).  It also refuses what
DTrace 2.0.2 accepts or should accept, but gets wrong: an element that is set to 0, typedefs among several keys.  Prints
file:line: what, and fails, if something is wrong.
"""
import json
import re
import sys

TOKEN = re.compile(r"""(?P<comment>/\*.*?\*/)|(?P<string>"(?:\\.|[^"\\\n])*")|(?P<number>0x[0-9a-fA-F]+|\d+)
    |(?P<probe>netobs\*:::[a-z-]+|\btick-\d+s\b)|(?P<name>[A-Za-z_]\w*)|(?P<macro>\$\d)|(?P<pragma>\#pragma[^\n]*)
    |(?P<op>->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|[-+*/%<>=!&|^~?:;,.(){}\[\]@])|(?P<blank>\s+)""", re.S | re.X)
TYPES = {"int", "uint64_t", "uint32_t", "uint16_t", "int64_t", "string", "unsigned"}
TYPEDEFS = {"uint64_t", "uint32_t", "uint16_t", "int64_t"}
FUNCTIONS = {"printf", "printa", "trunc", "clear", "strjoin", "lltostr", "system"}
AGGREGATIONS = {"count": 0, "sum": 1, "avg": 1, "min": 1, "max": 1, "quantize": 1}
VARIABLES = {"probename", "pid", "execname", "timestamp", "walltimestamp", "arg0", "arg1", "arg2", "arg3", "arg4", "arg5"}
ROOM = "#pragma D option dynvarsize=32m"
PRAGMAS = {"#pragma D option quiet", "#pragma D option defaultargs", ROOM}
OWN_PROBES = {"BEGIN", "END"}

problems = []


class Refused(Exception):
    pass


class Reader:
    def __init__(self, path, manifest):
        self.path = path
        self.probes = {probe["name"]: probe["args"] for probe in manifest["probes"]}
        self.structs = {struct["name"] + "_t *": {field["name"]: field["type"] for field in struct["fields"]}
                        for struct in manifest["structs"]}
        self.constants = manifest["constants"]
        self.tokens = list(self.scan(open(path).read()))
        self.at = 0
        self.globals, self.locals, self.maps = {}, {}, {}
        self.printed = set()
        self.clause = []

    def scan(self, text):
        at = 0
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                self.at, self.tokens = 0, [("?", text[at], text.count("\n", 0, at) + 1)]
                self.refuse("not understood: " + text[at:at + 20].split("\n")[0])
            if match.lastgroup not in ("comment", "blank"):
                yield match.lastgroup, match.group(), text.count("\n", 0, at) + 1
            at = match.end()
        yield "end", "", text.count("\n")

    def refuse(self, what):
        raise Refused("%s:%d: %s" % (self.path, self.tokens[min(self.at, len(self.tokens) - 1)][2], what))

    def peek(self, *texts):
        return self.tokens[self.at][1] in texts

    def take(self, *texts):
        kind, text, _ = self.tokens[self.at]
        if texts and text not in texts:
            self.refuse("%s instead of %s" % (text or "the end", " or ".join(texts)))
        self.at += 1
        return kind, text

    # ------------------------------------------------------------------------------------------------- the program

    def program(self):
        pragmas = set()
        while self.tokens[self.at][0] == "pragma":
            pragmas.add(self.take()[1])
            if not pragmas <= PRAGMAS:
                self.refuse("an unknown pragma")
        while self.peek(*TYPES):
            self.declaration()
        # last has an element for each probe, other arrays may have one for each connection.
        if not unlabelled and ROOM not in pragmas and any(keys and name != "last" for name, (_, keys) in self.globals.items()):
            self.refuse("DTrace has room for some thousand elements only without " + ROOM)
        while self.tokens[self.at][0] != "end":
            self.a_clause()
        for name in self.maps:
            if name not in self.printed and not unlabelled:
                self.refuse("@%s is not printed with its name: printa(\"@%s...\", @%s)" % (name, name, name))

    def declaration(self):
        kind = self.take(*TYPES)[1]
        while True:
            what, name = self.take()
            if what != "name" or name in VARIABLES or name in FUNCTIONS or name in self.globals:
                self.refuse("no name for a variable: " + name)
            self.globals[name] = (kind, self.key_types() if self.peek("[") else 0)
            if self.take(",", ";")[1] == ";":
                return

    def key_types(self):
        self.take("[")
        keys = []
        while True:
            keys.append(self.take(*TYPES)[1])
            if keys[-1] == "unsigned":
                self.take("long", "int")
            if len(keys) > 1 and TYPEDEFS.intersection(keys):
                self.refuse("DTrace 2.0.2 reads no typedef among several keys: unsigned long instead of uint64_t")
            if self.take(",", "]")[1] == "]":
                return len(keys)

    def a_clause(self):
        self.clause = []
        while True:
            kind, text = self.take()
            if kind == "probe" and text.startswith("netobs"):
                name = text[len("netobs*:::"):]
                if name not in self.probes:
                    self.refuse("no probe " + name)
                self.clause.append(self.probes[name])
            elif kind != "probe" and text not in OWN_PROBES:
                self.refuse("no probe: " + text)
            else:
                self.clause.append([])
            if not self.peek(","):
                break
            self.take(",")
        if self.peek("/"):
            self.take("/")
            self.in_predicate = True
            self.expression(0)
            self.take("/")
        self.in_predicate = False
        self.take("{")
        while not self.peek("}"):
            self.statement()
        self.take("}")

    def statement(self):
        if self.peek("@"):
            self.aggregation()
        else:
            kind, _ = self.expression(0, True)
            if kind is None:
                self.refuse("a statement without an effect")
        self.take(";")

    def map_name(self):
        self.take("@")
        kind, name = self.take()
        if kind != "name":
            self.refuse("an aggregation has a name here")
        return name

    def aggregation(self):
        name = self.map_name()
        keys = tuple(self.list("[", "]")) if self.peek("[") else ()
        self.take("=")
        function = self.take()[1]
        if function not in AGGREGATIONS:
            self.refuse("no aggregating function: " + function)
        if len(self.list("(", ")")) != AGGREGATIONS[function]:
            self.refuse(function + " has another number of arguments")
        if self.maps.setdefault(name, (function, keys)) != (function, keys):
            self.refuse("@%s is something else elsewhere" % name)

    def list(self, opening, closing):
        self.take(opening)
        types = []
        while not self.peek(closing):
            types.append(self.expression(0)[1])
            if not self.peek(closing):
                self.take(",")
        self.take(closing)
        return types

    # ------------------------------------------------------------------------------------------------- expressions
    # (effect or None, "string" or "int")

    LEVELS = [("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
              ("*", "/", "%")]

    def expression(self, level, effect_wanted=False):
        left = self.binary(0)
        if self.peek("=", "+=", "-="):
            target = left
            if target[0] != "variable":
                self.refuse("this cannot be assigned to")
            self.take()
            if target[2:] == ("element",) and self.peek("0") and self.tokens[self.at + 1][1] == ";":
                self.refuse("an element is set to 0, after which DTrace 2.0.2 confuses others")
            right = self.expression(0)
            if target[1] != right[1] and target[1] is not None:
                self.refuse("a %s is assigned to a %s" % (right[1], target[1]))
            if target[1] is None and target[2:]:
                self.locals[target[2]] = right[1]
            return "assignment", right[1]
        if self.peek("?"):
            self.take("?")
            yes = self.expression(0)
            self.take(":")
            no = self.expression(0)
            if yes[1] != no[1]:
                self.refuse("the two values of ?: are of different kinds")
            return None, yes[1]
        return left if effect_wanted else (None, left[1] or "int")

    def binary(self, level):
        if level == len(self.LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek(*self.LEVELS[level]):
            # The slash that ends a predicate is not a division.
            if self.peek("/") and self.in_predicate and self.tokens[self.at + 1][1] == "{":
                break
            operator = self.take()[1]
            right = self.binary(level + 1)
            if left[1] != right[1]:
                self.refuse("%s between a string and a number" % operator)
            if left[1] == "string" and operator not in ("==", "!=", "<", ">", "<=", ">="):
                self.refuse("no %s of strings" % operator)
            left = (None, "int")
        return left

    def unary(self):
        if self.peek("!", "-", "~"):
            self.take()
            if self.unary()[1] == "string":
                self.refuse("expected a number")
            return None, "int"
        value = self.primary()
        if self.peek("++", "--"):
            self.take()
            if value[0] != "variable":
                self.refuse("this cannot be counted up")
            return "assignment", "int"
        return value

    def primary(self):
        kind, text = self.take()
        if text == "(":
            value = self.expression(0)
            self.take(")")
            return None, value[1]
        if kind == "string":
            return None, "string"
        if kind in ("number", "macro"):
            return None, "int"
        if kind != "name":
            self.refuse("an expression begins with " + text)
        if text == "args":
            return None, self.argument()
        if text == "this":
            self.take("->")
            name = self.take()[1]
            if self.peek("=") and name not in self.locals:  # the first assignment declares it
                return "variable", None, name
            if name not in self.locals:
                self.refuse("this->%s is read before it is set" % name)
            return "variable", self.locals[name]
        if text in FUNCTIONS:
            self.call(text)
            return "call", "int"
        if text in self.globals:
            return self.variable(text)
        if text in VARIABLES:
            if text.startswith("arg") and any(int(text[3]) >= len(args) for args in self.clause):
                self.refuse("no probe of this clause may lack " + text)
            return None, "string" if text in ("probename", "execname") else "int"
        if text in self.constants:
            return None, "int"
        if self.peek("="):  # a global variable that its first assignment declares
            self.globals[text] = (None, 0)
            return "variable", None
        self.refuse("nothing is called " + text)

    def variable(self, name):
        kind, keys = self.globals[name]
        if keys and len(self.list("[", "]")) != keys:
            self.refuse("%s has %d keys" % (name, keys))
        return ("variable", "string" if kind == "string" else "int") + (("element",) if keys else ())

    def argument(self):
        self.take("[")
        index = int(self.take()[1])
        self.take("]")
        self.take("->")
        field = self.take()[1]
        kinds = set()
        for args in self.clause:
            if index >= len(args) or args[index] is None:
                self.refuse("args[%d] is not in every probe of this clause" % index)
            if field not in self.structs[args[index]]:
                self.refuse("args[%d] is a %s and has no %s" % (index, args[index], field))
            kinds.add("string" if self.structs[args[index]][field].startswith("char[") else "int")
        if len(kinds) != 1:
            self.refuse("args[%d]->%s is not the same in every probe of this clause" % (index, field))
        return kinds.pop()

    def call_printa(self):
        self.take("(")
        kind, text = self.take()
        if kind != "string":
            self.refuse("printa without a text: DTrace prints no name of its own")
        self.take(",")
        name = self.map_name()
        if name not in self.maps:
            self.refuse("no such aggregation yet")
        self.take(")")
        wanted = ["string" if letter == "s" else "int" for letter in re.findall(r"%[-0-9]*([a-zA-Z])", text)]
        if wanted != list(self.maps[name][1]) or text.count("%@") != 1 or not text.startswith('"@%s' % name):
            self.refuse("printa of @%s needs its name, its keys %s and one %%@d" % (name, list(self.maps[name][1])))
        self.printed.add(name)

    def call(self, function):
        if function == "printa":
            self.call_printa()
            return
        if function in ("trunc", "clear"):
            self.take("(")
            if self.map_name() not in self.maps:
                self.refuse("no such aggregation yet")
            if self.peek(",") and function == "trunc":
                self.take(",")
                self.expression(0)
            self.take(")")
            return
        text = self.tokens[self.at + 1][1]
        types = self.list("(", ")")
        if function in ("printf", "system"):
            wanted = ["string" if letter == "s" else "int" for letter in re.findall(r"%[-0-9]*([a-zA-Z])", text.replace("%%", ""))]
            if wanted != types[1:]:
                self.refuse("%s wants %s and gets %s" % (function, wanted, types[1:]))


def constants(header):
    return set(re.findall(r"^\t(NETOBS_[A-Z0-9_]+) = ", open(header).read(), re.M))


manifest = json.load(sys.stdin)
manifest["constants"] = constants(sys.argv[1])
unlabelled = "--unlabelled" in sys.argv
for script in (argument for argument in sys.argv[2:] if argument != "--unlabelled"):
    try:
        Reader(script, manifest).program()
    except Refused as refused:
        problems.append(str(refused))
print("\n".join(problems), end="\n" if problems else "")
sys.exit(1 if problems else 0)
