# SPDX-License-Identifier: BSD-2-Clause
"""How each capture of faults.tsv is made: a function of the same name.

A recipe starts servers, then the capture, then what happens.  Healthy traffic in the background is of other servers, so
that the fault is one among much that is right.
"""
from lab import SERVER6, pause

# pylint: disable=missing-function-docstring

UP, DOWN = "up:port=8000", "down:port=8000"


# --- connections that do not come about ---

def refused(lab):
    lab.serve_many()
    lab.capture()
    lab.healthy()
    lab.client("tries", port=9999, count=10, gap=0.1)


def refused6(lab):
    lab.serve("http", 8000)
    lab.capture()
    lab.client("requests", server=SERVER6, count=3, requests=2)
    lab.client("tries", server=SERVER6, port=9999, count=8, gap=0.1)


def refused_any(lab):
    lab.serve("http", 8000)
    lab.capture(interface="any")
    lab.client("requests", count=2, requests=2)
    lab.client("tries", port=9999, count=6, gap=0.1)


def firewall_drops(lab):
    lab.serve_many()
    lab.serve("http", 8081)
    lab.rule("tcp dport 8081 drop")
    lab.capture()
    lab.healthy()
    lab.client("tries", port=8081, count=3, patience=4)


def firewall_drops6(lab):
    lab.serve("http", 8000)
    lab.serve("http", 8081)
    lab.rule("ip6 nexthdr tcp tcp dport 8081 drop")
    lab.capture()
    lab.client("requests", server=SERVER6, count=3, requests=2)
    lab.client("tries", server=SERVER6, port=8081, count=4, patience=4)


def firewall_rejects(lab):
    lab.serve("http", 8000)
    lab.rule("tcp dport 8082 reject with icmp type admin-prohibited")
    lab.capture()
    lab.client("requests", count=3, requests=2)
    lab.client("tries", port=8082, count=10, gap=0.1)


def firewall_rejects6(lab):
    lab.serve("http", 8000)
    lab.rule("ip6 nexthdr tcp tcp dport 8082 reject with icmpv6 type admin-prohibited")
    lab.capture()
    lab.client("requests", server=SERVER6, count=3, requests=2)
    lab.client("tries", server=SERVER6, port=8082, count=6, gap=0.1)


def firewall_refuses(lab):
    lab.serve("http", 8000)
    lab.rule("tcp dport 8083 reject with tcp reset")
    lab.capture()
    lab.client("requests", count=3, requests=2)
    lab.client("tries", port=8083, count=6, gap=0.1)


def no_host(lab):
    lab.serve("http", 8000)
    lab.capture()
    lab.client("requests", count=2, requests=2)
    lab.client("tries", server="10.77.1.77", count=3, patience=4)


def accept_queue(lab):
    lab.serve_many()
    lab.serve("unaccepted", 8000, queue=2)
    lab.capture()
    lab.healthy()
    lab.client("crowd", count=8, pause=8)


def syns_lost(lab):
    lab.serve("http", 8000)
    lab.path(UP + ",syn=1,nth=3")
    lab.capture()
    lab.client("requests", count=6, requests=1)


def syn_acks_lost(lab):
    lab.serve("http", 8000)
    lab.path(DOWN + ",syn=1,nth=2")
    lab.capture("server", "eth0")
    lab.client("requests", count=6, requests=1)


def syn_acks_lost_client(lab):
    lab.serve("http", 8000)
    lab.path(DOWN + ",syn=1,nth=3")
    lab.capture("client", "eth0")
    lab.client("requests", count=6, requests=1)


def syn_acks_lost_router(lab):
    lab.serve("http", 8000)
    lab.path(DOWN + ",syn=1,nth=2")
    lab.capture()
    lab.client("requests", count=6, requests=1)


def scan_refused(lab):
    lab.serve_many()
    lab.capture()
    lab.healthy()
    lab.client("scan", first=100, last=299, gap=0.02)


def scan_dropped(lab):
    lab.serve("http", 80)
    lab.rule("iifname cl tcp dport != 80 drop")
    lab.capture()
    lab.client("scan", first=100, last=299, gap=0.01)
    pause(5)
    lab.client("requests", port=80, count=2, requests=2)


def syn_flood(lab):
    lab.serve_many()
    lab.serve("http", 8000)
    lab.rule("ip saddr 198.18.0.0/15 drop")
    lab.capture()
    lab.healthy()
    lab.client("flood", count=2000, rate=1500)


def syn_flood_answered(lab):
    lab.serve("http", 8000)
    lab.rule("ip daddr 198.18.0.0/15 drop")
    lab.capture("server", "eth0")
    lab.client("requests", count=2, requests=2)
    lab.client("flood", count=1000, rate=1500)
    pause(4)


# --- servers that are slow ---

def slow_server(lab):
    lab.serve("http", 8000, delay=0.8)
    lab.capture()
    lab.client("requests", count=6, requests=3)


def slow_path(lab):
    lab.serve_many()
    lab.serve("http", 8000, slow="/report,1.2")
    lab.capture()
    lab.healthy(10, 60)
    lab.client("requests", count=4, requests=4)
    lab.client("requests", count=4, requests=2, url="/report")


def slow_https(lab):
    lab.serve("https", 443, slow="/report,1.3")
    lab.capture()
    lab.client("https", "/", "/report", "/", port=443, count=4)


def slow_table(lab):
    lab.serve_many(sql={"slow": "orders,1.1"})
    lab.capture()
    lab.healthy()
    lab.client("sql", "orders", "items", "orders", count=3)


def slow_command(lab):
    lab.serve_many()
    lab.serve("lines", 2100, slow="LIST,1.5")
    lab.capture()
    lab.healthy()
    lab.client("lines", "STAT", "LIST", "QUIT", port=2100, count=3)


def slow_any(lab):
    lab.serve("http", 8000, delay=0.9)
    lab.capture(interface="any")
    lab.client("requests", count=2, requests=2)


def slow_cut_frames(lab):
    lab.serve("http", 8000, delay=0.9)
    lab.capture(snap=66)
    lab.client("requests", count=4, requests=2)


def slow_midstream(lab):
    lab.serve("http", 8000, delay=0.8)
    client = lab.start("steady", requests=12, pause=0.3)
    lab.mark(client)
    lab.capture()
    lab.finish(client)


def slow_evenly(lab):
    lab.serve("http", 8000, delay=0.35)
    lab.capture()
    lab.client("requests", count=4, requests=8)


def slow_split(lab):
    lab.serve("http", 8000, delay=0.7, split=1, body=4000)
    lab.capture()
    lab.client("requests", count=3, requests=3)


def slow_and_lossy(lab):
    lab.serve("http", 8000, delay=0.6)
    lab.path(UP + ",data=1,nth=3")
    lab.capture()
    lab.client("requests", count=3, requests=4)


def drips(lab):
    lab.serve("large", 8000, size=90000, chunk=3000, gap=0.2)
    lab.capture()
    lab.client("download")


def silent_server(lab):
    lab.serve("silent", 8000)
    lab.capture()
    lab.client("requests", patience=8)


# --- requests that fail ---

def http_500(lab):
    lab.serve_many(web={"bad": "bad.example,500"})
    lab.capture()
    lab.healthy()
    lab.client("requests", port=80, count=4, requests=2, host="bad.example")


def http_502(lab):
    lab.serve_many(web={"bad": "bad.example,502"})
    lab.capture()
    lab.healthy()
    lab.client("requests", port=80, count=3, requests=3, host="bad.example")


def http_404(lab):
    lab.serve_many(web={"bad": "old.example,404"})
    lab.capture()
    lab.healthy()
    lab.client("requests", port=80, count=6, requests=2, host="old.example")


def untrusted(lab):
    lab.serve("https", 443)
    lab.capture()
    lab.client("untrusting", port=443, count=3)
    lab.client("https", "/", port=443)


def untrusted_12(lab):
    lab.serve("https", 443)
    lab.capture()
    lab.client("untrusting", port=443, count=3, version="1.2")


def dies(lab):
    lab.serve_many()
    lab.serve("dying", 8000)
    lab.capture()
    lab.healthy()
    lab.client("download", count=3)


def firewall_resets(lab):
    lab.serve("http", 8000)
    lab.capture()
    client = lab.start("interrupted", count=3, pause=3)
    lab.mark(client)
    lab.rule("tcp dport 8000 reject with tcp reset")
    lab.finish(client)


def gives_up(lab):
    lab.serve_many()
    lab.serve("http", 8000, slow="/report,5")
    lab.capture()
    lab.healthy(8)
    lab.client("requests", count=3, url="/report", patience=2)


def gives_up_https(lab):
    lab.serve("https", 443, delay=5)
    lab.capture()
    lab.client("https", "/report", port=443, count=4, patience=1.5)


def gives_up_inside(lab):
    lab.serve("large", 8000, size=60000, chunk=1200, gap=0.1)
    lab.capture()
    lab.client("impatient", count=3, patience=1.2)


def idle_race(lab):
    lab.serve("idle", 8000, idle=1)
    lab.path("up:delay=60", "down:delay=60")
    lab.capture()
    lab.client("again_later", count=5, pause=0.95)


def idle_reset(lab):
    lab.serve("idle", 8000, idle=0.8, reset=1)
    lab.capture()
    lab.client("again_later", count=5, pause=1.6)


def idle_closed(lab):
    lab.serve("idle", 8000, idle=0.8)
    lab.capture()
    lab.client("again_later", count=5, pause=1.6)


def server_leaks(lab):
    lab.serve_many()
    lab.serve("half", 8000)
    lab.capture()
    lab.healthy()
    lab.client("half_close", count=6, gap=0.1, pause=6)


def client_leaks(lab):
    lab.serve("early", 8000)
    lab.capture()
    lab.client("never_close", count=6, gap=0.15, pause=6)


# --- DNS and UDP ---

def dns_slow(lab):
    lab.serve("dns", 53, delay=1.5)
    lab.serve("http", 8000)
    lab.capture()
    lab.client("names", "api.example", "db.example", count=4, request=8000)


def dns_slow_name(lab):
    lab.serve_many(dns={"slow": "slow.example,1.2"})
    lab.capture()
    lab.healthy()
    lab.client("names", "www.example", "slow.example", count=3)


def dns_no_name(lab):
    lab.serve_many(dns={"bad": "gone.example,3"})
    lab.capture()
    lab.healthy()
    lab.client("names", "gone.example", "www.example", count=5)


def dns_fails(lab):
    lab.serve_many(dns={"bad": "broken.example,2"})
    lab.capture()
    lab.healthy()
    lab.client("names", "broken.example", "www.example", count=5)


def dns_mute(lab):
    lab.serve_many(dns={"mute": "mute.example"})
    lab.capture()
    lab.healthy(8)
    lab.client("names", "www.example", "mute.example", count=3, patience=2)


def dns_tcp_slow(lab):
    lab.serve("dnstcp", 53, slow="b.example,1.1")
    lab.capture()
    lab.client("dnstcp", "a.example", "b.example", "c.example", count=3)


def dns_other_address(lab):
    lab.serve("dns", 53, any=1)
    lab.capture()
    lab.client("names", "www.example", "mail.example", server="10.77.1.3", count=2)


def udp_closed(lab):
    lab.capture()
    lab.client("datagrams", port=5060, count=10)


# --- loss ---

def loss_down(lab):
    lab.serve("large", 8000, size=120000)
    lab.path(DOWN + ",data=1,drop=5,seed=3")
    lab.capture()
    lab.client("download", count=2)


def loss_down_server(lab):
    lab.serve("large", 8000, size=120000)
    lab.path(DOWN + ",data=1,drop=5,seed=3")
    lab.capture("server", "eth0")
    lab.client("download", count=2)


def loss_down6(lab):
    lab.serve("large", 8000, size=120000)
    lab.path(DOWN + ",data=1,drop=5,seed=3")
    lab.capture()
    lab.client("download", count=2, server=SERVER6)


def loss_up(lab):
    lab.serve("sink", 8000)
    lab.path(UP + ",data=1,drop=5,seed=3")
    lab.capture()
    lab.client("upload", size=200000)


def loss_up_server(lab):
    lab.serve("sink", 8000)
    lab.path(UP + ",data=1,drop=5,seed=3")
    lab.capture("server", "eth0")
    lab.client("upload", size=200000)


def loss_of_requests(lab):
    lab.serve("http", 8000)
    lab.path(UP + ",data=1,drop=20,seed=5")
    lab.capture()
    lab.client("requests", count=5, requests=6)


def loss_of_answers(lab):
    lab.serve("http", 8000)
    lab.path(DOWN + ",data=1,nth=3")
    lab.capture("client", "eth0")
    lab.client("requests", count=3, requests=4)


def loss_of_acks(lab):
    lab.serve("large", 8000, size=28000)
    lab.path(UP + ",drop=55,seed=2")
    lab.capture("server", "eth0")
    lab.client("download", count=6)


def policer(lab):
    lab.serve("large", 8000, size=100000)
    lab.path(DOWN + ",police=60000:20000")
    lab.capture("server", "eth0")
    lab.client("download")


def policer_up(lab):
    lab.serve("sink", 8000)
    lab.path(UP + ",police=60000:20000")
    lab.capture()
    lab.client("upload", size=120000)


def path_dies(lab):
    lab.serve_many()
    lab.serve("http", 8000)
    lab.capture()
    lab.healthy()
    client = lab.start("interrupted", count=3, pause=2.5)
    lab.mark(client)
    lab.rule("tcp dport 8000 drop")
    lab.finish(client)


def path_cut(lab):
    lab.serve("http", 8000, delay=0.6)
    lab.capture()
    client = lab.start("interrupted", pause=2)
    lab.mark(client)
    lab.rule("tcp dport 8000 drop")
    pause(7)
    lab.no_rules()
    lab.finish(client)


def peer_vanishes(lab):
    lab.serve("http", 8000)
    lab.capture()
    client = lab.start("keeps", keepalive=1, count=3, pause=9)
    lab.mark(client)
    lab.rule("tcp dport 8000 drop")
    lab.finish(client)


def dead_at_close(lab):
    lab.serve("http", 8000)
    lab.capture()
    client = lab.start("closes", count=3, pause=8)
    lab.mark(client)
    lab.rule("tcp sport 8000 drop")
    lab.finish(client)


def mtu_hole(lab):
    lab.serve("large", 8000, size=100000)
    lab.router_ip("link", "set", "cl", "mtu", "1200")
    lab.rule("icmp type destination-unreachable drop", "output")
    lab.capture("server", "eth0")
    lab.client("download", patience=10)


def mtu_hole_up(lab):
    lab.serve("http", 8000)
    lab.router_ip("link", "set", "sv", "mtu", "1200")
    lab.rule("icmp type destination-unreachable drop", "output")
    lab.capture()
    lab.client("post", size=8000, count=2, patience=8)


def mtu_hole6(lab):
    lab.serve("large", 8000, size=100000)
    lab.router_ip("link", "set", "cl", "mtu", "1300")
    lab.rule("icmpv6 type packet-too-big drop", "output")
    lab.capture("server", "eth0")
    lab.client("download", patience=6, server=SERVER6)


def mtu_hole_client(lab):
    lab.serve("large", 8000, size=100000)
    lab.router_ip("link", "set", "cl", "mtu", "1200")
    lab.rule("icmp type destination-unreachable drop", "output")
    lab.capture()
    lab.client("download", patience=8)


# --- other faults of the network, and of windows ---

def distance(lab):
    lab.serve_many()
    lab.serve("http", 8000, delay=0.001)
    lab.path(UP + ",delay=150", DOWN + ",delay=150")
    lab.capture()
    lab.healthy()
    lab.client("requests", count=3, requests=6)


def distance_large(lab):
    lab.serve("http", 8000, delay=0.001)
    lab.path("up:delay=310", "down:delay=310")
    lab.capture()
    lab.client("requests", count=3, requests=5)


def chatty(lab):
    lab.serve("http", 8000, delay=0.004)
    lab.capture()
    lab.client("requests", requests=400)


def reordered(lab):
    lab.serve("large", 8000)
    lab.path(DOWN + ",reorder=6:8")
    lab.capture()
    lab.client("download", count=2)


def reordered_server(lab):
    lab.serve("large", 8000)
    lab.path(DOWN + ",reorder=6:8")
    lab.capture("server", "eth0")
    lab.client("download", count=2)


def duplicated(lab):
    lab.serve("large", 8000, size=120000)
    lab.path(DOWN + ",duplicate=30")
    lab.capture()
    lab.client("download", count=2)


def duplicated_up(lab):
    lab.serve("sink", 8000)
    lab.path(UP + ",duplicate=30")
    lab.capture("server", "eth0")
    lab.client("upload", size=150000)


def shaped(lab):
    lab.serve("large", 8000, size=300000)
    lab.path(DOWN + ",shape=60000:200000")
    lab.capture()
    lab.client("download")


def shaped_server(lab):
    lab.serve("large", 8000, size=300000)
    lab.path(DOWN + ",shape=60000:200000")
    lab.capture("server", "eth0")
    lab.client("download")


def shaped_up(lab):
    lab.serve("sink", 8000)
    lab.path(UP + ",shape=50000:200000")
    lab.capture()
    lab.client("upload", size=250000)


def unscaled(lab):
    lab.serve("large", 8000, size=1500000)
    lab.path("up:delay=40,unscaled=1", "down:delay=40,unscaled=1")
    lab.capture(snap=96)
    lab.client("download")


def unscaled_server(lab):
    lab.serve("large", 8000, size=1000000)
    lab.path("up:delay=60,unscaled=1", "down:delay=60,unscaled=1")
    lab.capture("server", "eth0", snap=96)
    lab.client("download")


def nagle_client(lab):
    lab.serve("http", 8000)
    lab.capture()
    lab.client("write_write_read", requests=20)


def nagle_server(lab):
    lab.serve("http", 8000, nagle=1, split=1)
    lab.capture()
    lab.client("requests", requests=20)


def client_stalls(lab):
    lab.serve("large", 8000, size=180000, send=30000)
    lab.capture()
    lab.client("stalled", pause=5)


def server_reads_slowly(lab):
    lab.serve("sink", 8000, receive=8192, step=2048, gap=0.05)
    lab.capture("server", "eth0")
    lab.client("upload", size=160000)


def server_stops_reading(lab):
    lab.serve("sink", 8000, receive=8192, step=2048, stop=20000)
    lab.capture()
    lab.client("upload", size=300000, patience=9)


# --- healthy ---

def healthy_4(lab):
    lab.serve_many()
    lab.capture()
    lab.healthy(10, 100)


def healthy_6(lab):
    lab.serve_many()
    lab.capture("server", "eth0")
    lab.healthy(8, 80, "6")


def healthy_any(lab):
    lab.serve_many()
    lab.capture(interface="any")
    lab.healthy(8, 80, "46")


def healthy_one_way(lab):
    lab.serve_many()
    lab.capture(only="src net 10.77.1.0/24")
    lab.healthy(6, 50)


def healthy_cut_frames(lab):
    lab.serve_many()
    lab.capture(snap=60)
    lab.healthy(6, 60)


def healthy_thinks(lab):
    lab.serve("http", 8000)
    lab.capture()
    lab.client("thinks", pause=2)


def healthy_push(lab):
    lab.serve("sink", 6514)
    lab.capture()
    lab.client("pushed", "<14>1 app: something happened", "<14>1 app: something else", "<14>1 app: and more", port=6514)


def healthy_chat(lab):
    lab.serve("push", 5222, gap=1.7, times=6)
    lab.capture()
    lab.client("pushed", "<message to alice>nobody needs to answer this message, number 1</message>",
               "<message to alice>number 2</message>", "<message to alice>number 3</message>", port=5222)


def healthy_websocket(lab):
    lab.serve("websocket", 8000)
    lab.capture()
    lab.client("websocket", count=3)


def healthy_poll(lab):
    lab.serve("poll", 8000, gap=2.5)
    lab.capture()
    lab.client("requests", count=2, requests=3, url="/events")


def healthy_pipeline(lab):
    lab.serve("http", 8000, delay=0.02)
    lab.capture()
    lab.client("pipeline", count=3, requests=8)


def healthy_pool(lab):
    lab.serve("http", 8000)
    lab.capture()
    lab.client("pool", count=4, keepalive=1, pause=9)


def healthy_fast_open(lab):
    lab.sysctl(lab.names["client"], "ipv4.tcp_fastopen=1")
    lab.sysctl(lab.names["server"], "ipv4.tcp_fastopen=3")
    lab.serve("http", 8000, fastopen=1)
    lab.capture()
    lab.client("fast_open", count=8, gap=0.05)


def healthy_half_close(lab):
    lab.serve("end", 8000)
    lab.capture()
    lab.client("to_end", count=6, gap=0.1)


def healthy_checks(lab):
    lab.serve_many()
    lab.serve("http", 8000)
    lab.capture()
    lab.healthy()
    lab.client("health_check", count=10, gap=0.4)


def healthy_typing(lab):
    lab.serve("lines", 7000)
    lab.capture()
    lab.client("typing", "0.5", "1.2", "2")


def healthy_early(lab):
    lab.serve("early", 8000)
    lab.capture()
    lab.client("download", count=4)


def healthy_steady(lab):
    lab.serve("http", 8000)
    lab.capture()
    lab.client("steady", requests=20, pause=0.4)


def healthy_distance(lab):
    lab.serve("http", 8000)
    lab.path("up:delay=20", "down:delay=20")
    lab.capture()
    lab.client("requests", count=4, requests=6)


def healthy_jitter(lab):
    lab.serve("http", 8000)
    lab.path("up:delay=5,jitter=8", "down:delay=5,jitter=8")
    lab.capture()
    lab.client("requests", count=4, requests=8)


def healthy_large(lab):
    lab.serve("large", 8000, size=3000000)
    lab.capture(snap=96)
    lab.client("download")


def healthy_large_distance(lab):
    lab.serve("large", 8000, size=2000000)
    lab.path("up:delay=15", "down:delay=15")
    lab.capture(snap=96)
    lab.client("download")


def healthy_paced(lab):
    lab.serve("large", 8000, size=300000, chunk=10000, gap=0.04)
    lab.capture()
    lab.client("download")


def healthy_idle(lab):
    lab.serve("http", 8000)
    lab.capture()
    lab.client("interrupted", count=4, pause=6)


def healthy_mtu(lab):
    lab.serve("large", 8000, size=100000)
    lab.router_ip("link", "set", "cl", "mtu", "1200")
    lab.capture("server", "eth0")
    lab.client("download")
