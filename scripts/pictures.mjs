/**
 * Draws the README's pictures: real commands, run against an embedded service of their own as at a terminal,
 * saved as SVG in docs/pictures/. With `--check`, nothing is written: exit 1 when a picture is not what the
 * program shows today.
 */
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import stringWidth from "fast-string-width";

const root = fileURLToPath(new URL("..", import.meta.url));
const columns = 80;

/** What the account holds before the first picture. */
const preparations = [
  "ecm structure apply structure.yaml",
  "ecm import contacts.csv --list Newsletter --create-missing",
  "ecm lists create Customers",
];
const pictures = {
  "dry-run": ["ecm import crm.csv --list Customers --dry-run"],
  import: ["ecm import crm.csv --list Customers --yes"],
  search: ["ecm contact search --tag VIP --page-size 6"],
};

const cell = { width: 8.4, height: 19 };
const margin = 18;
const colors = {
  background: "#16181d",
  text: "#d7dae0",
  bold: "#ffffff",
  dim: "#8d96a0",
  red: "#ff7b72",
  yellow: "#e3b341",
  green: "#56d364",
};

/**
 * Loaded before the program: it takes both streams for a terminal (what it writes to them goes into one file, in
 * order), and its clock, which pictures show ("resets at 15:26"), begins at a given time and runs slowly, so that a
 * busy machine does not change a picture.
 */
const terminalAtAFixedTime = `
for (const stream of [process.stdout, process.stderr]) Object.assign(stream, { isTTY: true, columns: ${columns} });
const RealDate = Date;
const begun = RealDate.now();
globalThis.Date = class Date extends RealDate {
  constructor(...parts) {
    super(...(parts.length === 0 ? [Date.now()] : parts));
  }
  static now() {
    return Number(process.env.PICTURE_TIME) + Math.floor((RealDate.now() - begun) / 100);
  }
};
`;
let pictureTime = Date.parse("2026-11-21T14:26:00Z");

const home = mkdtempSync(join(tmpdir(), "ecm-pictures-"));
try {
  draw();
} finally {
  rmSync(home, { recursive: true, force: true });
}

function draw() {
  const isCheck = process.argv.includes("--check");
  writeFileSync(join(home, "terminal.cjs"), terminalAtAFixedTime);
  for (const command of preparations) run(command);
  for (const [name, commands] of Object.entries(pictures)) {
    const screen = commands.map(
      (command) => `\u001b[2m$\u001b[22m \u001b[1m${command}\u001b[22m\n${run(command)}`,
    );
    const svg = drawSvg(commands.join("; "), readLines(screen.join("\n")));
    const file = join(root, "docs/pictures", `${name}.svg`);
    if (!isCheck) {
      mkdirSync(join(root, "docs/pictures"), { recursive: true });
      writeFileSync(file, svg);
    } else if (readFileSync(file, "utf8") !== svg) {
      console.error(`docs/pictures/${name}.svg is outdated; run: node scripts/pictures.mjs`);
      process.exitCode = 1;
    }
  }
}

function run(command) {
  const caught = join(home, "screen");
  pictureTime += 1000;
  const out = openSync(caught, "w");
  const script = `ecm() { "${process.execPath}" --require "${join(home, "terminal.cjs")}" "${join(root, "bin/ecm.js")}" "$@"; }; ${command}`;
  spawnSync("bash", ["-c", script], {
    cwd: join(root, "examples"),
    env: {
      PATH: process.env.PATH,
      HOME: home,
      TZ: "UTC",
      PICTURE_TIME: String(pictureTime),
      ECM_PROFILE: "sandbox",
    },
    stdio: ["ignore", out, out],
  });
  closeSync(out);
  return withoutChance(readFileSync(caught, "utf8"));
}

/**
 * A run's id, its time and the home folder differ each time; the pictures
 * show fixed ones, so that `--check` can compare.
 */
function withoutChance(screen) {
  return screen
    .replaceAll(home, "/home/ada")
    .replace(/\b\d{8}-\d{4}-[0-9a-f]{6}\b/g, "20261121-1926-cdac9d")
    .replace(/( rows in )[^:\n]+:/g, "$1under 1 s:");
}

/** The final screen: of a redrawn line only its last state. Each line is split into pieces of one style. */
function readLines(screen) {
  const look = { bold: false, dim: false, color: "text" };
  return screen
    .trimEnd()
    .split("\n")
    .flatMap((written) => {
      const line = written.slice(written.lastIndexOf("\u001b[2K") + 1).replace(/^\[2K/, "");
      const pieces = [];
      for (const part of line.split(/(\u001b\[[\d;]*m)/)) {
        const code = /^\u001b\[(\d+)m$/.exec(part)?.[1];
        if (code !== undefined) paint(look, Number(code));
        else if (part !== "") pieces.push({ text: part, ...look });
      }
      return wrapped(pieces);
    });
}

function paint(look, code) {
  if (code === 1) look.bold = true;
  else if (code === 2) look.dim = true;
  else if (code === 22) Object.assign(look, { bold: false, dim: false });
  else look.color = { 31: "red", 32: "green", 33: "yellow" }[code] ?? "text";
}

/** Wraps as a terminal does: at the last column, in the middle of a word. */
function wrapped(pieces) {
  const lines = [[]];
  let column = 0;
  for (const { text, ...look } of pieces) {
    for (const { segment } of new Intl.Segmenter().segment(text)) {
      const width = stringWidth(segment);
      if (column + width > columns) {
        lines.push([]);
        column = 0;
      }
      lines.at(-1).push({ segment, width, column, look });
      column += width;
    }
  }
  return lines;
}

/** @param title for who cannot see the picture */
function drawSvg(title, lines) {
  const width = Math.ceil(columns * cell.width + 2 * margin);
  const height = lines.length * cell.height + 2 * margin;
  const texts = lines.flatMap((line, row) => splitRuns(line).map((each) => drawText(each, row)));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<title>${escaped(title)}</title>
<rect width="${width}" height="${height}" rx="8" fill="${colors.background}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">
${texts.join("\n")}
</g>
</svg>
`;
}

/**
 * Joins neighbours of one style into one text; a wide character gets its own, at the column where a
 * terminal puts it, and so does what follows two blanks, which browsers would draw as one.
 */
function splitRuns(line) {
  const runs = [];
  for (const { segment, width, column, look } of line) {
    const last = runs.at(-1);
    const isGap = segment !== " " && last?.text.endsWith("  ");
    const joins =
      last && width === 1 && last.isNarrow && !isGap && JSON.stringify(last.look) === JSON.stringify(look);
    if (joins) last.text += segment;
    else runs.push({ text: segment, column, look, isNarrow: width === 1 });
  }
  return runs.filter(({ text }) => text.trim() !== "");
}

function drawText({ text, column, look }, row) {
  const start = text.length - text.trimStart().length;
  const shown = text.trim();
  const x = (margin + (column + start) * cell.width).toFixed(1);
  const y = margin + row * cell.height + 14;
  const fill = colors[look.color === "text" ? (look.bold ? "bold" : look.dim ? "dim" : "text") : look.color];
  const length = (stringWidth(shown) * cell.width).toFixed(1);
  const weight = look.bold ? ' font-weight="bold"' : "";
  return `<text x="${x}" y="${y}" fill="${fill}"${weight} textLength="${length}" lengthAdjust="spacingAndGlyphs">${escaped(shown)}</text>`;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
