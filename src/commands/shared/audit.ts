/** `ecm audit`'s record: a line for each command that talked to the service, without addresses and values. */
import { hostname, userInfo } from "node:os";
import { join, resolve } from "node:path";
import type { Context } from "../../context.ts";
import { appendChained, readChainHead, readLastLine } from "../../disk/chained-file.ts";
import { describeDiskError } from "../../disk/make-folder.ts";
import { UsageError } from "../../errors.ts";
import { readTraceId } from "../../terminal/trace-id.ts";
import { version } from "../../version.ts";

/** A system whose log does not answer must not stop anybody. */
const maxSyslogMilliseconds = 5000;

export interface AuditLine {
  prev: string;
  time: string;
  user: string;
  host: string;
  program: string;
  profile: string | null;
  baseUrl: string;
  /** The command, of `api` its method, and the names of its flags. */
  command: string[];
  requests: number;
  run: string | null;
  rows?: Record<string, number>;
  /** Digest of the plan that it carried out. */
  plan?: string;
  exitCode: number;
  /** How long it took; lines of earlier versions have none. */
  milliseconds?: number;
  traceId?: string;
  mended?: number;
}

/** Where the record is; undefined: none is kept. */
function findAuditFile({ terminal, folders }: Pick<Context, "terminal" | "folders">): string | undefined {
  const { ECM_AUDIT: setting = "" } = terminal.env;
  if (setting === "off") return undefined;
  return setting === "" || setting === "syslog" ? join(folders.state, "audit.ndjson") : resolve(setting);
}

/** @throws UsageError where no record is kept */
export function requireAuditFile(context: Pick<Context, "terminal" | "folders">): string {
  const file = findAuditFile(context);
  if (file !== undefined) return file;
  throw new UsageError("No record is kept: ECM_AUDIT is off", "Leave ECM_AUDIT out, or name a file");
}

/** Adds the line of a command that is over. A record that cannot be written is a warning, and stops nothing. */
export async function recordCommand(context: Context, exitCode: number, milliseconds: number): Promise<void> {
  const { terminal, record } = context;
  const file = findAuditFile(context);
  const requests = context.requestsSent();
  if (file === undefined || requests === 0 || record.command === undefined) return;
  const profile = await context.profile().catch(() => undefined);
  // The embedded service is nobody's account.
  if (!profile || profile.isSandbox) return;
  const { run = null, rows } = record;
  const line: Omit<AuditLine, "prev"> = {
    time: new Date(context.clock.now()).toISOString(),
    user: findUser(),
    host: hostname(),
    program: version,
    profile: profile.name?.value ?? null,
    baseUrl: profile.baseUrl.value,
    command: [...record.command],
    requests,
    run,
    ...(rows && { rows }),
    ...(run !== null && { plan: await readPlanDigest(context, run) }),
    exitCode,
    milliseconds: Math.round(milliseconds),
    traceId: readTraceId(terminal.env),
  };
  try {
    const hash = await appendChained(file, line);
    if (terminal.env.ECM_AUDIT === "syslog") await noteInSyslog(terminal, { hash, ...line });
  } catch (error) {
    terminal.warn(`This command is missing in the record ${file}: ${describeDiskError(error)}`);
  }
}

/** @param line its hash comes first: a system's logger may cut off what is behind 1 KiB */
async function noteInSyslog(terminal: Context["terminal"], line: object): Promise<void> {
  try {
    await writeToSyslog(JSON.stringify(line), terminal.env);
  } catch (error) {
    terminal.warn(`This command is in the record, but not in syslog: ${(error as Error).message}`);
  }
}

/** The newest hash of the record, for a summary that is kept elsewhere. */
export async function readAuditHead(context: Context): Promise<string | undefined> {
  const file = findAuditFile(context);
  return file === undefined ? undefined : readChainHead(file).catch(() => undefined);
}

async function readPlanDigest({ folders }: Context, run: string): Promise<string | undefined> {
  const { fileNames, toRunsFolder } = await import("../../bulk/index.ts");
  const last = await readLastLine(join(toRunsFolder(folders.state), run, fileNames.plan)).catch(
    () => undefined,
  );
  return /"digest":"(sha256:[0-9a-f]{64})"/.exec(last ?? "")?.[1];
}

/** Containers run as users that no file names. */
function findUser(): string {
  try {
    return userInfo().username;
  } catch {
    return "";
  }
}

async function writeToSyslog(text: string, env: Context["terminal"]["env"]): Promise<void> {
  const { execFile } = await import("node:child_process");
  await new Promise<void>((done, fail) => {
    const options = { env, timeout: maxSyslogMilliseconds };
    const child = execFile("logger", ["-t", "ecm"], options, (error) => (error ? fail(error) : done()));
    // A logger that is not there, or reads nothing, is told by its end.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(`${text}\n`);
  });
}
