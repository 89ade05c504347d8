// SPDX-License-Identifier: GPL-2.0-or-later
// A profile as npm's pprof-format reads it, in JSON, as lib/npm.py wants it: node pprof_format.js FILE, with NODE_PATH set.
"use strict";
const { Profile } = require("pprof-format");
const { gunzipSync } = require("zlib");
const { readFileSync } = require("fs");

const profile = Profile.decode(gunzipSync(readFileSync(process.argv[2])));
const text = number => profile.stringTable.strings[Number(number)];
const byId = list => new Map(list.map(item => [Number(item.id), item]));
const functions = byId(profile.function), locations = byId(profile.location), mappings = byId(profile.mapping);

function frame(number) {
    const location = locations.get(Number(number)), module = mappings.get(Number(location.mappingId));
    const name = text(functions.get(Number(location.line[0].functionId)).name);
    return module ? `${text(module.filename)}\`${name}` : name;
}

// It leaves an int64's sign to its user.
const signed = number => Number(BigInt.asIntN(64, BigInt(number)));
const label = l => [text(l.key), Number(l.str) ? text(l.str) : signed(l.num)];

console.log(JSON.stringify({
    types: profile.sampleType.map(t => [text(t.type), text(t.unit)]),
    samples: profile.sample.map(s => [s.locationId.map(frame).reverse(), s.label.map(label), s.value.map(signed)]),
}));
