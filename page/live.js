// SPDX-License-Identifier: BSD-2-Clause
// The page that netobsd serves: its counters, asked for once a second, and its open connections become the data of the page.
const LIVE_SECONDS = 240;
// Connections in an answer of netobsd, at most: LIVE_CONNECTIONS_MAX of daemon/metrics/live_page.h.
const LIVE_ROWS = 1000;
// Milliseconds after which an answer does not count any more.
const LIVE_PATIENCE = 5000;
const live = { samples: [], failed: false, paused: false };

// The series of a text in the format of Prometheus: name with labels to value.
const parseMetrics = text => new Map(text.split("\n").filter(line => line && line[0] !== "#").map(line => {
	const at = line.lastIndexOf(" ");
	return [line.slice("netobs_".length, at), Number(line.slice(at + 1))];
}));
const valueOf = (sample, series) => sample.values.get(series) || 0;

// What the series whose names begin and end so have grown by between two samples.
function growth(from, to, begin, end = "") {
	let sum = 0;
	for (const [series, value] of to.values)
		if (series.startsWith(begin) && series.endsWith(end)) sum += Math.max(0, value - valueOf(from, series));
	return sum;
}

// What happens in each second: the growth between neighbours.
const perSecond = grow => live.samples.slice(1).map((sample, i) => grow(live.samples[i], sample));
const now = states => live.samples.slice(1).map(sample =>
	states.reduce((sum, state) => sum + valueOf(sample, `connections_by_state{proto="tcp",state="${state}"}`), 0));

const ended = (from, to, reason) => growth(from, to, 'connections_ended_total{proto="tcp"', `reason="${reason}"}`);

// The states of both ends, the client's first.
const liveState = (client, server) => client === server ? client || "–" : `${client} / ${server}`;

// An object of /connections as a row of the table; `opened`: the packet that opened the connection was captured.
function liveRow(row, from, to) {
	return { start: row.cr_start / 1000 - from, duration: Math.max(0, to - row.cr_start / 1000),
		idle: Math.max(0, to - row.cr_end / 1000), protocol: row.cr_protocol, client: row.cr_client, clientPort: row.cr_client_port,
		server: row.cr_server, serverPort: row.cr_server_port, clientBytes: row.cr_client_bytes, serverBytes: row.cr_server_bytes,
		clientResent: row.cr_client_resent, serverResent: row.cr_server_resent, rtt: row.cr_rtt_us || -1,
		reason: liveState(row.cr_client_state, row.cr_server_state), name: "", detail: -1, opened: row.cr_role === "seen" };
}

// What each address has sent and received; a connection of an address with itself is one.
function liveTalkers() {
	const sums = new Map();
	const add = (address, sent, received, connections) => {
		const sum = sums.get(address) || [address, 0, 0, 0];
		sums.set(address, [address, sum[1] + sent, sum[2] + received, sum[3] + connections]);
	};
	for (const row of rows) {
		add(row.client, row.clientBytes, row.serverBytes, 1);
		add(row.server, row.serverBytes, row.clientBytes, row.client === row.server ? 0 : 1);
	}
	return [...sums.values()].sort((a, b) => b[1] + b[2] - a[1] - a[2]).slice(0, 10);
}

// The samples of the last LIVE_SECONDS until a time, of the netobsd that has these values: one that was started again counts from 0.
const recentSamples = (values, time) => live.samples.filter(sample => sample.time <= time && time - sample.time <= LIVE_SECONDS * 1e6 &&
	valueOf(sample, "start_time_seconds") === values.get("start_time_seconds"));

// The connections that netobsd tracks and that have not ended, by the state of one end.
const openConnections = sample => [...sample.values].reduce((sum, [series, value]) =>
	series.startsWith("connections_by_state{") && !/state="(time-wait|closed)"/.test(series) ? sum + value : sum, 0);

// Takes a sample, the connections and the services, of which there are `number`, at a time in microseconds since the epoch;
// the newest connection becomes the first row.
function takeLive(values, connections, number, found, time) {
	services.splice(0, services.length, ...found.map(serviceOf));
	data.servicesCount = number;
	const byKey = new Map(services.map(service => [serviceKey(service), service]));
	live.samples = recentSamples(values, time).concat({ time, values, services: byKey, complete: byKey.size === number });
	const from = live.samples[0], last = live.samples[live.samples.length - 1];
	data.first = String(BigInt(Math.round(from.time)) * 1000n);
	data.duration = last.time - from.time;
	data.bins = Math.max(1, live.samples.length - 1);
	data.width = Math.max(1, data.duration / data.bins) * 1000;
	data.frames = growth(from, last, "frames_total");
	data.bytes = growth(from, last, "bytes_total");
	data.volume = [{ name: "all", frames: perSecond((a, b) => growth(a, b, "frames_total")),
		bytes: perSecond((a, b) => growth(a, b, "bytes_total")) }];
	data.states = { opening: now(["syn-sent", "syn-received"]), open: now(["established", "close-wait"]),
		closed: perSecond((a, b) => ended(a, b, "fin")), failed: perSecond((a, b) => ["reset-by-client", "reset-by-server", "refused",
			"unreachable", "no-answer"].reduce((sum, reason) => sum + ended(a, b, reason), 0)) };
	data.verdict = liveVerdict(from, last);
	rows.splice(0, rows.length, ...connections.map(connection => liveRow(connection, from.time, last.time))
		.sort((a, b) => b.start - a.start));
	rows.forEach((row, index) => { row.index = index; });
	data.connections = rows.length < LIVE_ROWS ? rows.length : Math.max(rows.length, openConnections(last));
	data.talkers = liveTalkers();
}

async function askLive() {
	const texts = await Promise.all(["metrics", "connections", "services"].map(async path => {
		const answer = await fetch("/" + path, { cache: "no-store", signal: AbortSignal.timeout(LIVE_PATIENCE) });
		if (!answer.ok) throw new Error(path);
		return answer.text();
	}));
	const lines = text => text.split("\n").filter(line => line).map(line => JSON.parse(line));
	const [{ time }, ...connections] = lines(texts[1]), [{ services: number }, ...found] = lines(texts[2]);
	takeLive(parseMetrics(texts[0]), connections, number, found, time / 1000);
}

function startLive() {
	byId("volume").previousElementSibling.textContent = "Bytes and packets over time";
	document.title = document.querySelector("h1").textContent = "netobsd, live";
	for (const id of ["lanes", "ladder", "sequence"]) {
		byId(id).hidden = true;
		document.querySelector(`nav a[href="#${id}"]`).hidden = true;
	}
	const pause = element("button", { type: "button", on: { click: () => {
		live.paused = !live.paused;
		pause.textContent = live.paused ? "Go on" : "Pause";
	} } }, "Pause");
	byId("zone").closest(".controls").append(pause);
	const step = async () => {
		try {
			if (!live.paused) await askLive();
			live.failed = false;
		} catch {
			live.failed = true;
		}
		if (!document.hidden && !live.paused) redrawAll();
		setTimeout(step, 1000);
	};
	step();
}
