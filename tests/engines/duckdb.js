// SPDX-License-Identifier: BSD-2-Clause
// Runs SQL files with DuckDB in the current directory: duckdb.js MODULES FILE...  Prints the rows of the last one as CSV.
const { readFileSync } = require('fs');
const [modules, ...files] = process.argv.slice(2);
const { DuckDBInstance } = require(require.resolve('@duckdb/node-api', { paths: [modules] }));

async function main() {
	const connection = await (await DuckDBInstance.create(':memory:')).connect();
	await connection.run("SET autoinstall_known_extensions = false; SET TimeZone = 'UTC'");
	let reader;
	for (const file of files)
		reader = await connection.runAndReadAll(readFileSync(file, 'utf8'));
	for (const row of reader.getRowsJson())
		console.log(row.map((value) => value ?? '').join('\t'));
}

main().catch((error) => {
	console.error(String(error));
	process.exit(1);
});
