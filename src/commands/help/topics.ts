/** `ecm help TOPIC`: pages about what several commands share. */
import { Argument, type Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { fitMessage } from "../../terminal/message-lines.ts";
import { presentValue } from "../../terminal/present.ts";
import { verb } from "../verb.ts";
import { exitCodeMeanings } from "./help-text.ts";
import type { CommandTree, topicNames } from "./tree.ts";

/** The environment variables that `ecm` reads, for help and man page. */
export const environment: Readonly<Record<string, string>> = {
  ECM_PROFILE: "profile to use, as --profile",
  ECM_BASE_URL: "base URL of the account's API, as --base-url; with ECM_API_KEY no profile is needed",
  ECM_API_KEY: "the API key; not a flag, because flags are visible in the process list",
  ECM_INSECURE_HTTP:
    "a host or host:port to which plain http is allowed, such as a sandbox in a compose network; the key is sent unencrypted, with a warning",
  ECM_STRUCTURE: "contact structure to use, as --structure",
  ECM_OUTPUT: "output format, as --output",
  ECM_NO_INPUT: "1: never prompt, as --no-input",
  ECM_READ_ONLY: "1: refuse every request that would write, as --read-only",
  ECM_TIMEOUT: "timeout of a request in seconds, as --timeout",
  ECM_CONFIG_DIR: "folder for profiles and keys",
  ECM_STATE_DIR: "folder for bulk runs and the embedded sandbox's data",
  ECM_SUPPRESSIONS:
    "file of the suppression list, instead of the account's own; several machines can share it",
  ECM_CACHE_DIR: "folder for data that can be deleted: cached names, limits last seen",
  ECM_SANDBOX_API_KEY: "the key for `ecm sandbox start` and `exec`, instead of a random one",
  ECM_SANDBOX_ADMIN_TOKEN: "token for /__sandbox/, as `ecm sandbox start --admin-token`",
  ECM_DEBUG: "1: show a stack trace with errors",
  HTTPS_PROXY: "proxy for all requests except to this machine, such as http://proxy.example.com:3128",
  NO_PROXY: "hosts to reach without the proxy, separated by commas; .example.com matches all subdomains",
  NODE_EXTRA_CA_CERTS: "file with additional certificate authorities (PEM), such as a company's own",
  NO_COLOR: "no colour",
  FORCE_COLOR: "colour even if the output is not a terminal",
  ACCESSIBLE: "1: for screen readers; nothing is redrawn, progress is printed in plain lines",
};

// The pages.

const filtersTopic = `--filter "COLUMN OPERATOR VALUE[,VALUE]…" is a condition that the service
evaluates.

  --filter "KEY EQ ada@example.com,bob@example.com"
  --filter "CONTACT_STATUS EQ active"
  --filter "LIST_ID EQ Newsletter"          a list's name is replaced by its id

Several values of one condition: any of them. Several --filter: all must hold.
COLUMN and OPERATOR go to the service as they are. Documented are the columns
KEY, CONTACT_STATUS, LIST_ID, FIELD_ID, and the operator EQ. For conditions on
fields, tags and dates see: ecm help where

--filter-json takes what the API takes: an array of filters, or the whole
contactSpecification object. The criteria of one filter must all hold; separate
filters are alternatives. It stands alone: no --key, --status, --list, --tag or
--filter beside it.
`;

const whereTopic = `--where EXPRESSION chooses contacts by an expression in CEL (Common
Expression Language). It is evaluated here, while the pages of the account are
read; with --list or --status the service selects the pages first.

  --where 'City == "Oslo"'
  --where '"VIP" in tags && createdAt > timestamp("2026-01-01T00:00:00Z")'
  --where 'key.endsWith("@example.com") && !("Newsletter" in lists)'
  --where 'fields["E-mail 2"] != ""'

Names:
  key, status, substatus    strings; email keys and statuses compare in any
                            letter case (==, !=, in)
  lists, tags               lists of names
  fields                    a map: label → value
  createdAt, updatedAt      timestamps
  a field's label           its value; other characters than letters and digits
                            are written as _ (First_Name)

Often written otherwise:
  City == "Oslo"            not =, and text in double quotes
  A == "x" && B == "y"      not and; || is or, ! is not
  First_Name == "Ada"       not First Name; fields["First Name"] is the same
  City.contains("Os")       not like
  Age != "" && double(Age) > 30.0        fields are text
  createdAt > timestamp("2026-01-01T00:00:00Z")
  substatus == "unsubscribe"             status is active or inactive

A field without a value is "". A name that does not exist is an error (exit
code 2) before anything is sent.
`;

const formatsTopic = `-o, --output FORMAT, or --json

  table    for people; the default at a terminal
  tsv      tab-separated with a header; the default elsewhere
  csv      as tsv, with commas; an export in csv can be imported again
  json     the service's own objects, unchanged: one object, or an array
  ndjson   the same, one object per line
  id       ids only, one per line

--columns a,b,c picks and orders the columns. --output-file FILE writes to FILE
instead of stdout (atomically); its name decides the format: .csv, .tsv, .json,
.ndjson and .xlsx. A file of that name is replaced, unless the command reads it
or has another output there. Data goes to stdout; everything else to stderr.

For spreadsheets: .xlsx is a workbook whose cells are all text, so that zeros in
front and telephone numbers stay. In csv, --bom adds a byte order mark, and
--safe-cells puts an apostrophe before what would run as a formula. Excel takes
zeros off the front of numbers in any csv.
`;

const faultsTopic = `--fault KIND[:METHOD[:PATH]][:n=N|:first=N|:p=P[:seed=N]][:seconds=S]

  reset-before   the connection is dropped before the request is applied
  reset-after    the request is applied, then the connection is dropped
  500, 503, 429  this status instead of the answer
  delay          the answer comes S seconds later
  truncate       the answer is cut in the middle

METHOD and PATH may be *, and * matches any part of a path.
n=N the Nth matching request, first=N the first N, p=P each with probability P
(the same ones for the same seed). Without a count, every matching request is
affected.

  --fault reset-after:POST:/api/contact:n=3
  --fault 503:*:/api/contact/search:first=2
  --fault 500:*:*:p=0.1:seed=7
`;

type Rows = readonly (readonly [name: string, text: string])[];

interface Topic {
  summary: string;
  /** The page, or the rows of its table. */
  content: string | ((root: CommandUnknownOpts) => Rows);
}

/** The topics with a page here; `ecm help variants` is `ecm sandbox variants`. */
type PageName = Exclude<(typeof topicNames)[number], "variants">;

const topics: Record<PageName, Topic> = {
  flags: { summary: "flags for every command", content: listFlagRows },
  environment: {
    summary: "environment variables",
    content: () => Object.entries(environment),
  },
  "exit-codes": {
    summary: "what each exit code means",
    content: () => exitCodeMeanings.map(([code, meaning]) => [String(code), meaning] as const),
  },
  formats: { summary: "output formats, and what they are for", content: formatsTopic },
  filters: {
    summary: "--filter and --filter-json: conditions that the service evaluates",
    content: filtersTopic,
  },
  where: { summary: "--where: conditions as expressions, evaluated here", content: whereTopic },
  faults: { summary: "--fault: failures that the sandbox simulates", content: faultsTopic },
};

/** Every topic as text, for the manual. */
export function listTopicTexts(root: CommandUnknownOpts, columns: number): [name: string, text: string][] {
  return Object.entries(topics).map(([name, { content }]) => [name, formatContent(content, root, columns)]);
}

export function register(command: Command, context: Context, tree: CommandTree): void {
  const pages = Object.keys(topics) as PageName[];
  const showing = command.addArgument(new Argument("<topic>").choices([...pages, "topics"] as const));
  verb(context, showing, {
    isLocal: true,
    examples: ["ecm help exit-codes"],
    output: "The topic's page.",
    async run(name) {
      const { terminal } = context;
      const { content } = name === "topics" ? index : topics[name];
      const value =
        typeof content === "string" ? { topic: name, text: content } : Object.fromEntries(content(tree.root));
      const text = formatContent(content, tree.root, terminal.columns);
      await presentValue(terminal, context.output(), value, text);
    },
  });
}

const index: Topic = {
  summary: "the topics",
  content: () => [
    ...Object.entries(topics).map(([name, { summary }]) => [name, summary] as const),
    ["variants", "--variant: how the sandbox behaves where the documentation does not say"],
  ],
};

function listFlagRows(root: CommandUnknownOpts): Rows {
  const help = root.createHelp();
  return help.visibleOptions(root).map((option) => [option.flags, help.optionDescription(option)]);
}

/** The page, or its rows in two columns, wrapped at the width of the screen. */
function formatContent(content: Topic["content"], root: CommandUnknownOpts, columns: number): string {
  if (typeof content === "string") return fitMessage(content, columns).trimEnd();
  const rows = content(root);
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, text]) => fitMessage(name.padEnd(width) + text, columns, width)).join("\n");
}
