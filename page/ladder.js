// SPDX-License-Identifier: BSD-2-Clause
// The ladder of the selected connection: segments between its ends, states in the margins, losses and their repairs.
const ladder = { page: 0, rows: 100, height: 30, top: 48, row: null, marked: -1 };

// Differences of sequence numbers, which wrap (RFC 9293 section 3.4).
const distance = (a, b) => (a - b) | 0;

// Marks the segments that were sent again, unless the first copy arrived, or was a SYN that had an answer: those are
// probably lost.
function markLosses(segments) {
	segments.forEach((segment, i) => {
		if (!segment.kind || kindName(segment.kind) === "spurious") return;
		for (let k = i - 1; k >= 0; k--) {
			const earlier = segments[k];
			const space = earlier.length + (earlier.flags & SYN ? 1 : 0) + (earlier.flags & FIN ? 1 : 0);
			if (earlier.end !== segment.end || !space || earlier.lost) continue;
			const offset = distance(segment.sequence, earlier.sequence);
			if (offset < 0 || offset >= space) continue;
			const answered = segments.slice(k + 1, i).some(other => other.end !== earlier.end);
			if (!(earlier.flags & SYN) || !answered) earlier.lost = segment.frame;
			return;
		}
	});
}

// Marks segments of an older connection between the ends: those that an end sends before its SYN, and the RST that
// answers them.
function markOlder(segments) {
	for (const end of [0, 1]) {
		const opening = segments.findIndex(segment => segment.end === end && segment.flags & SYN);
		segments.slice(0, Math.max(opening, 0)).filter(segment => segment.end === end)
			.forEach(segment => { segment.older = true; });
	}
	const older = segments.filter(segment => segment.older);
	segments.filter(segment => segment.flags & RST).forEach(reset => {
		reset.older ||= older.some(segment => segment.end !== reset.end && segment.ack === reset.sequence);
	});
}

function segmentColour(segment) {
	if (segment.flags & RST) return "failure";
	if (segment.kind) return kindColour(segment.kind);
	if (segment.flags & SYN) return "opening";
	if (segment.flags & FIN) return "closing";
	return segment.length ? "data" : "ack";
}

// `short` is without sequence numbers, for a narrow page.
function segmentText(segment, origins, short) {
	const relative = (number, end) =>
		origins[end] === undefined || segment.older ? number : distance(number, origins[end]) >>> 0;
	const words = [flagNames(segment.flags)];
	if (segment.length && short) words.push(`${count(segment.length)} B`);
	else if (segment.length)
		words.push(`${plural(segment.length, "byte")} from ${count(relative(segment.sequence, segment.end))}`);
	if (segment.flags & ACK && !(segment.flags & SYN) && !(short && segment.length))
		words.push("ack " + count(relative(segment.ack, 1 - segment.end)));
	if (segment.window === 0 && !(segment.flags & (SYN | RST))) words.push("window closed");
	if (segment.probe) words.push("probe of the closed window");
	if (segment.kind) words.push(`sent again (${kindName(segment.kind)})`);
	if (segment.lost) words.push(`lost? again in ${segment.lost}`);
	if (segment.older) words.push("of an older connection");
	return words.join(", ");
}

// The first sequence number of each end: that of its SYN, or the smallest.
function sequenceOrigins(segments) {
	return [0, 1].map(end => {
		const sent = segments.filter(segment => segment.end === end && !segment.older);
		return (sent.find(segment => segment.flags & SYN) || sent.reduce((first, segment) =>
			distance(segment.sequence, first.sequence) < 0 ? segment : first, sent[0] || {})).sequence;
	});
}

function drawArrow(drawing, segment, y, left, right) {
	const [from, to] = segment.end ? [right, left] : [left, right], colour = segmentColour(segment);
	const way = Math.sign(to - from), tip = segment.lost ? from + (to - from) * .8 : to;
	if (colour === "closing") drawing.line(from, y, tip, y, "ink", 3); // yellow alone is faint on white
	drawing.line(from, y, tip, y, colour, 2, segment.lost ? "6 4" : "");
	if (segment.lost) cross(drawing, tip, y, "failure", 5);
	else drawing.polygon([[to, y], [to - way * 8, y - 4], [to - way * 8, y + 4]], colour);
}

function drawLadderRow(drawing, segment, previous, y, left, right, origins) {
	const small = drawing.width < 600, text = segmentText(segment, origins, small);
	drawing.text(0, y + 4, small ? String(segment.frame) : clock(segment.time), "start", true);
	if (!small) drawing.text(drawing.width, y + 4, `${segment.frame}`, "end", true);
	drawing.text((left + right) / 2, y - 5, fitted(text, right - left - 12), "middle");
	if (!small && previous && segment.time - previous.time >= 100000)
		drawing.text(0, y - 11, `${duration(segment.time - previous.time)} later`, "start", true);
	drawArrow(drawing, segment, y, left, right);
}

// The states that the ends have reached after each segment and before the next one: [client, server], undefined if an
// end has kept its state.
function statesAfter(segments, changes) {
	let at = changes.findIndex(change => segments.length && change.time >= segments[0].time);
	return segments.map((segment, i) => {
		const until = segments[i + 1]?.time ?? Infinity, states = [];
		for (; at >= 0 && at < changes.length && changes[at].time < until; at++)
			states[changes[at].end] = data.stateNames[changes[at].after];
		return states;
	});
}

// States in the margins of their ends.
function drawLadderStates(drawing, states, y, left, right) {
	for (const end of [0, 1]) {
		const name = states[end], x = end ? right : left;
		if (!name) continue;
		drawing.rect(x - 4, y - 4, 8, 8, stateColour(name));
		drawing.text(end ? x + 8 : x - 8, y + 16, name, end ? "start" : "end", true);
	}
}

// Turns to the segment of a packet, and marks it; without one to the first segment.
function markSegment(row, frame) {
	ladder.row = row;
	ladder.marked = frame ? details[row.detail].segments.findIndex(segment => segment.frame === frame) : -1;
	ladder.page = Math.floor(Math.max(ladder.marked, 0) / ladder.rows);
}

function scrollToMark() {
	const y = ladder.top + (ladder.marked - ladder.page * ladder.rows) * ladder.height;
	if (ladder.marked < 0 || y < innerHeight / 2) byId("ladder").scrollIntoView();
	else scrollTo(0, scrollY + byId("ladder-plot").getBoundingClientRect().top + y - innerHeight / 2);
}

function drawLadder() {
	const row = view.selected, host = byId("ladder-plot");
	if (ladder.row !== row) markSegment(row);
	const { segments, changes } = details[row.detail], origins = sequenceOrigins(segments);
	const begin = ladder.page * ladder.rows, list = segments.slice(begin, begin + ladder.rows);
	const states = statesAfter(segments.slice(begin, begin + ladder.rows + 1), changes);
	drawRows(host, list, (part, first) => {
		const label = `Ladder of ${rowName(row)}: ${plural(part.length, "segment")}`;
		const drawing = surface(host, part.length * ladder.height + 60, part.length * 8, label);
		const [left, right] = drawing.width < 600 ? [95, drawing.width - 92] : [205, drawing.width - 170];
		drawing.text(left, 14, "client", "middle");
		drawing.text(right, 14, "server", "middle");
		for (const x of [left, right]) drawing.line(x, 20, x, part.length * ladder.height + 50, "ink");
		part.forEach((segment, i) => {
			const y = ladder.top + i * ladder.height;
			if (begin + first + i === ladder.marked) drawing.rect(left, y - 15, right - left, 21, "soft");
			drawLadderRow(drawing, segment, segments[begin + first + i - 1], y, left, right, origins);
			drawLadderStates(drawing, states[first + i], y, left, right);
		});
		return drawing;
	});
	drawLadderNote(row, segments, begin, list.length);
}

function drawLadderNote(row, segments, begin, length) {
	byId("ladder-choice").value = String(row.index);
	byId("ladder-back").disabled = begin === 0;
	byId("ladder-on").disabled = begin + length >= segments.length;
	byId("ladder-next").disabled = findStriking(1) < 0;
	const name = row.name ? ` (${row.name})` : "", date = manyDays() ? ` from ${day(row.start)}` : "";
	const more = segments.length < row.segments ? ", the first on this page of " +
		`${count(row.segments)} (at most ${count(data.endSegments)} of each end)` : "";
	drawTime(row);
	byId("ladder-note").textContent = `Client ${clientName(row)}, server ${serverName(row)}${name}, ` +
		`ended: ${row.reason}. Segments ${length ? begin + 1 : 0} to ${begin + length} ` +
		`of ${count(segments.length)}${more}. Times in ${zone()}${date}; ` +
		"the number of a row is that of its packet. A broken line with a cross was sent again later and was " +
		"probably lost; which of two copies arrived is not in a capture. The keys n and p go to the next and the " +
		"previous loss, closed window or reset.";
}

// A segment that a reader looks for: a copy that was lost or sent again, a closed window, a reset.
const striking = segment => segment.lost || segment.kind || segment.flags & RST ||
	(segment.window === 0 && !(segment.flags & SYN));

// The index of the next striking segment after the one that is marked, or of the one before it (`step` -1); -1 at the
// end.
function findStriking(step) {
	const { segments } = details[view.selected.detail];
	const begin = ladder.marked >= 0 ? ladder.marked + step : ladder.page * ladder.rows;
	for (let i = begin; i >= 0 && i < segments.length; i += step) if (striking(segments[i])) return i;
	return -1;
}

function turnToStriking(step) {
	const { segments } = details[view.selected.detail], found = findStriking(step);
	if (found < 0) return;
	markSegment(view.selected, segments[found].frame);
	drawLadder();
	scrollToMark();
}

function startLadder() {
	const turn = step => () => { ladder.page += step; drawLadder(); };
	details.forEach(detail => {
		markOlder(detail.segments);
		markLosses(detail.segments);
	});
	byId("ladder-controls").append(element("label", {}, "Connection ", element("select", { id: "ladder-choice",
		on: { change: event => { view.selected = rows[Number(event.target.value)]; redrawAll(); } } },
	...detailed.map(row => element("option", { value: row.index }, `${rowName(row)} ${row.reason}`)))),
	element("button", { type: "button", id: "ladder-back", on: { click: turn(-1) } }, "Earlier segments"),
	element("button", { type: "button", id: "ladder-on", on: { click: turn(1) } }, "Later segments"),
	element("button", { type: "button", id: "ladder-next", on: { click: () => turnToStriking(1) } },
		"Next loss, closed window or reset"));
	byId("ladder").addEventListener("keydown", event => {
		if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("select")) return;
		if (event.key === "n") turnToStriking(1);
		if (event.key === "p") turnToStriking(-1);
	});
}
