// SPDX-License-Identifier: Apache-2.0
// Validates glTF files with Khronos' gltf-validator and prints its report as JSON, one object per file.
// Exit code 0: no errors and no warnings; 1: some; 2: usage.
// Without files it reads names of files, one on a line, and prints "done CODE" behind each report: so one process
// serves many tests.
const fs = require("fs");
const path = require("path");
const validator = require("gltf-validator");

const readline = require("readline");
const files = process.argv.slice(2);

async function check(file) {
  const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), {
    uri: path.basename(file),
    maxIssues: 100,
    externalResourceFunction: (uri) =>
      fs.promises
        .readFile(path.join(path.dirname(file), decodeURIComponent(uri)))
        .then((data) => new Uint8Array(data)),
  });
  console.log(JSON.stringify(report));
  return report.issues.numErrors + report.issues.numWarnings === 0;
}

async function serve() {
  for await (const file of readline.createInterface({ input: process.stdin })) {
    const code = await check(file).then((clean) => (clean ? 0 : 1), (error) => (console.log(String(error)), 2));
    console.log(`done ${code}`);
  }
}

(async () => {
  if (files.length === 0) return await serve();
  let clean = true;
  for (const file of files) clean = (await check(file)) && clean;
  process.exit(clean ? 0 : 1);
})().catch((error) => {
  console.error(String(error));
  process.exit(2);
});
