/**
 * The questions that matter, typed into a real pseudo-terminal.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/ecm.ts";
import { openPty, whyNoPty } from "../support/pty.ts";
import { startSandbox } from "../support/sandbox.ts";

const down = "\u001b[B";
const enter = "\r";

async function fileWith(text: string): Promise<string> {
  const file = join(await temporaryFolder(), "people.csv");
  await writeFile(file, text);
  return file;
}

describe.skipIf(whyNoPty)(`in a pseudo-terminal${whyNoPty ? ` (${whyNoPty})` : ""}`, () => {
  it("an import shows its columns, changes one, creates a field, lists the rows, and writes after a yes", async () => {
    const { ecm, env } = await startSandbox();
    const file = await fileWith("Email,Stadt,Notiz\nada@example.com,Oslo,hallo\n");
    const { answer, ended } = openPty(["import", file], env);
    await answer("Is this right?", `${down.repeat(3)}${enter}`);
    await answer('Where does "Notiz"', `${down.repeat(9)}${enter}`);
    await answer("– ignored", `y${enter}`);
    await answer("Add these contacts to a list?", enter);
    await answer('Create the field "Stadt", and write to 1 contact', `l${enter}`);
    await answer("+ ada@example.com", "");
    await answer('Create the field "Stadt", and write to 1 contact', `y${enter}`);
    const { code, screen } = await ended;
    expect({ code, screen }).toEqual({ code: 0, screen });
    expect((await ecm(["export", "--columns", "key,Stadt"])).stdout).toBe(
      "key,Stadt\nada@example.com,Oslo\n",
    );
  });

  it("a no before the first write sends nothing", async () => {
    const { ecm, env } = await startSandbox();
    const { answer, ended } = openPty(["import", await fileWith("Email\nada@example.com\n")], env);
    await answer("Add these contacts to a list?", enter);
    await answer("Write to 1 contact", `n${enter}`);
    const { code, screen } = await ended;
    expect({ code, screen }).toEqual({
      code: 1,
      screen: expect.stringContaining("Cancelled; nothing changed"),
    });
    expect((await ecm(["contact", "search", "--count"])).stdout.trim()).toBe("0");
    expect((await ecm(["runs", "list", "--json"])).stdout.trim()).toBe("[]");
  });

  it("Ctrl-C while a run waits for the hour stops it, and it can be resumed", async () => {
    const { env } = await startSandbox({ hourlyLimit: 20 });
    const rows = Array.from({ length: 30 }, (_, at) => `p${at}@example.com\n`);
    const { answer, ended } = openPty(["import", await fileWith(`Email\n${rows.join("")}`), "--yes"], env);
    await answer("Hourly limit reached; resuming", "\u0003");
    const { code, screen } = await ended;
    expect({ code, screen }).toEqual({
      code: 130,
      screen: expect.stringMatching(/Interrupted\s+hint: Resume with: ecm runs resume \d{8}-\d{4}-/),
    });
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
