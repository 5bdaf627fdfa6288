// SPDX-License-Identifier: BSD-2-Clause
// The block of data, with names for the columns of its arrays.
const data = { live: false, files: [], filter: "", numbering: [], first: "0", duration: 0, frames: 0, bytes: 0,
	stray: 0, verdict: [], width: 1, bins: 0, volume: [], states: { opening: [], open: [], closed: [], failed: [] }, talkers: [],
	connections: 0, rows: [], services: [], servicesCount: 0, endSegments: 0, stateNames: [], details: [],
	...JSON.parse(document.getElementById("data").textContent) };
// In the order of report_put_row() and report_put_segments().
const rowFields = ["start", "duration", "protocol", "client", "clientPort", "server", "serverPort", "clientBytes",
	"serverBytes", "clientResent", "serverResent", "clientZero", "serverZero", "handshake", "answerMean",
	"answerMax", "rtt", "reason", "name", "detail", "segments", "opened", "waits"];
const segmentFields = ["time", "frame", "end", "flags", "sequence", "length", "ack", "window", "kind", "sacked"];
const changeFields = ["time", "end", "before", "after"];
const named = (fields, values) => Object.fromEntries(fields.map((field, i) => [field, values[i]]));
// Text from outside: control characters, and those that are invisible or change the direction of others, become U+FFFD.
const hidden = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
const plainText = text => text.replace(hidden, "\ufffd");
data.files = data.files.map(plainText);
data.filter = plainText(data.filter);
const rows = data.rows.map((values, index) => {
	const row = { ...named(rowFields, values), index };
	return { ...row, name: plainText(row.name) };
});
// Services are as netobs services --table --json has them; what a service waited for is in the order of waitClasses.
const serviceOf = service =>
	({ ...service, name: plainText(service.name || ""), waits: Object.values(service.waits_us) });
const services = data.services.map(serviceOf);
// A segment that probes a closed window has this in place of the kind of a retransmission, which it is not.
const WINDOW_PROBE = 6;
const segmentOf = values => {
	const segment = named(segmentFields, values), probe = segment.kind === WINDOW_PROBE;
	return { ...segment, probe, kind: probe ? 0 : segment.kind };
};
const details = data.details.map(detail => ({
	segments: detail.segments.map(segmentOf),
	changes: detail.changes.map(values => named(changeFields, values)),
}));
const detailed = rows.filter(row => row.detail >= 0);
const FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16, URG = 32;
// By their NETOBS_RETRANSMIT_ numbers.
const kinds = ["", "fast", "timeout", "tail-loss probe", "spurious", "SYN"];
const kindName = kind => kinds[kind] ?? `kind ${kind}`;
// The colour of each kind of retransmission; "ink" is the colour of no kind that is known here.
const kindColours = ["", "repair", "failure", "repair", "neutral", "opening"];
const kindColour = kind => kindColours[kind] ?? "ink";
// The state of the page; `redraw` has a function for each section, `zone` is "local" or minutes east of UTC,
// `paper` is set while the page is printed.
const view = { zone: "0", filter: "", selected: detailed.find(row => row.segments > 3) || detailed[0] || null,
	paper: false, redraw: [] };
const redrawAll = () => view.redraw.forEach(draw => draw());
