// The block of data, with names for the columns of its arrays.
const data = JSON.parse(document.getElementById("data").textContent);
const rowFields = ["start", "duration", "protocol", "client", "clientPort", "server", "serverPort", "clientBytes", "serverBytes",
	"clientResent", "serverResent", "clientZero", "serverZero", "handshake", "answerMean", "answerMax", "rtt", "reason", "name",
	"detail", "segments", "opened"];
const segmentFields = ["time", "frame", "end", "flags", "sequence", "length", "ack", "window", "kind", "sacked"];
const changeFields = ["time", "end", "before", "after"];
const named = (fields, values) => Object.fromEntries(fields.map((field, i) => [field, values[i]]));
const rows = data.rows.map((values, index) => ({ ...named(rowFields, values), index }));
const details = data.details.map(detail => ({
	segments: detail.segments.map(values => named(segmentFields, values)),
	changes: detail.changes.map(values => named(changeFields, values)),
}));
const detailed = rows.filter(row => row.detail >= 0);
const FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16, URG = 32;
const kinds = ["", "fast", "timeout", "tail-loss probe", "spurious", "SYN"];
// The colour of each kind of retransmission.
const kindColours = ["data", "repair", "failure", "repair", "neutral", "opening"];
// What all sections share; `redraw` has a function for each.
const view = { local: false, filter: "", selected: detailed.find(row => row.segments > 3) || detailed[0] || null, redraw: [] };
const redrawAll = () => view.redraw.forEach(draw => draw());
