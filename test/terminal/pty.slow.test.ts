/**
 * In a real pseudo-terminal: Ctrl-C while writes are under way, and less.
 */
import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/ecm.ts";
import { openPty, whyNoPty } from "../support/pty.ts";
import { startSandbox } from "../support/sandbox.ts";

const hasLess = spawnSync("less", ["--version"]).status === 0;
const rows = 1000;

describe.skipIf(whyNoPty)(`in a pseudo-terminal${whyNoPty ? ` (${whyNoPty})` : ""}`, () => {
  it("Ctrl-C while contacts are written stops the run, and the same command completes it, each contact once", async () => {
    const { ecm, env } = await startSandbox({
      faults: ["delay:POST:/api/contact:seconds=0.02"],
      hourlyLimit: 20_000,
    });
    const file = join(await temporaryFolder(), "people.csv");
    const lines = Array.from({ length: rows }, (_, at) => `p${at}@example.com,First ${at}\n`);
    await writeFile(file, `Email,First Name\n${lines.join("")}`);
    const first = openPty(["import", file], env);
    await first.answer("Add these contacts to a list?", "\r");
    await first.answer(`Write to 1,000 contacts`, "y\r");
    await first.answer(" of 1,000  ", "");
    await first.answer("/s  ", "\u0003");
    const { code, screen } = await first.ended;
    expect({ code, screen }).toEqual({
      code: 130,
      screen: expect.stringContaining("Resume with: ecm runs resume"),
    });
    const again = await ecm(["import", file, "--json"]);
    const { rows: counts } = JSON.parse(again.stdout);
    expect(counts).toMatchObject({ read: rows, created: rows, rejected: 0, pending: 0 });
    expect((await ecm(["contact", "search", "--count"])).stdout.trim()).toBe(String(rows));
    expect(await ecm(["runs", "list", "--json"])).toMatchObject({ code: 0 });
  });

  it.each([60, 80, 120])(
    "an import's end fits %i columns, and its rejected rows are beside it",
    async (columns) => {
      const { env } = await startSandbox();
      const file = join(await temporaryFolder(), "people.csv");
      await writeFile(file, "Email,First Name\nada@example.com,Ada\nklaus@@example.com,Klaus\n");
      const { answer, ended } = openPty(["import", file], env, { columns });
      await answer("Add these contacts to a list?", "\r");
      await answer("Write to 1 contact", "y\r");
      const { code, screen } = await ended;
      expect(code, screen).toBe(3);
      expect(screen).toMatch(/! 2 rows in [^:]+: {2}█{15}×{15}/);
      expect(screen).toContain("line 3  klaus@@example.com  not an email address");
      expect(await readFile(file.replace("people", "people.rejected"), "utf8")).toContain(
        "klaus@@example.com",
      );
      const drawn = screen.slice(screen.indexOf("! 2 rows")).split(/\r?\n/);
      // A path and a command are never broken.
      for (const line of drawn.filter((each) => !/^ +(?:\/|ecm )/.test(each)))
        expect(line.length, line).toBeLessThanOrEqual(columns);
    },
  );

  it.skipIf(!hasLess)("a long table stays in less until q is pressed", async () => {
    const { ecm, env } = await startSandbox();
    await ecm(["structure", "tag", "add", ...Array.from({ length: 60 }, (_, at) => `tag-${at}`)]);
    const { answer, ended } = openPty(["structure", "get"], env, { rows: 20 });
    await answer("tag-1 ", "G");
    await answer("tag-59", "q");
    expect(await ended).toMatchObject({ code: 0 });
  });
});
