// SPDX-License-Identifier: BSD-2-Clause
// A drawing: SVG if it has few elements, a canvas otherwise, with one set of functions for both.  Colours are words.
const FEW = 3000;
const svgSpace = "http://www.w3.org/2000/svg";
const svgElement = (name, attributes, text) => {
	const made = document.createElementNS(svgSpace, name);
	for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
	if (text !== undefined) made.textContent = text;
	return made;
};
const colourOf = word => getComputedStyle(document.documentElement).getPropertyValue("--" + word).trim();

function svgSurface(width, height, label) {
	const root = svgElement("svg",
		{ width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
	const add = (name, attributes, text) => root.append(svgElement(name, attributes, text));
	const listed = points => points.map(point => point.join()).join(" ");
	return {
		root,
		line: (x1, y1, x2, y2, colour, thick = 1, dash = "") => add("line", { x1, y1, x2, y2,
			class: "s-" + colour, "stroke-width": thick, ...(dash && { "stroke-dasharray": dash }) }),
		path: (points, colour, thick = 1) => add("polyline",
			{ points: listed(points), class: "s-" + colour, fill: "none", "stroke-width": thick }),
		rect: (x, y, w, h, colour) => add("rect", { x, y, width: w, height: h, class: "f-" + colour }),
		polygon: (points, colour) => add("polygon", { points: listed(points), class: "f-" + colour }),
		text: (x, y, text, anchor = "start", faint = false) =>
			add("text", { x, y, "text-anchor": anchor, class: faint ? "faint" : "" }, text),
	};
}

function canvasSurface(width, height, label) {
	const scale = Math.max(1, Math.min(2, window.devicePixelRatio || 1));
	const root = element("canvas", { role: "img", "aria-label": label,
		width: Math.round(width * scale), height: Math.round(height * scale) });
	root.style.width = width + "px";
	root.style.height = height + "px";
	const pen = root.getContext("2d"), colours = new Map();
	const colour = word => {
		if (!colours.has(word)) colours.set(word, colourOf(word));
		return colours.get(word);
	};
	const trace = points => {
		pen.beginPath();
		points.forEach(([x, y], i) => i ? pen.lineTo(x, y) : pen.moveTo(x, y));
	};
	const stroke = (points, word, thick, dash = "") => {
		pen.strokeStyle = colour(word);
		pen.lineWidth = thick;
		pen.setLineDash(dash ? dash.split(" ").map(Number) : []);
		trace(points);
		pen.stroke();
	};
	pen.scale(scale, scale);
	return {
		root,
		line: (x1, y1, x2, y2, word, thick = 1, dash = "") => stroke([[x1, y1], [x2, y2]], word, thick, dash),
		path: (points, word, thick = 1) => stroke(points, word, thick),
		rect: (x, y, w, h, word) => { pen.fillStyle = colour(word); pen.fillRect(x, y, w, h); },
		polygon: (points, word) => { pen.fillStyle = colour(word); trace(points); pen.fill(); },
		text: (x, y, text, anchor = "start", faint = false) => {
			pen.font = "12px system-ui, sans-serif";
			pen.fillStyle = colour(faint ? "faint" : "ink");
			pen.textAlign = anchor === "middle" ? "center" : anchor;
			pen.fillText(text, x, y);
		},
	};
}

const widthOf = host => Math.max(280, host.clientWidth);

// An empty drawing that is as wide as `host`.
function surface(host, height, elements, label) {
	const width = widthOf(host);
	const made = (elements <= FEW ? svgSurface : canvasSurface)(width, height, label);
	made.width = width;
	return made;
}

// Rows of a drawing on one page of paper.
const PAPER_ROWS = 17;

// Puts drawings of a list into `host`: on the screen one of all rows, on paper one for each page.
function drawRows(host, list, draw) {
	const size = view.paper ? PAPER_ROWS : Math.max(1, list.length), roots = [];
	for (let begin = 0; begin === 0 || begin < list.length; begin += size)
		roots.push(draw(list.slice(begin, begin + size), begin).root);
	host.replaceChildren(...roots);
}

// Marks: a cross is a reset or a lost segment, a diamond a closed window, a tick a retransmission.
const cross = (drawing, x, y, colour, size = 4) => {
	drawing.line(x - size, y - size, x + size, y + size, colour, 2);
	drawing.line(x - size, y + size, x + size, y - size, colour, 2);
};
const diamond = (drawing, x, y, colour, size = 4) =>
	drawing.polygon([[x, y - size], [x + size, y], [x, y + size], [x - size, y]], colour);

// The time axis at the bottom of a drawing, in time since the first frame, or since its own beginning if that is much
// later; below it is the date of its beginning.
function timeAxis(drawing, left, right, y, from, to, dated = true) {
	const origin = from > 100 * (to - from) ? from : 0;
	const [unit, size] = timeUnits.find(([, each]) => to - from >= 3 * each) || timeUnits[5];
	let free = left;
	drawing.line(left, y, right, y, "rule");
	for (const at of ticks((from - origin) / size, (to - origin) / size, (right - left) / 60, 1 / size)) {
		const x = left + (at * size + origin - from) / (to - from || 1) * (right - left);
		const text = `${origin ? "+" : ""}${Number(at.toPrecision(9))} ${unit}`, half = textWidth(text) / 2;
		const middle = Math.max(left + half, Math.min(x, right - half));
		drawing.line(x, y, x, y + 4, "rule");
		if (middle - half < free) continue;
		drawing.text(middle, y + 16, text, "middle", true);
		free = middle + half + 4;
	}
	const date = `${day(from)} ${clock(from)} ${zone()}`;
	const start = Math.max(0, Math.min(left, drawing.width - textWidth(date)));
	if (dated) drawing.text(start, y + 30, date, "start", true);
}

const keyNote = keys => element("span", { class: "faint" }, "Keys in the drawing: " + keys);

// Buttons and keys that change a range of time; `whole` gives the largest one.
function timeRange(controls, name, whole, draw) {
	const range = { from: 0, to: 1 };
	const set = (from, to) => {
		const [low, high] = whole(), least = Math.max(1, (high - low) / 1e6);
		const span = Math.min(Math.max(to - from, least), high - low);
		range.from = Math.max(low, Math.min(from, high - span));
		range.to = range.from + span;
		draw();
	};
	const zoom = factor => {
		const middle = (range.from + range.to) / 2, half = (range.to - range.from) / 2 * factor;
		set(middle - half, middle + half);
	};
	const move = share => {
		const step = (range.to - range.from) * share;
		set(range.from + step, range.to + step);
	};
	range.reset = () => set(...whole());
	const button = (text, title, act) => element("button",
		{ type: "button", "aria-label": `${title}: ${name}`, title, on: { click: act } }, text);
	controls.append(button("+", "Zoom in", () => zoom(.5)), button("−", "Zoom out", () => zoom(2)),
		button("←", "Earlier", () => move(-.5)), button("→", "Later", () => move(.5)),
		button("All", "All of the time", range.reset));
	range.keys = event => {
		const act = { "+": () => zoom(.5), "-": () => zoom(2), "0": range.reset,
			ArrowLeft: () => move(-.25), ArrowRight: () => move(.25) }[event.key];
		if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
		event.preventDefault();
		act();
	};
	return range;
}
