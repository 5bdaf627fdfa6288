// SPDX-License-Identifier: BSD-2-Clause
// The sentences, with links to the connections and the packets that show them.
function selectRow(row, frame) {
	if (row.detail >= 0) {
		view.selected = row;
		markSegment(row, frame);
		redrawAll();
		scrollToMark();
		byId("ladder-title").focus({ preventScroll: true });
		return;
	}
	view.filter = `${row.client} ${row.clientPort} ${row.server} ${row.serverPort}`;
	redrawAll();
	byId("connections").scrollIntoView();
	byId("connections-title").focus({ preventScroll: true });
}

function evidenceLink([index, frame]) {
	const row = rows[index];
	if (!row) return element("span", {}, `packet ${frame}`);
	const text = rowName(row) + (frame ? `, packet ${frame}` : data.live ? "" : `, from ${moment(row.start)}`);
	return element("a", { href: row.detail >= 0 ? "#ladder" : "#connections",
		on: { click: event => { event.preventDefault(); selectRow(row, frame); } } }, text);
}

function drawVerdict() {
	byId("verdict-list").replaceChildren(...data.verdict.map(sentence => element("li",
		{ class: sentence.weight ? "found" : "fine", id: "verdict-" + sentence.topic }, sentence.text,
		element("div", { class: "evidence" },
			...sentence.evidence.filter(([index, frame]) => rows[index] || frame).map(evidenceLink)))));
}

function drawCapture() {
	if (data.live) {
		byId("capture").textContent = (live.failed ? "netobsd does not answer; " : "") +
			`Since ${clock(0, 0)} ${zone()}, at most 4 minutes: ${plural(data.frames, "packet")}, ` +
			`${bytes(data.bytes)}; ${plural(data.connections, "connection")} now`;
		byId("numbers").textContent = "counted since this page was opened, at most 4 minutes";
		return;
	}
	const [from, to] = [`${day(0)} ${clock(0)}`, `${day(data.duration)} ${clock(data.duration)}`];
	byId("capture").textContent = `${data.files.join(", ")}: ` + (data.frames ?
		`${plural(data.frames, "packet")}, ${bytes(data.bytes)}, ${plural(data.connections, "connection")}; ` +
		`${from} to ${to} ${zone()}, ${duration(data.duration)}` : "no packet") +
		(data.filter ? `; filter: ${data.filter}` : "");
	byId("numbers").textContent = "each names the connections that show it best; the numbers of packets " +
		(data.filter ? "count only those that pass the filter" :
			data.files.length > 1 ? "count through all captures" : "are those of Wireshark");
}
