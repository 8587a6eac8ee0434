/** Settings of V8 that are changed while it runs. */
import { versions } from "node:process";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** Lines of Node whose V8 is known to take what is set here (the smoke test tries each); V8 prints an error for a flag that it does not know. */
const knownLines = ["20", "22", "24", "26"];

function set(flags: string): void {
  if (knownLines.includes(versions.node.split(".")[0]!)) setFlagsFromString(flags);
}

/**
 * Most of undici's start, and of its memory, is V8 optimising its WebAssembly parser: for a few requests that never pays. The
 * first flag is enough up to Node 22; what it implies is not set any more when V8 runs already, from Node 24 on.
 */
export function startNetworkFast(): void {
  set("--liftoff-only --no-wasm-tier-up --no-wasm-dynamic-tiering");
}

/**
 * Rows come and go: the space for new objects would grow to 32 MiB and as much again for copying. It stops growing at this size.
 * The smaller it is, the more often it is collected: whoever keeps a page of contacts at a time needs more than who takes rows.
 */
export function limitNewSpace(mebibytes: number): void {
  clearInterval(watch);
  let looks = 0;
  watch = setInterval(() => {
    const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
    const isFull = space !== undefined && space.space_size >= mebibytes * 2 ** 20;
    if (isFull) set("--semi-space-growth-factor=1");
    // What has not grown by then makes little; a process that waits for hours is not to be woken for it.
    if (isFull || ++looks === mostLooks) clearInterval(watch);
  }, 5).unref();
}

let watch: NodeJS.Timeout | undefined;
const mostLooks = 2000;
