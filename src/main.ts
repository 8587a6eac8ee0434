/** The process: its words, streams and signals handed to `run`, and its exit code. */
import { existsSync } from "node:fs";

main(process.argv.slice(2));

async function main(args: string[]): Promise<void> {
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
    const { version } = await import("./version.ts");
    process.stdout.on("error", () => {
      process.exitCode = 1;
    });
    process.stdout.write(`${version}\n`);
    return;
  }
  const { run, createInterruption } = await import("./run.ts");
  await keepCompiledCode();
  const interruption = new AbortController();
  let interruptedAt = 0;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      // The first asks for an orderly end; the second does not wait for it. The package that writes the
      // profiles sends each signal to this process once more, at once: no person is as fast.
      const isEcho = Date.now() - interruptedAt < 250;
      if (interruption.signal.aborted && !isEcho) process.exit(signal === "SIGTERM" ? 143 : 130);
      if (!interruption.signal.aborted) interruptedAt = Date.now();
      interruption.abort(createInterruption(signal));
    });
  }
  process.exitCode = await run({
    args,
    streams: process,
    signal: interruption.signal,
  });
}

/** Stores what V8 has compiled for the next start, where no other user can write. Since Node 22.1. */
async function keepCompiledCode(): Promise<void> {
  type Newer = { enableCompileCache?: (folder: string) => unknown };
  const { enableCompileCache } = process.getBuiltinModule("node:module") as Newer;
  if (enableCompileCache === undefined) return;
  const { chooseFolders } = await import("./config/folders.ts");
  const { toCompiledFolder } = await import("./disk/compiled-code.ts");
  const folders = chooseFolders(process.env, process.platform);
  // The first command that stores something makes the folder, for its user alone; Node would let others read
  // it.
  if (existsSync(folders.cache)) enableCompileCache(toCompiledFolder(folders));
}
