// SPDX-License-Identifier: BSD-2-Clause
// Runs SQL files with the ClickHouse of the npm module chdb, in the current directory: chdb.js MODULES FILE...  Prints the
// rows of the last statement.
const { readFileSync } = require('fs');
const [modules, ...files] = process.argv.slice(2);
const { Session } = require(require.resolve('chdb', { paths: [modules] }));

const session = new Session();
let rows;
for (const file of files) {
	const statements = readFileSync(file, 'utf8').replace(/^--.*\n/gm, '').split(/;\n/);
	for (const statement of statements.filter((text) => text.trim()))
		rows = session.query(statement, 'TSV');
}
process.stdout.write(rows);
session.cleanup();
