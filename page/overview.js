// SPDX-License-Identifier: BSD-2-Clause
// Volume by protocol as small bars of one colour, because a colour means something else; connections by state; talkers.
const legend = [["data", "data; established"], ["opening", "opening, and a SYN sent again"],
	["ack", "acknowledged; SACK"], ["closing", "closing"], ["window", "receive window; closed window"],
	["repair", "fast retransmission, tail-loss probe"],
	["failure", "failure: lost, timeout, reset, refused, no answer"],
	["neutral", "no trouble: volume, ended, spurious retransmission"]];

// The colours of the page that netobsd serves, which has no segments.
const liveColours = ["data", "opening", "closing", "failure", "neutral"];

function drawLegend() {
	const shown = legend.filter(([colour]) => !data.live || liveColours.includes(colour));
	byId("legend").replaceChildren(...shown.map(([colour, text]) => {
		const box = svgElement("svg", { width: 12, height: 12, "aria-hidden": "true" });
		box.append(svgElement("rect", { width: 12, height: 12, class: "f-" + colour }));
		return element("li", {}, box, text);
	}));
}

const largest = values => values.reduce((a, b) => Math.max(a, b), 0);
const sum = values => values.reduce((a, b) => a + b, 0);

// One row of bars with its title and its largest value.
function bars(drawing, values, top, height, left, right, colour) {
	const high = largest(values) || 1, step = (right - left) / data.bins;
	values.forEach((value, i) => {
		const h = Math.max(1, value / high * height);
		if (value) drawing.rect(left + i * step, top + height - h, Math.max(.8, step - .4), h, colour);
	});
	drawing.line(left, top + height, right, top + height, "rule");
}

function drawVolume() {
	const host = byId("volume"), row = 62, height = data.volume.length * row + 40;
	if (!data.frames && !data.live) {
		const why = data.filter ? "No packet passes the filter." : "The capture has no packet.";
		host.replaceChildren(emptyNote(why));
		return;
	}
	const label = "Bytes and packets over time: " + data.volume.map(p =>
		`${p.name} ${bytes(sum(p.bytes))} in ${plural(sum(p.frames), "packet")}`).join(", ");
	const drawing = surface(host, height, data.bins * data.volume.length * 2, label);
	const middle = drawing.width / 2, span = data.width * data.bins / 1000;
	byId("volume-note").textContent = `Each bar is ${about(data.width / 1000)}, the highest one is the peak.`;
	data.volume.forEach((protocol, i) => {
		const top = i * row + 20;
		const sizes = `${protocol.name}: ${bytes(sum(protocol.bytes))}, peak ${bytes(largest(protocol.bytes))}`;
		const numbers = `${plural(sum(protocol.frames), "packet")}, peak ${count(largest(protocol.frames))}`;
		drawing.text(0, top - 6, fitted(sizes, middle - 10));
		drawing.text(middle + 10, top - 6, fitted(numbers, middle - 10));
		bars(drawing, protocol.bytes, top, row - 28, 0, middle - 10, "neutral");
		bars(drawing, protocol.frames, top, row - 28, middle + 10, drawing.width, "neutral");
	});
	timeAxis(drawing, 0, middle - 10, height - 34, 0, span);
	timeAxis(drawing, middle + 10, drawing.width, height - 34, 0, span, drawing.width > 600);
	host.replaceChildren(drawing.root);
}

function drawStates() {
	const series = [["established", data.states.open, "data"], ["opening", data.states.opening, "opening"],
		["ended in order", data.states.closed, "neutral"],
		["ended by reset, refused or without answer", data.states.failed, "failure"]];
	if (!data.live && series.every(([, values]) => !largest(values))) {
		byId("states").replaceChildren(emptyNote(withoutTcp()));
		return;
	}
	const label = "TCP connections over time: " +
		series.map(([name, values]) => `${name}, peak ${largest(values)}`).join(", ");
	const row = 58, drawing = surface(byId("states"), series.length * row + 40, data.bins * series.length, label);
	series.forEach(([name, values, colour], i) => {
		drawing.text(0, i * row + 14, `${name}, peak ${count(largest(values))}`);
		bars(drawing, values, i * row + 20, row - 28, 0, drawing.width, colour);
	});
	timeAxis(drawing, 0, drawing.width, series.length * row + 6, 0, data.width * data.bins / 1000);
	byId("states").replaceChildren(drawing.root);
}

function drawTalkers() {
	const head = ["address", "sent", "received", "connections"];
	if (!data.talkers.length) {
		byId("talkers").replaceChildren(emptyNote(withoutConnections()));
		return;
	}
	byId("talkers").replaceChildren(element("table", {}, element("thead", {}, element("tr", {},
		...head.map((name, i) => element("th", { scope: "col", class: i ? "number" : null }, name)))),
	element("tbody", {}, ...data.talkers.map(([address, sent, received, connections]) => element("tr", {},
		element("td", {}, address), ...[bytes(sent), bytes(received), count(connections)].map(text =>
			element("td", { class: "number" }, text)))))));
}
