/** docs/sandbox.md and the Dockerfile, held against the program. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ecmWith, temporaryHome } from "../support/ecm.ts";
import { openAccount } from "./account.ts";

const page = readFileSync(new URL("../../docs/sandbox.md", import.meta.url), "utf8");
const dockerfile = readFileSync(new URL("../../Dockerfile", import.meta.url), "utf8");

test("the requests that docs/sandbox.md shows with curl are answered", async () => {
  const { call } = await openAccount();
  const [, block = ""] = /```sh\nS=(?:.*)\n([\s\S]*?)```/.exec(page) ?? [];
  const lines = block
    .split("\n")
    .filter((line) => line.startsWith("curl -s ") || line.startsWith("curl -s\t"));
  expect(lines.length).toBeGreaterThan(4);
  for (const line of lines) {
    const [, method = "GET"] = /-X (\w+)/.exec(line) ?? [];
    const [, path] = /\$S(\/[^\s"]*)/.exec(line) ?? [];
    const [, raw] = /-d '(.*)'/.exec(line) ?? [];
    const answer = await call(method, `/__sandbox${path}`, undefined, { key: null, raw });
    expect(answer.status, line).toBeLessThan(300);
  }
});

test("the reads that its table names are answered", async () => {
  const { call } = await openAccount();
  const reads = [...page.matchAll(/`GET ([a-z]+)(?:\?[^`]*)?`/g)].map(([, path]) => path!);
  expect(new Set(reads)).toEqual(
    new Set(["health", "requests", "snapshots", "clock", "faults", "limits", "worlds"]),
  );
  for (const path of reads) {
    expect((await call("GET", `/__sandbox/${path}`, undefined, { key: null })).status, path).toBe(200);
  }
});

test("the Dockerfile starts the sandbox with flags that exist, not as root, and looks after its health", {
  tags: "slow",
}, async () => {
  const entrypoint: string[] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)![1]!);
  expect(entrypoint.slice(0, 3)).toEqual(["ecm", "sandbox", "start"]);
  const { stdout } = await ecmWith(await temporaryHome())(["commands", "sandbox", "start", "--json"]);
  for (const flag of entrypoint.filter((word) => word.startsWith("--")))
    expect(stdout).toContain(`"${flag}"`);
  const lastUser = [...dockerfile.matchAll(/^USER (.*)$/gm)].at(-1)?.[1];
  expect(lastUser).toBe("node");
  expect(dockerfile).toMatch(/^HEALTHCHECK /m);
  expect(dockerfile).toMatch(/^EXPOSE 8080$/m);
});
