/** The rate-limit line after each command that reached the service, without what was not sent. */
import { expect, it } from "vitest";
import { errorBody, json, startService } from "../kit.ts";

const hourWithoutReset = { "x-ratelimit-limit": "3600", "x-ratelimit-remaining": "3541" };
const hour = { ...hourWithoutReset, "x-ratelimit-reset": "1795269600" };
const month = { "x-monthly-limit": "100000", "x-monthly-remaining": "98742" };

async function runAgainst(headers: Record<string, string>, status = 200) {
  const body = status === 200 ? [] : errorBody("X", "no");
  const { ecm } = await startService((_request, response) => json(response, status, body, headers));
  return ecm;
}

const get = "api GET /api/contact-structure";

it.each<[Record<string, string>, string]>([
  [{ ...hour, ...month }, "rate-limit: hour=3541/3600 reset=2026-11-21T14:00:00Z month=98742/100000\n"],
  [hour, "rate-limit: hour=3541/3600 reset=2026-11-21T14:00:00Z\n"],
  [month, "rate-limit: month=98742/100000\n"],
  [{ ...hourWithoutReset, ...month }, "rate-limit: hour=3541/3600 month=98742/100000\n"],
  [{ ...month, "x-ratelimit-remaining": "5" }, "rate-limit: month=98742/100000\n"],
  [{ ...hour, "x-ratelimit-limit": "many" }, ""],
  [{}, ""],
])("is written from %o as %j", async (headers, line) => {
  const ecm = await runAgainst(headers);
  expect((await ecm(get)).stderr).toBe(line);
  expect((await ecm(`${get} --quiet`)).stderr).toBe("");
  const refused = await runAgainst(headers, 400);
  expect((await refused(get)).stderr).toBe(`${line}error: no\n`);
});

it("is a sentence on a terminal, and is not written where nothing was reached", async () => {
  const ecm = await runAgainst({ ...hour, ...month });
  const { stderr } = await ecm(get, { terminalColumns: 80 });
  expect(stderr).toMatch(/3,541 of 3,600 .* · 98,742 of 100,000 this month/);
  for (const line of ["auth list", "limits"]) expect((await ecm(line)).stderr).toBe("");
});
