/**
 * A page for somebody else: one HTML file that needs nothing more, no script and no request. Everything that
 * is put into it is escaped, unless it is markup itself.
 */
import { formatCount } from "../../counts.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { version } from "../../version.ts";

export interface Markup {
  readonly html: string;
}

type Part = string | number | Markup | readonly Markup[] | undefined;

/** `` markup`<b>${name}</b>` `` */
export function markup(texts: TemplateStringsArray, ...parts: Part[]): Markup {
  return { html: texts.reduce((html, text, at) => html + toHtml(parts[at - 1]) + text) };
}

function toHtml(part: Part): string {
  if (part === undefined) return "";
  if (typeof part === "object") return "html" in part ? part.html : part.map(({ html }) => html).join("");
  return escapeHtml(String(part));
}

/** What people's data may hold can neither be markup nor move or hide text. */
function escapeHtml(text: string): string {
  return escapeControls(text).replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);
}

export function formatPage(title: string, status: Markup, parts: readonly (Markup | undefined)[]): string {
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="generator" content="ecm ${version}">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${{ html: style }}</style>
</head>
<body>
<header>
<h1>${title}</h1>
${status}
</header>
<main>
${parts.map((part) => markup`${part}\n`)}</main>
</body>
</html>
`.html;
}

/** More of a long list or table is folded. */
const maxUnfolded = 20;

function fold(items: readonly Markup[], draw: (some: readonly Markup[]) => Markup): Markup {
  const [shown, folded] = [items.slice(0, maxUnfolded), items.slice(maxUnfolded)];
  if (folded.length === 0) return draw(shown);
  return markup`${draw(shown)}<details><summary>${folded.length} more</summary>${draw(folded)}</details>`;
}

export function drawList(items: readonly (string | Markup)[]): Markup {
  const lines = items.map((item) => markup`<li>${toCell(item)}</li>`);
  return fold(lines, (some) => markup`<ul>${some}</ul>`);
}

/** A cell with a number is set to the right. @param heads none for a table without a head */
export function drawTable(
  heads: readonly string[],
  rows: readonly (readonly (string | number | Markup)[])[],
): Markup {
  const head = heads.map((each) => markup`<th>${each}</th>`);
  const lines = rows.map((row) => {
    const cells = row.map((cell) =>
      typeof cell === "number"
        ? markup`<td class="number">${formatCount(cell)}</td>`
        : markup`<td>${toCell(cell)}</td>`,
    );
    return markup`<tr>${cells}</tr>\n`;
  });
  return fold(
    lines,
    (some) => markup`<table>\n<thead><tr>${head}</tr></thead>\n<tbody>${some}</tbody>\n</table>`,
  );
}

/** Text of others is kept apart from what stands around it, whichever way it is written. */
function toCell(cell: string | Markup): Markup {
  return typeof cell === "string" ? markup`<bdi>${cell}</bdi>` : cell;
}

/** How a page looks on a screen, on a phone and on paper. */
const style = `
:root { color-scheme: light; --quiet: #57606a; --line: #d0d7de; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 64rem; padding: 1.5rem 1.25rem 3rem; background: #fff; color: #1b1f24;
  font: 1rem/1.45 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .3rem 0; }
.quiet { color: var(--quiet); }
.status { font-weight: 600; }
.warn { color: #7d4e00; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: .8rem 0; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: break-word; }
th, td:first-child { white-space: nowrap; }
summary { cursor: pointer; color: var(--quiet); }
th { color: var(--quiet); font-weight: 600; font-size: .85rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td ul { list-style: none; margin: 0; padding: 0; }
del { color: var(--quiet); }
ins { text-decoration: none; }
/* On a phone, cells stand below each other. */
@media screen and (max-width: 34rem) {
  thead { display: none; }
  tr, td, td:first-child { display: block; border: 0; white-space: normal; overflow-wrap: anywhere; }
}
@page { size: A4; margin: 15mm; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; color: #000; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
}
`;
