/** What the end of `ecm` means for its job, in the fleet of examples/fleet. */
import { describe, expect, it } from "vitest";
import { readOutcome } from "../../examples/fleet/src/outcome.ts";

const now = new Date("2026-11-22T10:20:30.000Z");
const end = (exitCode: number | null, summary: object = {}, error: object = {}, conflicts = 0) =>
  readOutcome(
    { exitCode, stdout: JSON.stringify(summary), stderr: `warning: x\n${JSON.stringify({ error })}\n` },
    conflicts,
    now,
  );

describe("an ecm that ends", () => {
  it.each([0, 3])("with exit %d is done, without an error", (code) =>
    expect(end(code, { run: "x" })).toEqual({
      status: "completed",
      output: { exitCode: code, summary: { run: "x" }, error: null },
    }),
  );
  it.each([1, 8, 130, 143, null])("with %s is tried again", (code) =>
    expect(end(code).status).toBe("failed"),
  );
  it.each([2, 4, 5, 9])("with exit %d is a dead letter", (code) =>
    expect(end(code).status).toBe("deadletter"),
  );

  it("goes on when the summary says, else when the error says, else in an hour", () => {
    const at = "2026-11-22T10:59:00.000Z";
    const error = { retryAfterSeconds: 90 };
    expect(end(7, { resumableAt: at }, error)).toMatchObject({ status: "later", at: new Date(at) });
    expect(end(7, {}, { ...error, resumableAt: at }).at).toEqual(new Date(at));
    expect(end(7, {}, error).at).toEqual(new Date("2026-11-22T10:22:00.000Z"));
    expect(end(7).at).toEqual(new Date("2026-11-22T11:20:30.000Z"));
  });

  it("waits longer for each conflict in a row, at most an hour", () => {
    expect(end(6)).toMatchObject({ status: "later", at: new Date("2026-11-22T10:21:00.000Z") });
    expect(end(6, {}, {}, 2).at).toEqual(new Date("2026-11-22T10:22:30.000Z"));
    expect(end(6, {}, {}, 100).at).toEqual(new Date("2026-11-22T11:20:30.000Z"));
  });

  it("leaves the message of its error, or the last that was said", () => {
    expect(end(4, {}, { message: "Invalid API key" }).output.error).toBe("Invalid API key");
    const dead = readOutcome({ exitCode: null, stdout: "", stderr: "spawn ecm ENOENT" }, 0, now);
    expect(dead.output).toEqual({ exitCode: null, summary: null, error: "spawn ecm ENOENT" });
    expect(readOutcome({ exitCode: null, stdout: "[]", stderr: "" }, 0, now).output.error).toBe("killed");
  });
});
