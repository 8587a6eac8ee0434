/** Rows that say under which key a person was known before: nobody who left is created under another one. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findStatus } from "../../src/api/contacts.ts";
import type { SeedData } from "../../src/sandbox/public-types.ts";
import type { Contact } from "../../src/wire.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { firstQuick } from "../support/first-quick.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { call, contactLines, inputFile, parseSummary, readContacts } from "./kit.ts";

const contents: SeedData = {
  lists: ["News"],
  tags: ["VIP"],
  contacts: [
    {
      key: "ada@old.example",
      fields: { "First Name": "Ada", "Last Name": "L" },
      lists: ["News"],
      tags: ["VIP"],
    },
    { key: "bob@old.example", fields: { "First Name": "Bob" } },
    { key: "cy@example.com", fields: { "First Name": "Cy" } },
  ],
};

const header = "Email,Old email,First Name\n";
const mapped = ["--map", "Old email=old-key", "--json"];

async function scene(variants: Record<string, string> = {}): Promise<RunningSandbox> {
  const service = await startSandbox({ contents, variants });
  const bob = await service.ecm(["contact", "unsubscribe", "bob@old.example", "--yes"]);
  expect(bob.code, bob.stderr).toBe(0);
  return service;
}

async function importRows(service: RunningSandbox, rows: string, ...more: string[]) {
  return service.ecm(["import", await inputFile(header + rows), ...mapped, ...more]);
}

async function statuses(service: RunningSandbox): Promise<Record<string, string | undefined>> {
  const all = await call<Contact[]>(service, "GET", "/api/contact");
  return Object.fromEntries(all.map((each) => [each.key, findStatus(each)?.primary.toLowerCase()]));
}

const moves =
  "ada@new.example,ada@old.example,\nbob@new.example,BOB@old.example,Bob\ncy@example.com,,Cyrus\ndee@example.com,dee@old.example,Dee\n";

describe.each([{}, { inactive: "hidden" }, { inactive: "hidden", keys: "refused" }, { source: "common" }])(
  "under the variants %j",
  (variants) => {
    it("an active contact moves, one that left is not created, and all others are rows as ever", {
      tags: "slow",
    }, async () => {
      const service = await scene(variants as Record<string, string>);
      const before = (await readContacts(service)).get("ada@old.example")!;
      const done = await importRows(service, moves);
      expect(done.code, done.stderr).toBe(0);
      expect(parseSummary(done)).toMatchObject({
        rows: { read: 5, created: 2, updated: 2, skipped: 1, rejected: 0, pending: 0 },
        codes: { skipped: { moved_unsubscribed: 1 } },
      });
      expect(done.stderr).toContain("bob@new.example (line 3): left as");
      const after = await readContacts(service);
      expect(after.get("ada@new.example")).toMatchObject({
        fields: before.fields,
        lists: before.lists,
        tags: before.tags,
      });
      expect(after.get("cy@example.com")!.fields["First Name"]).toBe("Cyrus");
      expect(await statuses(service)).toEqual({
        "ada@old.example": "inactive",
        "ada@new.example": "active",
        "bob@old.example": "inactive",
        "cy@example.com": "active",
        "dee@example.com": "active",
      });
      const again = parseSummary(await importRows(service, moves, "--fresh"));
      expect(again.rows).toMatchObject({ read: 4, created: 0, updated: 0, unchanged: 3, skipped: 1 });
    });
  },
);

describe("a row with an old key", () => {
  it("adds its own values, lists and tags to what the old contact has", { tags: "slow" }, async () => {
    const service = await scene();
    await importRows(
      service,
      "ada@new.example,ada@old.example,Augusta\n",
      "--tag",
      "New",
      "--create-missing",
    );
    const { fields, tags } = (await readContacts(service)).get("ada@new.example")!;
    expect(fields).toMatchObject({ "First Name": "Augusta", "Last Name": "L" });
    expect(tags).toHaveLength(2);
  });

  it("costs what its dry run says, and is in the plan with the key that it comes from", {
    tags: "slow",
  }, async () => {
    const service = await scene();
    const plan = join(await temporaryFolder(), "plan.ndjson");
    const dry = await importRows(service, moves, "--dry-run", "--plan", plan);
    expect(await statuses(service)).not.toHaveProperty("ada@new.example");
    const lines = contactLines(await readFile(plan, "utf8"));
    expect(lines.filter(({ line }) => line === 2)).toMatchObject([
      { key: "ada@new.example", action: "create", movesFrom: "ada@old.example" },
      { key: "ada@old.example", action: "update", changes: [{ what: "status" }] },
    ]);
    expect(lines.find(({ code }) => code === "moved_unsubscribed")).toMatchObject({
      action: "skip",
      line: 3,
    });
    const shown = await service.ecm(["plan", "show", plan, "-o", "table"]);
    expect(shown.stdout).toContain("moves from ada@old.example");
    const redacted = await service.ecm(["plan", "show", plan, "--redact", "--json"]);
    expect(redacted.stdout).not.toContain("ada@");
    const real = await importRows(service, moves);
    expect(parseSummary(dry).estimate.requests).toBe(parseSummary(real).requests.total);
  });

  it("is written by `apply` as it was approved, or not at all", { tags: "slow" }, async () => {
    const service = await scene();
    const plan = join(await temporaryFolder(), "plan.ndjson");
    await importRows(service, moves, "--dry-run", "--plan", plan);
    const applied = await service.ecm(["apply", plan, "--yes", "--json"]);
    expect(applied.code, applied.stderr).toBe(0);
    expect(parseSummary(applied).rows).toMatchObject({ created: 2, updated: 2, skipped: 0 });

    const later = await scene();
    await importRows(later, moves, "--dry-run", "--plan", plan);
    await later.ecm(["contact", "unsubscribe", "ada@old.example", "--yes"]);
    const refused = await later.ecm(["apply", plan, "--yes", "--json"]);
    expect(refused.code).toBe(3);
    expect(await statuses(later)).not.toHaveProperty("ada@new.example");
  });

  it("creates nobody whose old or new key is suppressed", { tags: "slow" }, async () => {
    const service = await scene();
    await service.ecm(["suppressions", "add", "ada@old.example", "new@example.com"]);
    const done = await importRows(
      service,
      "ada@new.example,ada@old.example,\nnew@example.com,cy@example.com,\n",
    );
    expect(parseSummary(done)).toMatchObject({
      rows: { created: 0, updated: 0 },
      codes: { skipped: { suppressed: 2 } },
    });
    expect((await statuses(service))["cy@example.com"]).toBe("active");
  });

  it("is rejected where both contacts are active; `contact move --merge` is named", {
    tags: "slow",
  }, async () => {
    const service = await scene();
    const done = await importRows(service, "cy@example.com,ada@old.example,Cyrus\n");
    expect(done.code).toBe(3);
    expect(parseSummary(done).codes.rejected).toEqual({ both_exist: 1 });
    const rejects = await service.ecm(["runs", "rejects", "last", "-o", "csv"]);
    expect(rejects.stdout).toContain("ecm contact move ada@old.example cy@example.com --merge");
  });

  it("that the file marks moves nobody; --unsubscribe-marked unsubscribes the old contact", {
    tags: "slow",
  }, async () => {
    const service = await scene();
    const file = await inputFile("Email,Old email,Unsubscribed\nada@new.example,ada@old.example,yes\n");
    const done = await service.ecm(["import", file, ...mapped]);
    expect(parseSummary(done)).toMatchObject({ rows: { created: 0, skipped: 1 }, consent: { marked: 1 } });
    expect((await statuses(service))["ada@old.example"]).toBe("active");
    const marked = await service.ecm(["import", file, ...mapped, "--unsubscribe-marked"]);
    expect(parseSummary(marked).rows).toMatchObject({ read: 2, created: 0, updated: 1, skipped: 1 });
    expect(await statuses(service)).toMatchObject({ "ada@old.example": "inactive" });
    expect(await statuses(service)).not.toHaveProperty("ada@new.example");
  });

  it.each([
    ["does not exist", [], "update", ["ada@old.example"]],
    ["is active too", ["n@new.example"], "upsert", ["ada@old.example", "n@new.example"]],
  ])(
    "that is marked is unsubscribed under the old key where the new contact %s",
    { tags: "slow" },
    async (_, existing, mode, left) => {
      const service = await scene();
      for (const key of existing) await service.ecm(["contact", "create", "--key", key]);
      const file = await inputFile("Email,Old email,Unsubscribed\nn@new.example,ada@old.example,yes\n");
      const flags = ["--unsubscribe-marked", "--mode", mode];
      const done = await service.ecm(["import", file, ...mapped, ...flags]);
      expect(done.code, done.stderr).toBe(0);
      expect(parseSummary(done)).toMatchObject({ consent: { marked: left.length } });
      for (const key of left) expect((await statuses(service))[key]).toBe("inactive");
      expect(done.stderr).not.toContain("once the new one is written");
    },
  );

  it.each([
    ["last", "bob@new.example,bob@old.example,B\nbob@new.example,,C\n"],
    ["first", "bob@new.example,,C\nbob@new.example,bob@old.example,B\n"],
    ["reject", "bob@new.example,,C\nbob@new.example,bob@old.example,B\n"],
  ])(
    "counts with --duplicates %s too, where another row represents the contact",
    { tags: "slow" },
    async (how, rows) => {
      const service = await scene();
      await importRows(service, rows, "--duplicates", how);
      expect(await statuses(service)).not.toHaveProperty("bob@new.example");
    },
  );

  it("is for an import alone: who names contacts must be clear", async () => {
    const service = await scene();
    const file = await inputFile("Email,Old email\nada@new.example,ada@old.example\n");
    const refused = await service.ecm(["contact", "unsubscribe", "--keys", file, ...mapped, "--yes"]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("only an import knows an old key");
  });

  it("is not created where another row, even a rejected one, marks its old key", {
    tags: "slow",
  }, async () => {
    const service = await scene();
    const header = "Email,Old email,Unsubscribed\n";
    const file = await inputFile(`${header}bad@@x,eve@old.example,yes\neve@new.example,EVE@old.example,no\n`);
    const done = await service.ecm(["import", file, ...mapped]);
    expect(parseSummary(done).rows).toMatchObject({ created: 0, skipped: 1, rejected: 1 });
  });

  it("is not created by `apply` once its old key is suppressed, which nobody had", {
    tags: "slow",
  }, async () => {
    const service = await scene();
    const plan = join(await temporaryFolder(), "plan.ndjson");
    await importRows(service, "dee@new.example,dee@old.example,Dee\n", "--dry-run", "--plan", plan);
    await service.ecm(["suppressions", "add", "dee@old.example"]);
    const applied = await service.ecm(["apply", plan, "--yes", "--json"]);
    expect(parseSummary(applied)).toMatchObject({ rows: { created: 0 } });
    expect(await statuses(service)).not.toHaveProperty("dee@new.example");
  });

  it("with --mode update creates nobody and leaves the old contact", { tags: "slow" }, async () => {
    const service = await scene();
    const done = await importRows(service, "ada@new.example,ada@old.example,\n", "--mode", "update");
    expect(parseSummary(done).codes.skipped).toEqual({ missing: 1 });
    expect((await statuses(service))["ada@old.example"]).toBe("active");
  });

  it("is read for its old key by the rules of keys; a wrong one rejects the row, a blank one does not", {
    tags: "slow",
  }, async () => {
    const service = await scene();
    const done = await importRows(
      service,
      "x@example.com,not an address,\ny@example.com,n/a,\nada@new.example,mailto:Ada@OLD.example,\n",
    );
    expect(parseSummary(done)).toMatchObject({
      rows: { created: 2, updated: 1, rejected: 1 },
      codes: { rejected: { old_key_invalid: 1 } },
    });
  });

  it("is undone as a move is: the old contact cannot be resubscribed", { tags: "slow" }, async () => {
    const service = await scene();
    await importRows(service, "ada@new.example,ada@old.example,\n");
    const undone = await service.ecm(["runs", "undo", "last", "--delete-created", "--yes", "--json"]);
    expect(undone.code).toBe(3);
    expect(parseSummary(undone)).toMatchObject({ rows: { deleted: 1, rejected: 1 } });
    expect(await statuses(service)).not.toHaveProperty("ada@new.example");
  });

  it("leads `contact consent` to the key of before", { tags: "slow" }, async () => {
    const service = await scene();
    await importRows(service, "ada@new.example,ada@old.example,\n");
    const consent = await service.ecm(["contact", "consent", "ada@new.example", "--json"]);
    expect(JSON.parse(consent.stdout)[0]).toMatchObject({
      key: "ada@new.example",
      movedFrom: "ada@old.example",
    });
  });
});

firstQuick(2)([
  ["two rows name one old key", "a@x.example,o@x.example,\nb@x.example,o@x.example,\n", 2],
  ["a chain", "b@x.example,a@x.example,\nc@x.example,b@x.example,\n", 2],
  ["a swap", "a@x.example,b@x.example,\nb@x.example,a@x.example,\n", 2],
  ["an old key is another row's key", "a@x.example,o@x.example,\nO@x.example,,Ann\n", 2],
  ["two old keys of one contact", "a@x.example,o@x.example,\na@x.example,p@x.example,\n", 2],
])("%s: the rows are rejected, each with the line of the other", async (_, rows, rejected) => {
  const service = await scene();
  const done = await importRows(service, `${rows}cy@example.com,,Cyrus\n`);
  const { codes, rows: counted } = parseSummary(done);
  expect(done.code).toBe(3);
  expect(counted.updated).toBe(1);
  expect(counted.rejected + counted.skipped).toBe(rejected);
  expect(codes.rejected.old_key_conflict).toBeGreaterThan(0);
  const text = await readFile(parseSummary(done).rejects!, "utf8");
  expect(text).toMatch(/line [23]/);
  expect(text.trim().split("\n")).toHaveLength(1 + rejected);
});

it("an old key that is another row's further key: both rows are rejected, a row's own is none", async () => {
  const service = await scene();
  const rows =
    "a@x.example,,ada@old.example\nb@x.example,Ada@old.example,\nc@x.example,bob@old.example,bob@old.example\n";
  const file = await inputFile(`Email,Home,Old email\n${rows}`);
  const done = await service.ecm(["import", file, "--map", "Email=key", "--map", "Home=key", ...mapped]);
  expect(parseSummary(done).codes).toEqual({
    rejected: { old_key_conflict: 2 },
    skipped: { moved_unsubscribed: 1 },
  });
  expect((await statuses(service))["ada@old.example"]).toBe("active");
});

it("moves get on with few requests an invocation, where the account is read page by page", {
  tags: "slow",
}, async () => {
  const numbers = Array.from({ length: 8 }, (_, place) => place);
  const service = await startSandbox({
    contents: { contacts: numbers.map((n) => ({ key: `o${n}@x.org` })) },
  });
  const file = await inputFile(header + numbers.map((n) => `n${n}@x.org,o${n}@x.org,\n`).join(""));
  const args = ["import", file, ...mapped, "--max-requests", "8"];
  for (let invocations = 1; ; invocations++) {
    const { status } = parseSummary(await service.ecm(args));
    if (status === "completed") break;
    expect(invocations).toBeLessThan(12);
  }
  const active = Object.entries(await statuses(service)).filter(([, status]) => status === "active");
  expect(active.map(([key]) => key).sort()).toEqual(numbers.map((n) => `n${n}@x.org`));
});

describe("whoever leaves under a further address, after the plan and before the write", () => {
  const rows = "Work,Home,Old\na@work.example,a@home.example,\nb@work.example,b@home.example,b@old.example\n";
  const columns = ["--map", "Work=key", "--map", "Home=key", "--map", "Old=old-key", "--json"];
  const homes = { contacts: [{ key: "a@home.example" }, { key: "z@example.com" }] };
  const leave = async (service: RunningSandbox, key: string) => {
    const { code, stderr } = await service.ecm(["contact", "unsubscribe", key, "--yes"]);
    expect(code, stderr).toBe(0);
  };
  const create = (service: RunningSandbox, key: string) =>
    service.ecm(["contact", "create", "--key", key]).then(() => leave(service, key));

  it.each([{}, { "search-lag": "600000" }, { inactive: "hidden" }])(
    "is not created when the plan is applied (%j)",
    { tags: "slow" },
    async (variants) => {
      const service = await startSandbox({ contents: homes, variants: variants as Record<string, string> });
      const file = join(await temporaryFolder(), "plan.ndjson");
      await service.ecm(["import", await inputFile(rows), ...columns, "--dry-run", "--plan", file]);
      await leave(service, "a@home.example");
      const applied = await service.ecm(["apply", file, "--json"]);
      expect(parseSummary(applied)).toMatchObject({
        rows: { created: 1, skipped: 1 },
        codes: { skipped: { changed: 1 } },
      });
      expect(applied.code).toBe(3);
      expect(await statuses(service)).not.toHaveProperty("a@work.example");
    },
  );

  it.each(["b@home.example", "b@old.example"])(
    "is not created when the run is resumed, though %s was nobody's",
    { tags: "slow" },
    async (unknown) => {
      const service = await startSandbox({ contents: homes });
      const args = ["import", await inputFile(rows), ...columns];
      const { estimate } = parseSummary(await service.ecm([...args, "--dry-run"]));
      for (let spent = 1; ; spent++) {
        const { run } = parseSummary(await service.ecm([...args, "--max-requests", `${spent}`, "--fresh"]));
        const plan = run && (await service.ecm(["plan", "show", planOf(service, run)]));
        if (plan && plan.code === 0) break;
        expect(spent).toBeLessThan(estimate.requests);
      }
      await leave(service, "a@home.example");
      await create(service, unknown);
      const done = parseSummary(await service.ecm(["runs", "resume", "last", "--json"]));
      expect(done.codes.skipped).toEqual({ moved_unsubscribed: 2 });
      expect(done.requests).toMatchObject({ search: 1, other: 1, create: 0 });
    },
  );

  it("costs a read of who is known there, and the price says so", { tags: "slow" }, async () => {
    const service = await startSandbox({ contents: homes });
    const args = ["import", await inputFile(rows), ...columns];
    const done = parseSummary(await service.ecm(args));
    expect(done).toMatchObject({ rows: { created: 2 }, requests: { create: 2, other: 3 } });
    expect(done.requests.total).toBe(done.estimate.requests);
  });
});

function planOf({ env }: RunningSandbox, run: string): string {
  return join(env.ECM_STATE_DIR!, "runs", run, "plan.ndjson");
}
