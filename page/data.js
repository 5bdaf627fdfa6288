// SPDX-License-Identifier: BSD-2-Clause
// The block of data, with names for the columns of its arrays.
const data = { live: false, files: [], filter: "", first: "0", duration: 0, frames: 0, bytes: 0, verdict: [], width: 1,
	bins: 0, volume: [], states: { opening: [], open: [], closed: [], failed: [] }, talkers: [], connections: 0, rows: [],
	endSegments: 0, stateNames: [], details: [], ...JSON.parse(document.getElementById("data").textContent) };
// In the order of report_put_row() and report_put_segments().
const rowFields = ["start", "duration", "protocol", "client", "clientPort", "server", "serverPort", "clientBytes",
	"serverBytes", "clientResent", "serverResent", "clientZero", "serverZero", "handshake", "answerMean", "answerMax", "rtt",
	"reason", "name", "detail", "segments", "opened"];
const segmentFields = ["time", "frame", "end", "flags", "sequence", "length", "ack", "window", "kind", "sacked"];
const changeFields = ["time", "end", "before", "after"];
const named = (fields, values) => Object.fromEntries(fields.map((field, i) => [field, values[i]]));
// A name comes from the traffic: characters that control a terminal or the direction of text are not shown.
const control = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const rows = data.rows.map((values, index) => {
	const row = { ...named(rowFields, values), index };
	return { ...row, name: row.name.replace(control, "\ufffd") };
});
const details = data.details.map(detail => ({
	segments: detail.segments.map(values => named(segmentFields, values)),
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
// The state of the page; `redraw` has a function for each section, `zone` is "local" or minutes east of UTC.
const view = { zone: "0", filter: "", selected: detailed.find(row => row.segments > 3) || detailed[0] || null,
	redraw: [] };
const redrawAll = () => view.redraw.forEach(draw => draw());
