// SPDX-License-Identifier: BSD-2-Clause
// Graphs of one direction of the selected connection: one at a time, all with one range of time.  Whatever is nearest to
// the mouse, or reached by keys, says its packet, which leads to its row of the ladder.
const graphKinds = [sequenceGraph, throughputGraph, roundTripGraph, windowGraph];
// `picks` are the places of packets in the drawing, `picked` is the segment of one of them, `marked` the mark of the ladder
// that was last seen.
const graphs = { kind: sequenceGraph, end: 1, height: 420, range: null, row: null, picks: [], picked: null, marked: -1 };

const visible = (time, range) => time >= range.from && time <= range.to;

// The part of [time, value] points in a range of time: it begins with the value that held before, and ends with the one
// that holds until a later point.
function pointsWithin(list, range) {
	const before = list.findLast(([time]) => time < range.from), later = list.some(([time]) => time > range.to);
	const points = list.filter(([time]) => visible(time, range));
	if (before) points.unshift([range.from, before[1]]);
	if (later && points.length) points.push([range.to, points[points.length - 1][1]]);
	return points;
}

// A line of steps: the value holds until the next point.
function steps(list, x, y) {
	const points = [];
	list.forEach(([time, value], i) => {
		if (i) points.push([x(time), points[points.length - 1][1]]);
		points.push([x(time), y(value)]);
	});
	return points;
}

// The segments that can be drawn: without those of an older connection, and up to the time from which the page lacks
// those of an end.
function graphSegments(row) {
	const segments = details[row.detail].segments.filter(segment => !segment.older);
	const ends = [0, 1].map(end => segments.filter(segment => segment.end === end));
	const until = ends.filter(list => list.length >= data.endSegments).map(list => list.at(-1).time);
	return segments.length < row.segments ? segments.filter(({ time }) => until.every(last => time <= last)) : segments;
}

function graphSpan() {
	const segments = graphSegments(graphs.row);
	if (!segments.length) return [0, 1];
	const from = segments[0].time, to = segments.at(-1).time, edge = Math.max(1, (to - from) * .02);
	return [from - edge, to + edge];
}

function graphPoints(row) {
	const segments = graphSegments(row);
	const [from, to] = [segments[0]?.time ?? 0, segments.at(-1)?.time ?? 0];
	return { ...sequencePoints(segments, graphs.end), segments, from, to };
}

// What the time of the connection says about a graph.
function drawGraphTime(row, indices) {
	const all = sum(row.waits), names = indices.map(i => waitClasses[i][0]), none = names.join(", ");
	const parts = waitParts(row.waits).filter(([name]) => names.includes(name));
	byId("graph-time").replaceChildren(element("span", { class: "faint" }, parts.length ?
		`Of the time of the connection, ${about(all)}, went to` : `The connection took ${about(all)}, none of it: ${none}.`),
	waitList(parts));
}

function drawGraph() {
	const row = view.selected, host = byId("graph-plot"), { kind, range } = graphs;
	if (graphs.row !== row) {
		graphs.row = row;
		graphs.end = row.serverBytes >= row.clientBytes ? 1 : 0;
		[range.from, range.to] = graphSpan();
	}
	const points = graphPoints(row), shown = kind.show(points, range, widthOf(host));
	const { low, high } = shown, sender = graphs.end ? "server" : "client";
	const label = `${kind.name} of ${rowName(row)}, data of the ${sender}: ${shown.label}`;
	const drawing = surface(host, graphs.height, shown.elements + 40, label);
	const marks = (kind.ticks ? kind.ticks(shown) : ticks(low, high, 6))
		.map(value => [value, kind.unit(value, high - low, shown)]);
	const widest = largest(marks.map(([, text]) => textWidth(text)));
	const left = Math.max(drawing.width < 600 ? 56 : 70, Math.ceil(widest) + 10);
	const right = drawing.width - 6, top = 8, bottom = graphs.height - 40;
	const within = (value, from, to) => (Math.min(to, Math.max(from, value)) - from) / (to - from || 1);
	const x = time => left + within(time, range.from, range.to) * (right - left);
	const y = value => bottom - within(value, low, high) * (bottom - top);
	for (const [value, text] of marks) {
		drawing.line(left, y(value), right, y(value), "rule");
		drawing.text(left - 6, y(value) + 4, text, "end", true);
	}
	timeAxis(drawing, left, right, bottom, range.from, range.to);
	if (shown.empty) drawing.text(left + 10, top + 30, shown.empty);
	graphs.picks = kind.draw(drawing, points, shown, x, y, range)
		.map(pick => ({ x: x(pick.segments[0].time), ...pick }))
		.filter(pick => kind.nearest || visible(pick.segments[0].time, range));
	host.replaceChildren(drawing.root, element("div", { class: "mark", hidden: "" }));
	drawGraphNotes(row, points, shown);
	showPick(markedPick());
}

function drawGraphNotes(row, points, shown) {
	const { kind, end } = graphs, page = details[row.detail].segments.length;
	const more = page < row.segments ? " The graph ends where the page has no more segments of an end: " +
		`it has ${count(page)} of ${count(row.segments)}.` : "";
	byId("graph-end").value = String(end);
	byId("graph-choice").querySelectorAll("button").forEach((button, i) =>
		button.setAttribute("aria-pressed", String(graphKinds[i] === kind)));
	byId("graph-note").textContent = `${rowName(row)}, ${shown.label}. ${kind.note(points, shown, end)}${more}`;
	drawGraphTime(row, kind.waits(end));
}

// The number of the pick that has the segment that was picked, or is newly marked in the ladder.
function markedPick() {
	const { segments } = details[graphs.row.detail];
	if (ladder.marked !== graphs.marked) graphs.picked = segments[ladder.marked];
	graphs.marked = ladder.marked;
	return graphs.picks.findIndex(pick => pick.segments.includes(graphs.picked));
}

// Marks a pick in the drawing, and says what it is.
function showPick(number) {
	const pick = graphs.picks[number], mark = byId("graph-plot").lastChild, { row } = graphs;
	const { segments } = details[row.detail];
	mark.hidden = !pick;
	if (!pick) {
		byId("graph-packet").replaceChildren();
		return;
	}
	const [first] = pick.segments, last = pick.segments.at(-1);
	mark.style.left = pick.x + "px";
	mark.style.top = pick.y + "px";
	graphs.picked = first;
	const packets = first === last ? `Packet ${first.frame}` : `Packets ${first.frame} to ${last.frame}`;
	const words = first === last ? ` at ${clock(first.time)}: ${segmentText(first, sequenceOrigins(segments))}.` : ".";
	byId("graph-packet").replaceChildren(element("a", { href: placeOf(row, first.frame),
		on: { click: event => { event.preventDefault(); openPick(); } } }, packets), `${words} ${pick.text}`);
}

function openPick() {
	const pick = graphs.picks.find(({ segments }) => segments.includes(graphs.picked));
	if (pick) selectRow(graphs.row, pick.segments[0].frame);
}

// The pick that is nearest to the mouse, at most 40 pixels away; -1 if there is none.
function nearestPick(event) {
	const box = byId("graph-plot").getBoundingClientRect();
	const [left, top] = [event.clientX - box.left, event.clientY - box.top];
	let best = -1, least = 40;
	graphs.picks.forEach(({ x, y }, i) => {
		const away = Math.hypot(x - left, graphs.kind.nearest ? 0 : y - top);
		if (away < least) [best, least] = [i, away];
	});
	return best;
}

function pickByKey(event) {
	const { picks, picked } = graphs, last = picks.length - 1;
	const at = picks.findIndex(pick => pick.segments.includes(picked));
	const to = { n: at + 1, p: at < 0 ? last : at - 1, Home: 0, End: last }[event.key];
	if (event.ctrlKey || event.metaKey || event.altKey) return;
	if (event.key === "Enter") openPick();
	if (to === undefined || last < 0) return;
	event.preventDefault();
	showPick(Math.max(0, Math.min(last, to)));
}

function startGraphs() {
	const controls = byId("graph-controls"), plot = byId("graph-plot");
	controls.append(element("div", { class: "choice", id: "graph-choice", role: "group", "aria-label": "Graph" },
		...graphKinds.map(kind => element("button", { type: "button",
			on: { click: () => { graphs.kind = kind; drawGraph(); } } }, kind.name))),
	element("label", {}, "Data of the ", element("select", { id: "graph-end",
		on: { change: event => { graphs.end = Number(event.target.value); drawGraph(); } } },
	element("option", { value: "0" }, "client"), element("option", { value: "1" }, "server"))));
	graphs.range = timeRange(controls, "graph", graphSpan, drawGraph);
	controls.append(keyNote("+ − ← → 0; n p Home End for packets, Enter opens the ladder"));
	plot.addEventListener("keydown", graphs.range.keys);
	plot.addEventListener("keydown", pickByKey);
	plot.addEventListener("pointermove", event => { if (nearestPick(event) >= 0) showPick(nearestPick(event)); });
	// A finger that has reached a packet shows it; its link leads to the ladder.
	plot.addEventListener("click", event => {
		const near = nearestPick(event);
		if (near < 0) return;
		showPick(near);
		if (event.pointerType !== "touch") openPick();
	});
}
