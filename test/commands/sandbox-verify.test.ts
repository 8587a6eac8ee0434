/** `ecm sandbox verify`. */
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { inputFile } from "../bulk/kit.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const people = `Email,First Name,City
Ada@lovelace.test,Ada,Oslo
grace@hopper.test,Grace,
bob@builder.test,Bob,Rome
`;

/** What commands exchange with an account that behaves so. */
async function openAccount(variants?: Record<string, string>) {
  const service = await startSandbox({
    variants,
    contents: {
      fields: ["City"],
      tags: ["VIP"],
      lists: ["News", "Old"],
      contacts: [
        { key: "bob@builder.test", fields: { City: "Paris" }, lists: ["Old"] },
        { key: "cy@twombly.test", tags: ["VIP"] },
        { key: "dee@dee.test", status: "Unsubscribe" },
      ],
    },
  });
  const folder = await temporaryFolder();
  const file = join(folder, "service.ndjson");
  const record = (...words: string[]) => service.ecm(words, { env: { ECM_RECORD: file } });
  return { ...service, file, folder, record };
}

it("says nothing where the sandbox answers as the account did", { tags: "slow" }, async () => {
  const { ecm, file, folder, record } = await openAccount();
  // Names a field before the structure tells its place.
  const bob = await ecm(["contact", "search", "bob@builder.test", "-o", "id"]);
  await record("contact", "get", bob.stdout.trim(), "--json");
  await record("import", await inputFile(people), "--list", "News", "--tag", "VIP", "-y");
  await record("contact", "mutate", "cy@twombly.test", "--set", "City=Rome", "--remove-tag", "VIP");
  await record("contact", "mutate", "cy@twombly.test", "--set", "City=Rome");
  await record("contact", "unsubscribe", "grace@hopper.test", "-y");
  await record("contact", "create", "--key", "ada@lovelace.test");
  await record("lists", "create", "Spring");
  await record("lists", "rename", "Spring", "Summer");
  await record("structure", "field", "add", "Phone");
  await record("structure", "tag", "add", "Later");
  await record("contact", "mutate", "bob@builder.test", "--set", "Phone=1", "--add-tag", "Later");
  await record("lists", "delete", "Old", "-y");
  await record("contact", "delete", "bob@builder.test", "-y");
  await record("export", "--output-file", join(folder, "all.csv"));
  await record("events");
  const { code, stdout, stderr } = await ecm(["sandbox", "verify", file, "--exit-code", "--json"]);
  expect({ code, differences: JSON.parse(stdout) }, stderr).toEqual({ code: 0, differences: [] });
  expect(stderr).toMatch(/No differences in \d+ exchanges/);
});

it("says rule by rule what differs, writes the variants that explain it, and exits with 9 where asked", {
  tags: "slow",
}, async () => {
  const { ecm, file, folder, record } = await openAccount({
    "mutate-answer": "empty",
    "hourly-headers": "missing",
  });
  await record("contact", "mutate", "cy@twombly.test", "--remove-tag", "VIP");
  const target = join(folder, "account.json");
  const verified = await ecm(["sandbox", "verify", file, "--as-variant", target, "--json"]);
  expect(verified.code, verified.stderr).toBe(0);
  expect(JSON.parse(verified.stdout)).toContainEqual({
    rule: "body",
    endpoint: "PUT /api/contact/:contactId/mutate",
    place: "",
    recorded: "none",
    sandbox: "object",
    times: expect.any(Number),
    first: expect.any(Number),
  });
  expect(verified.stderr).toMatch(/With --variant \S+ --variant \S+ the sandbox would not differ/);
  expect(JSON.parse(await readFile(target, "utf8"))).toEqual({
    variants: { "hourly-headers": "missing", "mutate-answer": "empty" },
  });
  expect((await ecm(["sandbox", "verify", file, "--exit-code"])).code).toBe(9);
  const known = ["--variant-file", target, "--as-variant", target];
  const again = await ecm(["sandbox", "verify", file, ...known, "--exit-code"]);
  expect(again.code, again.stdout).toBe(0);
  for (const contents of ['{"variants":{},"contacts":[]}', await readFile(file, "utf8")]) {
    await writeFile(target, contents);
    const { code, stderr } = await ecm(["sandbox", "verify", file, "--as-variant", target]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("was not written by ecm") });
    expect(await readFile(target, "utf8")).toBe(contents);
  }
  expect((await ecm(["sandbox", "verify", file, "--as-variant", "-"])).code).toBe(2);
});

it("does not take for a difference what the recording does not show: other pages of contacts and lists", {
  tags: "slow",
}, async () => {
  const { ecm, sandbox, file, record } = await openAccount();
  const names = Array.from({ length: 12 }, (_, index) => String(index));
  sandbox.admin.seed({ lists: names, contacts: names.map((name) => ({ key: `${name}@example.com` })) });
  for (const page of ["1", "3"]) {
    await record("contact", "search", "--page", page, "--page-size", "4");
    await record("lists", "list", "--page", page, "--size", "4");
  }
  const { stdout } = await ecm(["sandbox", "verify", file, "--json"]);
  expect(JSON.parse(stdout)).toEqual([]);
});

it("leaves out half a line, names an endpoint that it does not have, and refuses what is no recording", async () => {
  const { ecm, baseUrl } = await startSandbox();
  expect(baseUrl).toBeDefined();
  const folder = await temporaryFolder();
  const file = join(folder, "service.ndjson");
  const head = { recording: { version: 1, id: "0123456789abcdef", program: "1.0.0" } };
  const unknown = {
    method: "GET",
    path: "/api/text-0123456789",
    status: 200,
    answer: { total: 1 },
  };
  await writeFile(file, `${JSON.stringify(head)}\n${JSON.stringify(unknown)}\n`);
  const get = { method: "GET", path: "/api/contact-structure", status: 200 };
  const damaged = [
    { ...get, path: "/api/contact/%E0%A4%A" },
    { ...get, query: "x" },
    { ...get, query: [["page"]] },
    { ...get, headers: 5 },
    { ...get, notJson: 3 },
  ];
  await appendFile(file, `${damaged.map((line) => JSON.stringify(line)).join("\n")}\n`);
  await appendFile(file, '{"method":"GET","pa');
  const { code, stdout, stderr } = await ecm(["sandbox", "verify", file, "--json"]);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([
    {
      rule: "status",
      endpoint: "GET /api/text-0123456789",
      recorded: "200",
      place: "the sandbox has no such endpoint",
    },
  ]);
  expect(stderr).toContain("Left out 6 lines of");
  const wrong = await ecm(["sandbox", "verify", file, "--variant", "nope=1"]);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no variant "nope"') });
  for (const [text, reason] of [
    ["ada@lovelace.test\n", "is no recording"],
    [`${JSON.stringify({ recording: { ...head.recording, version: 2 } })}\n`, "newer version of ecm"],
    [`${JSON.stringify(head)}\n`, "holds no exchange"],
  ] as const) {
    await writeFile(file, text);
    expect(await ecm(["sandbox", "verify", file])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(reason),
    });
  }
});
