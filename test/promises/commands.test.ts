/** Commands: names stand for ids everywhere, and no command that writes does so in a dry run. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Ecm, ecmWith, temporaryFolder } from "../support/ecm.ts";
import { startHttpServer } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";

/** An account behind a proxy that notes every request that would change something. */
async function watched() {
  const { baseUrl, env } = await startSandbox({ hourlyLimit: 100_000 });
  const writes: string[] = [];
  const proxy = await startHttpServer(async ({ method, url, headers, body }, response) => {
    if (method !== "GET" && !url.endsWith("/search")) writes.push(`${method} ${url}`);
    const forwarded = { "x-api-key": String(headers["x-api-key"]), "content-type": "application/json" };
    const answer = await fetch(baseUrl + url, {
      method,
      headers: forwarded,
      body: method === "GET" ? undefined : body,
    });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  return { ecm: ecmWith({ ...env, ECM_BASE_URL: proxy.baseUrl }), writes };
}

async function done(ecm: Ecm, args: string[], stdin?: string): Promise<string> {
  const { code, stdout, stderr } = await ecm(args, { stdin });
  expect(code, `${args.join(" ")}\n${stderr}`).toBe(0);
  return stdout;
}

describe("a dry run", () => {
  it("of every command that writes sends no write, and prints method, path and body", async () => {
    const { ecm, writes } = await watched();
    const folder = await temporaryFolder();
    const [people, keys, yaml, body] = ["p.csv", "k.csv", "s.yaml", "b.json"].map((name) =>
      join(folder, name),
    );
    await writeFile(people!, "key,First Name\nada@example.com,Ada\nbob@example.com,Bob\n");
    await writeFile(keys!, "key\nada@example.com\nbob@example.com\n");
    await writeFile(yaml!, "fields:\n  - label: Town\n");
    await writeFile(body!, '{"name":"x"}');
    await done(ecm, ["lists", "create", "Newsletter"]);
    await done(ecm, ["structure", "tag", "add", "VIP"]);
    const { run } = JSON.parse(await done(ecm, ["import", people!, "--json"])) as { run: string };

    const single: Record<string, [words: string[], method: string]> = {
      "structure update": [["--label", "Customers"], "PUT"],
      "structure field add": [["City"], "PUT"],
      "structure field rename": [["first name", "Vorname"], "PUT"],
      "structure field remove": [["First Name"], "PUT"],
      "structure tag add": [["Gold"], "PUT"],
      "structure tag rename": [["vip", "Gold"], "PUT"],
      "structure tag remove": [["VIP"], "PUT"],
      "structure apply": [[yaml!, "--prune"], "PUT"],
      "lists create": [["Another"], "POST"],
      "lists rename": [["newsletter", "Weekly"], "PATCH"],
      "lists delete": [["newsletter"], "DELETE"],
      "contact create": [["--key", "eve@example.com", "--list", "newsletter"], "POST"],
      "contact mutate": [["ada@example.com", "--add-tag", "vip"], "PUT"],
      "contact erase": [["ada@example.com"], "DELETE"],
      "contact delete": [["ada@example.com"], "DELETE"],
      "contact unsubscribe": [["ada@example.com"], "PATCH"],
      api: [["POST", "/api/contact", "--data", body!], "POST"],
    };
    const plan = join(folder, "plan.ndjson");
    await done(ecm, ["contact", "mutate", "--keys", keys!, "--add-tag", "VIP", "--dry-run", "--plan", plan]);
    const bulk: Record<string, string[]> = {
      apply: [plan],
      "contact move": ["ada@example.com", "moved@example.com"],
      import: [people!, "--tag", "VIP"],
      "lists sync": ["newsletter", keys!],
      "lists duplicate": ["newsletter", "Copy"],
      "lists merge": ["newsletter", "--into", "Copy"],
      "runs resume": [run],
      "runs retry": [run, people!],
      "runs undo": [run],
    };
    const index = JSON.parse(await done(ecm, ["commands", "--json"])) as {
      commands: { command: string; writes: boolean }[];
    };
    const writers = index.commands
      .filter((each) => each.writes)
      .map((each) => each.command.replace(/ [<[].*/, ""));
    // Its tools are the dry run and the write; test/commands/mcp.slow.test.ts holds them.
    const plansItself = ["mcp"];
    expect([...Object.keys(single), ...Object.keys(bulk), ...plansItself].sort()).toEqual(writers.sort());

    const before = writes.length;
    const readAccount = async () => [await done(ecm, ["export"]), await done(ecm, ["structure", "pull"])];
    const state = await readAccount();
    for (const [path, [args, method]] of Object.entries(single)) {
      const line = [...path.split(" "), ...args, "--dry-run"];
      const output = JSON.parse(await done(ecm, [...line, "--json"]));
      expect(Object.keys(output), path).toEqual(["method", "path", "body"]);
      expect(output).toMatchObject({ method, path: expect.stringMatching(/^\/api\//) });
      expect(await done(ecm, line), path).toMatch(
        new RegExp(`^${method} ${output.path}\n${output.body === null ? "$" : "[{]"}`),
      );
      expect(await done(ecm, [...line, "--read-only"])).toBe(await done(ecm, line));
    }
    for (const [path, args] of Object.entries(bulk)) {
      const { code } = await ecm([...path.split(" "), ...args, "--dry-run", "--json"]);
      // A run that is complete has nothing left to resume; one that created contacts cannot be undone whole.
      expect(code, path).toBe({ "runs resume": 2, "runs undo": 3 }[path] ?? 0);
    }
    expect(await ecm(["contact", "mutate", "--keys", keys!, "--add-tag", "VIP", "--dry-run"])).toMatchObject({
      code: 0,
    });
    expect(writes.slice(before)).toEqual([]);
    expect(await readAccount()).toEqual(state);
  });
});

describe("a name", () => {
  const odd = ["a,b", "a=b", 'c"d', "名簿", " x", "64f0c2a9e1b2c3d4e5f60718", "-dash", "\u0301é"];

  it.each(odd)("such as %j reaches a list, a tag and a field", async (name) => {
    const { ecm } = await startSandbox();
    const list = JSON.parse(await done(ecm, ["lists", "create", "--json", "--", name]));
    await done(ecm, ["structure", "tag", "add", "--", name]);
    await done(ecm, ["structure", "field", "add", "--", name]);
    const { fields, tags } = JSON.parse(await done(ecm, ["structure", "get", "--json"]));
    const field = name.includes("=") ? fields[2]._id : name;
    const args = ["contact", "create", "--key", "ada@example.com", "--json"];
    const contact = JSON.parse(
      await done(ecm, [...args, `--list=${name}`, `--tag=${name}`, `--set=${field}=v=1`]),
    );
    expect(contact).toMatchObject({
      lists: [{ _id: list._id }],
      tags: [{ _id: tags[0]._id }],
      fields: [{ _id: fields[2]._id, value: "v=1" }],
    });
    for (const condition of [`--list=${name}`, `--tag=${name}`]) {
      expect(await done(ecm, ["contact", "search", condition, "-o", "id"])).toBe(`${contact._id}\n`);
      expect(await done(ecm, ["export", condition, "-o", "id"])).toBe(`${contact._id}\n`);
    }
    await done(ecm, [
      "contact",
      "mutate",
      "ADA@example.com",
      `--remove-list=${name}`,
      `--remove-tag=${name}`,
    ]);
    expect(await done(ecm, ["contact", "search", `--tag=${name}`, "--json"])).toBe("[]\n");
  });

  it("matches exactly first, then without regard to case; two matches are listed with their ids", async () => {
    const { ecm } = await startSandbox();
    const ids: string[] = [];
    for (const name of ["news", "NEWS"])
      ids.push(JSON.parse(await done(ecm, ["lists", "create", name, "--allow-duplicate", "--json"]))._id);
    await done(ecm, ["contact", "create", "--key", "ada@example.com", "--list", "NEWS"]);
    expect(await done(ecm, ["contact", "search", "--list", "news", "--json"])).toBe("[]\n");
    for (const args of [
      ["export", "--list", "News"],
      ["contact", "search", "--list", "News"],
    ]) {
      const { code, stdout, stderr } = await ecm(args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      for (const id of ids) expect(stderr).toContain(id);
    }
    const empty = await ecm(["contact", "search", "--list", ""]);
    expect([2, 5]).toContain(empty.code);
  });
});

describe("help", () => {
  it.each([
    ["help contact", "contact --help"],
    ["help contact search", "contact search --help"],
    ["help export", "export --help"],
    ["help", "--help"],
  ])("`%s` says what `%s` says", async (one, other) => {
    const { ecm } = await startSandbox();
    expect(await done(ecm, one.split(" "))).toBe(await done(ecm, other.split(" ")));
  });

  it("of no command is an error, and no hint tells of what is hidden", async () => {
    const { ecm } = await startSandbox();
    expect(await ecm(["help", "contcat"])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("Use: ecm contact"),
    });
    for (const args of [["-q"], ["commands", "nope"], ["help"]]) {
      const { stdout, stderr } = await ecm(args);
      expect(stdout + stderr).not.toContain("__complete");
    }
  });
});
