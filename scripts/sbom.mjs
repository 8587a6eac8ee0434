/**
 * Writes `dist/sbom.cdx.json`: what the package brings, as CycloneDX. npm lists what is installed; of that, what is
 * bundled stays (`dist/LICENSES.txt` names it), and what an installation adds (libsql). Needs a build.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const words = ["sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only"];
const bill = JSON.parse(
  execFileSync("npm", words, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    stdio: ["ignore", "pipe", "ignore"],
  }),
);

const notices = readFileSync(join(root, "dist/LICENSES.txt"), "utf8");
const bundled = [...notices.matchAll(/^((?:@[^/\s]+\/)?[^\s@]+) (\d\S*) \(.*\)$/gm)].map(
  ([, name, version]) => `${name}@${version}`,
);
const isDevelopment = ({ properties = [] }) =>
  properties.some(({ name, value }) => name === "cdx:npm:package:development" && value === "true");

bill.components = bill.components.filter(
  (component) => bundled.includes(component["bom-ref"]) || !isDevelopment(component),
);
bill.metadata.component.name = "ecm-cli";
const kept = new Set([bill.metadata.component["bom-ref"], ...bill.components.map((each) => each["bom-ref"])]);
bill.dependencies = bill.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) }));

const missing = bundled.filter((each) => !kept.has(each));
if (missing.length > 0) throw new Error(`Bundled, and not in the lockfile: ${missing.join(", ")}`);
writeFileSync(join(root, "dist/sbom.cdx.json"), `${JSON.stringify(bill, null, 2)}\n`);
