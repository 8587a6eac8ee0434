/** What the end of a slice means for its task, in the fleet of examples/fleet. */
import { describe, expect, it } from "vitest";
import { readReport } from "../../examples/fleet/src/outcome.ts";

const now = new Date("2026-11-22T10:20:30.000Z");
const ended = (exitCode: number | null, summary: object = {}, error: object = {}) =>
  readReport(
    { exitCode, stdout: JSON.stringify(summary), stderr: `warning: x\n${JSON.stringify({ error })}\n` },
    now,
  ).outcome;

describe("a slice that ends", () => {
  it.each([0, 3])("with exit %d is done", (code) => expect(ended(code)).toEqual({ kind: "done" }));
  it.each([6, 8, null])("with %s is tried again", (code) => expect(ended(code)).toEqual({ kind: "retry" }));
  it.each([1, 2, 4, 5])("with exit %d is given up", (code) =>
    expect(ended(code)).toEqual({ kind: "failed" }),
  );
  it.each([130, 143])("with exit %d is resumed at once", (code) =>
    expect(ended(code)).toEqual({ kind: "later", at: now }),
  );

  it("goes on when the summary says, else after what the error says, else with the next hour", () => {
    const at = "2026-11-22T10:59:00.000Z";
    const error = { retryAfterSeconds: 90 };
    expect(ended(7, { resumableAt: at }, error)).toEqual({ kind: "later", at: new Date(at) });
    expect(ended(7, {}, { ...error, resumableAt: at })).toEqual({ kind: "later", at: new Date(at) });
    expect(ended(7, {}, error)).toEqual({ kind: "later", at: new Date("2026-11-22T10:22:00.000Z") });
    expect(ended(7)).toEqual({ kind: "later", at: new Date("2026-11-22T11:00:00.000Z") });
  });

  it("keeps the error line, or the last that was said, and what is left of the limits", () => {
    const limits = "rate-limit: hour=3541/3600 reset=2026-11-21T14:00:00Z month=98742/100000";
    const report = readReport(
      { exitCode: 4, stdout: "", stderr: `${limits}\n{"error":{"message":"no"}}\n` },
      now,
    );
    expect(report).toMatchObject({ summary: null, error: { message: "no" } });
    expect(report.limits).toEqual({
      hour: "3541/3600",
      reset: "2026-11-21T14:00:00Z",
      month: "98742/100000",
    });
    const dead = readReport({ exitCode: null, stdout: "", stderr: "vault: sealed\n" }, now);
    expect(dead).toMatchObject({ error: { message: "vault: sealed" }, limits: null });
  });
});
