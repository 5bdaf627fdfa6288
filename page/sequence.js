// SPDX-License-Identifier: BSD-2-Clause
// The time-sequence of one direction: data, the acknowledgement line, the window line, SACK, retransmissions by kind.
const sequence = { end: 1, height: 420, range: null, row: null };

// Sequence numbers as offsets from the first of this end; they follow the numbers across a wrap.
function sequencePoints(row, end) {
	const { segments } = details[row.detail], origin = sequenceOrigins(segments)[end];
	const points = { data: [], acks: [] };
	let at = 0, block = null;
	if (origin === undefined) return points;
	const offset = number => {
		const moved = at + distance(number, (origin + at) >>> 0);
		if (moved > at) at = moved;
		return moved;
	};
	for (const segment of segments) {
		if (segment.older) continue;
		if (segment.end === end) {
			const low = offset(segment.sequence), more = segment.flags & (SYN | FIN) ? 1 : 0;
			points.data.push({ segment, low, high: low + segment.length + more });
		} else if (segment.flags & ACK && !(segment.flags & RST)) {
			const ack = offset(segment.ack);
			block = segment.sacked ? sackBlock(points.data, block, ack, offset(segment.sacked)) : null;
			points.acks.push({ segment, ack, edge: ack + segment.window, block });
		}
	}
	return points;
}

// The highest SACK block after an ACK, [left, right), as far as it is known: the probes report its right edge.  It has
// the segment of its last byte, and the block before it if that block touches it.
function sackBlock(sent, before, ack, right) {
	if (right <= ack) return null;
	const last = sent.findLast(({ low, high }) => low < right && right <= high);
	const left = Math.max(ack, last ? last.low : right - 1);
	const touches = before && left <= before.right && before.right <= right;
	return { left: touches ? Math.max(ack, Math.min(left, before.left)) : left, right };
}

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

function drawSequenceData(drawing, points, x, y, range) {
	for (const { segment, low, high } of points.data) {
		if (!visible(segment.time, range)) continue;
		const at = x(segment.time), top = Math.min(y(high), y(low) - 2);
		if (kindName(segment.kind) === "tail-loss probe")
			diamond(drawing, at, y((low + high) / 2), "repair", 5);
		if (segment.flags & RST) cross(drawing, at, y(low), "failure", 5);
		else if (high > low) drawing.line(at, y(low), at, top, segmentColour(segment), segment.kind ? 4 : 2);
	}
}

function sequenceScale(points, lines, range) {
	const values = points.data.filter(p => visible(p.segment.time, range)).flatMap(p => [p.low, p.high])
		.concat(lines.acks.map(([, value]) => value));
	const low = values.reduce((a, b) => Math.min(a, b), Infinity);
	const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
	const edges = lines.edges.reduce((most, [, value]) => Math.max(most, value), high);
	const span = Math.max(10, high - low);
	// A wide window would leave no room for the data: at most as much again as the data is shown of it.
	return values.length ? [low, Math.min(Math.max(edges, high), high + span)] : [0, 10];
}

function drawSequence() {
	const row = view.selected;
	if (sequence.row !== row) {
		sequence.row = row;
		sequence.end = row.serverBytes >= row.clientBytes ? 1 : 0;
		[sequence.range.from, sequence.range.to] = sequenceSpan();
	}
	byId("sequence-end").value = String(sequence.end);
	const points = sequencePoints(row, sequence.end), { range } = sequence;
	const resent = points.data.filter(({ segment }) => segment.kind).length;
	const elements = points.data.length * 2 + points.acks.length + 20;
	const label = `Time-sequence of ${rowName(row)}, data of the ${sequence.end ? "server" : "client"}: ` +
		`${plural(points.data.length, "segment")}, ${resent} sent again`;
	const drawing = surface(byId("sequence-plot"), sequence.height, elements, label);
	const left = drawing.width < 600 ? 56 : 70, right = drawing.width - 6, top = 8, bottom = sequence.height - 40;
	const lines = { acks: pointsWithin(points.acks.map(p => [p.segment.time, p.ack]), range),
		edges: pointsWithin(points.acks.map(p => [p.segment.time, p.edge]), range) };
	const [low, high] = sequenceScale(points, lines, range);
	const within = (value, from, to) => (Math.min(to, Math.max(from, value)) - from) / (to - from || 1);
	const x = time => left + within(time, range.from, range.to) * (right - left);
	const y = value => bottom - within(value, low, high) * (bottom - top);
	for (const value of ticks(low, high, 6)) {
		drawing.line(left, y(value), right, y(value), "rule");
		const text = high - low >= 10000 ? bytes(value) : `${count(value)} B`;
		drawing.text(left - 6, y(value) + 4, text, "end", true);
	}
	timeAxis(drawing, left, right, bottom, range.from, range.to);
	if (lines.edges.length) drawing.path(steps(lines.edges, x, y), "window", 1.5);
	if (lines.acks.length) drawing.path(steps(lines.acks, x, y), "ack", 1.5);
	drawSequenceAcks(drawing, points, x, y, range);
	drawSequenceData(drawing, points, x, y, range);
	byId("sequence-plot").replaceChildren(drawing.root);
}

function drawSequenceAcks(drawing, points, x, y, range) {
	for (const { segment, edge, block } of points.acks) {
		const at = x(segment.time);
		if (!visible(segment.time, range)) continue;
		if (segment.window === 0 && !(segment.flags & SYN)) diamond(drawing, at, y(edge), "window");
		if (block) drawing.line(at, y(block.left), at, Math.min(y(block.right), y(block.left) - 2), "ack", 2);
	}
}

function sequenceSpan() {
	const segments = details[sequence.row.detail].segments.filter(segment => !segment.older);
	if (!segments.length) return [0, 1];
	const from = segments[0].time, to = segments[segments.length - 1].time, edge = Math.max(1, (to - from) * .02);
	return [from - edge, to + edge];
}

function startSequence() {
	byId("sequence-controls").append(element("label", {}, "Data of the ", element("select", { id: "sequence-end",
		on: { change: event => { sequence.end = Number(event.target.value); drawSequence(); } } },
	element("option", { value: "0" }, "client"), element("option", { value: "1" }, "server"))));
	sequence.range = timeRange(byId("sequence-controls"), "time-sequence", sequenceSpan, drawSequence);
	byId("sequence-controls").append(keyNote("+ − ← → 0"));
	byId("sequence-plot").addEventListener("keydown", sequence.range.keys);
	byId("sequence-note").textContent = "The same connection: bytes against time. Upright lines are segments " +
		"with data, broad ones retransmissions by kind; below them the line of what is acknowledged, above " +
		"them the line of the receive window, cut off at twice the data. An upright line above what is " +
		"acknowledged is the highest SACK block: it ends at the highest byte that the receiver has reported, " +
		"and begins with the segment of this byte, or with those before it that were reported without a gap; " +
		"lower blocks are not among the data of the page.";
}
