#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The manifest of the program against what was generated for tracers.

    netobsd --list-probes --format json | tests/probes/libraries.py WHAT FILE

WHAT is one of
    abi         prints names, types, offsets and sizes as probes/tracer_libraries.awk does (no FILE)
    d           FILE is the D library: each struct, member and translator, in C as well
    tapset      FILE is the tapset: each variable reads the right bytes of the right argument
    variables   prints a SystemTap script that uses every variable of every probe of the tapset FILE
"""
import json
import re
import subprocess
import sys

manifest = json.load(sys.stdin)
structs = {struct["name"]: struct for struct in manifest["structs"]}
problems = []


def wanted(condition, what):
    if not condition:
        problems.append(what)


def abi():
    for probe in manifest["probes"]:
        for index, kind in enumerate(probe["args"]):
            print("%s args[%d] %s" % (probe["name"], index, "NULL" if kind is None else kind + (
                " or NULL" if probe["nullable"][index] else "")))
    for struct in manifest["structs"]:
        print("struct %s %d" % (struct["name"], struct["size"]))
        for field in struct["fields"]:
            print("%s.%s %s at %d size %d" % (struct["name"], field["name"], field["type"], field["offset"], field["size"]))


def raw(kind):
    return "uint64_t" if kind == "pointer" else re.sub(r"\[.*", "", kind)


def d(path):
    text = open(path).read()
    blocks = dict(re.findall(r"^typedef struct (\w+) \{\n(.*?)^\} \1_t;", text, re.M | re.S))
    translators = {stable: (source, body) for stable, source, body in re.findall(
        r"^translator (\w+)_t < (\w+)_t \*p > \{\n(.*?)^\};", text, re.M | re.S)}
    wanted(set(blocks) == {prefix + name for prefix in ("netobs_", "nobs_") for name in structs}, "the structs are others")
    wanted(set(translators) == {"nobs_" + name for name in structs}, "the translators are others")
    wanted("depends_on" not in text, "depends_on is looked up beside the file, and fails")
    wanted(not re.search(r"copyinstr\([^,()]*(\([^()]*\))?[^,()]*\)", text), "copyinstr without a length")
    program = "#include <stddef.h>\n#include <stdint.h>\n"
    for name, struct in structs.items():
        program += "struct %s {\n%s};\n" % (name, blocks["netobs_" + name])
        program += '_Static_assert(sizeof(struct %s) == %d, "%s");\n' % (name, struct["size"], name)
        members, source = [], translators["nobs_" + name][0]
        wanted(source == "netobs_" + name, name + " is translated from " + source)
        for field in struct["fields"]:
            program += '_Static_assert(offsetof(struct %s, %s) == %d, "%s");\n' % (
                name, field["name"], field["offset"], field["name"])
            kind = field["type"]
            at = "(uintptr_t)&p->" + field["name"] + ("[0]" if "[" in kind else "")
            if kind.startswith("char["):
                value, stable = "copyinstr(%s, %d)" % (at, field["size"]), "string "
                if '""' in field["doc"]:
                    value = '*(char *)copyin(%s, 1) ? %s : ""' % (at, value)
            elif kind.startswith("uint8_t["):
                value, stable = "(uint8_t *)copyin(%s, %d)" % (at, field["size"]), "uint8_t *"
            else:
                value, stable = "*(%s *)copyin(%s, sizeof (%s))" % (raw(kind), at, raw(kind)), raw(kind) + " "
            members.append("\t%s = %s;\n" % (field["name"], value))
            wanted("\t%s%s;\n" % (stable, field["name"]) in blocks["nobs_" + name], name + "." + field["name"])
        wanted("".join(members) == translators["nobs_" + name][1], "the translator of " + name)
    compiler = subprocess.run(["cc", "-x", "c", "-std=c11", "-fsyntax-only", "-"], input=program, text=True,
                              capture_output=True, check=False)
    wanted(compiler.returncode == 0, compiler.stderr)


def aliases(path):
    for name, mark, body in re.findall(
            r'^probe netobs\.(\w+) = process\("[^"]+"\)\.provider\("netobs"\)\.mark\("(\w+)"\)\n\{\n(.*?)^\}',
            open(path).read(), re.M | re.S):
        yield name, mark, dict(re.findall(r"^\t(\w+) = (.*)$", body, re.M))


def tapset(path):
    found = {}
    for name, mark, variables in aliases(path):
        wanted(name == mark.replace("__", "_"), "netobs.%s is %s" % (name, mark))
        found[mark] = variables
    wanted(set(found) == {probe["c_name"] for probe in manifest["probes"]}, "the probes are others")
    for probe in manifest["probes"]:
        values = list(found[probe["c_name"]].values())
        for index, kind in enumerate(probe["args"]):
            if kind is None:
                continue
            wanted("$arg%d" % (index + 1) in values, "%s has no args[%d]" % (probe["name"], index))
            if kind in probe["args"][:index]:
                continue
            for field in structs[kind[:-len("_t *")]]["fields"]:
                at = "$arg%d + %d" % (index + 1, field["offset"])
                value = "user_%s(%s)" % (raw(field["type"]).replace("_t", ""), at)
                if field["type"].startswith("char["):
                    value = "user_string_n(%s, %d)" % (at, field["size"])
                elif field["type"].startswith("uint8_t["):
                    value = at
                wanted(value in values, "%s: %s" % (probe["name"], field["name"]))


def variables(path):
    for name, _, assigned in aliases(path):
        print("probe netobs.%s {" % name)
        for variable, value in assigned.items():
            print('\tprintf("%s", %s)' % ("%s" if "string" in value or value.startswith('"') else "%d", variable))
        print("}")


{"abi": abi, "d": d, "tapset": tapset, "variables": variables}[sys.argv[1]](*sys.argv[2:])
print("\n".join(problems), end="\n" if problems else "")
sys.exit(1 if problems else 0)
