/**
 * What a bulk command costs: what its dry run says, what is said before the
 * first write, and what is sent are one number.
 */
import { join } from "node:path";
import { expect, it } from "vitest";
import { inputFile, manyContacts, manyRows, startAccount, temporaryFolder } from "../kit.ts";

const variants: Record<string, string>[] = [{}, { keys: "first", "max-keys": "2", page: "cap:3" }];

it.each(variants)("the price of every bulk command is what it sends, with %j", async (given) => {
  const account = await startAccount({ variants: given });
  // Nothing is remembered of names: each command pays for them itself.
  const run = async (command: string) =>
    account.run(`${command} -y`, { env: { ECM_CACHE_DIR: await temporaryFolder() } });
  await run(`import ${await inputFile(manyRows(12))} --list L --create-missing`);
  const keys = await inputFile("p1@example.com\np2@example.com\nnobody@example.com\n", "keys.txt");
  const members = await inputFile("p1@example.com\np9@example.com\nq1@example.com\n", "members.txt");
  const rows = await inputFile(
    `${manyRows(8, (index) => (index < 3 ? "New" : `First ${index}`))}q1@example.com,Q\n`,
  );
  const backup = join(await temporaryFolder(), "backup.csv");
  const commands = [
    `import ${rows} --list M --list N --tag T --create-missing`,
    `import ${rows} --list M --tag T --fresh`,
    `contact mutate --keys ${keys} --set 'Last Name=X' --add-tag T`,
    "runs undo last",
    "contact mutate --list M --set 'Last Name=Y'",
    `lists sync M ${members} --max-remove 100%`,
    `contact unsubscribe --where '"T" in tags && key.startsWith("p")'`,
    `contact delete --keys ${keys} --backup ${backup}`,
    `contact delete --where 'key == "p11@example.com"' --backup ${backup}2`,
  ];
  // What has to be found out of the service is found out once.
  await run(`${commands[0]} --dry-run`);
  for (const command of commands) {
    const dry = await run(`${command} --dry-run`);
    const real = await run(command);
    expect(real, `${command}: ${real.stderr}`).toMatchObject({ stoppedBy: null });
    const [, atMost] = /To send: (at most )?[\d,]+ request/.exec(real.stderr) ?? [command];
    const { total } = real.requests;
    const priced = atMost ? Math.min(total, real.estimate.requests) : real.estimate.requests;
    const { updated } = real.rows;
    const sent = { command, priced: total, dry: total, updated };
    expect({ command, priced, dry: dry.estimate.requests, updated: dry.rows.updated }).toEqual(sent);
  }
});

it("a deletion costs what it says, also where the contacts that proved its searches are gone", async () => {
  const { run } = await startAccount({ contents: { contacts: manyContacts(130) } });
  const { estimate, rows, requests } = await run("contact delete --all --yes");
  expect({ deleted: rows.deleted, sent: requests.total }).toEqual({ deleted: 130, sent: estimate.requests });
});

it("a dry run's share of the month is that of the whole real run, look-ups included", async () => {
  const { ecm } = await startAccount({ monthlyLimit: 1000, contents: { contacts: manyContacts(250) } });
  const changed = await inputFile(manyRows(250, (index) => (index < 7 ? "New" : `First ${index}`)));
  const { stderr } = await ecm(`import ${changed} --dry-run`);
  const [, writes, reads] =
    /A real run would send (\d+) requests \([^)]*\), after (\d+) to read the account/.exec(stderr)!;
  const [, left] = /month=(\d+)/.exec(stderr)!;
  const share = Math.ceil(((Number(writes) + Number(reads)) / Number(left)) * 1000) / 10;
  expect(stderr).toContain(`${share} % of what is left this month), after`);
  // Nothing is said of a real run that would be refused.
  const refused = await ecm(`import ${changed} --list Nobody --dry-run`);
  expect(refused.code).toBe(5);
  expect(refused.stderr).not.toContain("A real run would");
});
