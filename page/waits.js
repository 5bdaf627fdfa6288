// SPDX-License-Identifier: BSD-2-Clause
// What the time of connections went to, as bars; the table of services.
// In the order of enum connrec_wait: words, and the colour of a bar's part.
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

// Half of the times, 95 % of them and the longest; "–" if there was none.
const shares = us => [us.p50, us.p95, us.max].map(time => duration(time)).join(" / ");
const share = (part, all) => {
	const percent = all ? 100 * part / all : 0;
	return percent === 0 ? "0 %" : percent < .1 ? "<0.1 %" : `${percent < 10 ? Math.floor(10 * percent) / 10 : Math.floor(percent)} %`;
};
const serviceName = s => s.protocol ? `${endName(s.address, s.port)} ${protocols[s.protocol] ?? s.protocol}` : "all others";
// The connections of a service pass this filter of their table.
const serviceFilter = s => `${s.address} ${s.port}`;
function serviceLink(service, text = serviceName(service)) {
	if (!service.protocol) return text;
	const show = event => {
		event.preventDefault();
		view.filter = serviceFilter(service);
		redrawAll();
		byId("connections").scrollIntoView();
		byId("connections-title").focus({ preventScroll: true });
	};
	return element("a", { href: "#connections", on: { click: show } }, text);
}

// Title, content, whether it is a number.
const serviceColumns = [
	["service", s => element("span", {}, serviceLink(s), s.name ? ` ${s.name}${s.named_more ? ", …" : ""}` : ""), false],
	["connections", s => count(s.connections), true],
	["failed", s => share(s.failed, s.connections), true],
	["handshake 50 / 95 / 100 %", s => shares(s.connect_us), true],
	["server, an answer", s => shares(s.answer_us), true],
	["sent again", s => share(s.resent, s.segments), true],
	["bytes", s => bytes(s.bytes), true],
	["waited", s => duration(s.waited_us), true],
	["where the time went", s => waitBar(s.waits, 220, 12), false],
];

function drawServices() {
	if (!services.length) {
		byId("services-note").textContent = "";
		byId("services-table").replaceChildren(emptyNote(data.live ? "No connection has been observed." : withoutConnections()));
		return;
	}
	const others = data.servicesCount - services.length;
	byId("services-note").textContent = (data.live ? "Since netobsd began. " : "") + "Those for which most was waited first, a failed " +
		"connection counting as 5 s. Of times, that which half of the handshakes and answers do not exceed, 95 %, and the longest" +
		(others > 0 ? `; ${plural(others, "other service")} are not shown` : "") + ".";
	const all = services.reduce((sums, s) => sums.map((us, i) => us + s.waits[i]), waitClasses.map(() => 0));
	byId("services-table").replaceChildren(element("table", {}, element("thead", {}, element("tr", {},
		...serviceColumns.map(([name, , number]) => element("th", { scope: "col", class: number ? "number" : null }, name)))),
	element("tbody", {}, ...services.map(s => element("tr", {}, ...serviceColumns.map(([, text, number], i) =>
		element("td", { class: number ? "number" : i ? null : "address" }, text(s))))))), waitLegend(all));
}
