// SPDX-License-Identifier: BSD-2-Clause
// A lane for each connection in detail: the upper half is the state of the client, the lower half that of the server.
const stateColour = name => {
	if (name === "syn-sent" || name === "syn-received" || name === "listen") return "opening";
	if (name === "established") return "data";
	return name === "closed" || name === "time-wait" || name === "<unknown>" ? "neutral" : "closing";
};
const laneOrders = {
	"worst first": (a, b) => a.index - b.index,
	"start": (a, b) => a.start - b.start,
	"longest first": (a, b) => b.duration - a.duration,
	"most bytes": (a, b) => b.clientBytes + b.serverBytes - a.clientBytes - a.serverBytes,
	"server": (a, b) => (a.server < b.server ? -1 : a.server > b.server ? 1 : a.serverPort - b.serverPort),
};
// `current` is the row of the lane that the key Tab reaches.
const lanes = { order: "worst first", height: 24, margin: 8, range: null, current: null };

// The states of one end, from the first packet to the end of the connection: [from, to, name].
function laneStates(row, end) {
	const changes = details[row.detail].changes.filter(change => change.end === end), spans = [];
	const unknown = row.opened ? "closed" : "established";
	let at = row.start, state = changes.length ? data.stateNames[changes[0].before] : unknown;
	for (const change of changes) {
		if (change.time > at) spans.push([at, change.time, state]);
		at = Math.max(at, change.time);
		state = data.stateNames[change.after];
	}
	const last = row.start + row.duration;
	if (last > at) spans.push([at, last, state]);
	return spans;
}

// On a narrow page a lane has the name of its server only.
const laneName = row => byId("lanes-plot").clientWidth > 700 ? rowName(row) : serverName(row);

function drawLaneMarks(drawing, row, top, x) {
	for (const segment of details[row.detail].segments) {
		if (segment.older) continue;
		const y = top + (segment.end ? 15 : 7), at = x(segment.time);
		if (at === null) continue;
		if (segment.kind) drawing.line(at, y - 5, at, y + 5, kindColour(segment.kind), 2);
		if (segment.flags & RST) cross(drawing, at, y, "failure");
		else if (segment.window === 0 && !(segment.flags & SYN)) diamond(drawing, at, y, "window");
	}
}

// The width of the bars of what the time of connections went to, at the right of the lanes.
const laneBar = drawing => drawing.width > 700 ? 120 : 40;

function drawLaneBar(drawing, row, top) {
	const width = laneBar(drawing);
	let x = drawing.width - width;
	drawing.rect(x, top + 4, width, 15, "soft");
	for (const [, colour, , share] of waitParts(row.waits)) {
		drawing.rect(x, top + 4, Math.max(0, share * width - .5), 15, colour);
		x += share * width;
	}
}

function drawLane(drawing, row, top, left, scale) {
	const clip = time => Math.min(lanes.range.to, Math.max(lanes.range.from, time));
	const where = time => left + (clip(time) - lanes.range.from) * scale;
	drawing.text(0, top + 15, fitted(laneName(row), left - 8), "start", row !== view.selected);
	for (const end of [0, 1])
		for (const [from, to, state] of laneStates(row, end)) {
			if (to < lanes.range.from || from > lanes.range.to) continue;
			const width = Math.max(1, where(to) - where(from));
			drawing.rect(where(from), top + 4 + end * 8, width, 7, stateColour(state));
		}
	drawLaneBar(drawing, row, top);
	drawLaneMarks(drawing, row, top, time => time < lanes.range.from || time > lanes.range.to ? null : where(time));
}

// A button over each lane.  One of them is in the order of Tab; the arrows move from lane to lane.
function addLaneButtons(host, list, focused) {
	if (!list.includes(lanes.current)) lanes.current = list.includes(view.selected) ? view.selected : list[0];
	const buttons = list.map(row => {
		const resent = plural(row.clientResent + row.serverResent, "segment");
		const closed = plural(row.clientZero + row.serverZero, "closed window");
		const time = waitParts(row.waits).map(waitText).join(", ") || "none";
		const name = `${rowName(row)}, ${row.reason}, ${resent} sent again, ${closed}; time: ${time}`;
		const button = element("button", { type: "button", title: name, "aria-label": "Ladder of " + name,
			"aria-current": row === view.selected ? "true" : null, tabindex: row === lanes.current ? 0 : -1,
			on: { click: () => selectRow(row) } });
		button.style.height = lanes.height + "px";
		return button;
	});
	host.append(element("div", { class: "lanes" }, ...buttons));
	if (focused) buttons[list.indexOf(lanes.current)]?.focus({ preventScroll: true });
}

// Moves the focus to another lane.
function moveToLane(event, list) {
	const at = list.indexOf(lanes.current), modified = event.ctrlKey || event.metaKey || event.altKey;
	const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: list.length - 1 }[event.key];
	if (modified || !list[to]) return;
	const buttons = byId("lanes-plot").querySelectorAll("button");
	event.preventDefault();
	lanes.current = list[to];
	buttons[at].tabIndex = -1;
	buttons[to].tabIndex = 0;
	buttons[to].focus();
}

function laneRows() {
	return detailed.filter(matches).sort((a, b) => laneOrders[lanes.order](a, b) || a.index - b.index);
}

const laneElements = list => list.reduce((n, row) => n + 4 + waitClasses.length + details[row.detail].changes.length +
	details[row.detail].segments.filter(s => s.kind || s.flags & RST || s.window === 0).length, 0);

function drawLanes() {
	const list = laneRows(), host = byId("lanes-plot"), filtered = list.length < detailed.length ?
		`, ${count(list.length)} of them with the words “${view.filter}”` : "";
	const names = list.reduce((most, row) => Math.max(most, textWidth(laneName(row))), 0);
	const focused = host.contains(document.activeElement);
	drawRows(host, list, part => {
		const height = part.length * lanes.height + 44;
		const label = `${plural(part.length, "connection")} of TCP on one time axis, ${lanes.order}`;
		const drawing = surface(host, height, laneElements(part), label);
		const left = Math.min(names + 12, drawing.width / 2), right = drawing.width - lanes.margin - laneBar(drawing);
		const scale = (right - left) / (lanes.range.to - lanes.range.from || 1);
		part.forEach((row, i) => drawLane(drawing, row, i * lanes.height, left, scale));
		timeAxis(drawing, left, right, height - 38, lanes.range.from, lanes.range.to);
		drawing.text(drawing.width, height - 22, "waits", "end", true);
		return drawing;
	});
	addLaneButtons(host, list, focused);
	byId("lanes-note").textContent = `The ${plural(detailed.length, "connection")} of TCP with most trouble, of ` +
		`${plural(data.connections, "connection")}${filtered}. The upper half of a lane is the client, the ` +
		"lower half the server. A line across is a retransmission, a cross a reset, a diamond a closed window. " +
		"The bar beside a lane is what the time of the connection went to, " +
		"without rest; together that is:";
	const all = list.reduce((sums, row) => sums.map((us, i) => us + row.waits[i]), waitClasses.map(() => 0));
	byId("lanes-waits").replaceChildren(waitLegend(all));
}

function startLanes() {
	const order = element("select", { on: { change: event => { lanes.order = event.target.value; drawLanes(); } } },
		...Object.keys(laneOrders).map(name => element("option", {}, name)));
	byId("lanes-controls").append(element("label", {}, "Order ", order));
	const from = detailed.reduce((least, row) => Math.min(least, row.start), Infinity);
	const to = detailed.reduce((most, row) => Math.max(most, row.start + row.duration), from + 1);
	lanes.range = timeRange(byId("lanes-controls"), "lanes", () => [from, to], drawLanes);
	byId("lanes-plot").addEventListener("keydown", lanes.range.keys);
	byId("lanes-plot").addEventListener("keydown", event => moveToLane(event, laneRows()));
	byId("lanes-controls").append(keyNote("↑ ↓ + − ← → 0; a click or Enter opens the ladder"));
	lanes.range.from = from;
	lanes.range.to = to;
}
