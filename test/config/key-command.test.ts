import { describe, expect, it } from "vitest";
import { runKeyCommand } from "../../src/config/keys.ts";
import { interruptedError } from "../../src/errors.ts";

const key = "ecm_us_0123456789";
const env = { PATH: process.env.PATH };

describe.runIf(process.platform !== "win32")("a key command", () => {
  it.each([
    ["no line end", `printf ${key}`],
    ["several lines", `printf '${key}\\r\\nsecond\\n'`],
    ["a process that it leaves running", `echo ${key}; sleep 5 &`],
    ["no line end and a process that it leaves running", `printf ${key}; sleep 5 2>/dev/null &`],
    ["a line end that comes late", `printf ${key}; true; echo`],
  ])("may have %s", async (_what, command) => {
    expect(await runKeyCommand(command, "here", { env, canAsk: false })).toBe(key);
  });

  it.each([
    ["fails after the key", `echo ${key}; exit 3`, "exit code 3"],
    ["is killed", `echo ${key}; kill -9 $$`, "ended by SIGKILL"],
    ["prints without an end", `yes ${key} 2>/dev/null`, "printed more than 10,000 characters"],
    ["prints a gigabyte", "head -c 1000000000 /dev/zero 2>/dev/null", "printed more than 10,000 characters"],
    ["begins with an empty line", `echo; echo ${key}`, "printed an empty first line"],
    ["prints blanks", "echo ' '", "printed nothing"],
    ["prints a sentence", "echo 'not signed in: run vault login'", "this is not an API key"],
    ["prints bytes that are no text", "printf '\\377\\376\\000key'", "this is not an API key"],
  ])("that %s gives no key", async (_what, command, reason) => {
    const { message } = await runKeyCommand(command, "here", { env, canAsk: false }).catch((error) => error);
    expect(message).toContain(reason);
    expect(message).not.toContain(key);
  });

  it("that hangs is ended when nobody can be asked", async () => {
    const running = runKeyCommand("exec sleep 600", "here", { env, canAsk: false, limitSeconds: 0.05 });
    await expect(running).rejects.toThrow("did not end within 0.05 s");
  });

  it("ends with the command that wanted the key", async () => {
    const interruption = new AbortController();
    const options = { env, canAsk: true, signal: interruption.signal };
    const running = runKeyCommand("exec sleep 600", "here", options);
    interruption.abort(interruptedError("SIGTERM"));
    await expect(running).rejects.toThrow("Terminated");
  });
});
