// SPDX-License-Identifier: BSD-2-Clause
// Throughput, round trips and window of one direction over time.
const rate = (amount, us) => scaled(Math.round(amount * 8e6 / us), "bit/s");
const rateOfNew = (all, fresh, us) => fresh < all ? `${rate(fresh, us)} of it new bytes` : "all new bytes";

// The bytes of each interval in a range of time, and in two intervals on each side, by colour: new ones are "data".
function throughputBins(points, range, interval) {
	const origin = points.from, bins = new Map();
	const [first, last] = [range.from - 2 * interval, range.to + 3 * interval];
	for (const { segment, fresh } of points.data) {
		if (!segment.length || segment.time < first || segment.time > last) continue;
		const at = Math.floor((segment.time - origin) / interval);
		if (!bins.has(at)) bins.set(at, { at, parts: {}, all: 0, fresh: 0, segments: [] });
		const bin = bins.get(at), old = segment.length - fresh, colour = kindColour(segment.kind) || "neutral";
		bin.parts.data = (bin.parts.data ?? 0) + fresh;
		bin.parts[colour] = (bin.parts[colour] ?? 0) + old;
		bin.all += segment.length;
		bin.fresh += fresh;
		bin.segments.push(segment);
	}
	return bins;
}

// The mean of each interval with the two before and after it, as far as the connection has them: [time, bytes].
function throughputMeans(points, bins, range, interval) {
	const last = Math.floor((points.to - points.from) / interval), means = [];
	const index = time => Math.max(0, Math.min(last, Math.floor((time - points.from) / interval)));
	for (let at = index(range.from); at <= index(range.to); at++) {
		const [low, high] = [Math.max(0, at - 2), Math.min(last, at + 2)];
		let all = 0;
		for (let i = low; i <= high; i++) all += bins.get(i)?.all ?? 0;
		means.push([points.from + (at + .5) * interval, all / (high - low + 1)]);
	}
	return means;
}

const throughputGraph = {
	name: "Throughput",
	nearest: "time",
	show(points, range, width) {
		const interval = Math.max(1, roundUp((range.to - range.from) / (width / 8)));
		const bins = throughputBins(points, range, interval);
		const all = sum(points.data.map(p => p.segment.length)), fresh = sum(points.data.map(p => p.fresh));
		const most = largest([...bins.values()].filter(bin => visible(points.from + (bin.at + .5) * interval, range))
			.map(bin => bin.all));
		const span = Math.max(1, points.to - points.from);
		return { low: 0, high: Math.max(1, most), interval, bins, elements: bins.size * 5, label: `${rate(all, span)} on ` +
			`average, ${rateOfNew(all, fresh, span)}; at most ${rate(most, interval)} for ${about(interval)}`,
			empty: all ? "" : "No data was sent." };
	},
	// Values are bytes of an interval.
	ticks: ({ high, interval }) => ticks(0, high * 8e6 / interval, 6).map(value => value * interval / 8e6),
	unit: (value, span, { interval }) => rate(value, interval),
	draw(drawing, points, { bins, interval }, x, y, range) {
		const picks = [], time = at => points.from + at * interval;
		for (const bin of bins.values()) {
			if (time(bin.at + 1) < range.from || time(bin.at) > range.to) continue;
			const left = x(time(bin.at)), width = Math.max(1, x(time(bin.at + 1)) - left - .5);
			let below = 0;
			for (const [colour, amount] of Object.entries(bin.parts)) {
				if (amount) drawing.rect(left, y(below + amount), width, y(below) - y(below + amount), colour);
				below += amount;
			}
			picks.push({ segments: bin.segments, y: y(bin.all), x: left + width / 2, text: "In " +
				`${about(interval)} from ${clock(time(bin.at))}: ${plural(bin.segments.length, "segment")}, ` +
				`${rate(bin.all, interval)}, ${rateOfNew(bin.all, bin.fresh, interval)}.` });
		}
		const means = throughputMeans(points, bins, range, interval).filter(([at]) => visible(at, range));
		if (means.length > 1) drawing.path(means.map(([at, value]) => [x(at), y(value)]), "ink", 1.5);
		return picks;
	},
	waits: end => [NETWORK, SENDING + end, WINDOW + 1 - end, LOSS + end],
	note: (points, { interval }) => `Payload of each ${about(interval)}, retransmissions on top of new bytes (goodput) and ` +
		"coloured by kind. The line is the mean of five intervals.",
};

// The time from each segment to the first ACK that covers it, [point, ACK, µs].  What was sent twice gives none, because
// its ACK may be that of either copy (Karn's algorithm); nor do other segments that the same ACK covers: they waited for
// the repair.  A segment in the highest SACK block is covered by the ACK that reports it.
function roundTrips(points) {
	const trips = [];
	let waiting = [], acked = -Infinity;
	const arrived = (covered, segment) => covered.forEach(point =>
		trips.push({ point, ack: segment, us: segment.time - point.segment.time }));
	for (const point of points.all) {
		const { segment, low, high, ack, block } = point;
		if (ack === undefined) {
			if (high === low || high <= acked || segment.flags & RST) continue;
			const again = segment.kind > 0 || point.fresh < segment.length;
			if (again) waiting.forEach(other => { other.again ||= other.low < high && low < other.high; });
			waiting.push({ ...point, again });
			continue;
		}
		if (ack > acked) {
			const covered = waiting.filter(other => other.high <= ack);
			if (!covered.some(other => other.again)) arrived(covered, segment);
			waiting = waiting.filter(other => other.high > ack);
			acked = ack;
		}
		const sacked = other => block && !other.again && block.left <= other.low && other.high <= block.right;
		arrived(waiting.filter(sacked), segment);
		waiting = waiting.filter(other => !sacked(other));
	}
	return trips;
}

const roundTripGraph = {
	name: "Round trip",
	show(points, range) {
		const trips = roundTrips(points), times = trips.map(({ us }) => us).sort((a, b) => a - b);
		const shown = trips.filter(({ point }) => visible(point.segment.time, range));
		const middle = times[Math.floor((times.length - 1) / 2)];
		return { low: 0, high: Math.max(10, largest(shown.map(({ us }) => us))), trips: shown, elements: shown.length,
			label: plural(trips.length, "round trip") + (times.length ? `, shortest ${about(times[0])}, half of them at ` +
				`most ${about(middle)}, longest ${about(times.at(-1))}` : ""),
			empty: trips.length ? "" : "No ACK shows a round trip." };
	},
	unit: about,
	draw(drawing, points, { trips }, x, y) {
		return trips.map(({ point: { segment }, ack, us }) => {
			drawing.rect(x(segment.time) - 2, y(us) - 2, 4, 4, segmentColour(segment));
			return { segments: [segment], y: y(us), text: `Its ACK, packet ${ack.frame}, came ${duration(us)} later.` };
		});
	},
	waits: () => [HANDSHAKE, PATH],
	note: (points, shown, end) => "Time from each segment to the first ACK that covers it, at the time when it was sent: the " +
		`way from the capture to the ${end ? "client" : "server"} and back, and what that end waits before it ` +
		"acknowledges. Segments that were sent again have none, nor have those that waited for them.",
};

// Bytes in flight after each segment and ACK, and the window after each ACK: [time, bytes, segment].
function windowLines(points) {
	const flights = [], windows = [];
	let acked = -Infinity, sent = -Infinity;
	for (const { segment, low, high, ack } of points.all) {
		if (ack === undefined) {
			if (segment.flags & RST) continue;
			if (acked === -Infinity) acked = low;
			sent = Math.max(sent, high);
		} else if (ack >= acked) {
			acked = ack;
			windows.push([segment.time, segment.window, segment]);
		}
		sent = Math.max(sent, acked);
		flights.push([segment.time, sent - acked, segment]);
	}
	return { flights, windows };
}

const windowGraph = {
	name: "Window",
	show(points, range) {
		const { flights, windows } = windowLines(points), value = ([, amount]) => amount;
		const lines = { flights: pointsWithin(flights, range), windows: pointsWithin(windows, range) };
		const [flight, window] = [largest(lines.flights.map(value)), largest(lines.windows.map(value))];
		const high = Math.max(10, flight ? Math.min(Math.max(flight, window), 3 * flight) : window);
		const known = [0, 1].every(end => points.segments.some(s => s.end === end && s.flags & SYN));
		return { low: 0, high, lines, flights, windows, elements: 2 * windows.length, cut: window > high ? window : 0,
			label: `at most ${bytes(largest(flights.map(value)))} in flight, window at most ` +
				`${bytes(largest(windows.map(value)))}${known ? "" : " or, because its scale was not captured, more"}`,
			empty: flights.length ? "" : "Nothing was sent." };
	},
	unit: (value, span) => sequenceGraph.unit(value, span),
	draw(drawing, points, { lines, flights, windows, cut }, x, y, range) {
		const at = new Map(flights.map(([, amount, segment]) => [segment, amount])), picks = [];
		let window = null;
		if (lines.windows.length) drawing.path(steps(lines.windows, x, y), "window", 1.5);
		if (lines.flights.length) drawing.path(steps(lines.flights, x, y), "data", 1.5);
		if (cut) drawing.text(x(range.from) + 6, y(Infinity) + 16, `window: up to ${bytes(cut)}`);
		const changes = new Map(windows.map(([, amount, segment]) => [segment, amount]));
		for (const { segment } of points.all) {
			const amount = at.get(segment), changed = changes.has(segment);
			if (changed) window = changes.get(segment);
			if (amount === undefined) continue;
			if (changed && !window && !(segment.flags & SYN) && visible(segment.time, range))
				diamond(drawing, x(segment.time), y(0), "window");
			picks.push({ segments: [segment], y: y(changed ? window : amount), text: `${plural(amount, "byte")} in flight` +
				(window === null ? "." : `, window ${plural(window, "byte")}.`) });
		}
		return picks;
	},
	waits: end => [WINDOW + 1 - end],
	note: (points, { high, cut }, end) => "Blue are the bytes in flight: sent, and not acknowledged, SACKed ones among them. " +
		`The other line is the window of the ${end ? "client" : "server"}: where they meet, it holds the transfer up` +
		`${cut ? "; it is cut off at three times what is in flight" : ""}. A diamond is a closed window.`,
};
