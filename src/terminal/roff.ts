/** The few parts of a manual page, as `man` reads them. Pure. */

/** Text without a meaning of its own to `man`; what is not ASCII is written by its number. */
function escapeText(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(
      /[^\t\n\x20-\x7e]/gu,
      (character) => `\\[u${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}]`,
    )
    .replace(/^([.'])/gm, "\\&$1");
}

/** @param program with its version */
export function title(name: string, program: string): string[] {
  return [`.TH ${escapeText(name).toUpperCase()} 1 "" "${program}" "User Commands"`];
}

export function section(heading: string, ...lines: string[][]): string[] {
  return [`.SH ${escapeText(heading)}`, ...lines.flat()];
}

export function subsection(heading: string, ...lines: string[][]): string[] {
  return [`.SS ${escapeText(heading)}`, ...lines.flat()];
}

export function paragraph(text: string): string[] {
  return [".PP", escapeText(text)];
}

/** A heading in bold that is no section: it ends a list of terms. */
export function label(text: string): string[] {
  return [".PP", `.B ${escapeText(text)}`];
}

/** What is explained, and below it the explanation. */
export function terms(entries: readonly (readonly [term: string, text: string])[]): string[] {
  return entries.flatMap(([term, text]) => [".TP", `.B ${escapeText(term)}`, escapeText(text)]);
}

/** Lines that keep their breaks. */
export function verbatim(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [".PP", ".nf", ".RS", ...lines.map(escapeText), ".RE", ".fi"];
}

export function toPage(...parts: string[][]): string {
  return `${parts.flat().join("\n")}\n`;
}
