import { describe, expect, it } from "vitest";
import { call, inputFile, json, plainStructure, readContacts, startService, summaryOf } from "../kit.ts";
import { startRecordingProxy } from "./recording-proxy.ts";

describe("lists and tags that an import makes", () => {
  it.each([
    "reset-after:POST:*lists:n=1",
    "truncate:POST:*lists:n=1",
    "reset-after:PUT:/api/contact-structure/*:n=1",
    "500:POST:*lists:n=2",
  ])("are made once although %s", async (fault) => {
    const proxy = await startRecordingProxy({ faults: [fault] });
    const path = await inputFile("Email,Lists,Tags\na@x.org,One,T1\nb@x.org,Two,T2\nc@x.org,one,t1\n");
    const made = await summaryOf(proxy.ecm, `import ${path} --create-missing`);
    expect(made, made.stderr).toMatchObject({ code: 0, rows: { created: 3 } });
    const { structureId } = proxy.sandbox;
    type Lists = { records: { name: string; totalContacts: number }[] };
    const { records } = await call<Lists>(proxy, "GET", `/api/contact-structure/${structureId}/lists`);
    const counted = records.map(({ name, totalContacts }) => [name, totalContacts]);
    expect(counted.sort()).toEqual([
      ["One", 2],
      ["Two", 1],
    ]);
    const [structure] = await call<{ tags: { label: string }[] }[]>(proxy, "GET", "/api/contact-structure");
    expect(structure!.tags.map(({ label }) => label).sort()).toEqual(["T1", "T2"]);
    expect([...(await readContacts(proxy)).values()].every(({ tags }) => tags.length === 1)).toBe(true);
  });

  it("are not counted on where the service does not answer with them", async () => {
    const service = await startService(({ method, url }, response) => {
      if (method !== "GET" && url.includes("contact-structure")) return json(response, 200, plainStructure);
      const isSearch = url.includes("search");
      json(response, 200, isSearch ? { totalRecords: 0, contacts: [] } : [plainStructure]);
    });
    const path = await inputFile("Email\na@x.org\n");
    const stopped = await summaryOf(service.ecm, `import ${path} --tag T --create-missing`);
    expect(stopped).toMatchObject({ code: 1, status: "stopped", rows: { created: 0, pending: 1 } });
    expect(stopped.stderr).toContain("did not say what it created: T");
    const posts = service.server.requests.filter(({ method }) => method === "POST");
    expect(posts.filter(({ url }) => !url.includes("search"))).toEqual([]);
  });

  it("are not made before a killed run has its rows, and not again after", async () => {
    const proxy = await startRecordingProxy();
    const path = await inputFile("Email\na@x.org\nb@x.org\n");
    const line = `import ${path} --list L --tag T --create-missing`;
    const first = await summaryOf(proxy.ecm, `${line} --max-requests 5`);
    expect(first.status).toBe("stopped");
    const second = await summaryOf(proxy.ecm, line);
    expect(second).toMatchObject({ run: first.run, status: "completed", rows: { created: 2 } });
    const contacts = [...(await readContacts(proxy)).values()];
    const counted = contacts.map(({ lists, tags }) => [lists.length, tags.length]);
    expect(counted).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });
});
