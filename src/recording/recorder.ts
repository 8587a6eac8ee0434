/**
 * Appends what goes over the network to a recording: a file of JSON lines that names nobody (`exchange.ts`).
 * Several commands, also at once, may append to one file.
 */
import { createHmac, randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createIfMissingSync } from "../disk/atomic-file.ts";
import { describeDiskError, makeFolder } from "../disk/make-folder.ts";
import { EcmError, exitCodes, UsageError } from "../errors.ts";
import { version } from "../version.ts";
import type { Transport, WireAnswer, WireRequest } from "../wire.ts";
import { describeExchange } from "./exchange.ts";
import { createPseudonyms, type Pseudonyms } from "./pseudonyms.ts";
import { parseHead, type RecordingHead } from "./read-recording.ts";

/** Long enough for the first line of a recording. */
const headBytes = 4096;

export class Recorder {
  /** Exchanges so far. */
  count = 0;
  /** Why the recording is not complete. */
  problem: string | undefined;
  private readonly descriptor: number;
  private readonly baseUrl: string;
  private readonly pseudonyms: Pseudonyms;

  private constructor(descriptor: number, baseUrl: string, pseudonyms: Pseudonyms) {
    this.descriptor = descriptor;
    this.baseUrl = baseUrl;
    this.pseudonyms = pseudonyms;
  }

  /**
   * @param place `baseUrl`: it is left out of what is recorded; `stateFolder`: holds the secret of the pseudonyms
   * @throws UsageError for a file that is no recording or cannot be written; before a request
   */
  static open(file: string, { baseUrl, stateFolder }: { baseUrl: string; stateFolder: string }): Recorder {
    let descriptor: number;
    try {
      descriptor = openSync(file, "a+", 0o600);
    } catch (error) {
      throw recordingError(file, describeDiskError(error));
    }
    try {
      if (!fstatSync(descriptor).isFile()) throw recordingError(file, "it is no file");
      const { id } = readHead(file, descriptor) ?? writeHead(file, descriptor);
      const key = createHmac("sha256", readSecret(stateFolder)).update(id).digest();
      return new Recorder(descriptor, baseUrl, createPseudonyms(key));
    } catch (error) {
      closeSync(descriptor);
      throw error instanceof EcmError ? error : recordingError(file, describeDiskError(error));
    }
  }

  /** The same transport, each of whose exchanges is recorded, those that broke off too. */
  wrap(transport: Transport): Transport {
    return async (request) => {
      try {
        const answer = await transport(request);
        this.add(request, answer);
        return answer;
      } catch (error) {
        this.add(request, (error as { partial?: WireAnswer }).partial);
        throw error;
      }
    };
  }

  close(): void {
    closeSync(this.descriptor);
  }

  /** What cannot be recorded does not stop the command. */
  private add({ method, url, body, bodySink }: WireRequest, answer: WireAnswer | undefined): void {
    if (this.problem !== undefined) return;
    const target = url.slice(this.baseUrl.length);
    const isStreamed = bodySink !== undefined && answer !== undefined && answer.status < 300;
    try {
      const recorded = describeExchange({ method, target, body, answer, isStreamed }, this.pseudonyms);
      appendLine(this.descriptor, recorded);
      this.count++;
    } catch (error) {
      this.problem = describeDiskError(error);
    }
  }
}

/** Undefined for an empty file. @throws UsageError for one that is no recording */
function readHead(file: string, descriptor: number): RecordingHead | undefined {
  const start = Buffer.alloc(headBytes);
  const text = start.toString("utf8", 0, readSync(descriptor, start, 0, headBytes, 0));
  if (text === "") return undefined;
  const head = parseHead(text.slice(0, text.indexOf("\n")));
  if (!head) throw recordingError(file, "it is there already and is no recording");
  endLastLine(descriptor);
  return head;
}

/** A command that was killed may have left half a line. */
function endLastLine(descriptor: number): void {
  const last = Buffer.alloc(1);
  readSync(descriptor, last, 0, 1, fstatSync(descriptor).size - 1);
  if (last[0] !== 10) writeSync(descriptor, "\n");
}

/** Another process may have begun the file at the same moment: the first head that is in it counts for both. */
function writeHead(file: string, descriptor: number): RecordingHead {
  const head = { version: 1, id: randomBytes(8).toString("hex"), program: version } as const;
  appendLine(descriptor, { recording: head });
  return readHead(file, descriptor)!;
}

/** In one write, so that lines of several processes do not mix. */
function appendLine(descriptor: number, value: object): void {
  const line = Buffer.from(`${JSON.stringify(value)}\n`);
  // A full disk may take a part of it without an error.
  if (writeSync(descriptor, line) < line.length) throw new Error("only a part of a line could be written");
}

/** Made once on this machine; without it nobody can try whether an address is in a recording. */
function readSecret(stateFolder: string): string {
  const file = join(stateFolder, "recording-secret");
  makeFolder(stateFolder);
  createIfMissingSync(file, randomBytes(32).toString("hex"));
  const secret = readFileSync(file, "utf8");
  if (secret.length < 64) throw new EcmError(exitCodes.failed, `${file} is damaged: delete it`);
  return secret;
}

function recordingError(file: string, why: string): UsageError {
  return new UsageError(
    `ECM_RECORD: cannot record to ${file}: ${why}`,
    "Name a new file, or one that ECM_RECORD made",
  );
}
