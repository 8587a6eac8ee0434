/** `ecm campaigns`, `templates`, `domains`: what the service tells is kept and shown, whatever it is. */
import { describe, expect, it } from "vitest";
import { ecmWith } from "../support/ecm.ts";
import { errorBody, json } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";
import { startService } from "../support/service.ts";

const people = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ key: `p${index}@example.com` }));
const at = (terminalColumns: number) => ({ terminalColumns });

/** A service that answers these paths with these bodies, and anything else with 404. */
async function answering(bodies: Record<string, unknown>, status = 200) {
  return startService((request, response) => {
    const body = bodies[new URL(request.url, "http://x").pathname];
    if (body === undefined) return json(response, 404, errorBody("RecordNotFound", "Not found"));
    json(response, status, body);
  });
}

const campaigns = "/api/email/campaign";
const domains = "/api/email/domain";

describe("an empty account", () => {
  it("has none of them: nothing is made up, in any format", async () => {
    const { ecm } = await startSandbox();
    for (const list of [
      ["campaigns", "list"],
      ["templates", "list"],
      ["domains", "list"],
    ]) {
      expect(await ecm([...list, "--json"])).toMatchObject({ code: 0, stdout: "[]\n" });
      expect(await ecm([...list, "-o", "ndjson"])).toMatchObject({ code: 0, stdout: "" });
      expect(
        await ecm([...list, "--all", "-o", "id"].filter((word) => list[0] !== "domains" || word !== "--all")),
      ).toMatchObject({ code: 0, stdout: "" });
      const shown = await ecm(list, at(80));
      expect(shown.code).toBe(0);
      expect(shown.stdout).toBe("");
      expect(shown.stderr).toMatch(/^No (campaigns|templates|sending domains)/);
    }
    const missing = await ecm(["campaigns", "get", "News"]);
    expect(missing).toMatchObject({ code: 5, stdout: "" });
    expect(missing.stderr).toContain('No campaign is named "News"');
    expect(await ecm(["campaigns", "get", "0".repeat(24)])).toMatchObject({ code: 5 });
    expect(await ecm(["domains", "get", "example.com"])).toMatchObject({ code: 5 });
  });
});

describe("campaigns", () => {
  it("are listed page by page, or all of them; each once", async () => {
    const named = Array.from({ length: 1000 }, (_, index) => ({ name: `Campaign ${index}` }));
    const { ecm } = await startSandbox({ contents: { campaigns: named } });
    const first = await ecm(["campaigns", "list", "--json"]);
    expect(JSON.parse(first.stdout)).toHaveLength(100);
    expect(first.stderr).toContain("100 of 1,000 campaigns · all: --all · next page: --page 2");
    const all = await ecm(["campaigns", "list", "--all", "-o", "csv", "--columns", "name"]);
    expect(new Set(all.stdout.trimEnd().split("\n").slice(1)).size).toBe(1000);
    const last = await ecm(["campaigns", "list", "--page", "40", "--size", "25", "--json"]);
    expect(JSON.parse(last.stdout)).toHaveLength(25);
    expect(last.stderr).not.toContain("next page");
    expect(await ecm(["campaigns", "list", "--page", "41", "--size", "25", "--json"])).toMatchObject({
      stdout: "[]\n",
    });
    expect(JSON.parse((await ecm(["campaigns", "get", "campaign 999", "--json"])).stdout)).toMatchObject({
      name: "Campaign 999",
    });
  });

  it.each(["cap:7", "refuse:7"])("are all read where larger pages are not given (%s)", async (page) => {
    const named = Array.from({ length: 30 }, (_, index) => ({ name: `C${index}` }));
    const { ecm } = await startSandbox({ variants: { page }, contents: { campaigns: named } });
    expect(JSON.parse((await ecm(["campaigns", "list", "--all", "--json"])).stdout)).toHaveLength(30);
  });

  it("are narrowed by status, also where the service passes over it", async () => {
    const contents = { campaigns: [{ name: "A" }, { name: "B", status: "sent" as const }] };
    const { ecm } = await startSandbox({ contents });
    const names = async (...args: string[]) =>
      (await ecm(["campaigns", "list", "--columns", "name", ...args])).stdout.split("\n").slice(1, -1);
    expect(await names("--status", "Sent")).toEqual(["B"]);
    const records = [{ status: "sent", name: "B" }, { status: "draft", name: "A" }, { name: "C" }];
    const other = await answering({ [campaigns]: { total: 3, records } });
    const shown = await other.ecm(["campaigns", "list", "--status", "sent", "--json"]);
    expect(JSON.parse(shown.stdout)).toEqual([records[0], records[2]]);
    expect(other.server.requests[0]!.url).toContain("status=sent");
  });

  it("of one name are told apart by their ids", async () => {
    const { ecm } = await startSandbox({ contents: { campaigns: [{ name: "Twin" }, { name: "Twin" }] } });
    const ids = (await ecm(["campaigns", "list", "-o", "id"])).stdout.trimEnd().split("\n");
    for (const command of [
      ["campaigns", "get"],
      ["reports", "campaign"],
    ]) {
      const refused = await ecm([...command, "twin"]);
      expect(refused.code).toBe(2);
      for (const id of ids) expect(refused.stderr).toContain(id);
      expect(await ecm([...command, ids[1]!])).toMatchObject({ code: 0 });
    }
    expect((await ecm(["events", "--campaign", "Twin"])).code).toBe(2);
  });

  it("with names that would steer a terminal are shown escaped, at any width, and kept as they are in data", async () => {
    const names = [
      "\u001b[31mred\u0007",
      "花子の夏のキャンペーン".repeat(4),
      "👩‍👩‍👧‍👦 family",
      "a\tb\nc",
      "x".repeat(300),
      "\u202etxt",
    ];
    const { ecm } = await answering({
      [campaigns]: { total: names.length, records: names.map((name, index) => ({ _id: `${index}`, name })) },
    });
    for (const width of [40, 80, 120]) {
      const { stdout, code } = await ecm(["campaigns", "list"], at(width));
      expect(code).toBe(0);
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001a\u001c-\u001f\u202e]/);
      expect(stdout.replaceAll("\u001b[1m", "").replaceAll("\u001b[22m", "")).not.toContain("\u001b");
    }
    expect(
      JSON.parse((await ecm(["campaigns", "list", "--json"])).stdout).map(
        ({ name }: { name: string }) => name,
      ),
    ).toEqual(names);
    const whole = await ecm(["campaigns", "get", "\u001b[31mred\u0007"], at(80));
    expect(whole.stderr).not.toContain("\u0007");
  });

  const hostile: [what: string, body: unknown][] = [
    ["a bare array", [{ name: "A" }]],
    ["records of other types", { total: 5, records: [null, 7, "x", [], true] }],
    [
      "members of other types",
      { total: "2", records: [{ _id: 5, name: {}, status: [], sentCount: "9", updatedAt: 12 }] },
    ],
    ["no members", { records: [{}] }],
    ["a total that cannot be", { total: -4, records: [{ name: "A" }] }],
    ["dangerous names", { records: [JSON.parse('{"__proto__":{"a":1},"constructor":2,"name":"A"}')] }],
    ["deep members", { records: [{ name: "A", extra: { a: { b: [1, { c: null }] } } }] }],
  ];
  it.each(hostile)("that come as %s are shown, and in JSON untouched", async (_what, body) => {
    const records = Array.isArray(body) ? body : (body as { records: unknown[] }).records;
    for (const [group, path] of [
      ["campaigns", campaigns],
      ["templates", "/api/email/template"],
      ["domains", domains],
    ]) {
      const { ecm } = await answering({ [path!]: body });
      const listed = await ecm([group!, "list", "--json"]);
      expect(listed.code, listed.stderr).toBe(0);
      expect(JSON.parse(listed.stdout)).toEqual(records);
      for (const options of [at(80), at(40), {}]) {
        const { code, stdout, stderr } = await ecm([group!, "list"], options);
        expect({ code, stderr }).toMatchObject({ code: 0 });
        expect(stdout).not.toContain("[object Object]");
        expect(stdout).not.toMatch(/undefined|NaN/);
      }
      expect((await ecm([group!, "list", "-o", "id"])).code).toBe(0);
      if (group !== "domains") {
        const all = await ecm([group!, "list", "--all", "--json"]);
        expect(all.code, all.stderr).toBe(0);
      }
    }
  });

  it.each([[null], ["text"], [{}], [{ records: {} }], [7]])(
    "that come as %j are refused with a reason",
    async (body) => {
      for (const [group, path] of [
        ["campaigns", campaigns],
        ["domains", domains],
      ]) {
        const { ecm } = await answering({ [path!]: body });
        const { code, stdout, stderr } = await ecm([group!, "list", "--json"]);
        expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
        expect(JSON.parse(stderr.split("\n")[0]!).error).toMatchObject({ type: "UnreadableAnswerError" });
      }
    },
  );

  it("by themselves show every member that comes", async () => {
    const id = "6b01ef0b2f5df91e78000001";
    const campaign = { _id: id, name: "A", novel: { deep: [1] }, ok: false, recipientsTotal: 12 };
    const { ecm } = await answering({ [`${campaigns}/${id}`]: campaign });
    expect(JSON.parse((await ecm(["campaigns", "get", id, "--json"])).stdout)).toEqual(campaign);
    const { stdout } = await ecm(["campaigns", "get", id], at(80));
    for (const shown of ['{"deep":[1]}', "false", "recipients", "12"]) expect(stdout).toContain(shown);
    for (const body of [[], null, "x"]) {
      const other = await answering({ [`${campaigns}/${id}`]: body });
      expect((await other.ecm(["campaigns", "get", id, "--json"])).code).toBe(1);
    }
  });

  it("refuse a column that does not exist before a request is sent", async () => {
    const { ecm, server } = await answering({ [campaigns]: [] });
    for (const command of [
      "campaigns list",
      "campaigns get A",
      "templates list",
      "domains list",
      "domains get a.b",
    ]) {
      const { code, stderr } = await ecm([...command.split(" "), "--columns", "nope", "-o", "csv"]);
      expect({ command, code }).toEqual({ command, code: 2 });
      expect(stderr).toContain("there is no column");
    }
    expect(server.requests).toEqual([]);
  });
});

describe("domains", () => {
  it("show what is missing in DNS as lines to copy, never cut", async () => {
    const long = `v=DKIM1; p=${"A".repeat(400)}`;
    const domain = {
      _id: "d1",
      domain: "example.com",
      isReadyForSending: false,
      dkim: { status: "failed", records: [{ type: "TXT", name: "k._domainkey", value: long }] },
      spf: {
        status: "verified",
        records: [{ type: "TXT", name: "spf", value: "fine" }],
        verificationInfo: { at: 1 },
      },
      dmarc: "pending",
      novel: { status: null, records: [{ type: "CNAME", name: "n\u001b[0m", value: 5 }, "no record"] },
      linkTracking: { records: "none" },
    };
    const { ecm } = await answering({ [domains]: [domain, { domain: "other.com" }] });
    for (const width of [40, 80]) {
      const { stdout } = await ecm(["domains", "get", "EXAMPLE.com"], at(width));
      const lines = stdout.split("\n");
      expect(lines).toContain(`TXT  k._domainkey  ${long}`);
      expect(lines).toContain("CNAME  n\\x1b[0m  5");
      expect(stdout).not.toContain("fine");
      expect(stdout).toContain('{"at":1}');
      expect(stdout).toMatch(/dmarc\S*\s+(\S+ )?.*pending/);
    }
    const rows = await ecm(["domains", "get", "d1", "-o", "csv", "--columns", "type,name,part,missing"]);
    expect(rows.stdout.split("\n").slice(0, -1)).toEqual([
      "type,name,part,missing",
      "TXT,k._domainkey,dkim,true",
      "TXT,spf,spf,false",
      "CNAME,n\u001b[0m,novel,true",
    ]);
    expect(JSON.parse((await ecm(["domains", "get", "example.com", "--json"])).stdout)).toEqual(domain);
    expect((await ecm(["domains", "get", "example.com", "-o", "id"])).stdout).toBe("d1\n");
    const none = await ecm(["domains", "get", "other.com"], at(80));
    expect(none).toMatchObject({ code: 0 });
    expect(none.stdout).not.toContain("Missing");
  });

  it("that are in order say nothing of DNS", async () => {
    const { ecm } = await startSandbox({ contents: { domains: [{ domain: "a.example.com" }] } });
    const { stdout } = await ecm(["domains", "get", "a.example.com"], at(80));
    expect(stdout).toContain("ready");
    expect(stdout).not.toContain("Missing");
  });
});

const readers: [scope: string, command: string[]][] = [
  ["campaigns:read", ["campaigns", "list"]],
  ["campaigns:read", ["campaigns", "get", "0".repeat(24)]],
  ["campaigns:read", ["campaigns", "get", "News"]],
  ["campaigns:read", ["templates", "list"]],
  ["domains:read", ["domains", "list"]],
  ["domains:read", ["domains", "get", "example.com"]],
  ["reports:read", ["reports"]],
  ["reports:read", ["reports", "campaign", "0".repeat(24)]],
  ["campaigns:read", ["reports", "campaign", "News"]],
  ["reports:read", ["reports", "histogram", "--event", "email-opened"]],
  ["campaigns:read", ["events", "--campaign", "News"]],
];

describe("a key without the scope", () => {
  it.each(readers)("is told of %s by ecm %j, exit 4", async (scope, command) => {
    const { env, folder } = await startSandbox();
    const owner = ecmWith(env);
    const key = await owner([
      "sandbox",
      "keys",
      "create",
      "poor",
      "--scope",
      "contacts:read",
      "--data",
      folder,
      "--json",
    ]);
    const ECM_API_KEY = JSON.parse(key.stdout).key as string;
    const refused = await owner([...command, "--json"], { env: { ECM_API_KEY } });
    expect(refused).toMatchObject({ code: 4, stdout: "" });
    expect(JSON.parse(refused.stderr.trimEnd().split("\n").at(-1)!).error).toMatchObject({
      type: "ForbiddenError",
      status: 403,
      message: `API key missing required scope: ${scope}`,
    });
  });

  it.each(readers)(
    "or a service that offers none of it: %s is named too by ecm %j",
    async (scope, command) => {
      const { ecm } = await startSandbox({ variants: { literal: "yes" } });
      const { code, stderr, stdout } = await ecm(command);
      expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
      expect(stderr).toMatch(
        /^error: This account's service does not offer \w+ \(This endpoint is not accessible via API key\)$/m,
      );
      expect(stderr).toContain(`hint: This takes a key with the scope ${scope}`);
    },
  );

  it.each(readers)(
    "nor a failure of the service is taken for something else (%s, ecm %j)",
    async (_scope, command) => {
      const { ecm } = await startSandbox({ faults: ["500:GET:/api/*"] });
      expect(await ecm(command)).toMatchObject({ code: 1, stdout: "" });
      const without = await answering({});
      const { code, stdout } = await without.ecm(command);
      expect({ code, stdout }).toEqual({ code: 5, stdout: "" });
    },
  );
});

describe("events of a campaign", () => {
  it("are those of its mails alone, by name or id, also with --since last", async () => {
    const contents = {
      contacts: people(60),
      campaigns: [
        { name: "One", status: "sent" as const },
        { name: "Two", status: "sent" as const },
      ],
    };
    const { ecm, sandbox } = await startSandbox({ contents });
    for (const { _id, name } of JSON.parse((await ecm(["campaigns", "list", "--json"])).stdout)) {
      for (const { key } of contents.contacts) {
        for (const type of ["email-sent", "email-delivered"])
          sandbox.admin.event({ key, type, emailCampaignId: _id, emailCampaignName: name });
      }
    }
    const list = async (...args: string[]) =>
      JSON.parse((await ecm(["events", "--all", "--json", ...args])).stdout);
    const all = await list();
    const one = await list("--campaign", "one");
    expect(one.length).toBeGreaterThan(60);
    expect(one).toEqual(
      all.filter((event: { emailCampaignName: string }) => event.emailCampaignName === "One"),
    );
    expect(await list("--campaign", one[0].emailCampaignId)).toEqual(one);
    const limited = await ecm(["events", "--campaign", "One", "--limit", "5", "--json"]);
    expect(JSON.parse(limited.stdout)).toEqual(one.slice(-5));
    const usual = await ecm(["events", "--campaign", "One", "--json"]);
    expect(JSON.parse(usual.stdout)).toEqual(one.slice(-100));
    expect(usual.stderr).toContain(`of ${one.length} events`);
    const fresh = async (...args: string[]) =>
      (await ecm(["events", "--since", "last", "-o", "id", ...args])).stdout.split("\n").length - 1;
    expect(await fresh("--campaign", "One")).toBe(one.length);
    expect(await fresh("--campaign", "One")).toBe(0);
    expect(await fresh("--campaign", "Two")).toBe(all.length - one.length);
    expect(await fresh()).toBe(all.length);
    expect(await ecm(["events", "--campaign", "Three"])).toMatchObject({ code: 5 });
  });
});

it("completions offer the names that commands saw", async () => {
  const { env, ecm } = await startSandbox({
    contents: { campaigns: [{ name: "Spring sale" }], domains: [{ domain: "mail.example.com" }] },
  });
  await ecm(["campaigns", "list"]);
  await ecm(["domains", "list"]);
  const offered = async (...words: string[]) =>
    (await ecmWith(env)(["__complete", "fish", "--", ...words, ""])).stdout.trimEnd();
  for (const words of [
    ["campaigns", "get"],
    ["reports", "campaign"],
    ["events", "--campaign"],
  ])
    expect(await offered(...words)).toBe("Spring sale");
  expect(await offered("domains", "get")).toBe("mail.example.com");
});
