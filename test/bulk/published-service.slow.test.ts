import { expect, it } from "vitest";
import { startRecordingProxy } from "../journeys/recording-proxy.ts";
import { askingOf, inputFile, manyRows, readContacts } from "./kit.ts";

/** A service whose searches tell neither lists nor status nor versions, whatever `source` asks for. */
async function startTerse() {
  const proxy = await startRecordingProxy();
  proxy.rewrites = (path, text) => {
    if (path !== "/api/contact/search" || !text.includes('"totalRecords"')) return text;
    const answer = JSON.parse(text) as { contacts: Record<string, unknown>[] };
    for (const contact of answer.contacts) {
      delete contact.lists;
      delete contact.contactStatus;
      delete contact.contactSubStatus;
      delete contact.__v;
    }
    return JSON.stringify(answer);
  };
  return proxy;
}

it("has the members of a list read once for a sync, also where its total counts more than it shows", async () => {
  const proxy = await startRecordingProxy();
  const { run, importing } = askingOf(proxy);
  await importing(manyRows(30), "--list L --create-missing");
  let searches = 0;
  proxy.rewrites = (path, text) => {
    if (path !== "/api/contact/search") return text;
    searches++;
    return text.replace(/"totalRecords":(\d+)/, (_, total) => `"totalRecords":${Number(total) + 1}`);
  };
  const dry = await run(`lists sync L ${await inputFile(manyRows(29))} --dry-run`);
  expect(dry).toMatchObject({ members: { added: 0, removed: 1 } });
  // The second one looks whether the service gives pages of 30 alone.
  expect(searches).toBe(2);
});

it.each([40, 120])("a terse service gets no write for %d contacts that are as wanted", async (size) => {
  const proxy = await startTerse();
  const { run } = askingOf(proxy);
  const command = `import ${await inputFile(manyRows(size))} --list L --create-missing`;
  expect((await run(command)).rows.created).toBe(size);
  proxy.writes.length = 0;
  expect((await run(command)).rows).toMatchObject({ unchanged: size, updated: 0 });
  expect(proxy.writes).toEqual([]);
});

it("a terse service has its lists synced with a write for each member that comes or goes", async () => {
  const proxy = await startTerse();
  const { run, importing } = askingOf(proxy);
  await importing(manyRows(30), "--list L --create-missing");
  await importing("Email\nnew@example.com\n");
  const synced = await run(`lists sync L ${await inputFile(`${manyRows(28)}new@example.com,\n`)}`);
  expect(synced).toMatchObject({ members: { added: 1, removed: 2 }, requests: { mutate: 3 } });
  proxy.rewrites = (_path, text) => text;
  const members = [...(await readContacts(proxy))].filter(([, { lists }]) => lists.length > 0);
  expect(members).toHaveLength(29);
});
