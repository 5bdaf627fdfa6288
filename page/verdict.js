// SPDX-License-Identifier: BSD-2-Clause
// The findings, with links to the connections and the packets that show them.
// A connection, the packet to which the link goes, 0 for none, and what names the packets.
function evidenceLink([index, frame, packets]) {
	const row = rows[index];
	if (!row) return element("span", {}, packets);
	const text = `${rowName(row)}, ${packets || `from ${moment(row.start)}`}`;
	return element("a", { href: data.live ? "#connections" : placeOf(row, frame),
		on: { click: event => { event.preventDefault(); selectRow(row, frame); } } }, text);
}

function drawVerdict() {
	byId("nothing").hidden = data.live || !data.frames || data.verdict.some(finding => finding.topic !== "capture" && finding.weight);
	byId("verdict-list").replaceChildren(...data.verdict.map(finding => element("li",
		{ class: finding.weight ? "found" : "fine", id: "verdict-" + finding.topic }, finding.text,
		element("div", { class: "evidence" },
			...(finding.services ?? []).map(service => serviceLink(service, `open connections with ${serviceText(service)}`)),
			...finding.evidence.filter(([index, frame]) => rows[index] || frame).map(evidenceLink)))));
}

// The name of a file without its directories, which are those of the sender's machine.
const baseName = path => path.slice(path.lastIndexOf("/") + 1);

// Why numbers of packets are not those of Wireshark.
const numberings = {
	interface: "count what was captured for this page only", files: "count through all captures in the order of time",
	filter: "count only those that pass the filter", window: "count only those of the time that was chosen",
	links: "leave out those of unsupported link types",
};

function drawCapture() {
	if (data.live) {
		const since = live.samples.length ? `; what follows is from ${clock(data.duration, 0)} ${zone()}` : "";
		const none = live.failed ? `netobsd does not answer, again in a second${since}. ` : "";
		const counted = () => `Since ${clock(0, 0)} ${zone()}, at most 4 minutes: ` +
			`${plural(data.frames, "packet")}, ${bytes(data.bytes)}; ${plural(data.connections, "open connection")}`;
		byId("capture").textContent = none + (live.samples.length ? counted() : "");
		byId("numbers").textContent = "counted since this page was opened, at most 4 minutes";
		return;
	}
	document.title = `${data.files.map(baseName).join(", ")} – netobs report`;
	const [from, to] = [`${day(0)} ${clock(0)}`, `${day(data.duration)} ${clock(data.duration)}`];
	byId("capture").textContent = `${data.files.map(baseName).join(", ")}: ` + (data.frames ?
		`${plural(data.frames, "packet")}, ${bytes(data.bytes)}, ${plural(data.connections, "connection")}; ` +
		`${from} to ${to} ${zone()}, ${duration(data.duration)}` +
		(data.stray ? `, without ${plural(data.stray, "packet")} whose time stamp is wrong` : "") : "no packet") +
		(data.filter ? `; filter: ${data.filter}` : "");
	byId("numbers").textContent = "each names the connections that show it best; the numbers of packets " +
		(data.numbering.map(reason => numberings[reason]).join(", ") || "are those of Wireshark");
}
