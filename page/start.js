// SPDX-License-Identifier: BSD-2-Clause
// Draws all sections, and again when their width, the colours of the system or the time zone change.
function startSegments() {
	startLanes();
	startLadder();
	startSequence();
	view.redraw.push(drawLanes, drawLadder, drawSequence);
}

// The sections of which the page has no data say why.
function hideSegments() {
	for (const id of ["lanes", "ladder", "sequence"]) {
		byId(id + "-controls").hidden = byId(id + "-plot").hidden = true;
		byId(id + "-note").textContent = rows.some(row => row.protocol === 6) ?
			"The page has no segments: it was made with --top=0." : withoutTcp();
	}
}

startTable();
drawLegend();
view.redraw = [drawCapture, drawVerdict, drawVolume, drawStates, drawTalkers, drawTable];
if (data.live) startLive();
else if (detailed.length) startSegments();
else hideSegments();
redrawAll();
byId("local").addEventListener("change", event => { view.local = event.target.checked; redrawAll(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
let drawnWidth = document.body.clientWidth;
window.addEventListener("resize", () => {
	if (document.body.clientWidth === drawnWidth) return;
	drawnWidth = document.body.clientWidth;
	redrawAll();
});
window.addEventListener("beforeprint", redrawAll);
