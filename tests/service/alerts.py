#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The alert rules and the dashboard in conf/, compared with their tests and with what netobsd exports.

    alerts.py cases RULES TESTS             alerts without a case in which they fire, or without one in which they do not
    alerts.py rules DASHBOARD               the expressions of the dashboard as a file of recording rules
    alerts.py names PAGE FILE...            metrics of the FILEs (dashboard, rules) that the metrics PAGE does not have
    alerts.py shown PAGE DASHBOARD          metrics of the network on the PAGE that the dashboard's first part lacks
"""
import json
import pathlib
import re
import sys


def cases(rules, tests):
    """promtool does not report which alerts have no test."""
    alerts = re.findall(r"^ *- alert: (\w+)$", pathlib.Path(rules).read_text(), re.M)
    found = re.findall(r"alertname: (\w+)\n *exp_alerts:( \[\])?", pathlib.Path(tests).read_text())
    for alert in alerts:
        for nothing, what in (("", "fires"), (" []", "does not fire")):
            if (alert, nothing) not in found:
                print(f"{alert}: no case in which it {what}")
    for alert in {name for name, _ in found} - set(alerts):
        print(f"{alert}: no such alert")


def panels(dashboard):
    return json.loads(pathlib.Path(dashboard).read_text(encoding="ascii"))["panels"]


def expressions(of):
    return [target["expr"] for panel in of for target in panel.get("targets", ())]


def rules(dashboard):
    """Grafana's variables get values."""
    json_rules = [{"record": f"panel:number{number}",
                   "expr": expr.replace("$__rate_interval", "5m").replace("$instance", ".*")}
                  for number, expr in enumerate(expressions(panels(dashboard)))]
    if not json_rules:
        sys.exit("no expressions")
    print(json.dumps({"groups": [{"name": "dashboard", "rules": json_rules}]}))  # JSON is YAML


def names_in(text):
    return set(re.findall(r"\bnetobs_[a-z_]+", text))


def families(page):
    """The metrics of a page; a histogram is one metric with three kinds of samples."""
    found = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", pathlib.Path(page).read_text(encoding="ascii"), re.M):
        found |= {f"{name}_{part}" for part in ("bucket", "sum", "count")} if kind == "histogram" else {name}
    return found


def names(page, *files):
    known = families(page)
    for file in files:
        text = "\n".join(expressions(panels(file))) if file.endswith(".json") else pathlib.Path(file).read_text()
        text = re.sub(r"(?m)^ *#.*", "", text)
        used = names_in(text)
        if not used:
            print(f"{file}: no metrics")
        for name in sorted(used - known):
            print(f"{file}: {name}")


def shown(page, dashboard):
    network, rest = [], panels(dashboard)
    while rest and not (rest[0]["type"] == "row" and network):
        network.append(rest.pop(0))
    if network[0]["title"] != "Network" or not rest:
        sys.exit("the dashboard does not begin with the network")
    used = names_in("\n".join(expressions(network)))
    wanted = {name for name in families(page) if name.startswith(("netobs_tcp_", "netobs_connections_ended", "netobs_answer_"))}
    for name in sorted(wanted - used):
        print(name)


if __name__ == "__main__":
    {"cases": cases, "rules": rules, "names": names, "shown": shown}[sys.argv[1]](*sys.argv[2:])
