import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, json, readJson, refused, startSandbox, startService } from "../kit.ts";
import { jumpingClock } from "../support/test-send.ts";

const start = Date.parse("2026-11-21T13:00:00Z");
const headers = {
  "X-RateLimit-Limit": "3600",
  "X-RateLimit-Remaining": "3541",
  "X-RateLimit-Reset": String(start / 1000 + 3600),
  "X-Monthly-Limit": "100000",
  "X-Monthly-Remaining": "98742",
};

async function ecmWithLimits() {
  const { server, env, ecm } = await startService((_request, response) => json(response, 200, [], headers));
  const cache = env.ECM_CACHE_DIR!;
  return {
    ...{ server, cache },
    files: async () => (await readdir(cache)).filter((name) => name.startsWith("limits-")),
    at: (seconds: number, line: string, more = {}) =>
      ecm(line, { clock: jumpingClock([], start + seconds * 1000), env: more }),
  };
}

describe("ecm limits", () => {
  it("shows what the last command saw, and how old it is, without a request", async () => {
    const { at, server } = await ecmWithLimits();
    await at(0, "structure list");
    const { code, stdout, stderr } = await at(125, "limits --json");
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toEqual({
      hour: { limit: 3600, remaining: 3541, reset: "2026-11-21T14:00:00Z" },
      month: { limit: 100000, remaining: 98742 },
      seenAt: "2026-11-21T13:00:00.000Z",
    });
    const left = "3,541 of 3,600 left, resets at 14:00 (in 58 min) · 98,742 of 100,000 this month";
    expect((await at(125, "limits -o table")).stdout).toBe(`${left}\nAs of 2 min ago\n`);
    const column = await at(125, "limits -o csv --columns 'hour remaining'");
    expect(column.stdout).toBe("hour remaining\n3541\n");
    expect((await at(90_000, "limits -o table")).stdout).toMatch(/^A new hour has begun/);
    expect(server.requests).toHaveLength(1);
  });

  it("knows from a refusal when the month starts anew, and what its quota was", async () => {
    const { ecm } = await startSandbox({ monthlyLimit: 1 });
    await ecm("lists list");
    const { error } = JSON.parse(await refused(ecm("lists list --json -q"), 7));
    expect(error).toMatchObject({ limit: "month", retryAfterSeconds: expect.any(Number) });
    const anew = /quota starts anew (on 1 \w+( \d{4})? |tomorrow )?at 00:00 \(in /;
    expect(error.hint).toMatch(anew);
    await refused(ecm("lists list", { terminalColumns: 80 }), 7, anew);
    const shown = await ecm("limits", { terminalColumns: 80 });
    expect(shown.stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    const resets = /0 of 1 this month · the month resets (on \d+ \w+( \d+)? |tomorrow )?at 00:00 \(in /;
    expect(shown.stdout.replaceAll("\n  ", " ")).toMatch(resets);
    const { month } = await readJson(ecm, "limits");
    expect(month).toEqual({ limit: 1, remaining: 0, reset: expect.stringMatching(/-01T00:00:0\dZ$/) });
  });

  it("says so when nothing was seen yet, also of another account or after the file was spoilt", async () => {
    const { at, cache, files } = await ecmWithLimits();
    expect((await ends(at(0, "limits --json"), 0, "ecm limits --refresh")).stdout).toBe("{}\n");
    await at(0, "structure list");
    expect((await at(0, "limits --json", { ECM_API_KEY: "l".repeat(50) })).stdout).toBe("{}\n");
    const [file] = await files();
    await writeFile(join(cache, file!), '{"limits":{"hour":{"limit":"\\u001b"}},"seenAt":1}');
    expect((await at(0, "limits")).stdout).toBe("");
  });

  it("never lets a command fail that cannot keep them", async () => {
    const { at, cache } = await ecmWithLimits();
    await writeFile(cache, "a file where the folder should be");
    expect((await at(0, "structure list")).code).toBe(0);
  });
});
