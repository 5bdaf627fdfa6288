// SPDX-License-Identifier: BSD-2-Clause
// Draws all sections, and again when their width, the colours of the system or the time zone change.
startTable();
startLanes();
startLadder();
startSequence();
drawLegend();
view.redraw = [drawCapture, drawVerdict, drawVolume, drawStates, drawTalkers, drawLanes, drawLadder, drawSequence,
	drawTable];
if (data.live) {
	view.redraw = [drawCapture, drawVerdict, drawVolume, drawStates, drawTalkers, drawTable];
	startLive();
}
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
