/** Settings of V8 that are changed while it runs. */
import { versions } from "node:process";
import { setFlagsFromString } from "node:v8";

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
 * Rows come and go: the space for new objects, which grows to 32 MiB beside as much again for copying, is kept as small as it is.
 * Collecting it more often costs nothing that could be measured.
 */
export function keepNewSpaceSmall(): void {
  set("--semi-space-growth-factor=1");
}
