// SPDX-License-Identifier: BSD-2-Clause
// What is wrong in the traffic of the last minutes, of the live page: sentences made of what the services have gained since,
// in the words of netobs report.
const serviceKey = service => `${service.address} ${service.port} ${service.protocol}`;
const serviceText = service => service.protocol ? `${service.address} port ${service.port}` : "all others";

// The members that only grow, and the times that were waited.
const growing = ["connections", "opened", "refused", "unreachable", "no_answer", "reset_by_client", "reset_by_server", "exchanges",
	"slow_answers", "segments", "resent"];

// What a service has gained since the first sample that has it.  One that the first sample did not have is new, unless that
// had not all of them.
function serviceGain(service) {
	const key = serviceKey(service), first = live.samples[0];
	const base = first.complete ? first.services.get(key) : live.samples.find(sample => sample.services.has(key)).services.get(key);
	const gain = { service };
	for (const name of growing) gain[name] = Math.max(0, service[name] - (base?.[name] ?? 0));
	gain.waits = Object.fromEntries(Object.entries(service.waits_us).map(([name, us]) =>
		[name, Math.max(0, us - (base?.waits_us[name] ?? 0))]));
	return gain;
}

// Seconds for which a failure counts, as in the report; and from which waits are worth a sentence, µs.
const FAILURE_US = 5000000, LOSS_US = 50000, WINDOW_US = 200000, PAUSE_US = 500000, HANDSHAKE_US = 250000;

const were = number => number === 1 ? "was" : "were";
const attempts = number => plural(number, "attempt") + " to connect to ";
const inAll = (sums, name) => duration(sums.waits[name]);
const longest = (gain, name, least) => gain.waits[name] >= least ? gain.waits[name] : 0;
const lossText = (side, name) => (sums, where) => `Loss toward the ${side}, on the way to or from ${where}: it cost ${inAll(sums, name)}; ` +
	`${count(sums.resent)} of ${plural(sums.segments, "segment")} of both ends ${were(sums.resent)} sent again.`;

// Each kind: its topic, what it costs for a service, µs, 0 if it is not found there; and the sentence, from the sums of the
// services where it is found, and where that is.
const liveKinds = [
	["no-answer", gain => FAILURE_US * gain.no_answer, (sums, where) => `No answer: ${attempts(sums.no_answer)}${where} ` +
		`${were(sums.no_answer)} never answered; ` + (sums.opened ? `${count(sums.opened)} others were.` : "the host is away, or a firewall drops them.")],
	["unreachable", gain => FAILURE_US * gain.unreachable, (sums, where) => `${attempts(sums.unreachable)}${where} ` +
		`${were(sums.unreachable)} rejected with an ICMP error.`],
	["refused", gain => FAILURE_US * gain.refused, (sums, where) => `Refused: ${attempts(sums.refused)}${where} got a RST; nothing ` +
		`listens there${sums.opened ? " at that moment, though it did at other times" : ""}.`],
	["reset-server", gain => FAILURE_US * gain.reset_by_server, (sums, where) => `The server reset ${count(sums.reset_by_server)} of ` +
		`${plural(sums.connections, "connection")} at ${where}.`],
	["reset-client", gain => FAILURE_US * gain.reset_by_client, (sums, where) => `The client reset ${count(sums.reset_by_client)} of ` +
		`${plural(sums.connections, "connection")} to ${where}.`],
	["slow-server", gain => gain.slow_answers ? gain.waits.server : 0, (sums, where) => `The server is slow: clients waited ` +
		`${inAll(sums, "server")} for the program at ${where}, which took 500 ms or more for ${count(sums.slow_answers)} of ` +
		`${plural(sums.exchanges, "answer")}.`],
	["lost-client", gain => longest(gain, "client_lost", LOSS_US), lossText("server", "client_lost")],
	["lost-server", gain => longest(gain, "server_lost", LOSS_US), lossText("client", "server_lost")],
	["slow-reader-client", gain => longest(gain, "client_window", WINDOW_US), (sums, where) => "The client reads too slowly: transfers " +
		`from ${where} waited ${inAll(sums, "client_window")} for its closed window.`],
	["slow-reader-server", gain => longest(gain, "server_window", WINDOW_US), (sums, where) => "The server reads too slowly: transfers " +
		`to ${where} waited ${inAll(sums, "server_window")} for its closed window.`],
	["slow-sender-server", gain => longest(gain, "server_sending", PAUSE_US), (sums, where) => "The server sends slowly: transfers " +
		`from ${where} paused ${inAll(sums, "server_sending")}, although the window and the network take more.`],
	["slow-sender-client", gain => longest(gain, "client_sending", PAUSE_US), (sums, where) => "The client sends slowly: transfers " +
		`to ${where} paused ${inAll(sums, "client_sending")}, although the window and the network take more.`],
	["slow-handshake", gain => gain.opened && gain.waits.connect >= HANDSHAKE_US * gain.opened ? gain.waits.connect : 0, (sums, where) =>
		`Handshakes with ${where} take ${duration(Math.round(sums.waits.connect / sums.opened))} each: ` +
		`${plural(sums.opened, "connection")}.`],
];

function sumOf(gains) {
	const sums = { waits: {} };
	for (const gain of gains) {
		for (const name of growing) sums[name] = (sums[name] ?? 0) + gain[name];
		for (const [name, us] of Object.entries(gain.waits)) sums.waits[name] = (sums.waits[name] ?? 0) + us;
	}
	return sums;
}

// The finding of a kind; null if there is none.
function liveFinding([topic, measure, text], gains) {
	const found = gains.filter(gain => measure(gain) > 0).sort((a, b) => measure(b) - measure(a));
	if (!found.length) return null;
	const others = found.length - 1, where = serviceText(found[0].service) + (others ? ` and ${plural(others, "other")}` : "");
	return { topic, weight: sum(found.map(measure)), text: text(sumOf(found), where), evidence: [],
		services: found.slice(0, 5).map(gain => gain.service) };
}

function liveVerdict(from, to) {
	const gains = services.map(serviceGain), sums = sumOf(gains);
	const dropped = growth(from, to, "capture_dropped_frames_total"), timedOut = growth(from, to, "app_requests_timed_out_total");
	const counted = (topic, number, cost, text) => number ? { topic, weight: cost * number, text, evidence: [] } : null;
	const found = [
		counted("capture", dropped, 1, `${plural(dropped, "frame")} could not be observed: what is said here may miss something.`),
		counted("dns", timedOut, FAILURE_US, `${count(timedOut)} DNS ${timedOut === 1 ? "query was" : "queries were"} not answered in time.`),
		...liveKinds.map(kind => liveFinding(kind, gains)),
	].filter(finding => finding).sort((a, b) => b.weight - a.weight);
	if (found.some(finding => finding.topic !== "capture")) return found;
	const read = sums.connections ? `Nothing wrong was found in ${plural(sums.connections, "connection")} and ${plural(sums.exchanges, "answer")}.` :
		"No connection was observed, so nothing is judged.";
	return [...found, { topic: "fine", weight: 0, text: read, evidence: [] }];
}
