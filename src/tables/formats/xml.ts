/** Reading: XML as events. The only file that knows sax. */
import { UsageError } from "../../errors.ts";

export interface XmlHandlers {
  /** The element's name without a prefix, and its attributes as written, prefixes too. */
  open?(name: string, attributes: Record<string, string>): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** Tags within one another; sheets have about ten. */
const maxDepth = 100;
/** Of one text or attribute. A cell holds at most 32,767 characters. */
const maxTextCharacters = 1024 * 1024;

/** Reads a part to its end. @throws UsageError as `parseXml` */
export async function readXml(
  chunks: AsyncIterable<Buffer>,
  file: string,
  handlers: XmlHandlers,
): Promise<void> {
  for await (const _chunk of parseXml(chunks, file, handlers));
}

/**
 * Tells the handlers what is in a part, chunk by chunk.
 * @throws UsageError for what is no XML, and for a document type:
 *   entities that it declares could expand without end
 */
export async function* parseXml(
  chunks: AsyncIterable<Buffer>,
  file: string,
  handlers: XmlHandlers,
): AsyncGenerator<void> {
  const { default: sax } = await import("sax");
  const parser = sax.parser(true, { xmlns: false, trim: false, normalize: false });
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const refuse = (what: string): never => {
    throw new UsageError(
      `${file} is a damaged workbook: ${what}`,
      "Open it in a spreadsheet and save it again",
    );
  };
  let depth = 0;
  parser.onerror = (error) => refuse(error.message.replace(/\s*\n\s*/g, ", "));
  parser.ondoctype = () => refuse("it declares a document type, as no workbook does");
  parser.onopentag = ({ name, attributes }) => {
    depth += 1;
    if (depth > maxDepth) refuse(`more than ${maxDepth} elements within one another`);
    handlers.open?.(toLocalName(name), attributes as Record<string, string>);
  };
  parser.onclosetag = (name) => {
    depth -= 1;
    handlers.close?.(toLocalName(name));
  };
  const onText = (text: string) => {
    if (text.length > maxTextCharacters) refuse("a text is longer than any cell");
    handlers.text?.(text);
  };
  parser.ontext = onText;
  parser.oncdata = onText;
  const decode = (chunk?: Buffer) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      return refuse("its text is not UTF-8");
    }
  };
  for await (const chunk of chunks) {
    parser.write(decode(chunk));
    yield;
  }
  parser.write(decode()).close();
  yield;
}

function toLocalName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}
