import { join } from "node:path";
import { expect, it } from "vitest";
import { inputFile, manyRows, parseSummary } from "../bulk/kit.ts";
import { done, ends, type Result, temporaryFolder, temporaryHome } from "../support/ecm.ts";
import { beforeFirst, startRecordingProxy } from "./recording-proxy.ts";

const isMutate = (path: string) => path.endsWith("/mutate");

it("others of the same account spend the hour as well: both wait, and neither meets a 429", async () => {
  const { ecm } = await startRecordingProxy({ hourlyLimit: 80, windowSeconds: 1 });
  const importing = async (text: string) =>
    ecm(["import", await inputFile(text), "--json"], { env: await temporaryHome() });
  const texts = [manyRows(60), manyRows(60).replaceAll("@", "@other.")];
  const whole = { rows: { created: 60 }, requests: { retried: 0 } };
  for (const result of await Promise.all(texts.map(importing)))
    expect(parseSummary(await ends(result, 0))).toMatchObject(whole);
});

it("a list is made like one file at a time, by whichever command", async () => {
  const proxy = await startRecordingProxy();
  const contacts = [{ key: "a@example.com", lists: ["L"] }, { key: "b@example.com" }];
  proxy.sandbox.admin.seed({ lists: ["L"], contacts });
  const sync = async (key: string) => `lists sync L ${await inputFile(`Email\n${key}\n`)} --max-remove 1`;
  const plan = join(await temporaryFolder(), "plan.ndjson");
  await proxy.ecm(`${await sync("b@example.com")} --dry-run --plan ${plan}`);
  const others: Result[] = [];
  beforeFirst(proxy, isMutate, async () => {
    others.push(await proxy.ecm(await sync("a@example.com")), await proxy.ecm(["apply", plan]));
  });
  await done(proxy.ecm(await sync("b@example.com")));
  expect(others.map(({ code }) => code)).toEqual([6, 6]);
  expect(others[0]!.stderr).toContain('A sync of the list "L"');
  await done(proxy.ecm(await sync("a@example.com")));
});
