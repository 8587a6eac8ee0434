/** The questions that matter, Ctrl-C, and less, in a real pseudo-terminal. */
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { inputFile, manyRows, startSandbox } from "../kit.ts";
import { openPty, whyNoPty } from "../support/pty.ts";
import { down, enter } from "../support/typing.ts";

const hasLess = spawnSync("less", ["--version"]).status === 0;
const rows = 300;

describe.skipIf(whyNoPty)(`in a pseudo-terminal${whyNoPty ? ` (${whyNoPty})` : ""}`, () => {
  it("Ctrl-C while contacts are written stops the run, and the same command completes it, each contact once", async () => {
    const { ecm, env, sandbox } = await startSandbox({ faults: ["delay:POST:/api/contact:seconds=0.1"] });
    const file = await inputFile(manyRows(rows));
    const first = openPty(["import", file], env);
    await first.answer("Add these contacts to a list?", "\r");
    await first.answer("Write to 300 contacts", "y\r");
    await first.answer(" of 300  ", "");
    await first.answer("/s  ", "\u0003");
    const { code, screen } = await first.ended;
    expect(screen).toContain("Resume with: ecm runs resume");
    expect(code).toBe(130);
    sandbox.admin.faults([]);
    const again = await ecm(["import", file, "--json"]);
    const { rows: counts } = JSON.parse(again.stdout);
    expect(counts).toMatchObject({ read: rows, created: rows, rejected: 0, pending: 0 });
    expect((await ecm(["contact", "search", "--count"])).stdout.trim()).toBe(String(rows));
    expect(await ecm(["runs", "list", "--json"])).toMatchObject({ code: 0 });
  });

  it.skipIf(!hasLess)("a long table stays in less until q is pressed", async () => {
    const { ecm, env } = await startSandbox();
    await ecm(["structure", "tag", "add", ...Array.from({ length: 60 }, (_, at) => `tag-${at}`)]);
    const { answer, ended } = openPty(["structure", "get"], env, { rows: 20 });
    await answer("tag-1 ", "G");
    await answer("tag-59", "q");
    expect(await ended).toMatchObject({ code: 0 });
  });

  it("an import shows its columns, changes one, creates a field, lists the rows, and writes after a yes", async () => {
    const { ecm, env } = await startSandbox();
    await ecm(["lists", "create", "Others"]);
    const file = await inputFile("Email,Stadt,Notiz\nada@example.com,Oslo,hallo\n");
    const { answer, ended } = openPty(["import", file], env);
    await answer("Is this right?", `${down.repeat(2)}${enter}`);
    await answer('Where does "Stadt"', `${down}\u001b`);
    await answer("Is this right?", `${down.repeat(3)}${enter}`);
    await answer('Where does "Notiz"', `${down.repeat(9)}${enter}`);
    await answer("– ignored", `y${enter}`);
    await answer("Add these contacts to a list?", enter);
    await answer("In no list: c to choose one", "");
    await answer('Create the field "Stadt", and write to 1 contact', `l${enter}`);
    await answer("+ ada@example.com", "");
    await answer('Create the field "Stadt", and write to 1 contact', `y${enter}`);
    const { code, screen } = await ended;
    expect(code, screen).toBe(0);
    expect((await ecm(["export", "--columns", "key,Stadt"])).stdout).toBe(
      "key,Stadt\nada@example.com,Oslo\n",
    );
  });

  it("a login takes a key that is never on the screen", async () => {
    const { env, baseUrl, apiKey } = await startSandbox();
    const own = { ...env, ECM_API_KEY: "", ECM_BASE_URL: "" };
    const { answer, ended } = openPty(["auth", "login", "--profile", "work", "--base-url", baseUrl], own);
    await answer("API key", `${apiKey}${enter}`);
    const { code, screen } = await ended;
    expect({ code, screen }).toEqual({ code: 0, screen: expect.stringContaining('Saved profile "work"') });
    expect(screen).not.toContain(apiKey.slice(-20));
  });
});
