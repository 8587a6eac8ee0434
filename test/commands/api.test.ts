import { describe, expect, it } from "vitest";
import { inputFile, json, startSandbox, startService } from "../kit.ts";
import { done, ecmWith, ends, readJson, refused, temporaryHome } from "../support/ecm.ts";

/** A service that answers everything with an empty object. */
const answering = () => startService((_request, response) => json(response, 200, {}));

describe("ecm api", () => {
  it("writes the answer as it came", async () => {
    const body = '{ "a":1,\r\n "big": 12345678901234567890, "é": "\\u00e9" }\n';
    const { ecm, server } = await startService((_request, response) => response.end(body));
    const result = await ecm("api get /api/x?y=1 --query a=b=c --query d=");
    expect(result).toMatchObject({ code: 0, stdout: body });
    expect(server.requests[0]).toMatchObject({ method: "GET", url: "/api/x?y=1&a=b%3Dc&d=", body: "" });
  });

  it("has examples that the service answers", async () => {
    const { ecm } = await startSandbox();
    const { examples } = (await readJson(ecm, "commands api")) as { examples: string[] };
    const reads = examples.filter((example) => example.startsWith("ecm api GET "));
    expect(reads.length).toBeGreaterThan(1);
    for (const example of reads) await done(ecm(example.replace("ecm ", "")));
  });

  it("writes the body of a refusal too, and exits by its status", async () => {
    const { ecm, apiKey } = await startSandbox();
    const asked = ecm("api GET /api/contact/000000000000000000000000");
    const missing = await ends(asked, 5, "error: Contact not found");
    expect(JSON.parse(missing.stdout).errors[0]).toMatchObject({ errorType: "RecordNotFound" });
    const unknown = await ends(ecm("api PROPFIND /api/nowhere --json"), 4);
    const { error } = JSON.parse(unknown.stderr.split("\n").at(-2)!);
    expect(error).toMatchObject({ status: 403, applied: "no" });
    expect(unknown.stdout + unknown.stderr).not.toContain(apiKey);
  });

  it("sends a file or standard input as it is", async () => {
    const { ecm, server } = await answering();
    const file = await inputFile('{"key" : "a@b.c"}', "body.json");
    expect((await ecm(`api POST /api/contact --data ${file}`)).code).toBe(0);
    expect((await ecm("api PATCH /api/contact/1 --data - --yes", { stdin: "no json" })).code).toBe(0);
    expect((await ecm(`api POST /api/contact --data ${file}.missing`)).code).toBe(2);
    expect(server.requests.map((request) => request.body)).toEqual(['{"key" : "a@b.c"}', "no json"]);
  });

  it("prints status and headers with --include", async () => {
    const { ecm } = await startService((_request, response) => json(response, 201, {}, { "x-more": "1" }));
    const { stdout } = await ecm("api POST /api/x --include");
    expect(stdout).toMatch(/^HTTP 201\n(.+: .+\n)*x-more: 1\n(.+: .+\n)*\n\{\}$/);
  });

  it("indents JSON at a terminal, leaves alone what would change, and cannot move the cursor", async () => {
    const bodies: Record<string, string> = {
      "/json": '{"a":[1,"x  y"]}',
      "/big": '{"big":12345678901234567890}',
      "/text": "a\u001b[31m\u009b2J\nb",
    };
    const { ecm } = await startService(({ url }, response) => response.end(bodies[url]));
    const atTerminal = (path: string) => done(ecm(`api GET ${path} -q`, { terminalColumns: 80 }));
    expect(await atTerminal("/json")).toBe('{\n  "a": [\n    1,\n    "x  y"\n  ]\n}\n');
    expect(await atTerminal("/big")).toBe(`${bodies["/big"]}\n`);
    expect(await atTerminal("/text")).toBe("a\\x1b[31m\\x9b2J\nb\n");
    expect(await done(ecm("api GET /text"))).toBe(bodies["/text"]);
  });

  it("sends nothing with --dry-run, and needs no key", async () => {
    const ecm = ecmWith(await temporaryHome());
    const line = "api DELETE /api/contact/1 --query a=b --data - --dry-run -o json";
    const unsent = async (stdin: string) => JSON.parse(await done(ecm(line, { stdin })));
    const request = { method: "DELETE", path: "/api/contact/1?a=b" };
    expect(await unsent('{"x":1}')).toEqual({ ...request, body: { x: 1 } });
    expect(await unsent("no json")).toEqual({ ...request, body: "no json" });
  });

  it("lets reads out with --read-only, and no write", async () => {
    const { ecm, server } = await answering();
    for (const [line, code] of [
      ["GET /api/contact", 0],
      ["HEAD /api/contact", 0],
      ["options /api/contact", 0],
      ["POST /api/contact/search", 0],
      ["POST /api/contact/search?x=1", 0],
      ["POST /api/contact/export?x=/search", 2],
      ["PUT /api/contact/search", 2],
      ["POST /api/research", 2],
      ["POST /api/contact", 2],
      ["DELETE /api/contact/1", 2],
      ["QUERY /api/contact", 2],
    ] as const)
      expect((await ecm(`api ${line} --read-only`)).code, line).toBe(code);
    expect(server.requests).toHaveLength(5);
  });

  it("refuses before anything is sent what is no path, no method or no query", async () => {
    const { ecm, server } = await answering();
    const proxied = { ECM_BASE_URL: "https://api.example.com", HTTPS_PROXY: "http://127.0.0.1:9" };
    for (const line of [
      "GET https://api.example.com/api/contact",
      "GET api/contact",
      "GET /api/../admin",
      "GET '/api/a b'",
      "'GE T' /api/contact",
      "CONNECT /api/contact",
      "GET /api/contact --query novalue",
      "GET",
    ]) {
      for (const flag of ["", "--dry-run"]) await refused(ecm(`api ${line} ${flag}`), 2);
      await refused(ecm(`api ${line}`, { env: proxied }), 2);
    }
    expect(server.requests).toEqual([]);
  });

  it("shows requests and answers on stderr with --verbose, bodies only with =bodies", async () => {
    const { ecm, server } = await startService((_request, response) =>
      json(response, 200, { said: "yes\u001b[31m" }, { "x-monthly-limit": "9", "x-monthly-remaining": "8" }),
    );
    const show = (flag: string) =>
      ecm(`api POST /api/contact/search --data - ${flag}`, { stdin: '{"asked":1}' });
    const plain = await show("--verbose");
    const line = `> POST ${server.baseUrl}/api/contact/search\n< 200 in \\d+ ms month=8/9\nrate-limit: month=8/9\n`;
    expect(plain.stderr).toMatch(new RegExp(`^${line}$`));
    for (const flag of ["--verbose=bodies", "-v=bodies"]) {
      const { stdout, stderr } = await show(flag);
      expect(stderr).toContain('\n> {"asked":1}\n');
      expect(stderr).toContain('\n< {"said":"yes');
      expect(stderr).not.toContain("\u001b");
      expect(stdout).toBe(plain.stdout);
    }
  });

  it("makes a body of -f strings and -F values", async () => {
    const { ecm, server } = await answering();
    const file = await inputFile("two\nlines", "text.txt");
    const values = `-F a=true -F b=42 -F c=null -F d=1.5 -F e=01 -F f=yes -F g=@${file}`;
    expect((await ecm(`api POST /x -f n=42 -f m=a=b ${values}`)).code).toBe(0);
    const body = { n: "42", m: "a=b", a: true, b: 42, c: null, d: 1.5, e: "01", f: "yes", g: "two\nlines" };
    expect(JSON.parse(server.requests[0]!.body)).toEqual(body);
    for (const wrong of [
      "POST /x -f n",
      "POST /x -f n=1 -F n=2",
      `POST /x -f n=1 --data ${file}`,
      "POST /x -F n=12345678901234567890",
      "POST /x -F n=1e400",
      `POST /x -F n=@${file}.missing`,
      "GET /x -f n=1",
    ])
      expect((await ecm(`api ${wrong}`)).code, wrong).toBe(2);
    expect(server.requests).toHaveLength(1);
  });

  it("joins the pages of lists, searches and events into one array", async () => {
    const names = Array.from({ length: 7 }, (_, n) => `L${n}`);
    const { ecm, sandbox } = await startSandbox({ contents: { lists: names } });
    for (const name of names) await done(ecm(`contact create --key ${name}@example.com`));
    const joined = async (line: string, stdin = "") =>
      JSON.parse(await done(ecm(`api ${line} --paginate`, { stdin })));
    const structure = sandbox.structureId;
    const lists = await joined(`GET /api/contact-structure/${structure}/lists?size=3&page=2`);
    expect(lists.map(({ name }: { name: string }) => name)).toEqual(names);
    expect(await joined("GET /api/contact/events --query size=2")).toHaveLength(7);
    expect(await joined("GET /api/contact-structure")).toHaveLength(1);
    const search = { contactStructureId: structure, pageSize: 3, source: ["key"] };
    const body = JSON.stringify({ ...search, contactSpecification: { filters: [] } });
    expect(await joined("POST /api/contact/search --data -", body)).toHaveLength(7);
    expect((await ecm("api POST /api/contact -f key=x@y.z --paginate")).code).toBe(2);
    expect((await ecm(`api GET /api/contact-structure/${structure} --paginate`)).code).toBe(1);
  });
});
