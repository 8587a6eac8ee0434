/** Who imports whom among the folders of src/, as a Mermaid flowchart. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const valueImports = /^(?:import|export)(?! type)[^;]*?from "(\.[^"]+)";|import\("(\.[^"]+)"\)/gm;
/** Any file may import these; arrows to them would say nothing. */
const foundations = [
  "disk",
  "errors.ts",
  "wire.ts",
  "rate-limits.ts",
  "moments.ts",
  "counts.ts",
  "clock.ts",
  "version.ts",
];
const mechanics = ["chunks.ts", "request-target.ts", "delimited-lines.ts", "text-index.ts", "json.ts"];
const hidden = new Set([...foundations, ...mechanics]);

/**
 * An arrow that follows from two others is left out.
 * @param source the folder `src`
 */
export function drawImportGraph(source) {
  const imports = readImports(source);
  const lines = [];
  for (const [from, targets] of imports) {
    for (const to of targets) {
      const isImplied = [...targets].some((between) => between !== to && reaches(imports, between, to));
      if (!isImplied) lines.push(`  ${toNode(from)} --> ${toNode(to)}`);
    }
  }
  return ["flowchart TD", ...lines.sort()].join("\n");
}

/** Of each folder, or file beside the folders, those that it imports; types only do not count. */
function readImports(source) {
  const imports = new Map();
  for (const path of readdirSync(source, { recursive: true, encoding: "utf8" })) {
    const from = toPlace(path);
    if (!path.endsWith(".ts") || hidden.has(from)) continue;
    const text = readFileSync(join(source, path), "utf8");
    for (const [, early, late] of text.matchAll(valueImports)) {
      const to = toPlace(relative(source, resolve(dirname(join(source, path)), early ?? late)));
      if (to === from || to === ".." || hidden.has(to)) continue;
      imports.set(from, (imports.get(from) ?? new Set()).add(to));
    }
  }
  return imports;
}

function reaches(imports, from, to, seen = new Set()) {
  if (seen.has(from)) return false;
  seen.add(from);
  const targets = imports.get(from) ?? new Set();
  return targets.has(to) || [...targets].some((each) => reaches(imports, each, to, seen));
}

const toPlace = (path) => path.split("/")[0];

const toNode = (place) => (place.endsWith(".ts") ? `${place.slice(0, -3)}(${place})` : `${place}[${place}/]`);
