/**
 * What cannot be undone, and what is done to everybody, is not done unasked: without a terminal it needs
 * --yes.
 */

import { describe, expect, it } from "vitest";
import { inputFile } from "../bulk/kit.ts";
import { startSandbox } from "../support/sandbox.ts";

async function seeded() {
  const sandbox = await startSandbox();
  sandbox.sandbox.admin.seed({
    lists: ["Leads"],
    tags: ["vip"],
    contacts: [{ key: "ada@example.com", lists: ["Leads"] }, { key: "bob@example.com" }],
  });
  const requests = () => sandbox.sandbox.admin.requests();
  const writes = () => requests().filter(({ method, path }) => method !== "GET" && !path.endsWith("/search"));
  return { ...sandbox, requests, writes };
}

const needed: string[][] = [
  ["contact", "mutate", "--all", "--add-tag", "vip"],
  ["contact", "unsubscribe", "ada@example.com"],
  ["contact", "unsubscribe", "ada@example.com", "bob@example.com"],
  ["contact", "unsubscribe", "--list", "Leads"],
  ["contact", "delete", "ada@example.com"],
  ["contact", "erase", "ada@example.com"],
  ["contact", "move", "ada@example.com", "new@example.com"],
  ["lists", "delete", "Leads"],
  ["structure", "field", "remove", "First Name"],
  ["structure", "tag", "remove", "vip"],
  ["api", "DELETE", "/api/contact/{contact:ada@example.com}"],
  ["api", "delete", "/api/contact/{contact:ada@example.com}"],
  ["api", "PATCH", "/api/contact/{contact:ada@example.com}", "--data", "BODY"],
  ["api", "PUT", "/api/contact-structure/{structure}", "--data", "BODY"],
  ["sandbox", "clone"],
];

describe("without a terminal and without --yes", () => {
  it.each(needed.map((words) => [words]))("ecm %j is refused, and nothing is sent", async (words) => {
    const { ecm, requests, writes } = await seeded();
    // What a path of `ecm api` names is looked up: it decides whether the request needs an answer.
    const sent = words[0] === "api" ? writes : requests;
    const body = await inputFile('{"status":{"primary":"Inactive","secondary":"Unsubscribe"}}', "body.json");
    const before = sent().length;
    const result = await ecm([...words.map((word) => (word === "BODY" ? body : word)), "--json"]);
    expect(result).toMatchObject({ code: 2 });
    const { error } = JSON.parse(result.stderr.split("\n").find((line) => line.startsWith("{"))!);
    expect(error).toMatchObject({ type: "InputRequiredError", exitCode: 2 });
    expect(error.hint).toContain("--yes");
    expect(sent()).toHaveLength(before);
  });

  it.each([
    [["contact", "mutate", "--list", "Leads", "--add-tag", "vip"]],
    [["contact", "mutate", "ada@example.com", "--add-tag", "vip"]],
    [["contact", "mutate", "--all", "--list", "Leads", "--add-tag", "vip"]],
    [["contact", "mutate", "--all", "--add-tag", "vip", "--dry-run"]],
    [["contact", "mutate", "--all", "--add-tag", "vip", "--yes"]],
    [["contact", "unsubscribe", "ada@example.com", "--dry-run"]],
    [["contact", "unsubscribe", "ada@example.com", "--yes"]],
    [["api", "DELETE", "/api/contact/{contact:bob@example.com}", "--yes"]],
    [["api", "POST", "/api/contact-structure/{structure}/lists", "-f", "name=New"]],
  ])("ecm %j goes on", async (words) => {
    const { ecm } = await seeded();
    const result = await ecm(words);
    expect(result.code, result.stderr).toBe(0);
  });
});

describe("the help of a command that asks", () => {
  it("says so, and so does the index for programs", async () => {
    const { ecm } = await seeded();
    const paths = [
      ...needed.map((words) => words.slice(0, words[0] === "structure" ? 3 : words[0] === "api" ? 1 : 2)),
      ["lists", "merge"],
      ["runs", "remove"],
      ["runs", "undo"],
      ["suppressions", "remove"],
      ["structure", "apply"],
      ["sandbox", "reset"],
      ["sandbox", "keys", "delete"],
    ];
    for (const path of paths) {
      expect((await ecm([...path, "--help"])).stdout, path.join(" ")).toContain("it needs --yes");
      const { confirmation } = JSON.parse((await ecm(["commands", ...path, "--json"])).stdout);
      expect(confirmation, path.join(" ")).toContain("--yes");
    }
    expect(JSON.parse((await ecm(["commands", "contact", "get", "--json"])).stdout)).not.toHaveProperty(
      "confirmation",
    );
  });
});
