// SPDX-License-Identifier: BSD-2-Clause
// Draws all sections, and again when their width, the colours of the system or the time zone change.
function startSegments() {
	startLanes();
	startLadder();
	startGraphs();
	view.redraw.push(drawLanes, drawLadder, drawGraph);
}

// UTC, the time zone of this computer, and each offset from UTC that is in use, in minutes.
function startZone() {
	const offsets = [345, 525, 765, 825];
	for (let minutes = -720; minutes <= 840; minutes += 30) if (minutes) offsets.push(minutes);
	offsets.sort((a, b) => a - b);
	const choice = (value, text) => element("option", { value }, text);
	byId("zone").append(choice(0, "UTC"), choice("local", "the time zone of this computer"),
		...offsets.map(minutes => choice(minutes, zoneName(minutes))));
	byId("zone").addEventListener("change", event => { view.zone = event.target.value; redrawAll(); });
}

// The sections of which the page has no data say why.
function hideSegments() {
	for (const id of ["lanes", "ladder", "graph"]) {
		byId(id + "-controls").hidden = byId(id + "-plot").hidden = true;
		byId(id + "-note").textContent = rows.some(row => row.protocol === 6) ?
			"The page has no segments: it was made with --top=0." : withoutTcp();
	}
}

startZone();
startTable();
drawLegend();
view.redraw = [drawCapture, drawVerdict, drawServices, drawVolume, drawStates, drawTalkers, drawTable];
if (data.live) startLive();
else if (detailed.length) startSegments();
else hideSegments();
redrawAll();
showPlace();
window.addEventListener("popstate", showPlace);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
let drawnWidth = document.body.clientWidth;
window.addEventListener("resize", () => {
	if (document.body.clientWidth === drawnWidth) return;
	drawnWidth = document.body.clientWidth;
	redrawAll();
});
// Browsers differ: the size of the paper is known at the change of the medium, or not at all.
function setPaper(paper) {
	view.paper = paper;
	document.documentElement.classList.toggle("paper", paper);
	redrawAll();
}
window.addEventListener("beforeprint", () => setPaper(true));
window.addEventListener("afterprint", () => setPaper(false));
matchMedia("print").addEventListener("change", event => setPaper(event.matches));
