// SPDX-License-Identifier: BSD-2-Clause
// The place of the reader in the address of the page, after the "#": a connection, and the packet in its ladder.  A
// link to it can be sent to others, and the browser goes back to it.
const placeOf = (row, frame) => `#connection-${row.index + 1}` + (frame ? `-packet-${frame}` : "");

// Shows a connection: its ladder at a packet, or its row in the table.
function showRow(row, frame) {
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

// Shows the place that the address names, if it names one.
function showPlace() {
	const [, number, frame] = /^#connection-(\d+)(?:-packet-(\d+))?$/.exec(location.hash) || [];
	const row = rows[number - 1];
	if (row) showRow(row, Number(frame) || 0);
}

// Shows a connection and gives the address its place.  The connections of a live page have no lasting places.
function selectRow(row, frame) {
	const place = placeOf(row, frame);
	if (!data.live && location.hash !== place) history.pushState(null, "", place);
	showRow(row, frame);
}
