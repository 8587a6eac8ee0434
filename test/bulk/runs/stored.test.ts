/**
 * Runs of an earlier version, which kept no plan: they can be
 * listed, shown, undone and removed, and not resumed.
 */
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import type { RunningSandbox } from "../../support/sandbox.ts";
import { contactLines, parseSummary } from "../kit.ts";
import { countRequests, readHoldings, startPeople } from "../plan-kit.ts";

const stored = fileURLToPath(new URL("stored/", import.meta.url));
const stdin =
  "Email,City,tags\nada@example.com,Bergen,VIP\nbob@example.com,Lima,\nfay@example.com,Rome,VIP\nwrong,x,\n";

/**
 * The account after the command, which this version carries out,
 * and the run of the earlier version in its place.
 */
async function withStored(
  name: string,
  args: string[],
  input?: string,
): Promise<RunningSandbox & { run: string }> {
  const service = await startPeople();
  await service.ecm(args, { stdin: input });
  const runs = join(service.env.ECM_STATE_DIR!, "runs");
  await rm(runs, { recursive: true });
  await mkdir(runs);
  await cp(join(stored, name), runs, { recursive: true });
  const [run] = await readdir(runs);
  const manifest = join(runs, run!, "manifest.json");
  const text = await readFile(manifest, "utf8");
  await writeFile(manifest, text.replaceAll("http://127.0.0.1:0", service.baseUrl));
  return { ...service, run: run! };
}

const withoutVersions = (held: Awaited<ReturnType<typeof readHoldings>>) =>
  Object.entries(held).map(([key, { version: _, ...rest }]) => ({ key, ...rest }));

it("an import is listed, shown and undone", { tags: "slow" }, async () => {
  const { run, ...service } = await withStored("import", ["import", "-", "--list", "News"], stdin);
  const before = countRequests(service);
  const [listed] = JSON.parse((await service.ecm(["runs", "list", "--json"])).stdout);
  expect(listed).toMatchObject({
    run,
    kind: "import",
    status: "completed",
    rows: { created: 1, updated: 2 },
  });
  const output = await service.ecm(["runs", "show", run, "--changes"]);
  expect(
    contactLines(output.stdout).map(({ key, action, changes }) => [
      key,
      action,
      changes.map(({ name }) => name),
    ]),
  ).toEqual([
    ["ada@example.com", "update", ["City", "News", "VIP"]],
    ["bob@example.com", "update", ["City"]],
    ["fay@example.com", "create", ["City", "News", "VIP"]],
  ]);
  expect((await service.ecm(["runs", "rejects", run])).stdout).toContain("wrong,x,");
  expect(countRequests(service)).toBe(before);

  const undone = await service.ecm(["runs", "undo", run, "--delete-created", "--yes", "--json"]);
  expect(undone.code, undone.stderr).toBe(0);
  expect(parseSummary(undone).rows).toMatchObject({ updated: 2, deleted: 1 });
  const untouched = await readHoldings(await startPeople());
  expect(withoutVersions(await readHoldings(service))).toEqual(withoutVersions(untouched));
});

it("a deletion is undone", { tags: "slow" }, async () => {
  const { run, ...service } = await withStored("delete", ["contact", "delete", "--tag", "VIP", "--yes"]);
  const undone = await service.ecm(["runs", "undo", run, "--yes", "--json"]);
  expect(undone.code, undone.stderr).toBe(0);
  expect(parseSummary(undone).rows).toMatchObject({ created: 2 });
  const untouched = await readHoldings(await startPeople());
  expect(withoutVersions(await readHoldings(service))).toEqual(withoutVersions(untouched));
});

it("one that was stopped is shown and not resumed; its undo is offered, and undoes it", {
  tags: "slow",
}, async () => {
  const args = ["contact", "mutate", "--all", "--set", "City=Rome", "--max-requests", "5", "--yes"];
  const { run, ...service } = await withStored("stopped", args);
  expect(JSON.parse((await service.ecm(["runs", "show", run, "--json"])).stdout)).toMatchObject({
    status: "stopped",
    rows: { updated: 3, pending: 1 },
  });
  const before = countRequests(service);
  const refused = await service.ecm(["runs", "resume", run, "--json"]);
  expect({ code: refused.code, requests: countRequests(service) }).toEqual({ code: 2, requests: before });
  const { type, message, hint } = JSON.parse(refused.stderr).error;
  expect({ type, message }).toEqual({
    type: "OldRunError",
    message: `Run ${run} was begun by an earlier version of ecm (0.1.0), which kept no plan: it cannot be resumed`,
  });
  expect(hint).toBe(
    `Nothing was sent. Start over with the same command and --fresh, or undo it: ecm runs undo ${run}`,
  );
  const undone = await service.ecm(["runs", "undo", run, "--yes", "--json"]);
  expect(undone.code, undone.stderr).toBe(0);
  const cities = Object.values(await readHoldings(service)).map(({ fields }) => fields.join());
  const untouched = Object.values(await readHoldings(await startPeople())).map(({ fields }) => fields.join());
  expect(cities).toEqual(untouched);
});

it("runs of this version say so", async () => {
  const service = await startPeople();
  await service.ecm(["import", "-"], { stdin });
  const runs = join(service.env.ECM_STATE_DIR!, "runs");
  const [run] = await readdir(runs);
  expect(JSON.parse(await readFile(join(runs, run!, "manifest.json"), "utf8")).format).toBe(2);
});
