// SPDX-License-Identifier: BSD-2-Clause
// The table of connections, which also has those without detail.
const clientText = row => clientName(row) + (row.opened ? "" : " ?");
// Title, key to sort by, text, whether it is a number.
const endColumns = [
	["client", clientName, clientText, false],
	["server", serverName, serverName, false],
	["sent", row => row.clientBytes, row => bytes(row.clientBytes), true],
	["received", row => row.serverBytes, row => bytes(row.serverBytes), true],
	["sent again", row => row.clientResent + row.serverResent,
		row => `${row.clientResent} / ${row.serverResent}`, true],
];
const reportColumns = [
	["start", row => row.start, row => moment(row.start), false],
	["time", row => row.duration, row => duration(row.duration), true],
	["proto", row => row.protocol, row => protocols[row.protocol] || String(row.protocol), false],
	...endColumns,
	["closed windows", row => row.clientZero + row.serverZero,
		row => `${row.clientZero} / ${row.serverZero}`, true],
	["handshake", row => row.handshake, row => duration(row.handshake), true],
	["longest answer", row => row.answerMax, row => duration(row.answerMax), true],
	["end", row => row.reason, row => row.reason, false],
	["name", row => row.name, row => row.name, false],
];
const today = us => day(us) === day(data.duration);
const liveColumns = [
	["start", row => row.start, row => (today(row.start) ? "" : day(row.start) + " ") + clock(row.start, 3), false],
	["age", row => row.duration, row => age(row.duration), true],
	["idle", row => row.idle, row => age(row.idle), true],
	["proto", row => row.protocol, row => protocols[row.protocol], false],
	...endColumns,
	["round trip", row => row.rtt, row => duration(row.rtt), true],
	["state", row => row.reason, row => row.reason, false],
];
const columns = data.live ? liveColumns : reportColumns;
const table = { shown: 50, column: -1, reverse: false };
const wordsOf = row => [row.client, row.clientPort, row.server, row.serverPort, row.reason, row.name,
	protocols[row.protocol]].join(" ").toLowerCase();
const matches = row => {
	if (view.filter === "") return true;
	row.words ??= wordsOf(row);
	return view.filter.toLowerCase().split(/\s+/).every(word => row.words.includes(word));
};

function sortRows(list) {
	if (table.column < 0) return list;
	const key = columns[table.column][1], way = table.reverse ? -1 : 1;
	return list.slice().sort((a, b) => {
		const [x, y] = [key(a), key(b)];
		return (x < y ? way : x > y ? -way : 0) || a.index - b.index;
	});
}

function sortBy(column) {
	table.reverse = table.column === column ? !table.reverse : !columns[column][3];
	table.column = column;
	drawTable();
}

// On paper the titles are plain text: Chromium repeats no title on the next page that has a button.
function tableHead() {
	return element("tr", {}, element("td", {}, ""), ...columns.map(([name, , , number], i) => {
		const sorted = table.column === i ? (table.reverse ? "ascending" : "descending") : null;
		const text = name + ({ ascending: " ↑", descending: " ↓" }[sorted] ?? "");
		const button = () => element("button", { type: "button", on: { click: () => sortBy(i) } }, text);
		return element("th", { scope: "col", class: number ? "number" : null, "aria-sort": sorted },
			view.paper ? text : button());
	}));
}

function tableRow(row) {
	const label = "Ladder of " + rowName(row), click = () => selectRow(row);
	const open = row.detail < 0 ? "" :
		element("button", { type: "button", "aria-label": label, on: { click } }, "ladder");
	const classes = { client: "address", server: "address", name: "name" };
	return element("tr", {}, element("td", {}, open), ...columns.map(([name, , text, number]) =>
		element("td", { class: number ? "number" : classes[name] ?? null }, text(row))));
}

const liveNote = hidden => [`${plural(data.connections, "open connection")}, newest first` +
	(hidden > 0 ? `; ${count(rows.length)} of them are on this page` : "") + ". Where two numbers or states " +
	"stand, the first is the client's. ? after a client: the packet that opened the connection was not " +
	"captured, or it is UDP; the ports, or the first packet, decide. Segments: ",
	element("code", {}, "netobs report -i INTERFACE --for 60s"), "."];

const reportNote = hidden => [`${plural(data.connections, "connection")}, worst first` +
	(hidden ? `; only the ${count(rows.length)} with most trouble are on this page, netobs conns prints all` : "") +
	`. Segments are on this page for ${plural(detailed.length, "connection")} (--top). ` +
	"Where two numbers stand, the first is the client's. ? after a client: its opening was not captured."];

// Puts a table in place of the one that is shown.  The button that has the focus keeps it.
function replaceTable(made) {
	const host = byId("connections-table");
	const focused = [...host.querySelectorAll("button")].indexOf(document.activeElement);
	host.replaceChildren(made);
	if (focused >= 0) host.querySelectorAll("button")[focused]?.focus({ preventScroll: true });
}

function drawTable() {
	const found = sortRows(rows.filter(matches)), hidden = data.connections - rows.length;
	byId("connections-note").replaceChildren(...(data.live ? liveNote : reportNote)(hidden));
	if (byId("filter").value.trim() !== view.filter) byId("filter").value = view.filter;
	byId("found").textContent = plural(found.length, "connection");
	const filtered = view.filter ? `${plural(found.length, "connection")} with the words “${view.filter}”. ` : "";
	const cut = found.length > table.shown ? `The first ${table.shown} are shown.` : "";
	byId("shown").textContent = filtered + cut;
	byId("more").hidden = found.length <= table.shown;
	if (!found.length) {
		replaceTable(emptyNote(rows.length ? "No connection has these words." : withoutConnections()));
		return;
	}
	replaceTable(element("table", {}, element("thead", {}, tableHead()),
		element("tbody", {}, ...found.slice(0, table.shown).map(tableRow))));
}

function startTable() {
	byId("filter").addEventListener("input", event => {
		view.filter = event.target.value.trim();
		drawTable();
		if (detailed.length) drawLanes();
	});
	const inOrder = () => { view.filter = ""; table.column = -1; redrawAll(); };
	const showMore = () => { table.shown += 200; drawTable(); };
	byId("connections-controls").append(
		element("button", { type: "button", on: { click: inOrder } },
			data.live ? "All, newest first" : "All, worst first"),
		element("button", { type: "button", id: "more", on: { click: showMore } }, "More rows"));
}
