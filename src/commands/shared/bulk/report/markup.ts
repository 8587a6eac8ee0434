/** HTML from templates: everything that is put into one is escaped, unless it is markup itself. Pure. */
import { escapeControls } from "../../../../terminal/escape.ts";

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

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/** What people's data may hold can neither be markup nor move or hide text. */
function escapeHtml(text: string): string {
  return escapeControls(text).replace(/[&<>"'`]/g, (character) => entities[character]!);
}
