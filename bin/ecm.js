#!/usr/bin/env node
// An older Node must be able to read this file: it is told which one is needed before anything else is loaded.
const needed = [20, 19];
const [major, minor] = process.versions.node.split(".").map(Number);

if (major > needed[0] || (major === needed[0] && minor >= needed[1])) require("../dist/main.cjs");
else refuse(`>=${needed.join(".")}`, process.versions.node);

function refuse(requirement, actual) {
  const message = `ecm needs Node.js ${needed.join(".")} or newer; this is ${actual}`;
  const hint = "Install a newer Node.js, and run the same command with it";
  const words = process.argv.slice(2).join(" ");
  const isJson = /(?:^| )(?:--json|(?:-o ?|--output[ =])(?:nd)?json)(?: |$)/.test(words);
  const type = "RuntimeVersionError";
  const error = { type, message, exitCode: 2, hint, retryable: false, requirement, actual };
  process.exitCode = 2;
  process.stderr.write(isJson ? `${JSON.stringify({ error })}\n` : `error: ${message}\nhint: ${hint}\n`);
}
