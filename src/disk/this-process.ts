/**
 * Which process this is, written down so that another one, perhaps on another machine, can tell whether it
 * lives.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

export interface ProcessIdentity {
  /** Host name, for people. */
  host: string;
  pid: number;
  /**
   * Where a process id means the same. On Linux the start of the machine and the namespace of process ids:
   * containers may share host names and folders, and each has a process 1. Elsewhere the host name.
   */
  space: string;
  /**
   * When the process began, as the platform counts; a process id is used again, this is not. Empty where the
   * platform does not say it.
   */
  start: string;
}

export function identifyThisProcess(): ProcessIdentity {
  const { pid } = process;
  return { host: hostname(), pid, space: readProcessSpace(), start: readProcessStatus(pid)?.start ?? "" };
}

/** `unknown`: it belongs to another machine or container, and cannot be seen from here. */
export function checkLife(other: ProcessIdentity, me: ProcessIdentity): "alive" | "gone" | "unknown" {
  if (other.space !== me.space) return "unknown";
  try {
    process.kill(other.pid, 0);
  } catch (error) {
    // Any other refusal (EPERM) comes from a process that is there.
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return "gone";
  }
  const status = readProcessStatus(other.pid);
  if (!status || other.start === "") return "alive";
  // A zombie has ended, and waits only for its parent to notice.
  return status.isEnded || status.start !== other.start ? "gone" : "alive";
}

function readProcessSpace(): string {
  if (process.platform !== "linux") return `${process.platform} ${hostname()}`;
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    // Then no other process can see that this one is gone, only that it gives no sign of life any more.
    return `unknown ${randomBytes(8).toString("hex")}`;
  }
}

/** From `/proc`, where there is one (proc(5), `/proc/pid/stat`: fields 3 and 22). */
function readProcessStatus(pid: number): { isEnded: boolean; start: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in brackets; it may hold blanks and brackets itself.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { isEnded: fields[0] === "Z" || fields[0] === "X", start: fields[19] ?? "" };
  } catch {
    return undefined;
  }
}
