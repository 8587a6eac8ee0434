import { type Command, Option } from "@commander-js/extra-typings";
import type { Context } from "../context.ts";
import { usageError } from "../errors.ts";
import { requestTarget, requireSafePath } from "../request-target.ts";
import { readDataInput } from "../terminal/data-input.ts";
import { escapeControlsInLines } from "../terminal/escape.ts";
import { requireFileFormat } from "../terminal/format.ts";
import type { Terminal } from "../terminal/terminal.ts";
import type { ApiAnswer, ApiRequest } from "../wire.ts";
import { addDryRunFlag, addFileFlag, type OptionsOf, repeatableOption } from "./flags/flags.ts";
import { type Result, verb } from "./verb.ts";

type ApiOptions = OptionsOf<typeof declareApi>;

function declareApi(command: Command) {
  const sending = command
    .argument("<method>", "GET, POST, PUT, PATCH, DELETE, or another")
    .argument("<path>", "starts with / and is appended to the base URL, such as /api/contact-structure")
    .addOption(
      new Option("--data <file>", "send this file's content, or standard input (-), as JSON").conflicts([
        "field",
        "typedField",
      ]),
    )
    .addOption(repeatableOption("-f, --field <name=value>", "a string member of the JSON body (repeatable)"))
    .addOption(
      repeatableOption(
        "-F, --typed-field <name=value>",
        "a member as true, 42, null or @FILE, the file's text (repeatable)",
      ),
    )
    .addOption(repeatableOption("--query <name=value>", "add a query parameter; can be repeated"))
    .option("--paginate", "join the pages of lists, searches and events into one array (reads only)")
    .option("--include", "print status and headers before the body");
  return addDryRunFlag(addFileFlag(sending, "write the body to FILE as it comes, of any size (atomically)"));
}

export function register(command: Command, context: Context): void {
  verb(context, declareApi(command), {
    writes: true,
    asks: "DELETE, PATCH, and PUT of a structure",
    examples: [
      "ecm api GET /api/contact-structure",
      "ecm api GET /api/contact/events --query pastDays=7 --query types=email-opened,email-clicked",
      "ecm api POST /api/contact/search --data search.json --paginate",
      "ecm api PATCH /api/contact-structure/64f0c2a9e1b2c3d4e5f60718/lists/64f0c2a9e1b2c3d4e5f60719 -f name=Prospects --yes",
      "ecm api DELETE /api/contact/64f0c2a9e1b2c3d4e5f60718 --dry-run",
    ],
    output:
      "The body of the answer unchanged, errors too (at a terminal JSON is indented); the status decides the exit code.",
    // The name of the output file does not choose a format: the body is written as it is.
    chooseOutput({ outputFile, paginate, dryRun }) {
      if (outputFile !== undefined) context.files.writes(outputFile, "--output-file");
      if (dryRun) return context.output();
      const isLines = context.output().format === "ndjson";
      if (outputFile !== undefined && paginate) requireFileFormat(outputFile, isLines ? "ndjson" : "json");
      return { format: isLines ? "ndjson" : "json", outputFile };
    },
    async run(method, path, options) {
      const request = await buildRequest(context, method, path, options);
      if (options.dryRun) {
        const unsent = toUnsentRequest(request);
        return { request: unsent, would: `send ${unsent.method} ${unsent.path}` };
      }
      await confirmFinal(context, request);
      if (options.paginate) return joinAnswers(context, request);
      await showAnswer(context, request, options);
      return undefined;
    },
  });
}

async function joinAnswers(context: Context, request: ApiRequest): Promise<Result<unknown>> {
  const { send } = await context.connect();
  const { joinPages } = await import("../service/pages.ts");
  const { records: value, total = 0 } = await joinPages(send, request);
  const isCut = value.length < total;
  const note = isCut
    ? `${value.length} of ${total} records were read: the account changed meanwhile`
    : undefined;
  return { value, text: "", note };
}

/** The output file appears once it holds the whole body of a 2xx; the body of a refusal goes to stdout. */
async function showAnswer(
  context: Context,
  request: ApiRequest,
  { include, outputFile }: ApiOptions,
): Promise<void> {
  const { terminal } = context;
  const { openFileOutput } = await import("../terminal/output-file.ts");
  // Open the file before the request is sent.
  const file = outputFile === undefined ? undefined : await openFileOutput(outputFile);
  try {
    const { send } = await context.connect();
    const answer = await send(request, { expect: "any" });
    if (include) await terminal.write(formatBody(terminal, formatHead(answer)));
    if (file && !answer.problem) {
      await file.write(answer.bytes ?? answer.text);
      return await file.commit();
    }
    await writeBody(terminal, answer);
    if (answer.problem) throw answer.problem;
  } finally {
    await file?.discard();
  }
}

/** Asks before a request that may not be undone. @throws UsageError, DeclinedError */
async function confirmFinal(context: Context, { method, path }: ApiRequest): Promise<void> {
  const target = path.split("?")[0]!;
  const isStructure = method === "PUT" && /^\/api\/contact-structure\/[^/]+\/?$/i.test(target);
  if (isStructure) {
    const loss = "Fields and tags that the body leaves out are removed, with their values.";
    return context.confirm(`Send ${method} ${target}? ${loss}`);
  }
  if (method === "DELETE" || method === "PATCH")
    await context.confirm(`Send ${method} ${target}? It may not be possible to undo it.`);
}

/** GET, HEAD, OPTIONS and searches count as reads, all else as writes. @throws UsageError */
async function buildRequest(
  context: Context,
  typedMethod: string,
  path: string,
  options: ApiOptions,
): Promise<ApiRequest> {
  const method = typedMethod.toUpperCase();
  if (!/^[A-Z]+$/.test(method) || method === "CONNECT") {
    throw usageError(
      `${JSON.stringify(typedMethod)} is not a method that can be sent`,
      "Use GET, POST, PUT, PATCH or DELETE",
    );
  }
  if (!path.startsWith("/")) {
    throw usageError(
      `${JSON.stringify(path)} does not start with /`,
      "Give a path such as /api/contact-structure; the base URL is the profile's, or --base-url",
    );
  }
  requireSafePath(path);
  const query = options.query?.map((text) => parsePair("--query", text));
  const { data } = options;
  const rawBody =
    data === undefined ? await buildBody(context, options) : await readDataInput(context, data, "--data");
  if (rawBody !== undefined && ["GET", "HEAD"].includes(method))
    throw usageError(`${method} requests have no body`, "Add query parameters with --query");
  const isSearch = method === "POST" && path.split("?")[0]!.endsWith("/search");
  const isRead = isSearch || ["GET", "HEAD", "OPTIONS"].includes(method);
  return { method, path, query, rawBody, effect: isRead ? "read" : "write" };
}

/** `name=value`, split at the first `=`. @throws UsageError */
function parsePair(flag: string, text: string): [name: string, value: string] {
  const at = text.indexOf("=");
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usageError(`${flag}: ${JSON.stringify(text)} is not NAME=VALUE`, `Such as ${flag} name=Newsletter`);
}

/** The request of a dry run, with the query in the path; a body that is not JSON is shown as text. */
function toUnsentRequest({ query, rawBody, ...request }: ApiRequest): ApiRequest {
  const path = requestTarget({ path: request.path, query });
  if (rawBody === undefined) return { ...request, path };
  try {
    return { ...request, path, body: JSON.parse(rawBody) as unknown };
  } catch {
    return { ...request, path, body: rawBody };
  }
}

function formatHead({ status, headers }: ApiAnswer): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `${[`HTTP ${status}`, ...lines].join("\n")}\n\n`;
}

/** Writes the bytes untouched to a file or pipe, and escapes control characters at a terminal. */
async function writeBody(terminal: Terminal, { text, bytes }: ApiAnswer): Promise<void> {
  if (terminal.isStdoutTerminal) {
    const safe = formatBody(terminal, indentJson(text));
    return terminal.write(safe === "" || safe.endsWith("\n") ? safe : `${safe}\n`);
  }
  if (!bytes || Buffer.from(text).equals(bytes)) return terminal.write(text);
  await new Promise<void>((resolve) => terminal.stdout.write(bytes, () => resolve()));
}

/** Indents JSON. A text that would change, as by a number with many digits, is left as it came. */
function indentJson(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    const isSame = JSON.stringify(value) === text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, "$1");
    return isSame ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}

function formatBody(terminal: Terminal, text: string): string {
  return terminal.isStdoutTerminal ? escapeControlsInLines(text.replaceAll("\r\n", "\n")) : text;
}

/** The JSON body of `-f` and `-F`; undefined without them. @throws UsageError */
async function buildBody(
  context: Context,
  { field = [], typedField = [] }: ApiOptions,
): Promise<string | undefined> {
  if (field.length + typedField.length === 0) return undefined;
  const members = new Map<string, unknown>();
  const typed = [
    ...field.map((text) => ["-f", text] as const),
    ...typedField.map((text) => ["-F", text] as const),
  ];
  for (const [flag, text] of typed) {
    const [name, value] = parsePair(flag, text);
    if (members.has(name)) throw usageError(`${flag}: the member ${JSON.stringify(name)} is given twice`);
    members.set(name, flag === "-f" ? value : await parseTypedValue(context, value));
  }
  return JSON.stringify(Object.fromEntries(members));
}

async function parseTypedValue(context: Context, text: string): Promise<unknown> {
  if (text === "@") throw usageError("-F: the name of the file is empty", "Such as -F note=@note.txt");
  if (text.startsWith("@")) return readDataInput(context, text.slice(1), "-F");
  const isTyped = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/.test(text);
  const value: unknown = isTyped ? JSON.parse(text) : text;
  // JavaScript cannot hold such a number: another one, or null, would be sent.
  if (
    typeof value === "number" &&
    (Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value))
  ) {
    throw usageError(`-F: ${text} is too large to be sent exactly`, "Send the body with --data");
  }
  return value;
}
