// SPDX-License-Identifier: BSD-2-Clause
// The time-sequence of one direction: data, the acknowledgement line, the window line, SACK, retransmissions by kind.

// Adds [low, high) to sorted ranges that do not touch each other; how many of its bytes are new.
function addRange(ranges, low, high) {
	let first = ranges.length, fresh = high - low, last;
	while (first > 0 && ranges[first - 1][1] >= low) first--;
	const merged = [low, high];
	for (last = first; last < ranges.length && ranges[last][0] <= high; last++) {
		const [from, to] = ranges[last];
		fresh -= Math.max(0, Math.min(high, to) - Math.max(low, from));
		merged[0] = Math.min(merged[0], from);
		merged[1] = Math.max(merged[1], to);
	}
	ranges.splice(first, last - first, merged);
	return fresh;
}

// The segments of one end, and the acknowledgements of the other one, alone and together (`all`) in their order.
// Sequence numbers are offsets from the first of this end; they follow the numbers across a wrap.  `fresh` counts the
// payload bytes that no segment before has had.
function sequencePoints(segments, end) {
	const origin = sequenceOrigins(segments)[end], ranges = [];
	const points = { data: [], acks: [], all: [] };
	let at = 0, block = null;
	if (origin === undefined) return points;
	const offset = number => {
		const moved = at + distance(number, (origin + at) >>> 0);
		if (moved > at) at = moved;
		return moved;
	};
	for (const segment of segments) {
		if (segment.end === end) {
			const low = offset(segment.sequence), more = segment.flags & (SYN | FIN) ? 1 : 0;
			const begin = low + (segment.flags & SYN ? 1 : 0);
			const fresh = segment.length ? addRange(ranges, begin, begin + segment.length) : 0;
			points.data.push({ segment, low, high: low + segment.length + more, fresh });
			points.all.push(points.data.at(-1));
		} else if (segment.flags & ACK && !(segment.flags & RST)) {
			const ack = offset(segment.ack);
			block = segment.sacked ? sackBlock(points.data, block, ack, offset(segment.sacked)) : null;
			points.acks.push({ segment, ack, edge: ack + segment.window, block });
			points.all.push(points.acks.at(-1));
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

function drawSequenceAcks(drawing, points, x, y, range) {
	for (const { segment, edge, block } of points.acks) {
		const at = x(segment.time);
		if (!visible(segment.time, range)) continue;
		if (segment.window === 0 && !(segment.flags & SYN)) diamond(drawing, at, y(edge), "window");
		if (block) drawing.line(at, y(block.left), at, Math.min(y(block.right), y(block.left) - 2), "ack", 2);
	}
}

function sequenceScale(points, lines, range) {
	const values = points.data.filter(p => visible(p.segment.time, range)).flatMap(p => [p.low, p.high])
		.concat(lines.acks.map(([, value]) => value));
	const low = values.reduce((a, b) => Math.min(a, b), Infinity), high = largest(values);
	const edges = lines.edges.reduce((most, [, value]) => Math.max(most, value), high);
	const span = Math.max(10, high - low);
	// A wide window would leave no room for the data: at most as much again as the data is shown of it.
	return values.length ? [low, Math.min(Math.max(edges, high), high + span)] : [0, 10];
}

const sequenceGraph = {
	name: "Sequence",
	show(points, range) {
		const lines = { acks: pointsWithin(points.acks.map(p => [p.segment.time, p.ack]), range),
			edges: pointsWithin(points.acks.map(p => [p.segment.time, p.edge]), range) };
		const resent = points.data.filter(({ segment }) => segment.kind).length;
		const [low, high] = sequenceScale(points, lines, range);
		return { low, high, lines, elements: points.data.length * 2 + points.acks.length,
			label: `${plural(points.data.length, "segment")}, ${resent} sent again` };
	},
	unit: (value, span) => span >= 10000 ? bytes(value) : `${count(value)} B`,
	draw(drawing, points, shown, x, y, range) {
		const { acks, edges } = shown.lines;
		if (edges.length) drawing.path(steps(edges, x, y), "window", 1.5);
		if (acks.length) drawing.path(steps(acks, x, y), "ack", 1.5);
		drawSequenceAcks(drawing, points, x, y, range);
		drawSequenceData(drawing, points, x, y, range);
		return points.all.map(({ segment, low, high, ack }) =>
			({ segments: [segment], y: y(ack ?? (low + high) / 2), text: "" }));
	},
	waits: end => [LOSS + end],
	note: () => "Upright lines are segments with data, broad ones retransmissions by kind; below them the line of what is " +
		"acknowledged, above them the line of the receive window, cut off at twice the data. An upright line above " +
		"what is acknowledged is the highest SACK block: it ends at the highest byte that the receiver has reported, " +
		"and begins with the segment of this byte, or with those before it that were reported without a gap; lower " +
		"blocks are not among the data of the page.",
};
