// SPDX-License-Identifier: BSD-2-Clause
// What the time of connections went to, as bars; the table of services.
// In the order of report_put_waits(): words, and the colour of a bar's part.
const waitClasses = [["handshake", "opening"], ["path", "neutral"], ["network", "ack"], ["client", "soft"], ["server", "data"],
	["client sends slowly", "repair"], ["server sends slowly", "repair"], ["window of the client", "window"],
	["window of the server", "window"], ["loss from the client", "failure"], ["loss from the server", "failure"],
	["closing", "closing"], ["unknown", "ink"]];
// Places in it; those of an end are two, the client's and the server's.
const HANDSHAKE = 0, PATH = 1, NETWORK = 2, SENDING = 5, WINDOW = 7, LOSS = 9;
// The parts that are not empty: words, colour, µs, the share.
const waitParts = waits => {
	const all = sum(waits);
	return waits.map((us, i) => [...waitClasses[i], us, us / all]).filter(([, , us]) => us > 0);
};
const waitText = ([name, , us, share]) => `${name} ${about(us)}` + (share < 1 ? ` (${Math.round(100 * share)} %)` : "");

function waitBar(waits, width, height) {
	const parts = waitParts(waits), label = "Time: " + (parts.map(waitText).join(", ") || "none");
	const bar = svgElement("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
	let x = 0;
	bar.append(svgElement("rect", { width, height, class: "f-soft" }));
	for (const part of parts) {
		const rect = svgElement("rect", { x, y: 0, width: Math.max(0, part[3] * width - .5), height, class: "f-" + part[1] });
		rect.append(svgElement("title", {}, waitText(part)));
		bar.append(rect);
		x += part[3] * width;
	}
	return bar;
}

// Parts of a bar in words, each with its colour.
function waitList(parts, text = waitText) {
	return element("ul", { class: "legend" }, ...parts.map(part => {
		const box = svgElement("svg", { width: 12, height: 12, "aria-hidden": "true" });
		box.append(svgElement("rect", { width: 12, height: 12, class: "f-" + part[1] }));
		return element("li", {}, box, text(part));
	}));
}

const waitLegend = waits => waitList(waitParts(waits));

// The time of a connection, above its ladder.
function drawTime(row) {
	const width = byId("ladder-time").clientWidth;
	byId("ladder-time").replaceChildren(waitBar(row.waits, width, 14), waitLegend(row.waits));
}

const serviceColumns = [
	["service", s => `${endName(s.address, s.port)} ${protocols[s.protocol]}`, false],
	["connections", s => count(s.connections), true],
	["failed", s => count(s.failed), true],
	["handshake", s => duration(s.opened ? Math.round(s.waits[0] / s.opened) : -1), true],
	["server, an answer", s => duration(s.exchanges ? Math.round(s.waits[4] / s.exchanges) : -1), true],
	["loss", s => duration(s.waits[9] + s.waits[10]), true],
	["sent again", s => count(s.resent), true],
	["bytes", s => bytes(s.bytes), true],
	["where the time went", s => waitBar(s.waits, 220, 12), false],
];

function drawServices() {
	if (data.live) return;
	if (!data.services.length) {
		byId("services-table").replaceChildren(emptyNote(withoutConnections()));
		return;
	}
	const others = data.servicesCount - data.services.length;
	byId("services-note").textContent = "Those with most failures and waiting first; times are means" +
		(others ? `; ${plural(others, "other service")} are not shown` : "") + ".";
	const all = services.reduce((sums, s) => sums.map((us, i) => us + s.waits[i]), waitClasses.map(() => 0));
	byId("services-table").replaceChildren(element("table", {}, element("thead", {}, element("tr", {},
		...serviceColumns.map(([name, , number]) => element("th", { scope: "col", class: number ? "number" : null }, name)))),
	element("tbody", {}, ...services.map(s => element("tr", {}, ...serviceColumns.map(([, text, number], i) =>
		element("td", { class: number ? "number" : i ? null : "address" }, text(s))))))), waitLegend(all));
}
