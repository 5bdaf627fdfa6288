// SPDX-License-Identifier: BSD-2-Clause
// Elements, numbers and times as text.  Text from the capture is only ever set as text, never as HTML.
const byId = id => document.getElementById(id);
const element = (name, attributes = {}, ...children) => {
	const made = document.createElement(name);
	for (const [key, value] of Object.entries(attributes)) {
		if (key === "on")
			for (const [event, handler] of Object.entries(value)) made.addEventListener(event, handler);
		else if (value !== null)
			made.setAttribute(key, value);
	}
	made.append(...children);
	return made;
};
const count = n => n.toLocaleString("en-GB");
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;
const scaled = (n, unit) => {
	const [size, prefix] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]].find(([size]) => n >= size) || [];
	if (!size) return `${n} ${unit}`;
	return `${(n / size).toFixed(n < 9.995 * size ? 2 : n < 99.95 * size ? 1 : 0)} ${prefix}${unit}`;
};
const bytes = n => scaled(n, "B");
const duration = us => {
	if (us < 0) return "–";
	if (us >= 86400e6) return `${Math.floor(us / 86400e6)} d ${Math.floor(us % 86400e6 / 3600e6)} h`;
	if (us >= 3600e6) return `${Math.floor(us / 3600e6)} h ${Math.floor(us % 3600e6 / 60e6)} min`;
	if (us >= 1e6) return `${(us / 1e6).toFixed(3)} s`;
	return us >= 1e3 ? `${(us / 1e3).toFixed(3)} ms` : `${us} µs`;
};
const timeUnits = [["d", 86400e6], ["h", 3600e6], ["min", 60e6], ["s", 1e6], ["ms", 1e3], ["µs", 1]];
// A duration in whole seconds.
const age = us => {
	const minutes = us >= 60e6 ? `${Math.floor(us / 60e6)} min ` : "";
	return us >= 3600e6 ? duration(us) : minutes + `${Math.floor(us % 60e6 / 1e6)} s`;
};
// A duration with three digits.
const about = us => {
	const [unit, size] = timeUnits.find(([, size]) => us >= size) || timeUnits[5];
	return `${Number((us / size).toPrecision(3))} ${unit}`;
};
// Microseconds since the epoch of a time since the first frame, as a number of ms and the µs after it.
const sinceEpoch = us => {
	const time = BigInt(data.first) / 1000n + BigInt(Math.round(us)), micros = (time % 1000n + 1000n) % 1000n;
	return [Number((time - micros) / 1000n), Number(micros)];
};
// The UTC fields of this date are the time in the zone that the page shows, of microseconds since the first frame.
const zoned = us => {
	const [ms] = sinceEpoch(us);
	const minutes = view.zone === "local" ? -new Date(ms).getTimezoneOffset() : Number(view.zone);
	return new Date(ms + minutes * 60000);
};
const padded = (n, width = 2) => String(n).padStart(width, "0");
// The time of day.
const clock = (us, digits = 6) => {
	const date = zoned(us), [, micros] = sinceEpoch(us);
	const parts = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(n => padded(n));
	return parts.join(":") + (digits ? "." + (padded(date.getUTCMilliseconds(), 3) + padded(micros, 3)).slice(0, digits) : "");
};
const day = us => zoned(us).toISOString().slice(0, 10);
const manyDays = () => day(0) !== day(data.duration);
// The time of day, with the date in a capture of many days.
const moment = us => (manyDays() ? day(us) + " " : "") + clock(us);
const zoneName = minutes => {
	const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
	return minutes ? `UTC${minutes < 0 ? "-" : "+"}${padded(hours)}:${padded(rest)}` : "UTC";
};
const zone = () =>
	view.zone === "local" ? Intl.DateTimeFormat().resolvedOptions().timeZone : zoneName(Number(view.zone));
const endName = (address, port) => (address.includes(":") ? `[${address}]` : address) + ":" + port;
const clientName = row => endName(row.client, row.clientPort);
const serverName = row => endName(row.server, row.serverPort);
const rowName = row => `${clientName(row)} → ${serverName(row)}`;
// Words in place of a drawing or a table that would be empty.
const emptyNote = text => element("p", { class: "faint" }, text);
const withoutConnections = () => data.live ? "No connection is open." : "No connection has been captured.";
const withoutTcp = () =>
	data.filter ? "No connection of TCP passes the filter." : "The capture has no connection of TCP.";
const protocols = { 6: "TCP", 17: "UDP", 132: "SCTP" };
const flagNames = flags => [[SYN, "SYN"], [FIN, "FIN"], [RST, "RST"], [PSH, "PSH"], [ACK, "ACK"], [URG, "URG"]]
	.filter(([bit]) => flags & bit).map(([, name]) => name).join(" ") || "no flags";
// The next round value: 1, 2 or 5 times a power of ten.
const roundUp = value => {
	const power = 10 ** Math.floor(Math.log10(value));
	return [1, 2, 5, 10].map(n => n * power).find(n => n >= value);
};
// Ticks at round values, at most `wanted` and one; the distance between them is at least `least`.
const ticks = (from, to, wanted, least = 1) => {
	const step = Math.max(least, roundUp((to - from || 1) / wanted)), list = [];
	for (let n = Math.ceil(from / step); n * step <= to; n++) list.push(n * step);
	return list;
};
const pen = document.createElement("canvas").getContext("2d");
pen.font = "12px system-ui, sans-serif";
const textWidth = text => pen.measureText(text).width;
// The text, cut to a width in pixels.
const fitted = (text, width) => {
	let end = text.length;
	while (end > 1 && textWidth(end < text.length ? text.slice(0, end) + "…" : text) > width) end--;
	return end < text.length ? text.slice(0, end) + "…" : text;
};
