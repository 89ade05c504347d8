// SPDX-License-Identifier: GPL-2.0-or-later
// The script of a heat map, run by node on as much of a document as it uses: node page.js FILE.html WIDTH
// Prints JSON: the title, each distribution's name, its labels, and what is said at each cell that is pointed at.
"use strict";
const [, , file, width] = process.argv;
const page = require("fs").readFileSync(file, "utf8");
const data = /<script id="data" type="application\/json">(.*?)<\/script>/s.exec(page)[1];
const script = /<script>\n(.*?)<\/script>/s.exec(page)[1];

class Element {
	constructor() {
		this.style = {};
		this.children = [];
		this.textContent = "";
		this.clientWidth = Number(width);
		this.painted = 0;
	}
	append(...more) {
		this.children.push(...more);
	}
	replaceChildren(...all) {
		this.children = all;
	}
	getContext() {
		return { fillRect: () => { this.painted++; } };
	}
}
const elements = { data: Object.assign(new Element(), { textContent: data }) };
const at = id => elements[id] ??= new Element();
globalThis.document = { getElementById: at, createElement: () => new Element(), documentElement: {} };
globalThis.window = {};
globalThis.getComputedStyle = () => ({ getPropertyValue: () => "48 95% 82%" });
new Function(script)();

const out = [];
for (const [i, option] of at("series").children.entries()) {
	at("series").value = String(i);
	at("graph").painted = 0;
	at("series").onchange();
	const rows = at("rows").children.map(d => d.textContent), said = [];
	for (let y = 8; y < rows.length * 16; y += 16)
		for (let x = 0; x < Number(width); x++) {
			at("graph").onmousemove({ offsetX: x + 0.5, offsetY: y });
			if (said.at(-1) !== at("details").textContent)
				said.push(at("details").textContent);
		}
	out.push({ name: option.textContent, title: at("title").textContent, rows, said, painted: at("graph").painted });
}
console.log(JSON.stringify({ title: at("title").textContent, series: out }));
